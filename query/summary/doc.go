// Package summary is what a report says of a selection of runs: where they ran, how they ended, what each point came to in each of
// its metrics, how much faster variants are than their baseline, which points are the fastest, what failed, and what a reader
// should know before he believes a number.
//
// A report goes this way: the runs of the selection are gathered by point (points.go) and their other metrics are added
// (metrics.go); where and when they ran is counted value by value (environment.go). All counts are sums over the points, so that
// they add up (counts.go). Baselines are found among the points and in what sweeps say (baseline.go), and package compare compares each
// pair of points: nothing here computes a difference a second time (speedup.go). Findings are rules over what was read before, each
// with a name and the numbers that it goes by (findings.go).
//
// A missing value is nil, or an empty Text, and null in JSON. Nothing that could not be measured is given a number.
package summary
