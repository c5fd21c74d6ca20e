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
	names   map[string]bool // of sealed files, without their directory
	events  map[schema.ULID]bool
	runs    map[schema.SealedFile][]schema.ULID // of files that were read, ascending
	live    map[schema.ULID]bool
	removed map[string]bool // runs that events remove; nil until they are needed
}

// newLocal returns a store that is not listed yet.
func newLocal(dir string) (*local, error) {
	files, err := disk.NewOS(dir)
	return &local{OS: files, names: map[string]bool{}, events: map[schema.ULID]bool{}, runs: map[schema.SealedFile][]schema.ULID{}, live: map[schema.ULID]bool{}}, err
}

// openLocal lists a store.
func openLocal(dir string) (*local, error) {
	l, err := newLocal(dir)
	if err != nil {
		return nil, err
	}
	if l.header, err = schema.ReadHeader(l); err != nil {
		return nil, err
	}
	if l.listing, err = schema.List(l, schema.Scope{}); err != nil {
		return nil, err
	}
	for _, f := range l.listing.Sealed {
		l.names[f.Name()] = true
	}
	for _, f := range l.listing.Live {
		l.live[f.Run] = true
	}
	for _, id := range l.listing.Events.Files {
		l.events[id] = true
	}
	return l, nil
}

// sealedRuns returns the ids of the sealed runs, ascending.
func (l *local) sealedRuns(ctx context.Context) (ids []schema.ULID, err error) {
	for _, f := range l.listing.Sealed {
		err := runfile.EachDigest(l, f, func(run schema.ULID, _ string) { ids = append(ids, run) })
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(ids, schema.ULID.Compare)
	return ids, nil
}

// runsOf returns the ids of the runs of a sealed file, ascending.
func (l *local) runsOf(f schema.SealedFile) ([]schema.ULID, error) {
	ids, known := l.runs[f]
	if known {
		return ids, nil
	}
	err := runfile.EachDigest(l, f, func(run schema.ULID, _ string) { ids = append(ids, run) })
	l.runs[f] = ids
	return ids, err
}

// isRemoved reports whether events remove a run.
func (l *local) isRemoved(run schema.ULID) bool {
	if l.removed == nil {
		l.removed = runfile.ReadRemoved(l)
	}
	return l.removed[run.String()]
}

// lacks reports whether a store lacks runs and events of a push, whose manifest was read. A run that is in no file is not lacking if spared
// says so: a pull spares those that events remove, because a compaction may have left them out. Nil spares none.
func (l *local) lacks(ctx context.Context, log *pushLog, n int64, spared func(run schema.ULID) bool) (runs, events bool, err error) {
	m := log.pushes[n].summary
	events = slices.ContainsFunc(m.EventIDs, func(id schema.ULID) bool { return !l.events[id] })
	if l.hasNames(m) {
		return false, events, nil
	}
	ids, err := log.runIDs(ctx, n)
	if err != nil || len(ids) == 0 {
		return false, events, err
	}
	missing, err := l.missingOf(ctx, ids, spared)
	return len(missing) > 0, events, err
}

// missingOf returns those of some runs, whose ids ascend, that are not here and not spared. It reads the files that can have one of them.
func (l *local) missingOf(ctx context.Context, ids []schema.ULID, spared func(run schema.ULID) bool) (missing []schema.ULID, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	first, last := ids[0].Time().UnixMilli(), ids[len(ids)-1].Time().UnixMilli()
	var near []schema.SealedFile
	for _, f := range l.listing.Sealed {
		if f.First <= last && f.Last >= first {
			if _, err := l.runsOf(f); err != nil {
				return nil, err
			}
			near = append(near, f)
		}
	}
	for _, id := range ids {
		at := id.Time().UnixMilli()
		if slices.ContainsFunc(near, func(f schema.SealedFile) bool {
			if at < f.First || at > f.Last {
				return false
			}
			_, found := slices.BinarySearchFunc(l.runs[f], id, schema.ULID.Compare)
			return found
		}) {
			continue
		}
		if !l.live[id] && (spared == nil || !spared(id)) {
			missing = append(missing, id)
		}
	}
	return missing, ctx.Err()
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

// namedOf returns the hashes of the files that sealed runs of a store name. It passes over damaged files.
func namedOf(ctx context.Context, store *local) (map[string]bool, error) {
	named := map[string]bool{}
	for _, f := range store.listing.Sealed {
		err := runfile.EachRow(store, f, []string{runfile.RunIDColumn, "artifacts"}, func(row []any) error {
			for _, a := range schema.ArtifactsOf(row) {
				named[a.SHA256] = true
			}
			return ctx.Err()
		})
		if err != nil && !errors.Is(err, schema.ErrDamaged) {
			return nil, err
		}
	}
	return named, nil
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
