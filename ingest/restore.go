package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// QuarantineDir is the directory of a store into which a repair moves damaged files, under their old paths.
const QuarantineDir = disk.QuarantineDir

// RestoreQuarantine copies intact content of QuarantineDir back into the store, as Merge does from another store: missing
// runs, lost samples and ops, events and artifacts. To restore a damaged file, replace it in QuarantineDir by a good copy
// first. Nothing is removed from QuarantineDir. refused is called as in Merge.
func (s *Store) RestoreQuarantine(ctx context.Context, refused func(LeftOut)) (Merged, error) {
	unlock, err := s.files.Lock(ctx)
	if err != nil {
		return Merged{}, fmt.Errorf("restoring the quarantine of store %s: %w", s.dir, err)
	}
	defer unlock()
	m := &merging{from: asideFiles{s.files}, into: s.files, version: s.sealer.Version, refused: refused, list: listAside}
	if err = m.merge(ctx); err == nil {
		err = m.refuseDamaged()
	}
	if err != nil {
		return m.done, fmt.Errorf("restoring the quarantine of store %s: %w", s.dir, err)
	}
	return m.done, nil
}

// refuseDamaged reports sealed files of QuarantineDir that are still damaged. Their intact rows were kept by the repair.
func (m *merging) refuseDamaged() error {
	listing, err := m.list(m.from)
	if err != nil {
		return err
	}
	for _, f := range listing.Sealed {
		for _, t := range runfile.Tables {
			name := f.Path(schema.TableFolders[t])
			if err := runfile.CheckHash(m.into, path.Join(QuarantineDir, name)); runfile.AboutContent(err) {
				m.refuse(name, errors.Unwrap(err))
			}
		}
	}
	return nil
}

// asideFiles are the files of QuarantineDir under their old paths. A path that is missing there is read from the store: it is another
// file of a sealed file of which one was moved.
type asideFiles struct{ store fs.FS }

// Open opens a file or a directory.
func (a asideFiles) Open(name string) (fs.File, error) {
	file, err := a.store.Open(path.Join(QuarantineDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return a.store.Open(name)
	}
	return file, err
}

// Stat describes the file or directory with a name.
func (a asideFiles) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(a.store, path.Join(QuarantineDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return fs.Stat(a.store, name)
	}
	return info, err
}

// listAside lists the files of a store that were set aside.
func listAside(from fs.FS) (*schema.Listing, error) {
	all, ok := from.(asideFiles)
	if !ok {
		return nil, fmt.Errorf("listing the quarantine: %w", errors.ErrUnsupported)
	}
	aside, err := fs.Sub(all.store, disk.QuarantineDir)
	if err != nil {
		return nil, err
	}
	l := &schema.Listing{}
	for _, t := range runfile.Tables {
		files, err := schema.ListZone(aside, schema.TableFolders[t])
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if disk.IsThere(all, f.Path(schema.RunsDir)) && !slices.Contains(l.Sealed, f) {
				l.Sealed = append(l.Sealed, f)
			}
		}
	}
	if l.Live, err = liveAside(aside); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(aside, schema.EventsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if id, err := schema.ParseEventFile(e.Name()); err == nil {
			l.Events.Files = append(l.Events.Files, id)
		}
	}
	return l, nil
}

// liveAside lists the live runs that were set aside.
func liveAside(aside fs.FS) (files []schema.LiveFile, err error) {
	segments, err := disk.ListSegments(aside, schema.LiveDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	add := func(segments []disk.Segment, claim *schema.Claim) {
		for _, segment := range segments {
			for _, run := range segment.Runs {
				files = append(files, schema.LiveFile{Claim: claim, Segment: segment.ID, Run: run})
			}
		}
	}
	add(segments, nil)
	claims, err := disk.ListClaims(aside)
	if err != nil {
		return nil, err
	}
	for _, c := range claims {
		if segments, err = disk.ListSegments(aside, c.Path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		add(segments, &c)
	}
	return files, nil
}
