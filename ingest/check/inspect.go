package check

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/layout"
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
		err = in.count(files)
	}
	if err != nil {
		return in, fmt.Errorf("inspecting store %s: %w", dir, err)
	}
	return in, nil
}

func (in *Inspected) count(f disk.Files) error {
	places := map[string]int{}
	for i, zone := range layout.Zones {
		places[zone] = i
		in.Zones = append(in.Zones, Zone{Name: zone})
	}
	err := layout.Walk(f, func(s layout.File) error {
		if s.Kind == layout.KindBroken {
			return nil
		}
		info, err := s.Entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // moved
		}
		if err != nil {
			return err
		}
		switch s.Kind {
		case layout.KindTemp:
			in.Temporary++
		case layout.KindForeign:
			in.Foreign++
		}
		if at, ok := places[s.Zone]; ok && !s.Entry.IsDir() {
			in.Zones[at].Files++
			in.Zones[at].Bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		return err
	}
	claims, err := layout.ListClaims(f)
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
