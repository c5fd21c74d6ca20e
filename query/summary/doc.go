// Package summary computes the contents of a report on a selection of runs: where they ran, how they ended, the metrics of each point,
// how much faster variants are than their baseline, the fastest points, the failures, and remarks on the reliability of the numbers.
//
// A report is made in these steps. The runs are grouped by point, and their other metrics are added (points.go). The environment is
// counted value by value (environment.go). All counts are sums over the points, so that they add up (counts.go). Baselines are found
// among the points and in the sweep files (baseline.go), and package compare compares each pair of points; differences are not computed
// anywhere else (speedup.go). Findings come from rules, each with a name and the numbers that it is based on (findings.go).
//
// A missing value is nil or an empty Text, and null in JSON. No numbers are made up.
//
// # Similar runs
//
// FindSimilar finds the profiled runs that are most similar to a run: those that spend their time in the same operators with the
// same sizes.
//
// A run is characterized by its mix: the share of its time that each operator takes. Operators are identified by the type that the
// profile gives them (MatMul, aten::mm). If a profile has no such types, they are the kernels, copies and memsets of the device and the
// layers of an engine, by name; if it has none of those either, the operators of the host, by name. Entries that only contain or call
// others, such as ranges, annotations and driver calls, do not count. Operators without a duration have no share.
//
// The distance of two mixes p and q is the Hellinger distance, weighted by the similarity of sizes:
//
//	distance = sqrt(1 - Σ sqrt(p_i q_i) w_i)      w_i = sqrt(min(a_i, b_i) / max(a_i, b_i))
//
// a_i and b_i are the mean sizes of a call of operator i: the bytes of its tensors, or else the bytes that it moved, or else its
// floating-point operations. If a profile does not have them, or the two profiles have different ones, w_i is 1. Without w_i the sum is
// the Bhattacharyya coefficient (1943), and the distance that of Hellinger (1909). w_i is the exponential kernel exp(-|ln a - ln b| / 2),
// with which the sum is still an inner product of unit vectors, so the distance is a metric if all sizes are known. 0 means equal shares
// and sizes, 1 no common operator. Absolute times do not matter: a run is similar to the same run on a slower machine.
package summary
