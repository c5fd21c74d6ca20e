// Package runner runs a sweep: each launch of each point in its own process tree, one after the other. It passes each finished run to a
// function that stores it, also if the run failed.
//
// The parts are separate packages: sweep reads the file and orders the launches, prepare determines the requirements of a launch, task
// runs one launch under supervision (PROTOCOL.md), builtin is the backend that needs no installation, and probe reads the environment.
// This package joins them. It does not depend on how runs are stored.
package runner

import (
	"errors"

	"github.com/neurolens/neurolens/runner/builtin"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/runner/tune"
)

// Main performs one of the internal roles of the program (supervisor, worker, the process that queries the GPU driver, the guard of
// settings) if argv, with the program's name first, requests one. A program must call it before anything else. handled reports that it did,
// and code is then the exit status.
func Main(argv []string) (code int, handled bool) {
	if code, handled := task.Main(argv, builtinWorker); handled {
		return code, true
	}
	if code, handled := tune.Main(argv); handled {
		return code, true
	}
	return probe.Main(argv[1:])
}

// builtinWorker prepares a point for the backend builtin, in the worker process.
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
