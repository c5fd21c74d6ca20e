// Package screens is what people see of what is stored and what was found: listings of runs and groups, one run, stores and their
// care, this machine, files that were read..
//
// A screen takes a typed answer, and makes a term.View of it, or lines. It opens nothing, decides nothing and knows no command line:
// what it says, somebody else has found out. Formats for programs do not pass here; they are made of the same answers by output.
package screens
