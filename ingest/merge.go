package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
)

// Merged counts what a merge did.
type Merged struct {
	Added     int // runs
	Healed    int // runs that were there before, of which samples or ops that were lost are there again
	Skipped   int // runs that were there before
	Differing int // of these, runs of files that are here with another path or other tags, and stay as they are
	Refused   int // runs of which the store has others with the same id, and files
	Events    int // copied
	Artifacts int // copied
}

// mergeFiles is how many sealed files are looked at together.
const mergeFiles = 128

// mergeLive is how many live runs become one sealed file at most.
const mergeLive = 4096

// Merge copies what the store in another directory has and this one lacks. The other is only read. Sealed files are
// copied whole, if they match their hashes and none of their runs is here; of those that have some runs that are here,
// and of live runs, new sealed files are made. A run that both have, with equal digests, is skipped; where it has lost
// samples or ops to damage here, it gets them again.
//
// What cannot be taken is handed to refused, with its path in the other store, and the rest is merged: a damaged file
// (Damaged), and a run that is here with another digest. Merges and AppendAll of one store take turns: each looks
// which runs are there before it adds others. Whatever stops a merge, each run is whole or absent, and merging again does
// the rest. The error wraps schema.ErrNoStore, schema.ErrFormat or schema.ErrDamaged where the other directory is
// no store that can be listed, or is one of the file system or the context.
func (s *Store) Merge(ctx context.Context, from string, refused func(LeftOut)) (Merged, error) {
	fail := func(done Merged, err error) (Merged, error) {
		return done, fmt.Errorf("merging store %s into %s: %w", from, s.dir, err)
	}
	source, err := disk.NewOS(from)
	if err != nil {
		return fail(Merged{}, err)
	}
	if here, err := disk.NewOS(s.dir); err != nil || within(string(source.Dir), string(here.Dir)) || within(string(here.Dir), string(source.Dir)) {
		return fail(Merged{}, errors.Join(err, errors.New("one store is inside the other")))
	}
	unlock, err := s.files.Lock(ctx)
	if err != nil {
		return fail(Merged{}, err)
	}
	defer unlock()
	m := &merging{from: source, into: s.files, version: s.sealer.Version, refused: refused, list: listWhole}
	if err := m.merge(ctx); err != nil {
		return fail(m.done, err)
	}
	return m.done, nil
}

// merging is what a merge knows.
type merging struct {
	from    fs.FS
	into    disk.Files
	version string
	refused func(LeftOut)
	list    func(from fs.FS) (*schema.Listing, error)
	told    map[string]bool // what was refused, when all is looked at again
	done    Merged
	live    map[schema.ULID]schema.LiveFile // of the store that is merged into
	lost    runfile.Lost                    // of the other store
	synced  map[string]bool                 // directories of it
}

func listWhole(from fs.FS) (*schema.Listing, error) { return schema.List(from, schema.Scope{}) }

// merge begins anew as long as sealing goes on in one of the stores. What was done by then is found done.
func (m *merging) merge(ctx context.Context) error {
	m.told = map[string]bool{}
	err := runfile.ErrMoved
	for attempt := 0; errors.Is(err, runfile.ErrMoved) && attempt < runfile.MostMoves; attempt++ {
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
	copied, err := runfile.CopyArtifacts(ctx, m.from, m.into, runfile.ReadPruned(m.into), m.refuse)
	m.done.Artifacts += copied
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
	_, err = m.heal(ctx, listing) // events of the other store may speak of rows that are here
	return err
}

// refuse says, once, that a file or a run is not taken.
func (m *merging) refuse(name string, err error) {
	if in, ok := errors.AsType[*runfile.FileError](err); ok {
		name, err = in.Path, in.Err
	}
	damaged := errors.Is(err, schema.ErrDamaged)
	if f := (LeftOut{Path: name, Problem: runfile.ProblemText(err), Damaged: damaged}); !m.told[f.Path+f.Problem] {
		m.told[f.Path+f.Problem] = true
		m.done.Refused++
		m.refused(f)
	}
}

// liveRuns makes a sealed file of those live runs of the other store that are not here.
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
	for _, id := range listed.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := schema.EventFile(id)
		there, err := disk.Exists(m.into, name)
		if err != nil {
			return err
		}
		if there {
			continue
		}
		_, err = schema.ReadEvent(m.from, id)
		if runfile.AboutContent(err) {
			m.refuse(name, err)
			continue
		}
		if err != nil {
			return err
		}
		if err := disk.CopyFile(m.from, m.into, name); err != nil {
			return err
		}
		m.done.Events++
	}
	return disk.SyncDir(m.into, schema.EventsDir)
}
