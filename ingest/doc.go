// Package ingest is the only writer of a store. It creates stores and appends runs: one immutable file a run, whole
// and on disk before Append returns. Any number of processes append to one store at once without a lock.
//
// It refuses a directory that holds something else, a store of an unknown format and a run that does not validate,
// and touches nothing then. It never changes or removes a run and answers no question about any.
package ingest
