package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Merged counts what a merge did.
type Merged struct {
	Added     int // runs
	Healed    int // stored runs whose lost samples or ops were restored
	Skipped   int // runs that were already stored
	Differing int // skipped runs of imported files that are stored with another path or other tags; those stay unchanged
	Refused   int // damaged files, and runs that are stored with the same id and another digest
	Events    int // copied events
	Artifacts int // copied artifacts
	Pruned    int // artifacts of the other store that were pruned here since, and are not copied
}

// Merging are the options of Merge.
type Merging struct {
	RestorePruned bool          // copy artifacts that were pruned here too
	Refused       func(LeftOut) // called for each file or run that cannot be taken
}

// mergeFiles is how many sealed files are compared at the same time.
const mergeFiles = 128

// mergeLive is the maximum number of live runs in one new sealed file.
const mergeLive = 4096

// ErrSameStore is the error of a merge of a store into itself.
var ErrSameStore = errors.New("it is the same store")

// Merge copies everything that the store in another directory has and this one lacks. The other store is only read. A
// sealed file is copied as it is if it matches its hash and none of its runs is here. From the other sealed files, and
// from live runs, Merge makes new sealed files. A run that both stores have with equal digests is skipped; if it has lost
// samples or ops to damage here, they are restored.
//
// Merge calls o.Refused for each file or run that it cannot take, with the path in the other store, and merges the rest.
// These are damaged files (Damaged), and runs that are stored here with another digest. Merges and AppendAll of one store
// take turns, because each looks up which runs are stored before it adds others. If a merge is interrupted, each run is
// complete or absent, and merging again does the rest. The error wraps schema.ErrNoStore, schema.ErrFormat or
// schema.ErrDamaged if the other store cannot be listed, or is one of the file system or the context.
func (s *Store) Merge(ctx context.Context, from string, o Merging) (Merged, error) {
	fail := func(done Merged, err error) (Merged, error) {
		return done, fmt.Errorf("merging store %s into %s: %w", from, s.dir, err)
	}
	source, err := disk.NewOS(from)
	if err != nil {
		return fail(Merged{}, err)
	}
	here, err := disk.NewOS(s.dir)
	if err != nil {
		return fail(Merged{}, err)
	}
	inside, around := within(string(source.Dir), string(here.Dir)), within(string(here.Dir), string(source.Dir))
	switch {
	case inside && around: // one of the paths may have a symbolic link
		return fail(Merged{}, ErrSameStore)
	case inside || around:
		return fail(Merged{}, errors.New("one store is inside the other"))
	}
	unlock, err := s.files.Lock(ctx)
	if err != nil {
		return fail(Merged{}, err)
	}
	defer unlock()
	m := &merging{from: source, into: s.files, version: s.sealer.Version, refused: o.Refused, restore: o.RestorePruned, list: listWhole}
	if err := m.merge(ctx); err != nil {
		return fail(m.done, err)
	}
	return m.done, nil
}

// merging is the state of one merge.
type merging struct {
	from     fs.FS
	into     disk.Files
	version  string
	refused  func(LeftOut)
	restore  bool // artifacts that were pruned
	list     func(from fs.FS) (*schema.Listing, error)
	reported map[string]bool // what was refused, when all is looked at again
	done     Merged
	live     map[schema.ULID]schema.LiveFile // of the store that is merged into
	lost     runfile.Lost                    // of the other store
	synced   map[string]bool                 // directories of it
}

func listWhole(from fs.FS) (*schema.Listing, error) { return schema.List(from, schema.Scope{}) }

// merge starts again as long as runs are being sealed in one of the stores. Work that is done is not repeated.
func (m *merging) merge(ctx context.Context) error {
	m.reported = map[string]bool{}
	err := runfile.ErrMoved
	for attempt := 0; errors.Is(err, runfile.ErrMoved) && attempt < runfile.MaxMoves; attempt++ {
		m.done.Skipped = 0
		err = m.all(ctx)
	}
	return err
}

