package files

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// ProcessScratch is the temporary directory of the process. It is made when it is first needed.
type ProcessScratch struct {
	mu   sync.Mutex
	dir  *ScratchDir
	used bool
	gone bool // removed; no other one is made
}

// Dir returns the directory; nil once it is removed. From the first call on, a closed output is a write error instead of a signal, so
// that the process can remove the directory.
func (o *ProcessScratch) Dir() (*ScratchDir, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dir != nil || o.gone {
		return o.dir, nil
	}
	o.used = true
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	var err error
	o.dir, err = newDir()
	return o.dir, err
}

// Used reports whether Dir was called.
func (o *ProcessScratch) Used() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.used
}

// Remove removes the directory, if there is one. No other one is made afterwards.
func (o *ProcessScratch) Remove() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone = true
	if o.dir != nil {
		_ = o.dir.Remove() // a later process removes the rest
		o.dir = nil
	}
}
