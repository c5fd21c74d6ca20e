package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/neurolens/neurolens/schema"
)

// Segment is a segment in LiveDir or in a claim, with the runs that it had when it was listed.
type Segment struct {
	ID   schema.ULID
	Runs []schema.ULID
}

// ParseRunName parses the name of a run's file without its directory.
func ParseRunName(name string) (run schema.ULID, ok bool) {
	f, err := schema.ParseLiveFile(path.Join(path.Dir(schema.LiveFile{}.Path()), name))
	return f.Run, err == nil
}

// ListSegments lists the segments in a directory, with their runs. A segment that disappears in the meantime is left out.
func ListSegments(f fs.FS, dir string) ([]Segment, error) {
	entries, err := fs.ReadDir(f, dir)
	if err != nil {
		return nil, err
	}
	var all []Segment
	for _, e := range entries {
		id, err := schema.ParseULID(e.Name())
		if err != nil || !e.IsDir() {
			continue
		}
		files, err := fs.ReadDir(f, path.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		segment := Segment{ID: id}
		for _, file := range files {
			if run, ok := ParseRunName(file.Name()); ok {
				segment.Runs = append(segment.Runs, run)
			}
		}
		all = append(all, segment)
	}
	return all, nil
}

// ListClaims lists the claims, in ascending order of their ids.
func ListClaims(f fs.FS) ([]schema.Claim, error) {
	entries, err := fs.ReadDir(f, schema.ClaimsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []schema.Claim
	for _, e := range entries {
		if c, err := schema.ParseClaim(e.Name()); err == nil && e.IsDir() {
			all = append(all, c)
		}
	}
	return all, nil
}

// PlannedFile returns the sealed file that a plan names.
func PlannedFile(c schema.Claim, plan schema.Plan) (schema.SealedFile, error) {
	f, err := schema.ParseSealedFile(plan.File)
	if err != nil || f.ID != c.ID || f.Rows != len(plan.Runs) {
		return f, fmt.Errorf("%w: the plan of %s names the sealed file %q for %d runs", schema.ErrDamaged, c.Path(), plan.File, len(plan.Runs))
	}
	return f, nil
}
