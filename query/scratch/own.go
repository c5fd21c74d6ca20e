package scratch

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Own is the process's directory for temporary files: there is none until it is asked for.
type Own struct {
	mu    sync.Mutex
	dir   *Dir
	asked bool
	gone  bool // removed: no other is made
}

// Dir gives the directory; nil once it is removed. From the first call on a reader of the output that goes away is an error of
// writing, and does not end the process before the directory is removed.
func (o *Own) Dir() (*Dir, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dir != nil || o.gone {
		return o.dir, nil
	}
	o.asked = true
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	var err error
	o.dir, err = newDir()
	return o.dir, err
}

// Asked tells whether Dir was called.
func (o *Own) Asked() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked
}

// Remove removes the directory, if there is one, for good.
func (o *Own) Remove() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone = true
	if o.dir != nil {
		_ = o.dir.Remove() // what it leaves is swept up later
		o.dir = nil
	}
}
