// Package task runs one point once, in a process tree of its own that cannot outlive the run, and reports how it
// ended together with every sample that was taken, also when the benchmark hung, crashed or was killed.
//
// A tree has three layers: the runner (the program itself), a supervisor for each run that owns every process
// below it, and the worker or the processes of a command. PROTOCOL.md describes what they say to one another,
// where the samples are, and what the death of each of them means.
//
// It refuses to guess: a run without a result is not ok, a value that was not measured is absent with a reason,
// and an iteration that a deadline cut is no sample.
package task
