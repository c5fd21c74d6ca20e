// Package layout writes runs as the files of four other benchmark systems, with their names, members, units and order, so that
// programs that read those files can read these. It only formats and does not open a store.
//
//	chapters  BenchmarkHarness: benchmark_test_results.json and .md, artifacts/
//	kernels   the QuASIM bench tools: env.json, kernel_manifest.json, kernels/*.json, summary.json, summary.md, regressions.md
//	matrix    the Swift MNIST scripts: a file for each run, report.json, report.md
//	grid      the operation grid: benchmark_results.json, benchmark_results.md
//
// # What is kept, and what is not
//
// Members of a system keep their names, order and units: times in ms or s, and MiB under names that end in mb.
// Additional members follow them. Each result has a member neurolens: the id of its run, its point with every axis, its status, and
// which metrics the other members show. With it, ingest restores the same point and the same samples.
//
// Some systems write a substitute for an unknown value. This package does not: a value that was not measured is null, never 0.
// A run that failed, was skipped or is not supported is a result too, with nulls and its status, and it is counted. The worst
// speedup is the lowest, even if it is below 1.
//
// docs/layouts.md lists every file and member, and what each layout cannot express.
package layout
