package ingest

import (
	"context"
	"fmt"
)

// SealDue finishes the work of dead sealers, and seals runs that dead writers left if there are enough of them. It
// returns the number of runs that it sealed. Unlike Seal, it leaves a few runs unsealed: the next writer seals them
// together with its own.
func (s *Store) SealDue(ctx context.Context) (runs int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, fmt.Errorf("sealing store %s: it is closed", s.dir)
	}
	s.leaveSegment()
	if runs, err = s.sealer.SealAll(ctx, s.sealer.Rules.Together); err != nil {
		return runs, fmt.Errorf("sealing store %s: %w", s.dir, err)
	}
	return runs, nil
}
