package ingest

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/packing"
)

// Pack writes again, in one file, what many small files hold, where there are a hundred of them or more: the rows of
// small sealed files of runs, and events. Readers open the packs instead. It gives the number of packs that it wrote.
// Nothing of the store depends on them: two processes that pack at once only take space, and an error loses nothing.
func (s *Store) Pack() (packs int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, fmt.Errorf("packing store %s: it is closed", s.dir)
	}
	return s.pack()
}

// pack packs what was sealed.
func (s *Store) pack() (packs int, err error) {
	p := packing.Packer{Files: s.files, Version: s.sealer.Version, Now: time.Now(), Rules: packing.StandardRules()}
	if err := p.Pack(); err != nil {
		return p.Written, fmt.Errorf("packing store %s: %w", s.dir, err)
	}
	s.sealer.Made = 0
	return p.Written, nil
}
