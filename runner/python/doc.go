// Package python contains the worker that measures in the user's own Python interpreter. It finds that interpreter, and tells
// package task how to start the worker in it.
//
// The worker is plain Python (3.8 or later). It is embedded in this program and written into the directory of each run, so that
// nothing has to be installed. It measures Python files of users (benchmark.py) and models (backends.py). PROTOCOL.md in the
// parent directory describes how it communicates with the runner.
//
// Nothing is guessed: an interpreter reports its own version, and one that does not answer is an error of one line.
package python
