package scan

import (
	"slices"
	"sync"
	"time"
)

// kept is a listing that several questions share.
type kept struct {
	mu  sync.Mutex
	src *Sources // as it was listed; nil before the first question
}

// Kept are the same stores, of whose files questions are asked that were there at the first of them. What several questions say then
// holds together, and stores of very many files are listed once. A question of which a file went away lists the files anew, for those after
// it as well. Questions about the newest runs alone name their files themselves.
func (s *Stores) Kept() *Stores {
	same := *s
	same.kept = &kept{}
	return &same
}

// lister lists the files of one question: what is kept at first, and anew where the question is asked again.
func (s *Stores) lister(since time.Time) func() (*Sources, error) {
	if s.kept == nil {
		return func() (*Sources, error) { return s.list(since) }
	}
	again := false
	return func() (*Sources, error) {
		k := s.kept
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.src == nil || again {
			src, err := s.list(time.Time{})
			if err != nil {
				return nil, err
			}
			k.src = src
		}
		again = true
		return k.src.own(), nil
	}
}

// own is a copy of sources for one question, which takes files out of it.
func (s *Sources) own() *Sources {
	same := *s
	same.Live = slices.Clone(s.Live)
	return &same
}
