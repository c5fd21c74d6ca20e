package ingest

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/schema"
)

// Zone counts the files of a directory of a store.
type Zone struct {
	Name  string
	Files int
	Bytes int64
}

// Inspected is what the names and sizes of a store's files say.
type Inspected struct {
	Zones      []Zone // of all directories that a store can have, in the order in which runs go through them
	Temporary  int    // files that are being written, or that a writer that died left
	Unfinished int    // claims whose runs are not sealed yet
	Foreign    int    // files that no store has
}

// Inspect counts the files of a store. It opens none but plans of claims, and writes nothing.
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
	for i, zone := range zones {
		places[zone] = i
		in.Zones = append(in.Zones, Zone{Name: zone})
	}
	err := walkStore(f, func(s stored) error {
		if s.kind == kindBroken {
			return nil
		}
		info, err := s.entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // moved
		}
		if err != nil {
			return err
		}
		switch s.kind {
		case kindTemp:
			in.Temporary++
		case kindForeign:
			in.Foreign++
		}
		if at, ok := places[s.zone]; ok && !s.entry.IsDir() {
			in.Zones[at].Files++
			in.Zones[at].Bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		return err
	}
	claims, err := listClaims(f)
	if err != nil {
		return err
	}
	s := sealer{files: f, rules: standardRules()}
	for _, c := range claims {
		if settled, _, err := s.settled(c); err == nil && !settled || errors.Is(err, schema.ErrDamaged) {
			in.Unfinished++
		}
	}
	return nil
}
