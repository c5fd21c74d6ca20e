// Package report writes runs in forms that other programs and people read. It renders; it answers no questions and
// never touches a store.
//
// BenchRuns writes a directory of artefacts in the layout of the first NeuroLens bench harness:
//
//	DIR/runs/<RUN>.json         run document: the JSON schema of that harness, draft 7, no member that it does not name
//	DIR/runs/<RUN>.failed.json  document of a run that is not ok, in a form of its own
//	DIR/fp/<RUN>.fp.json        fingerprint of the run document
//	DIR/summary.csv             one row a run that measures, CRLF line ends; after a resume those of all its sessions
//
// # Identifiers
//
// <RUN> is the run's ULID: the run_id of the store and of summary.csv. The schema wants a UUID in a run document, so
// the document and its fingerprint print the same 128 bits as a UUID; summary.csv has both forms (run_id, run_uuid),
// and the document names the ULID in its tag neurolens.run_id. Everything joins by plain equality of text.
//
// # What the schema cannot say
//
// It has no failed run, no missing number, and few words. Nothing is made up for it:
//
//   - A run that is not ok has no run document. Its document is one of its own (runs/<RUN>.failed.json): status, stage, error, and
//     the members of a run document that such a run has, null where something is not known. Readers of the harness's schema do
//     not take it for a run. It is also a row of summary.csv, with its status and no latency.
//   - An ok run that the schema has no words for has no document either (a backend other than onnxrt, torch and tensorrt,
//     a precision other than fp32, fp16 and int8; no latency above 0 and no profiled op; memory of an unknown size). It
//     is a row, and Warnings says why, once a reason.
//   - A required number that was not measured is the least that the schema takes (0, or 1 for a count), and the tag
//     neurolens.placeholders lists the members which are that, by path. Optional ones are left out. A required text
//     that is not known is the harness's own word, unknown.
//   - A timeline has at least one op. That of a run with profiled ops holds those (less those without a duration, which
//     the tag neurolens.ops_left_out counts); that of any other holds one op of type iteration, the whole iteration.
//     Kernels are not measured one by one, so each op has one kernel, which spans it.
//
// A profiled op is that of one iteration: the sum over all profiled iterations, divided by their number; its latency_ms is
// that of one call. A pass of a profiler has a document and no row in summary.csv, for it measures no latency.
//
// total_duration_ms is the median latency of one iteration; that of a profiled pass, which has none, is the sum of its
// ops' durations, so that the share of an op in the fingerprint times the total is the duration of the op.
// Where the run computed on the CPU, hardware describes the CPU and the main memory, otherwise the first GPU.
//
// # Columns of summary.csv
//
// run_id, backend, batch_size, seq_len, precision, total_latency_ms (median of one iteration), gpu_utilization (0 to 1),
// model, gpu_name (unknown where there is none), as in the harness; then status and run_uuid. A value that was not
// measured is empty, never 0.
package report
