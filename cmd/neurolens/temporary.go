package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/neurolens/neurolens/query/scratch"
)

// temporary is the process's directory for temporary files: there is none until it is asked for.
type temporary struct {
	mu    sync.Mutex
	dir   *scratch.Dir
	asked bool
	gone  bool // removed: no other is made
}

// make gives the directory. From then on a reader of the output that goes away is an error of writing, and does not end
// the process before the directory is removed.
func (t *temporary) make() (*scratch.Dir, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir != nil || t.gone {
		return t.dir, nil
	}
	t.asked = true
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	var err error
	t.dir, err = scratch.Make()
	return t.dir, err
}

// made tells whether make was called.
func (t *temporary) made() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked
}

// remove removes the directory, if there is one, for good.
func (t *temporary) remove() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = true
	if t.dir != nil {
		_ = t.dir.Remove() // what it leaves is swept up later
		t.dir = nil
	}
}
