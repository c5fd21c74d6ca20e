package bucket

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// local is what a store on the disk has.
type local struct {
	disk.OS
	header  schema.Header
	listing *schema.Listing
	names   map[string]bool      // of sealed files, without their directory
	events  map[schema.ULID]bool //
	runs    []schema.ULID        // of all runs that are there or removed, ascending; nil until they are needed
}

// openLocal lists a store.
func openLocal(dir string) (*local, error) {
	files, err := disk.NewOS(dir)
	if err != nil {
		return nil, err
	}
	l := &local{OS: files, names: map[string]bool{}, events: map[schema.ULID]bool{}}
	if l.header, err = schema.ReadHeader(files); err != nil {
		return nil, err
	}
	if l.listing, err = schema.List(files, schema.Scope{}); err != nil {
		return nil, err
	}
	for _, f := range l.listing.Sealed {
		l.names[f.Name()] = true
	}
	for _, id := range l.listing.Events.Files {
		l.events[id] = true
	}
	return l, nil
}

// hasRun reports whether a run is stored, or was removed.
func (l *local) hasRun(ctx context.Context, id schema.ULID) (bool, error) {
	if l.runs == nil {
		if err := l.readRuns(ctx); err != nil {
			return false, err
		}
	}
	_, found := slices.BinarySearchFunc(l.runs, id, schema.ULID.Compare)
	return found, nil
}

// readRuns reads the ids of all runs.
func (l *local) readRuns(ctx context.Context) error {
	l.runs = []schema.ULID{}
	for _, f := range l.listing.Sealed {
		err := runfile.EachDigest(l, f, func(run schema.ULID, _ string) { l.runs = append(l.runs, run) })
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
	for _, f := range l.listing.Live {
		l.runs = append(l.runs, f.Run)
	}
	for id := range runfile.ReadRemoved(l) {
		run, err := schema.ParseULID(id)
		if err != nil {
			return err
		}
		l.runs = append(l.runs, run)
	}
	slices.SortFunc(l.runs, schema.ULID.Compare)
	return nil
}

// lacks reports whether a store lacks runs and events of a push.
func (l *local) lacks(ctx context.Context, b *Bucket, n int64) (runs, events bool, err error) {
	m := b.pushes[n].summary
	events = slices.ContainsFunc(m.EventIDs, func(id schema.ULID) bool { return !l.events[id] })
	if l.hasNames(m) {
		return false, events, nil
	}
	if len(l.names) == 0 && len(l.listing.Live) == 0 && len(l.events) == 0 {
		return true, events, nil // nothing is there
	}
	ids, err := b.runIDs(ctx, n)
	for _, id := range ids {
		has, err := l.hasRun(ctx, id)
		if err != nil || !has {
			return true, events, err
		}
	}
	return false, events, err
}

// hasNames reports whether the files of a push, or the files that it was made from, are there by their names.
func (l *local) hasNames(m *manifest) bool {
	has := func(f schema.SealedFile) bool { return l.names[f.Name()] }
	if files := m.sealedFiles(); !slices.ContainsFunc(files, func(f schema.SealedFile) bool { return !has(f) }) {
		return true
	}
	if m.Writer != l.header.StoreID || len(m.Sources) == 0 {
		return false
	}
	return !slices.ContainsFunc(m.Sources, func(name string) bool { return !l.names[name] })
}

// artifactsOf lists the paths of the stored files that a run names and that are there.
func artifactsOf(store fs.FS, row []any) (names []string, err error) {
	for _, a := range schema.ArtifactsOf(row) {
		name, err := schema.FindArtifact(store, a.SHA256)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was not kept, or it was pruned
		}
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// wantedOf lists the stored files that the wanted runs of a sealed file name, by their hashes, and reports whether it has wanted runs.
func wantedOf(store fs.FS, sealed schema.SealedFile, wanted map[string]bool) (artifacts []string, some bool, err error) {
	err = runfile.EachRow(store, sealed, []string{runfile.RunIDColumn, "artifacts"}, func(row []any) error {
		if run, _ := row[runfile.RunIDPlace].(string); !wanted[run] {
			return nil
		}
		some = true
		for _, a := range schema.ArtifactsOf(row) {
			artifacts = append(artifacts, a.SHA256)
		}
		return nil
	})
	return artifacts, some, err
}
