// Package wording names the things that results are about: points by their axes, runs, commits, differences, warnings.
//
// A listing names what all its rows share once, and has a column for each axis in which they differ; Axes splits a listing
// this way. If there is no room for these columns, MergedAxes merges them into one. It also formats the numbers of
// comparisons with sign and unit, and explains each warning, so that all screens agree.
package wording
