// Package project finds the store and the settings (neurolens.yaml) of a project, for all commands that run in it, and makes its files for
// CI: one shell script, which is the same everywhere, and for each CI system a file that calls it.
package project
