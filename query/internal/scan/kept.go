package scan

import (
	"slices"
	"sync"
	"time"
)

// snapshot is a listing that several questions share.
type snapshot struct {
	mu  sync.Mutex
	src *Sources // the listing; nil before the first question
}

// Snapshot returns the same stores with a fixed list of files: that of the first question. So the answers of several questions are consistent,
// and stores with very many files are listed once. If a file disappears, the files are listed again, for later questions too.
// Scope.Newest does not use the list.
func (s *Stores) Snapshot() *Stores {
	same := *s
	same.snapshot = &snapshot{}
	return &same
}

// lister lists the files for one question: the snapshot first, and a new one if the question is repeated.
func (s *Stores) lister(since time.Time) func() (*Sources, error) {
	if s.snapshot == nil {
		return func() (*Sources, error) { return s.list(since) }
	}
	repeated := false
	return func() (*Sources, error) {
		k := s.snapshot
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.src == nil || repeated {
			src, err := s.list(time.Time{})
			if err != nil {
				return nil, err
			}
			k.src = src
		}
		repeated = true
		return k.src.own(), nil
	}
}

// own is a copy of sources for one question, which removes files from it.
func (s *Sources) own() *Sources {
	same := *s
	same.Live = slices.Clone(s.Live)
	same.contents = newContents() // a question notices that a file disappeared
	return &same
}
