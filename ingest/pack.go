package ingest

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/sealing"
)

// Pack copies the content of many small files into one file, a pack, if there are a hundred of them or more: the rows of
// small sealed files of runs, and events. Readers open the packs instead. Nothing in the store depends on packs: two
// processes that pack at the same time only waste space, and an error loses nothing.
func (s *Store) Pack() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("packing store %s: it is closed", s.dir)
	}
	return s.pack()
}

// pack packs what was sealed since the last call.
func (s *Store) pack() error {
	p := sealing.Packer{Files: s.files, Version: s.sealer.Version, Now: time.Now(), Rules: sealing.StandardPackRules()}
	if err := p.Pack(); err != nil {
		return fmt.Errorf("packing store %s: %w", s.dir, err)
	}
	s.sealer.Made = 0
	return nil
}
