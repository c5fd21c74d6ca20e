package ingest

import (
	"context"
	"fmt"
)

// SealDue finishes what others began, and seals what others left behind if it is worth a file. It gives the number of
// runs that it sealed. Unlike Seal, it leaves few runs as they are, for the next writer to seal with its own.
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
