// Package ingest is the only writer of a store. It creates stores and appends runs: one immutable file a run, whole
// and on disk before Append returns. Any number of processes append to one store at once without a lock.
//
// It seals: it makes one file of many runs, as schema/FORMAT.md lays down, and finishes what processes that died began.
// Whoever dies at whatever moment, a run that was acknowledged is there, and is sealed once. What it cannot read it
// leaves as it is.
//
// Merge and Compact copy runs from store to store. What writing, sealing and reading the files of a store take is in
// internal/, from the operations of a disk up to the sealer; ingest/check, which verifies and repairs, stands on the same.
//
// It refuses a directory that holds something else, a store of an unknown format and a run that does not validate,
// and touches nothing then. It never changes or removes a run and answers no question about any.
package ingest
