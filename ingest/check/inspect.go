package check

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/schema"
)

// Zone counts the files of a directory of a store.
type Zone struct {
	Name  string
	Files int
	Bytes int64
}

// Inspected is a summary of the names and sizes of a store's files.
type Inspected struct {
	Zones      []Zone // all directories that a store can have, in the order in which runs move through them
	Temporary  int    // files that are being written, or that a dead writer left
	Unfinished int    // claims whose runs are not sealed yet
	Foreign    int    // files that do not belong to a store
}

// Inspect counts the files of a store. It opens no file except the plans of claims, and writes nothing.
func Inspect(dir string) (Inspected, error) {
	var in Inspected
	files, err := disk.NewOS(dir)
	if err == nil {
		err = in.count(disk.Sizes{OS: files})
	}
	if err != nil {
		return in, fmt.Errorf("inspecting store %s: %w", dir, err)
	}
	return in, nil
}

func (in *Inspected) count(f disk.Files) error {
	workers := runtime.GOMAXPROCS(0)
	tallies := make([]tally, workers)
	for i := range tallies {
		tallies[i].zones = map[string]Zone{}
	}
	sizes := schema.KnownSizes(f)
	known := func(worker int, dir disk.StoreFile) bool {
		size, ok := sizes(dir.Path)
		tallies[worker].count(dir.Zone, size.Files, size.Bytes)
		return ok
	}
	err := disk.WalkAtOnce(f, workers, known, func(worker int, s disk.StoreFile) error { return tallies[worker].add(s) })
	if err != nil {
		return err
	}
	for _, zone := range disk.Zones {
		sum := Zone{Name: zone}
		for _, t := range tallies {
			sum.Files, sum.Bytes = sum.Files+t.zones[zone].Files, sum.Bytes+t.zones[zone].Bytes
		}
		in.Zones = append(in.Zones, sum)
	}
	for _, t := range tallies {
		in.Temporary, in.Foreign = in.Temporary+t.temporary, in.Foreign+t.foreign
	}
	return in.countUnfinished(f)
}

// tally has the counts of one of the workers of a walk.
type tally struct {
	zones              map[string]Zone
	temporary, foreign int
}

func (t *tally) add(s disk.StoreFile) error {
	if s.Kind == disk.KindBroken {
		return nil
	}
	size, err := disk.Size(s.Entry)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // moved
	}
	if err != nil {
		return err
	}
	switch s.Kind {
	case disk.KindTemp:
		t.temporary++
	case disk.KindForeign:
		t.foreign++
	}
	if !s.Entry.IsDir() {
		t.count(s.Zone, 1, size)
	}
	return nil
}

func (t *tally) count(zone string, files int, bytes int64) {
	sum := t.zones[zone]
	sum.Files, sum.Bytes = sum.Files+files, sum.Bytes+bytes
	t.zones[zone] = sum
}

// countUnfinished counts the claims that are not sealed.
func (in *Inspected) countUnfinished(f disk.Files) error {
	claims, err := disk.ListClaims(f)
	if err != nil {
		return err
	}
	s := sealing.Sealer{Files: f, Rules: sealing.StandardRules()}
	for _, c := range claims {
		if finished, _, err := s.Finished(c); err == nil && !finished || errors.Is(err, schema.ErrDamaged) {
			in.Unfinished++
		}
	}
	return nil
}
