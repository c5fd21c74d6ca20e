// Package ingest is the only writer of a store. It creates stores and appends runs: one immutable file per run, complete and on disk
// before Append returns. Any number of processes can append to one store at the same time, without a lock.
//
// It seals: it collects many runs in one file, as schema/FORMAT.md specifies, and completes the work of dead processes. Whenever a
// process dies, acknowledged runs are kept, and each is sealed once. Files that cannot be read are left unchanged.
//
// A Reading reads result files of other tools into a store. The readers are in ingest/foreign and do not depend on stores. It reads one
// file after the other, and reports for each how far it was read, and which records were left out, refused, or already stored.
//
// Merge and Compact copy runs from one store to another. Writing, sealing and reading the files of a store is in internal/, from the
// operations of a disk up to the sealer. Package ingest/check, which verifies and repairs, uses the same packages.
//
// The package refuses a directory that contains something else, a store of an unknown format, and a run that is not valid; it changes
// nothing then. It never changes or removes a run, and it does not query runs.
package ingest
