package sealing

import (
	"crypto/sha256"

	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// maxMemory is the size, in B, of runs that are remembered until they are sealed: as many as are sealed at once, with 1,000 samples each.
// Runs with more samples took longer to measure than their files to be read again.
const maxMemory = 8 << 20

// memory caches runs that this process has appended and not sealed yet, so that their files need not be decoded.
type memory struct {
	runs map[schema.ULID]remembered
	size int // of the runs together, in B
}

// remembered is a run, and the hash of its file.
type remembered struct {
	sum  [sha256.Size]byte
	live *table.Live
	size int // in B
}

// Copy begins to copy a run that is being appended, if there is room, so that its file need not be decoded. content is its file. The
// copy is made while the file is written, which is mostly waiting. Neither may change before copied returns. It keeps the copy if the
// run was acknowledged.
func (s *Sealer) Copy(id schema.ULID, content []byte, run *schema.Run, digest string) (copied func(acknowledged bool)) {
	size := len(content) + sizeOf(run)
	if s.memory.size+size > maxMemory {
		return func(bool) {}
	}
	done := make(chan remembered, 1)
	go func() { done <- remembered{sha256.Sum256(content), table.LiveOf(run, digest), size} }()
	return func(acknowledged bool) {
		if run := <-done; acknowledged {
			s.memory.remember(id, run)
		}
	}
}

func (m *memory) remember(id schema.ULID, run remembered) {
	if m.runs == nil {
		m.runs = map[schema.ULID]remembered{}
	}
	m.runs[id] = run
	m.size += run.size
}

// sizeOf returns the size, in B, of the parts of a run that may be far smaller in its file.
func sizeOf(run *schema.Run) int {
	const value, op = 8, 1 << 10
	size := op * len(run.Ops)
	for i := range run.Metrics {
		m := &run.Metrics[i]
		for _, n := range []int{len(m.Ticks), len(m.Reals), len(m.WarmupTicks), len(m.WarmupReals), len(m.AtNS), len(m.IterationsPerSample)} {
			size += value * n
		}
	}
	return size
}

func (m *memory) forget() { *m = memory{} }

// readLive reads the file of a run, as runfile.ReadLiveFile does. If its bytes equal the bytes that this process has written, the
// decoded run is taken from memory.
func (s *Sealer) readLive(f schema.LiveFile) (*table.Live, error) {
	known, ok := s.memory.runs[f.Run]
	if !ok {
		return runfile.ReadLiveFile(s.Files, f)
	}
	content, err := runfile.ReadRunFile(s.Files, f.Path())
	if err != nil {
		return nil, err
	}
	live := known.live
	if sha256.Sum256(content) != known.sum || live.RunID != f.Run.String() || schema.DigestOfRows(live.Run, live.Samples, live.Ops) != live.Digest {
		return runfile.ReadLiveFile(s.Files, f)
	}
	return live, nil
}
