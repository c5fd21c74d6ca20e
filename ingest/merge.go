package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Merged counts what a merge did.
type Merged struct {
	Added     int // runs
	Healed    int // stored runs whose lost samples or ops were restored
	Skipped   int // runs that were already stored
	Differing int // skipped runs of imported files that are stored with another path or other tags; the stored ones stay unchanged
	Refused   int // damaged files, and runs that are stored with the same id and another digest
	Events    int // copied events
	Artifacts int // copied artifacts
	Pruned    int // artifacts of the other store that were pruned here since, and are not copied
}

// Add adds the counts of another merge.
func (m *Merged) Add(o Merged) {
	m.Added, m.Healed, m.Skipped, m.Differing = m.Added+o.Added, m.Healed+o.Healed, m.Skipped+o.Skipped, m.Differing+o.Differing
	m.Refused, m.Events, m.Artifacts, m.Pruned = m.Refused+o.Refused, m.Events+o.Events, m.Artifacts+o.Artifacts, m.Pruned+o.Pruned
}

// Merging are the options of Merge.
type Merging struct {
	RestorePruned bool                  // copy artifacts that were pruned here too
	Only          func(run string) bool // the sealed runs to copy; nil: all
	Refused       func(LeftOut)         // called for each file or run that cannot be taken
}

// mergeFiles is how many sealed files are compared at the same time.
const mergeFiles = 128

// mergeLive is the maximum number of live runs in one new sealed file.
const mergeLive = 4096

// ErrSameStore is the error of a merge of a store into itself.
var ErrSameStore = errors.New("it is the same store")

// Merge copies everything that the store in another directory has and this one lacks. The other store is only read. A sealed file is
// copied unchanged if it matches its hash and none of its runs is here. From the other sealed files, and from live runs, Merge makes new
// sealed files. A run that both stores have with equal digests is skipped; if it has lost samples or ops to damage here, they are
// restored.
//
// Merge calls o.Refused for each file or run that it cannot take, with the path in the other store, and merges the rest. These are
// damaged files (Damaged), and runs that are stored here with another digest. Merges and AppendAll of one store take turns, because each
// looks up which runs are stored before it adds others. If a merge is interrupted, each run is complete or absent, and merging again
// does the rest. The error wraps schema.ErrNoStore, schema.ErrFormat or schema.ErrDamaged if the other store cannot be listed, or comes
// from the file system or the context.
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
	m := &merging{from: source, into: s.files, version: s.sealer.Version, only: o.Only, refused: o.Refused, restore: o.RestorePruned, list: listWhole}
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
	only     func(run string) bool
	refused  func(LeftOut)
	restore  bool // artifacts that were pruned
	list     func(from fs.FS) (*schema.Listing, error)
	reported map[string]bool // refused files and runs; prevents repeated reports on a second pass
	done     Merged
	live     map[schema.ULID]schema.LiveFile // of the store that is merged into
	lost     runfile.Lost                    // of the other store
	synced   map[string]bool                 // its directories, and whether they are fsynced
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
	_, err = m.heal(ctx, listing) // even if nothing was copied: events of the other store may concern rows of this one
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

// liveRuns writes the live runs of the other store that this one lacks into a sealed file.
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
	events, err := runfile.ListEvents(m.from, listed)
	if err != nil || len(events.IDs) == 0 {
		return err
	}
	if err := runfile.UnpackEvents(m.into); err != nil {
		return err
	}
	if err := disk.MakeDirs(m.into, schema.EventsDir); err != nil {
		return err
	}
	fresh, removed, err := m.newEvents(ctx, events)
	if err == nil {
		err = m.recordAbsent(removed)
	}
	if err != nil {
		return err
	}
	for _, id := range fresh {
		if err := events.Copy(m.into, id); err != nil {
			return err
		}
		m.done.Events++
	}
	return disk.SyncDir(m.into, schema.EventsDir)
}

