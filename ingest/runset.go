package ingest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"

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

func newRunSet(f files, version string) (*runSet, error) {
	if err := makeDirs(f, schema.TmpDir); err != nil {
		return nil, err
	}
	names := map[*schema.Table]string{}
	for _, t := range sealedTables {
		names[t] = tempName()
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
		if err := makeDirs(s.files, path.Dir(name)); err != nil {
			return err
		}
		if err := place(s.files, s.name(t), name); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := syncDir(s.files, path.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

// exists tells whether a name is there, or why that cannot be told.
func exists(f fs.FS, name string) (bool, error) {
	_, err := fs.Stat(f, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// removeAll removes temporary files; where that fails, the next writer does it after a day.
func removeAll(f files, names []string) {
	for _, name := range names {
		_ = f.remove(name)
	}
}

// copyFile copies a file of a store to another one under its name, whole and fsynced before it has the name, which is
// durable after an fsync of its directory. A name that is there already is that file.
func copyFile(from fs.FS, into files, name string) error { return copyAs(from, name, into, name) }

// copyAs is copyFile to another name.
func copyAs(from fs.FS, name string, into files, to string) error {
	source, err := from.Open(name)
	if err != nil {
		return err
	}
	defer source.Close()
	t, err := createTemp(into)
	if err != nil {
		return err
	}
	defer t.remove()
	_, err = io.Copy(t.file, source)
	if err == nil {
		err = t.file.Sync()
	}
	if closeErr := t.file.Close(); err == nil {
		err = closeErr
	}
	t.file = nil
	if err != nil {
		return err
	}
	if err := place(into, t.name, to); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// copyArtifacts copies the artifacts that a store lacks, and gives their number. One that does not match its name is
// handed to refuse.
func copyArtifacts(ctx context.Context, from fs.FS, into files, refuse func(name string, err error)) (int, error) {
	copied := 0
	if there, err := exists(from, schema.ArtifactsDir); err != nil || !there {
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
	err := walkZone(from, schema.ArtifactsDir, func(s stored) error {
		if s.kind == kindBroken {
			return refused(damagedf(s.path, "it is no file or directory of its own"))
		}
		if s.kind != kindArtifact {
			return ctx.Err()
		}
		there, err := exists(into, s.path)
		if err != nil {
			return err
		}
		if there { // whoever put it there may not have come to the fsync
			dirs[path.Dir(s.path)] = true
			return nil
		}
		if err := checkArtifact(from, s.path); err != nil {
			return refused(inFile(s.path, err))
		}
		dir := path.Dir(s.path)
		if !dirs[dir] {
			if err := makeDirs(into, dir); err != nil {
				return err
			}
			dirs[dir] = true
		}
		copied++
		return copyFile(from, into, s.path)
	})
	for dir := range dirs {
		if err == nil {
			err = syncDir(into, dir)
		}
	}
	return copied, err
}
