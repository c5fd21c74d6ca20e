// Package python holds the worker that measures in a user's own Python interpreter, finds that interpreter, and says
// how package task starts the one in the other.
//
// The worker is plain Python (3.8 and later), embedded here and written into the directory of each run, so that
// nothing has to be installed beside what the user has. It measures files of users (benchmark.py) and models
// (backends.py); PROTOCOL.md, one directory up, has what it and the runner say to one another.
//
// It refuses to guess: what an interpreter is it says itself, and one that does not answer is an error in one line.
package python
