// Package artifact finds the files that a run leaves and that are to be kept with it: results, logs, traces.
//
// A file counts if the run has written it: if it was not there before, or if its identity, size or times have changed. So a
// file of an earlier run that still lies there is none of this one. What is only there for the run, in a directory of its own,
// counts always.
//
// Nothing here knows where artifacts are stored.
package artifact
