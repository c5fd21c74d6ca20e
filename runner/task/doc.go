// Package task runs one point once, in a process tree that cannot outlive the run. It reports how the run ended, together with
// every sample taken, even if the benchmark hung, crashed or was killed.
//
// A tree has three layers: the runner (the program itself), a supervisor for each run that owns every process below it, and the
// worker or the processes of a command. PROTOCOL.md describes their messages, where the samples are, and what happens when each
// of them dies.
//
// Nothing is guessed: a run without a result is not ok, a value that was not measured is missing with a reason, and an iteration
// that was cut by a deadline is not a sample.
package task
