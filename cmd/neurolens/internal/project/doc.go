// Package project finds the store and the settings (neurolens.yaml) of a project, for all commands that run in it.
package project
