package ingest

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/layout"
	"github.com/neurolens/neurolens/ingest/table"
	"github.com/neurolens/neurolens/schema"
)

// errMoved says that a live run went elsewhere after it was listed: into a claim, or a sealed file.
var errMoved = errors.New("sealing goes on in the store that is read")

// moves bounds how often reading begins anew because of that.
const moves = 20

// moved turns the error of a file that is not there any more into errMoved.
func moved(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	return err
}

// runInputFile is a sealed file, or the temporary files of one.
type runInputFile struct {
	fsys   fs.FS
	sealed schema.SealedFile // of temporary files the range and the number of rows
	name   func(t *schema.Table) string
}

// sealedInput is a sealed file of a store.
func sealedInput(f fs.FS, sealed schema.SealedFile) runInputFile {
	return runInputFile{f, sealed, zoneName(sealed)}
}

func zoneName(f schema.SealedFile) func(t *schema.Table) string {
	return func(t *schema.Table) string { return f.Path(schema.TableZones[t]) }
}

// runSet are temporary files that become one sealed file, written run by run in ascending order.
type runSet struct {
	*sealedSet
	first, last schema.ULID
	rows        int
}

func newRunSet(f disk.Files, version string) (*runSet, error) {
	if err := disk.MakeDirs(f, schema.TmpDir); err != nil {
		return nil, err
	}
	names := map[*schema.Table]string{}
	for _, t := range sealedTables {
		names[t] = disk.TempName()
	}
	return &runSet{sealedSet: newSealedSet(f, version, func(t *schema.Table) string { return names[t] })}, nil
}

// names are those of the temporary files, whether they are there or not.
func (s *runSet) names() []string {
	var all []string
	for _, t := range sealedTables {
		all = append(all, s.name(t))
	}
	return all
}

func (s *runSet) write(live *table.Live) error {
	id, err := schema.ParseULID(live.RunID)
	if err != nil {
		return err
	}
	if s.rows == 0 {
		s.first = id
	}
	s.last = id
	s.rows++
	return writeLive(s.sealedSet, live)
}

// sealedFile names what the files are to become.
func (s *runSet) sealedFile(id schema.ULID) schema.SealedFile {
	return schema.SealedFile{ID: id, First: s.first.Time().UnixMilli(), Last: s.last.Time().UnixMilli(), Rows: s.rows}
}

// publish gives the finished files their names, those of runs last. A name that is there already has the same rows.
func (s *sealedSet) publish(f schema.SealedFile) error {
	for _, t := range sealedTables {
		if s.outs[t] == nil {
			continue
		}
		name := f.Path(schema.TableZones[t])
		if err := disk.MakeDirs(s.files, path.Dir(name)); err != nil {
			return err
		}
		if err := disk.Place(s.files, s.name(t), name); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := disk.SyncDir(s.files, path.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

// copyArtifacts copies the artifacts that a store lacks, and gives their number. One that does not match its name is
// handed to refuse.
func copyArtifacts(ctx context.Context, from fs.FS, into disk.Files, refuse func(name string, err error)) (int, error) {
	copied := 0
	if there, err := disk.Exists(from, schema.ArtifactsDir); err != nil || !there {
		return 0, err
	}
	refused := func(err error) error {
		if in, ok := errors.AsType[*fileError](err); ok && errors.Is(err, schema.ErrDamaged) {
			refuse(in.path, in.err)
			return nil
		}
		return err
	}
	dirs := map[string]bool{}
	err := layout.WalkZone(from, schema.ArtifactsDir, func(s layout.File) error {
		if s.Kind == layout.KindBroken {
			return refused(damagedf(s.Path, "it is no file or directory of its own"))
		}
		if s.Kind != layout.KindArtifact {
			return ctx.Err()
		}
		there, err := disk.Exists(into, s.Path)
		if err != nil {
			return err
		}
		if there { // whoever put it there may not have come to the fsync
			dirs[path.Dir(s.Path)] = true
			return nil
		}
		if err := checkArtifact(from, s.Path); err != nil {
			return refused(inFile(s.Path, err))
		}
		dir := path.Dir(s.Path)
		if !dirs[dir] {
			if err := disk.MakeDirs(into, dir); err != nil {
				return err
			}
			dirs[dir] = true
		}
		copied++
		return disk.CopyFile(from, into, s.Path)
	})
	for dir := range dirs {
		if err == nil {
			err = disk.SyncDir(into, dir)
		}
	}
	return copied, err
}
