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
//
// # Checks
//
// Check detects which layout files have, and finds errors in them. It has a JSON Schema for each JSON file of the layouts
// (schemas), and the columns of their tables.
//
// A file is recognized by its content. If it is damaged or incomplete, it is recognized by its name, provided that other files beside it
// have that layout. Unrecognized files are not checked.
//
// # Documents of a session
//
// BenchRuns writes a directory of artifacts in the layout of the first NeuroLens bench harness:
//
//	DIR/runs/<RUN>.json         run document: follows the JSON schema of that harness (draft 7), without additional members
//	DIR/runs/<RUN>.failed.json  document of a failed run, in a format of its own
//	DIR/fp/<RUN>.fp.json        fingerprint of a run document that has operators
//	DIR/summary.csv             one row for each document in DIR/runs, and for each run without one, with CRLF line ends
//	DIR/summary.csv.old         copy of a changed summary.csv of which a part could not be read
//
// # Identifiers
//
// <RUN> is the run's ULID, which is also run_id in the store and in summary.csv. The schema requires a UUID in a run document, so
// the document and its fingerprint show the same 128 bits as a UUID. summary.csv has both forms (run_id, run_uuid), and the document
// has the ULID in its tag neurolens.run_id. All of them can be joined by comparing the texts.
//
// # What the schema cannot express
//
// It has no failed runs, no missing numbers and few allowed words. Nothing is invented to satisfy it:
//
//   - A run that is not ok has no run document. It has a document of another format (runs/<RUN>.failed.json): status, stage, error, and
//     those members of a run document that such a run has; unknown ones are null. Programs that read the harness's schema do
//     not mistake it for a run. The run also has a row in summary.csv, with its status and without a latency.
//   - An ok run that the schema cannot express has no document either (a backend other than onnxrt, torch and tensorrt; a
//     precision other than fp32, fp16 and int8; no latency above 0 and no profiled op; memory of unknown size). It
//     has a row, and Warnings reports each reason once.
//   - A required number that was not measured is the smallest that the schema allows (0, or 1 for a count). The tag
//     neurolens.placeholders lists these members by path. Optional members are left out. A required text
//     that is unknown is "unknown", as in the harness.
//   - A timeline has at least one op. If the run has profiled ops, the timeline consists of them (ops without a duration are left out;
//     the tag neurolens.ops_left_out has their number); otherwise it has one op of type iteration, which is the whole iteration, and
//     the document has no fingerprint, because it would be that of any other model.
//     Kernels are not measured individually, so each op has one kernel of the same duration.
//
// A profiled op describes one iteration: the sum over all profiled iterations divided by their number. Its latency_ms is
// the time of one call. The operators of a profiled run are the timeline of the documents of the runs that measured its point: then the tags
// neurolens.profile_run and neurolens.profile_at say which run they are from. Without such documents a profiled run has one of its
// own, with the tag neurolens.purpose, and a row without a latency, because it measures none. The tag neurolens.point has every axis.
//
// total_duration_ms is the median latency of one iteration. A document of a profiled run has none, so there it is the sum of the
// durations of its ops.
// If the run computed on the CPU, hardware describes the CPU and the main memory, otherwise the first GPU.
//
// # Columns of summary.csv
//
// run_id, backend, batch_size, seq_len, precision, total_latency_ms (median of one iteration), gpu_utilization (0 to 1),
// model, gpu_name ("unknown" without a GPU), as in the harness; then status and run_uuid, and suite, benchmark, variant and params (the
// other axes, a JSON object), without which rows of programs could not be told apart. A value that was not measured is
// empty, never 0.
package layout
