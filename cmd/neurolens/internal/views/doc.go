// Package views shows results on a screen: lists of runs and groups, one run, comparisons, explanations and histories, stores and their
// maintenance, this machine, and imported files.
//
// A function here turns a typed result into a term.View or into lines. It opens nothing, decides nothing and does not know the command
// line. Formats for programs do not use views; package term prints them from the same results.
//
// Points, values, changes and warnings have the same words on every screen: see Axes, PointNames, QuantityOf, Change and WarningMeaning.
package views
