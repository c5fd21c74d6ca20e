// Package query answers questions about stores of runs: listings, single runs, summaries per point and groups. Its subpackages compare
// runs, run SQL, export tables and more. Several stores are read as one; a run that is in more than one of them counts once.
//
// A query never writes to a store and takes no lock, so it works on a read-only directory. DuckDB reads the files, in memory, from the
// list that schema.List returns and with the schema of the column registry: there are no globs and no guessed types.
//
// Filters are compiled to SQL with bound parameters, so text of a user is never part of a statement. Identifiers come only from the
// registry. SQL of users is a single SELECT that runs in a sandbox: it can read only the files of the stores and change nothing.
//
// # Annotations
//
// Annotations lists the annotations of sessions: notes, tags that were added to stored runs, and releases.
//
// Notes and tags belong to runs; a session has the annotations of its runs. An annotation is listed in the first session that has it, if
// the session before does not have it. So a tag on all runs of a month is listed once. A release is the tag releaseTag, which may also
// be stored with the run: a store knows commits, but not which of them are releases.
//
// # Samples
//
// The samples of runs are reduced for charts, which can show some thousand marks at most.
//
// FindSamples chooses the runs and the metric. SampleShares returns steps of the empirical distribution of their samples; each step lies
// on the exact distribution. SamplesInOrder returns the samples in the order in which they were taken, combined into parts if there are
// many. DuckDB counts and sorts all samples, so the result is small but no sample is ignored.
package query
