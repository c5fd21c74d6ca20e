// Package summary computes the contents of a report on a selection of runs: where they ran, how they ended, the metrics of each point,
// how much faster variants are than their baseline, the fastest points, the failures, and remarks on the reliability of the numbers.
//
// A report is made in these steps. The runs are grouped by point, and their other metrics are added (points.go). The environment is
// counted value by value (environment.go). All counts are sums over the points, so that they add up (counts.go). Baselines are found
// among the points and in the sweep files (baseline.go), and package compare compares each pair of points; differences are not computed
// anywhere else (speedup.go). Findings come from rules, each with a name and the numbers that it is based on (findings.go).
//
// A missing value is nil or an empty Text, and null in JSON. No numbers are made up.
package summary
