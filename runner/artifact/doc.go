// Package artifact finds the files to keep with a run: results, logs, traces.
//
// A file counts if the run wrote it: it did not exist before, or its identity, size or times changed. So a file that an earlier
// run left behind does not count. Files in the private directory of the run always count.
//
// The package does not know where artifacts are stored.
package artifact