func (m *merging) all(ctx context.Context) error {
	listing, err := m.list(m.from)
	if errors.Is(err, schema.ErrDamaged) {
		return fmt.Errorf("%w; run store repair on it first", err)
	}
	if err != nil {
		return err
	}
	m.lost = runfile.ReadLost(m.from)
	here, err := schema.List(m.into, schema.Scope{Newest: 1})
	if err != nil {
		return err
	}
	m.live, m.synced = map[schema.ULID]schema.LiveFile{}, map[string]bool{}
	for _, f := range here.Live {
		m.live[f.Run] = f
	}
	var pruned map[string]time.Time
	if !m.restore {
		pruned = runfile.ReadPruned(m.into)
	}
	copied, left, err := runfile.CopyArtifacts(ctx, m.from, m.into, pruned, m.refuse)
	m.done.Artifacts, m.done.Pruned = m.done.Artifacts+copied, left
	if err != nil {
		return err
	}
	slices.SortFunc(listing.Sealed, func(a, b schema.SealedFile) int {
		return int(min(max(a.First-b.First, -1), 1))
	})
	for batch := range slices.Chunk(listing.Sealed, mergeFiles) {
		if err := m.sealed(ctx, batch); err != nil {
			return err
		}
	}
	slices.SortFunc(listing.Live, func(a, b schema.LiveFile) int { return a.Run.Compare(b.Run) })
	for batch := range slices.Chunk(listing.Live, mergeLive) {
		if err := m.liveRuns(ctx, batch); err != nil {
			return err
		}
	}
	healed, err := m.heal(ctx, listing)
	m.done.Healed += healed
	if err != nil {
		return err
	}
	if err := m.events(ctx, listing.Events); err != nil {
		return err
	}
	_, err = m.heal(ctx, listing) // even if nothing was copied: events of the other store may concern rows that are here
	return err
}

// refuse reports, once, that a file or a run is not taken.
func (m *merging) refuse(name string, err error) {
	if in, ok := errors.AsType[*runfile.FileError](err); ok {
		name, err = in.Path, in.Err
	}
	damaged := errors.Is(err, schema.ErrDamaged)
	if f := (LeftOut{Path: name, Problem: runfile.ProblemText(err), Damaged: damaged}); !m.reported[f.Path+f.Problem] {
		m.reported[f.Path+f.Problem] = true
		m.done.Refused++
		m.refused(f)
	}
}

// liveRuns writes those live runs of the other store that are not here into a sealed file.
func (m *merging) liveRuns(ctx context.Context, files []schema.LiveFile) error {
	var runs []schema.ULID
	for _, f := range files {
		runs = append(runs, f.Run)
	}
	known, err := m.known(runs)
	if err != nil {
		return err
	}
	var wanted []schema.LiveFile
	for _, f := range files {
		live, err := runfile.ReadLiveFile(m.from, f)
		if runfile.AboutContent(err) {
			m.refuse(f.Path(), err)
			continue
		}
		if err != nil {
			return runfile.Moved(err)
		}
		if m.isNew(f.Path(), met{f.Run, live.Digest, fromFile(live.Run)}, known) {
			wanted = append(wanted, f)
		}
	}
	if err := m.write(ctx, &runfile.LiveRuns{FS: m.from, Files: wanted}); err != nil {
		return runfile.Moved(err)
	}
	m.done.Added += len(wanted)
	return nil
}

// events copies the events that are not here.
func (m *merging) events(ctx context.Context, listed schema.Events) error {
	if len(listed.Files) == 0 {
		return nil
	}
	if err := disk.MakeDirs(m.into, schema.EventsDir); err != nil {
		return err
	}
	names, removed, err := m.newEvents(ctx, listed)
	if err == nil {
		err = m.recordAbsent(removed)
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := disk.CopyFile(m.from, m.into, name); err != nil {
			return err
		}
		m.done.Events++
	}
	return disk.SyncDir(m.into, schema.EventsDir)
}

// newEvents are the files of the events that are not here, and the runs that these remove.
func (m *merging) newEvents(ctx context.Context, listed schema.Events) (names []string, removed []schema.ULID, err error) {
	for _, id := range listed.Files {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		name := schema.EventFile(id)
		there, err := disk.Exists(m.into, name)
		if err != nil {
			return nil, nil, err
		}
		if there {
			continue
		}
		e, err := schema.ReadEvent(m.from, id)
		if runfile.AboutContent(err) {
			m.refuse(name, err)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		names = append(names, name)
		if e.Kind != schema.EventRemove {
			continue
		}
		for _, text := range e.Runs {
			run, err := schema.ParseULID(text)
			if err != nil {
				return nil, nil, err
			}
			removed = append(removed, run)
		}
	}
	return names, removed, nil
}

// recordAbsent says, before their events are here, that of removed runs some are not. Those of the other store that can be read are here.
func (m *merging) recordAbsent(removed []schema.ULID) error {
	slices.SortFunc(removed, schema.ULID.Compare)
	removed = slices.Compact(removed)
	known, err := m.known(removed)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(removed, func(id schema.ULID) bool { _, is := known[id]; return !is }) {
		return runfile.WriteAbsentEvent(m.into)
	}
	return nil
}
