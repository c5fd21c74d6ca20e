// Package project finds what a project has for all commands that are run in it: its store, and the settings in neurolens.yaml.
package project
