// Package layout writes runs as the files of four other benchmark systems: with their names, members, units and order, so that
// what reads those files reads these. It renders; it opens no store.
//
//	chapters  BenchmarkHarness: benchmark_test_results.json and .md, artifacts/
//	kernels   the QuASIM bench tools: env.json, kernel_manifest.json, kernels/*.json, summary.json, summary.md, regressions.md
//	matrix    the Swift MNIST scripts: a file for each run, report.json, report.md
//	grid      the operation grid: benchmark_results.json, benchmark_results.md
//
// # What is kept, and what is not
//
// Members that a system has keep their names, their order and their units: a time in ms or s, and MiB under a name that ends in mb.
// What is more comes behind them. Each result has a member neurolens: the id of its run, its point with every axis, how it ended, and
// what the other members are of. With it ingest makes the same point of a result again, and the same samples.
//
// Where a system writes something else for what is not known, this package does not: a value that was not measured is null, never 0.
// A run that failed, was skipped or is not supported is a result like any other, with nulls and its status, and it counts. A worst
// speed-up is the lowest there is, also below 1.
//
// docs/layouts.md lists every file and member, and what each layout cannot carry.
package layout
