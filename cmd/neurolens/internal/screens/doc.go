// Package screens shows stored data and results on a screen: lists of runs and groups, one run, stores and their
// maintenance, this machine, and imported files.
//
// A screen turns a typed result into a term.View or into lines. It opens nothing, decides nothing and does not know the
// command line. Formats for programs do not use screens; package output makes them from the same results.
package screens