// newEvents returns the events that are not here, and the runs that these remove.
func (m *merging) newEvents(ctx context.Context, events *runfile.Events) (fresh, removed []schema.ULID, err error) {
	for _, id := range events.IDs {
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
		e, err := events.Read(id)
		if runfile.AboutContent(err) {
			m.refuse(name, err)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		fresh = append(fresh, id)
		if e.Kind != schema.EventRemove {
			continue
		}
		runs, err := schema.ParseULIDs(e.Runs)
		if err != nil {
			return nil, nil, err
		}
		removed = append(removed, runs...)
	}
	return fresh, removed, nil
}

// recordAbsent records, before their events are copied, that this store lacks some removed runs. It has the readable ones of the other
// store.
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

// source is a sealed file of the other store, with the runs that are wanted from it.
type source struct {
	file   schema.SealedFile
	there  bool                   // this store has the file
	runs   []schema.ULID          // ascending
	says   map[schema.ULID]string // their stored digests
	files  map[schema.ULID]bool   // runs that were imported from files of other tools
	wanted map[string]bool
}

// sealed copies the wanted runs of consecutive sealed files.
func (m *merging) sealed(ctx context.Context, files []schema.SealedFile) error {
	sources, err := m.look(ctx, files)
	if err != nil {
		return err
	}
	if err := m.choose(sources); err != nil {
		return err
	}
	// Samples and ops come first: when a run is in the table of runs, the rest of it must exist.
	for _, t := range runfile.Tables {
		for _, s := range sources {
			if err := ctx.Err(); err != nil {
				return err
			}
			if s.there || len(s.wanted) == len(s.runs) {
				if err := m.copySealed(s.file.Path(schema.TableFolders[t]), s.there); err != nil {
					return err
				}
			}
		}
		if err := m.sync(); err != nil {
			return err
		}
	}
	for _, s := range sources {
		if n := len(s.wanted); n > 0 && n < len(s.runs) {
			runs := runfile.ReadSealed(m.from, s.file)
			runs.Lost = m.lost
			if err := m.write(ctx, &chosenRuns{runs, s.wanted}); err != nil {
				return err
			}
		}
		if !s.there {
			m.done.Added += len(s.wanted)
		}
	}
	return nil
}

// look reads the ids of the runs in the files. Damaged files are left out.
func (m *merging) look(ctx context.Context, files []schema.SealedFile) ([]*source, error) {
	var sources []*source
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		there, err := disk.Exists(m.into, f.Path(schema.RunsDir))
		if err != nil {
			return nil, err
		}
		s := &source{file: f, there: there, says: map[schema.ULID]string{}, files: map[schema.ULID]bool{}}
		if s.there {
			m.done.Skipped += f.Rows
			sources = append(sources, s)
			continue
		}
		err = m.read(s)
		if runfile.AboutContent(err) {
			m.refuse(f.Path(schema.RunsDir), err)
			continue
		}
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// read checks the hashes of a sealed file and reads its ids and digests.
func (m *merging) read(s *source) error {
	for _, t := range runfile.Tables {
		err := runfile.CheckHash(m.from, s.file.Path(schema.TableFolders[t]))
		if err != nil && (t == schema.Runs || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	name := s.file.Path(schema.RunsDir)
	opened, file, err := runfile.OpenTable(m.from, name, schema.Runs)
	if err != nil {
		return err
	}
	defer file.Close()
	rows := opened.Reader(runfile.RunIDColumn, runfile.DigestColumn, sourceColumn)
	defer rows.Close()
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return runfile.InFile(name, err)
		}
		id, _ := row[runfile.RunIDPlace].(string)
		run, err := schema.ParseULID(id)
		if err != nil {
			return runfile.Damagedf(name, "%w", err)
		}
		s.runs = append(s.runs, run)
		s.says[run], _ = row[runfile.DigestPlace].(string)
		if fromFile(row) {
			s.files[run] = true
		}
	}
	if len(s.runs) != s.file.Rows || len(s.says) != s.file.Rows {
		return runfile.Damagedf(name, "it contains %d runs, but its name says otherwise", len(s.says))
	}
	return nil
}

// choose decides which runs of the sources are wanted: runs that are neither here nor in an earlier source.
func (m *merging) choose(sources []*source) error {
	var runs []schema.ULID
	for _, s := range sources {
		runs = append(runs, s.runs...)
	}
	known, err := m.known(runs)
	if err != nil {
		return err
	}
	for _, s := range sources {
		s.wanted = map[string]bool{}
		for _, run := range s.runs {
			if m.only != nil && !m.only(run.String()) {
				continue
			}
			if m.isNew(s.file.Path(schema.RunsDir), met{run, s.says[run], s.files[run]}, known) {
				s.wanted[run.String()] = true
			}
		}
	}
	return nil
}

// known returns the digests of the runs that are stored here and on disk. Their writer may have died before the last fsync, so it is
// repeated.
func (m *merging) known(runs []schema.ULID) (map[schema.ULID]string, error) {
	slices.SortFunc(runs, schema.ULID.Compare)
	known, err := runfile.Digests(m.into, slices.Compact(runs))
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		f, ok := m.live[run]
		if _, sealed := known[run]; sealed || !ok {
			continue
		}
		live, err := runfile.ReadLiveFile(m.into, f)
		if err != nil {
			return nil, runfile.Moved(err)
		}
		known[run] = live.Digest
		if dir := path.Dir(f.Path()); !m.synced[dir] {
			if err := disk.SyncDir(m.into, dir); err != nil {
				return nil, runfile.Moved(err)
			}
			m.synced[dir] = true
		}
	}
	return known, nil
}

// met is a run of the other store.
type met struct {
	run      schema.ULID
	digest   string
	fromFile bool
}

// sourceColumn is the column with the origin of a run.
const sourceColumn = "source"

var sourcePlace = schema.Runs.Place(sourceColumn)

// fromFile reports whether a run was imported from a file of another tool.
func fromFile(row []any) bool {
	source, _ := row[sourcePlace].(string)
	return source != "" && source != schema.SourceNeuroLens
}

// isNew reports whether a run is not known yet, and adds it. The id of an imported run is computed from the content of
// the file, without its path and the tags of the import: with another path or other tags it is the same run.
func (m *merging) isNew(name string, r met, known map[schema.ULID]string) bool {
	switch has, ok := known[r.run]; {
	case !ok:
		known[r.run] = r.digest
		return true
	case has == r.digest:
		m.done.Skipped++
	case r.fromFile:
		m.done.Skipped++
		m.done.Differing++
	default:
		m.refuse(name, fmt.Errorf("run %s is already stored with a different digest, %s", r.run, has))
	}
	return false
}

// copySealed copies one file of a sealed file, if it exists. unchecked means that its hash was not checked yet. The caller has to fsync
// the folder.
func (m *merging) copySealed(name string, unchecked bool) error {
	if there, err := disk.Exists(m.from, name); err != nil || !there {
		return err
	}
	dir := path.Dir(name)
	if _, known := m.synced[dir]; !known {
		if err := disk.MakeDirs(m.into, dir); err != nil {
			return err
		}
	}
	m.synced[dir] = false // even if the name exists: its writer may have died before the fsync
	if there, err := disk.Exists(m.into, name); err != nil || there {
		return err
	}
	if unchecked {
		if err := runfile.CheckHash(m.from, name); runfile.AboutContent(err) {
			m.refuse(name, err)
			return nil
		} else if err != nil {
			return err
		}
	}
	return disk.CopyFile(m.from, m.into, name)
}

// sync fsyncs the folders in which files were created.
func (m *merging) sync() error {
	for dir, done := range m.synced {
		if done {
			continue
		}
		if err := disk.SyncDir(m.into, dir); err != nil {
			return err
		}
		m.synced[dir] = true
	}
	return nil
}

// write writes runs into a sealed file. Its id is computed from the runs, so a repetition makes the same file.
func (m *merging) write(ctx context.Context, runs runfile.Reader) error {
	defer runs.Close()
	set, err := runfile.NewRunSet(m.into, m.version)
	if err != nil {
		return err
	}
	defer set.Remove()
	sum := sha256.New()
	if err := runfile.EachRun(ctx, runs, func(live *table.Live) error {
		_, _ = io.WriteString(sum, live.RunID+live.Digest)
		return set.Write(live)
	}); err != nil || set.Rows == 0 {
		return err
	}
	if err := set.Finish(); err != nil {
		return err
	}
	return set.Publish(set.SealedFile(runfile.ContentID(set.Last.Time(), sum)))
}

// chosenRuns reads some of the runs of a reader.
type chosenRuns struct {
	runfile.Reader
	wanted map[string]bool
}

func (c *chosenRuns) Next() (*table.Live, error) {
	for {
		live, err := c.Reader.Next()
		if err != nil || c.wanted[live.RunID] {
			return live, err
		}
	}
}
