package ingest

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/sealing"
)

// Pack copies the content of many small files into one file, a pack, if there are a hundred of them or more: the rows of
// small sealed files of runs, and events. Readers open the packs instead. Pack returns the number of packs that it wrote.
// Nothing in the store depends on packs: two processes that pack at the same time only waste space, and an error loses
// nothing.
func (s *Store) Pack() (packs int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, fmt.Errorf("packing store %s: it is closed", s.dir)
	}
	return s.pack()
}

// pack packs what was sealed since the last call.
func (s *Store) pack() (packs int, err error) {
	p := sealing.Packer{Files: s.files, Version: s.sealer.Version, Now: time.Now(), Rules: sealing.StandardPackRules()}
	if err := p.Pack(); err != nil {
		return p.Written, fmt.Errorf("packing store %s: %w", s.dir, err)
	}
	s.sealer.Made = 0
	return p.Written, nil
}
