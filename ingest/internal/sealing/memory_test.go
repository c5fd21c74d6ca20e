package sealing

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestSealForgets: nothing is remembered once it is sealed, and never more than a few MiB.
func TestSealForgets(t *testing.T) {
	dir := t.TempDir()
	files := valuetest.Must(disk.NewOS(dir))
	s := Sealer{Files: files, Version: "test", Rules: StandardRules(), Own: []schema.ULID{schema.NewULID(time.Now())}}
	remember := func(run schema.Run) {
		digest := schema.DigestOf(&run)
		content := valuetest.Must(table.NewEncoder("test").Encode(&run, digest))
		id := valuetest.Must(schema.ParseULID(run.RunID))
		name := filepath.Join(dir, schema.LiveFile{Segment: s.Own[0], Run: id}.Path())
		valuetest.OK(t, os.MkdirAll(filepath.Dir(name), 0o700))
		valuetest.OK(t, os.WriteFile(name, content, 0o600))
		s.Copy(id, content, &run, digest)(true)
	}
	large := runtest.Full()
	large.Metrics[0].Ticks = make([]int64, 1<<20) // 8 MiB, and very little in a file
	if remember(large); len(s.memory.runs) > 0 {
		t.Error("a large run is remembered")
	}
	remember(runtest.Full())
	if remember(runtest.Full()); len(s.memory.runs) != 2 {
		t.Errorf("%d runs are remembered, want 2", len(s.memory.runs))
	}
	refused := runtest.Full()
	if s.Copy(schema.NewULID(time.Now()), nil, &refused, "")(false); len(s.memory.runs) != 2 {
		t.Error("a run that was not acknowledged is remembered")
	}
	if n, err := s.Seal(t.Context(), 1); err != nil || n != 3 {
		t.Fatalf("%d runs sealed, want 3: %v", n, err)
	}
	if len(s.memory.runs) > 0 || s.memory.size > 0 {
		t.Errorf("%d sealed runs are remembered", len(s.memory.runs))
	}
}

// TestSealRemembers: all runs that are sealed at once are remembered, where each has 1,000 samples with their times.
func TestSealRemembers(t *testing.T) {
	t.Parallel()
	var s Sealer
	run := runtest.Full()
	run.Ops = nil
	const samples = 1000
	run.Metrics[0].Ticks, run.Metrics[0].AtNS = make([]int64, samples), make([]int64, samples)
	for i := range samples {
		run.Metrics[0].Ticks[i], run.Metrics[0].AtNS[i] = int64(i)*7919%samples, int64(i)*1_000_003
	}
	digest := schema.DigestOf(&run)
	content := valuetest.Must(table.NewEncoder("test").Encode(&run, digest))
	many := StandardRules().Runs
	for range many {
		s.Copy(schema.NewULID(time.Now()), content, &run, digest)(true)
	}
	if len(s.memory.runs) != many {
		t.Errorf("%d runs of %d are remembered", len(s.memory.runs), many)
	}
}
