// Package wording names for people what answers are about: points by what tells them apart, runs, commits, differences, warnings.
//
// A listing says once what all its rows share, and has a column for each axis in which they differ; Axes splits a listing so. Where
// there is no room for the columns, MergedAxes makes one of them. Numbers of comparisons have their signs and their units here, and
// each word of warning its meaning, so that all screens say the same.
package wording
