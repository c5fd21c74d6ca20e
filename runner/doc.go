// Package runner runs a sweep: every launch of every point in a process tree of its own, one after the other, and
// hands each finished run to a function that keeps it. A run that failed is handed over like any other.
//
// The parts are packages of their own: sweep reads the file and orders the launches, prepare finds out what a launch needs
// and what it is of, task runs one launch under supervision (PROTOCOL.md), builtin is the backend that needs nothing
// installed, probe reads the environment. What is here joins them. Nothing here knows where runs are stored.
package runner

import (
	"errors"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/task"
)

// Main plays one of the hidden roles of the program (supervisor, worker, the process that asks the GPU driver) if argv,
// the program's name first, asks for one. A program calls it before anything else.
func Main(argv []string) (code int, handled bool) {
	if code, handled := task.Main(argv, builtinWorker); handled {
		return code, true
	}
	return probe.Main(argv[1:])
}

// builtinWorker prepares a point of the backend builtin, in the worker process.
func builtinWorker(config map[string]string) (*task.Work, error) {
	op, err := builtin.New(config)
	if refusal, ok := errors.AsType[*builtin.UnsupportedError](err); ok {
		return nil, &task.Unsupported{Kind: refusal.Kind, Reason: refusal.Reason}
	}
	if err != nil {
		return nil, err
	}
	return &task.Work{Iterate: op.Iterate, Applied: op.Applied, Work: op.Work, Validate: op.Validate}, nil
}
