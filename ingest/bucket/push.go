package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// Pushed counts what a push did.
type Pushed struct {
	Runs    int
	Events  int
	Objects int   // manifests included
	Bytes   int64 // of the objects
	Pushes  int   // manifests: a push of very many runs is several
	Live    int   // runs that are not sealed yet, and stay for the next push
}

// Limits of one push. A store with more is put in several, each of which is acknowledged by itself.
const (
	pushRuns   = 65_536
	pushBytes  = 256 << 20 // of the sealed files that it is made from
	pushMemory = 128 << 20 // for files that are read at the same time
)

// skew is how much the clock of a writer may have been ahead of that of the server when it measured, besides what it is ahead now. Beyond it,
// a run may be put twice; readers count it once.
const skew = time.Hour

// Push puts all sealed runs, and all events, of a store that the bucket lacks. It seals live runs first. When it returns without error,
// they are acknowledged: their manifest is in the bucket. If it is interrupted, what has no manifest is ignored by readers, and the next
// push puts it again.
func (b *Bucket) Push(ctx context.Context, dir string, s *ingest.Store) (Pushed, error) {
	p := &pushing{program: b.program}
	err := p.push(ctx, b, dir, s)
	if err != nil {
		err = fmt.Errorf("pushing store %s to %s: %w", dir, b.location, err)
	}
	return p.done, err
}

func (p *pushing) push(ctx context.Context, b *Bucket, dir string, s *ingest.Store) (err error) {
	if _, err := s.Seal(ctx); err != nil {
		return err
	}
	if p.store, err = openLocal(dir); err != nil {
		return err
	}
	p.done.Live = len(p.store.listing.Live)
	if p.log, err = b.openOrCreate(ctx); err != nil {
		return err
	}
	if err := p.log.refresh(ctx); err != nil {
		return err
	}
	if err := p.log.probe(ctx); err != nil {
		return err
	}
	p.lost = runfile.ReadLost(p.store)
	for {
		rest, err := p.plan(ctx)
		if err != nil || rest.empty() {
			return err
		}
		for !rest.empty() {
			err := p.pushPart(ctx, rest.next())
			if errors.Is(err, errOvertaken) {
				break
			}
			if err != nil {
				return err
			}
		}
	}
}

// openOrCreate reads the marker, or makes it.
func (b *Bucket) openOrCreate(ctx context.Context) (*pushLog, error) {
	log, err := b.open(ctx)
	if !errors.Is(err, ErrEmpty) {
		return log, err
	}
	now := time.Now().UTC()
	line, err := schema.SignJSON(marker{Format, schema.NewULID(now).String(), now})
	if err != nil {
		return nil, err
	}
	if _, err := b.putBytes(ctx, markerKey, line, true); err != nil && !errors.Is(err, errTaken) {
		return nil, err
	}
	err = untilThere(ctx, ErrEmpty, func() error {
		log, err = b.open(ctx)
		return err
	})
	return log, err
}

// untilThere repeats a request for an object that exists, as long as the error is missing. A server may refuse to put an object
// because another writer is putting it, and a moment later answer that there is no such object: versitygw with --sidecar does.
func untilThere(ctx context.Context, missing error, request func() error) error {
	for attempt := 1; ; attempt++ {
		if err := request(); !errors.Is(err, missing) || attempt == attempts || pause(ctx, attempt) != nil {
			return err
		}
	}
}

// probe checks that the bucket keeps If-None-Match, as long as nothing was pushed.
func (log *pushLog) probe(ctx context.Context) error {
	if len(log.pushes) > 0 {
		return nil
	}
	line, _, err := log.get(ctx, markerKey, maxMarker)
	if err != nil {
		return err
	}
	switch _, err := log.putBytes(ctx, markerKey, line, true); {
	case errors.Is(err, errTaken):
		return nil
	case err == nil:
		return errors.New("the bucket does not keep If-None-Match: it replaced an object that existed. " + whyOnlyNew)
	default:
		return fmt.Errorf("trying whether the bucket keeps If-None-Match: %w", err)
	}
}

// putBytes puts a small object, and returns its ETag.
func (r *remote) putBytes(ctx context.Context, key string, content []byte, onlyNew bool) (etag string, err error) {
	sum := sha256.Sum256(content)
	return r.put(ctx, key, bytes.NewReader(content), int64(len(content)), hex.EncodeToString(sum[:]), onlyNew)
}

// pushing is the state of a push.
type pushing struct {
	log     *pushLog
	program string
	store   *local
	lost    runfile.Lost
	done    Pushed
}

// part is what becomes one push.
type part struct {
	files   []schema.SealedFile
	wanted  map[string]bool // runs of the files
	events  []schema.ULID
	covered map[string]bool // names of artifacts that are in the bucket
}

// plan is what is to be pushed.
type plan struct {
	part
	sizes map[schema.ULID]int64 // of the sealed files
}

func (p *plan) empty() bool { return len(p.files) == 0 && len(p.events) == 0 }

// next takes files for one push. The events go with the last ones, so that they come after the runs that they are about.
func (p *plan) next() part {
	some := part{wanted: p.wanted, covered: p.covered}
	if len(p.files) > 0 {
		n, rows, bytes := 0, 0, int64(0)
		for _, f := range p.files[:runfile.Batches(p.files, pushMemory)[0]] {
			if rows, bytes = rows+f.Rows, bytes+p.sizes[f.ID]; n > 0 && (rows > pushRuns || bytes > pushBytes) {
				break
			}
			n++
		}
		some.files, p.files = p.files[:n], p.files[n:]
	}
	if len(p.files) == 0 {
		n := min(len(p.events), pushRuns)
		some.events, p.events = p.events[:n], p.events[n:]
	}
	return some
}

// plan compares the store with the manifests.
func (p *pushing) plan(ctx context.Context) (*plan, error) {
	todo := &plan{part: part{wanted: map[string]bool{}, covered: map[string]bool{}}, sizes: map[schema.ULID]int64{}}
	files, events := p.uncovered()
	if err := p.readRecent(ctx, files, events); err != nil {
		return nil, err
	}
	files, events = p.uncovered()
	slices.SortFunc(files, func(a, b schema.SealedFile) int { return cmp.Or(cmp.Compare(a.First, b.First), a.ID.Compare(b.ID)) })
	known, err := p.knownRuns(ctx, files)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		wanted := 0
		err := runfile.EachDigest(p.store, f, func(run schema.ULID, _ string) {
			if _, is := slices.BinarySearchFunc(known, run, schema.ULID.Compare); !is {
				todo.wanted[run.String()] = true
				wanted++
			}
		})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		if wanted == 0 {
			continue
		}
		todo.files = append(todo.files, f)
		for _, t := range runfile.Tables {
			if info, err := p.store.Stat(f.Path(schema.TableFolders[t])); err == nil {
				todo.sizes[f.ID] += info.Size()
			}
		}
	}
	if todo.events, err = p.sharedEvents(events); err != nil {
		return nil, err
	}
	for _, n := range p.log.numbers() {
		if m := p.log.pushes[n].summary; m != nil {
			for _, o := range m.Objects {
				if o.Kind == kindArtifacts {
					todo.covered[o.name()] = true
				}
			}
		}
	}
	return todo, nil
}

// sharedEvents returns those events that are not only about the files of this store.
func (p *pushing) sharedEvents(events []schema.ULID) (shared []schema.ULID, err error) {
	for _, id := range events {
		e, err := schema.ReadEvent(p.store, id)
		if err != nil { // a damaged one must not get into the bucket
			return nil, runfile.InFile(schema.EventFile(id), err)
		}
		if e.Kind != schema.EventAbsent {
			shared = append(shared, id)
		}
	}
	return shared, nil
}

// uncovered lists the sealed files and events of the store that no known manifest names.
func (p *pushing) uncovered() (files []schema.SealedFile, events []schema.ULID) {
	names, ids := map[string]bool{}, map[schema.ULID]bool{}
	for _, n := range p.log.numbers() {
		m := p.log.pushes[n].summary
		if m == nil {
			continue
		}
		for _, f := range m.sealedFiles() {
			names[f.Name()] = true
		}
		if m.Writer == p.store.header.StoreID {
			for _, name := range m.Sources {
				names[name] = true
			}
		}
		for _, id := range m.EventIDs {
			ids[id] = true
		}
	}
	for _, f := range p.store.listing.Sealed {
		if !names[f.Name()] {
			files = append(files, f)
		}
	}
	for _, id := range p.store.listing.Events.Files {
		if !ids[id] {
			events = append(events, id)
		}
	}
	return files, events
}

// readRecent reads the manifests that may have one of these runs or events. A manifest that was put before all of them began has none. It
// fails if one is missing.
func (p *pushing) readRecent(ctx context.Context, files []schema.SealedFile, events []schema.ULID) error {
	var oldest time.Time
	earlier := func(t time.Time) {
		if oldest.IsZero() || t.Before(oldest) {
			oldest = t
		}
	}
	for _, f := range files {
		earlier(time.UnixMilli(f.First))
	}
	for _, id := range events {
		earlier(id.Time())
	}
	since := time.Time{}
	if !oldest.IsZero() {
		since = oldest.Add(-skew - p.log.ahead())
	}
	isRecent := func(n int64) bool {
		e := p.log.pushes[n]
		return e.summary == nil && (e.modified.IsZero() || !oldest.IsZero() && !e.modified.Before(since))
	}
	recent := slices.DeleteFunc(p.log.numbers(), func(n int64) bool { return !isRecent(n) })
	if len(recent) > fewPushes {
		if err := p.log.skipReplaced(ctx); err != nil {
			return err
		}
		recent = slices.DeleteFunc(p.log.numbers(), func(n int64) bool { return !isRecent(n) })
	}
	return p.log.readAll(ctx, recent, nil)
}

// knownRuns returns the ids of the runs, ascending, of the known pushes that may have runs of these files.
func (p *pushing) knownRuns(ctx context.Context, files []schema.SealedFile) (known []schema.ULID, err error) {
	for _, n := range p.log.numbers() {
		e := p.log.pushes[n]
		if e.summary == nil || e.summary.Runs == 0 || !slices.ContainsFunc(files, func(f schema.SealedFile) bool {
			return f.First <= e.last.Time().UnixMilli() && f.Last >= e.first.Time().UnixMilli()
		}) {
			continue
		}
		ids, err := p.log.runIDs(ctx, n)
		if err != nil {
			return nil, err
		}
		known = append(known, ids...)
	}
	slices.SortFunc(known, schema.ULID.Compare)
	return known, nil
}

// wantedRuns reads the wanted runs of a reader.
type wantedRuns struct {
	runfile.Reader
	wanted map[string]bool
}

func (w *wantedRuns) Next() (*table.Live, error) {
	for {
		live, err := w.Reader.Next()
		if err != nil || w.wanted[live.RunID] {
			return live, err
		}
	}
}

// pushPart puts the objects of a part, and its manifest.
func (p *pushing) pushPart(ctx context.Context, some part) error {
	m := &manifest{Format: Format, Writer: p.store.header.StoreID, Program: p.program}
	set, artifacts, err := p.collect(ctx, m, some)
	if set != nil {
		defer set.Remove()
	}
	if err != nil {
		return err
	}
	now := time.Now()
	id := schema.NewClaim(now, m.RunIDs)
	m.Push, m.At, m.Runs = id.String(), now.UTC(), len(m.RunIDs)
	for _, f := range some.files {
		m.Sources = append(m.Sources, f.Name())
	}
	var files []localObject
	for _, name := range artifacts {
		files = append(files, localObject{kindArtifacts, artifactKey(m.Writer, m.Push, path.Base(name)), name})
	}
	for _, t := range runfile.Tables { // runs are last
		if set == nil || !set.Has(t) {
			continue
		}
		folder := schema.TableFolders[t]
		files = append(files, localObject{folder, m.place() + set.SealedFile(id).Path(folder), set.Name(t)})
	}
	if err := p.putFiles(ctx, m, files); err != nil {
		return err
	}
	if err := p.putEvents(ctx, m, some.events); err != nil {
		return err
	}
	size, err := p.log.commit(ctx, m)
	if err != nil {
		return err
	}
	p.done.Runs, p.done.Events, p.done.Pushes = p.done.Runs+m.Runs, p.done.Events+m.Events, p.done.Pushes+1
	p.done.Objects, p.done.Bytes = p.done.Objects+len(m.Objects)+1, p.done.Bytes+size
	for _, o := range m.Objects {
		p.done.Bytes += o.Bytes
		some.covered[o.name()] = true
	}
	return nil
}

// collect writes the runs of a part into one temporary file for each table. It lists the stored files that they name and the bucket lacks.
func (p *pushing) collect(ctx context.Context, m *manifest, some part) (set *runfile.RunSet, artifacts []string, err error) {
	if len(some.files) == 0 {
		return nil, nil, nil
	}
	var readers []runfile.Reader
	for _, f := range some.files {
		runs := runfile.ReadSealed(p.store, f)
		runs.Lost = p.lost
		readers = append(readers, &wantedRuns{runs, some.wanted})
	}
	merged := runfile.Merge(readers)
	defer merged.Close()
	if set, err = runfile.NewRunSet(p.store, p.program); err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	err = runfile.EachRun(ctx, merged, func(live *table.Live) error {
		id, err := schema.ParseULID(live.RunID)
		if err != nil {
			return err
		}
		m.RunIDs = append(m.RunIDs, id)
		names, err := artifactsOf(p.store, live.Run)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !some.covered[name] && !seen[name] {
				seen[name] = true
				artifacts = append(artifacts, name)
			}
		}
		return set.Write(live)
	})
	if err == nil {
		err = set.Finish()
	}
	return set, artifacts, err
}

// localObject is a file of the store that becomes an object.
type localObject struct{ kind, key, name string }

// putFiles puts files, those of runs after all others, and adds them to the manifest.
func (p *pushing) putFiles(ctx context.Context, m *manifest, files []localObject) error {
	first := len(m.Objects)
	m.Objects = append(m.Objects, make([]Object, len(files))...)
	runs := slices.IndexFunc(files, func(f localObject) bool { return f.kind == kindRuns })
	if runs < 0 {
		runs = len(files)
	}
	putOne := func(i int) (err error) {
		m.Objects[first+i], err = p.putFile(ctx, files[i])
		return err
	}
	if err := inParallel(ctx, runs, putOne); err != nil {
		return err
	}
	return inParallel(ctx, len(files)-runs, func(i int) error { return putOne(runs + i) })
}

// putFile puts a file of the store.
func (p *pushing) putFile(ctx context.Context, f localObject) (Object, error) {
	file, err := p.store.Dir.OpenFile(f.name)
	if err != nil {
		return Object{}, err
	}
	defer file.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, file)
	if err != nil {
		return Object{}, err
	}
	o := Object{Key: f.key, Kind: f.kind, Bytes: size, SHA256: hex.EncodeToString(hash.Sum(nil))}
	if sum := disk.ArtifactHash(f.name); sum != "" && sum != o.SHA256 {
		return Object{}, runfile.Damagedf(f.name, "its content does not match its name; store verify says more")
	}
	_, err = p.log.put(ctx, f.key, file, size, o.SHA256, false)
	return o, err
}

// putEvents puts events as one object, and adds it to the manifest.
func (p *pushing) putEvents(ctx context.Context, m *manifest, events []schema.ULID) error {
	if len(events) == 0 {
		return nil
	}
	temp, err := disk.CreateTemp(p.store)
	if err != nil {
		return err
	}
	defer temp.Remove()
	err = temp.FillWith(func(w io.Writer) error {
		for _, id := range events {
			line, err := schema.ReadNames(p.store, schema.EventFile(id))
			if err == nil {
				_, err = w.Write(line)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.EventIDs, m.Events = events, len(events)
	files := []localObject{{kindEvents, m.eventsKey(), temp.Name}}
	if push, err := schema.ParseULID(m.Push); m.Replaces > 0 && err == nil { // engines read packs of events
		files = append(files, localObject{kindStore, m.place() + schema.PackedEvents(push), temp.Name})
	}
	return p.putFiles(ctx, m, files)
}

// errOvertaken means that another push has some of the runs or events meanwhile.
var errOvertaken = errors.New("another push has some of it")

// pushAge is the age from which on a push is given up: RemoveLeftovers may have removed its objects.
const pushAge = leftoverAge / 2

// commit puts the manifest under the first free number, and returns its size. The push is acknowledged when it returns without error.
func (log *pushLog) commit(ctx context.Context, m *manifest) (int64, error) {
	line, err := m.encode()
	if err != nil {
		return 0, err
	}
	if _, err := decodeManifest(line); err != nil { // no reader would take it
		return 0, err
	}
	for {
		if time.Now().Round(0).Sub(m.At) > pushAge { // by the clock on the wall, which goes on while a machine sleeps
			return 0, fmt.Errorf("the push began more than %.0f days ago, and its objects may have been removed: push again", pushAge.Hours()/24)
		}
		n := log.last() + 1
		if n > maxNumber {
			return 0, fmt.Errorf("%w: there is no number after %d", ErrDamaged, n-1)
		}
		etag, err := log.putBytes(ctx, numberKey(n), line, true)
		if err == nil {
			return int64(len(line)), log.learn(n, line, etag)
		}
		if !errors.Is(err, errTaken) {
			return 0, err
		}
		if mine, err := log.hasNumber(ctx, n, m); mine || err != nil {
			return int64(len(line)), err
		}
	}
}

// hasNumber reports whether a push has a number that is taken: then an answer was lost. Otherwise it reads the new manifests. The error is
// errOvertaken if one of them has runs or events of the push.
func (log *pushLog) hasNumber(ctx context.Context, n int64, m *manifest) (bool, error) {
	if err := untilThere(ctx, errGone, func() error { return log.readAll(ctx, []int64{n}, nil) }); err != nil {
		return false, err
	}
	if log.pushes[n].summary.Push == m.Push {
		return true, nil
	}
	if err := log.listAfter(ctx, n); err != nil {
		return false, err
	}
	var fresh []int64
	for _, later := range log.numbers() {
		if later >= n {
			fresh = append(fresh, later)
		}
	}
	if err := log.readAll(ctx, fresh, nil); err != nil {
		return false, err
	}
	for _, later := range fresh {
		overlaps, err := log.overlaps(ctx, later, m)
		if err != nil {
			return false, err
		}
		if overlaps {
			return false, errOvertaken
		}
	}
	return false, nil
}

// overlaps reports whether a push has runs or events of another one.
func (log *pushLog) overlaps(ctx context.Context, n int64, m *manifest) (bool, error) {
	e := log.pushes[n]
	if e.summary.Replaces > 0 || m.Replaces > 0 {
		return false, nil
	}
	shared := func(these, others []schema.ULID) bool {
		return slices.ContainsFunc(these, func(id schema.ULID) bool {
			_, found := slices.BinarySearchFunc(others, id, schema.ULID.Compare)
			return found
		})
	}
	if shared(m.EventIDs, e.summary.EventIDs) {
		return true, nil
	}
	if e.summary.Runs == 0 || m.Runs == 0 || e.first.Compare(m.RunIDs[len(m.RunIDs)-1]) > 0 || e.last.Compare(m.RunIDs[0]) < 0 {
		return false, nil
	}
	ids, err := log.runIDs(ctx, n)
	return shared(m.RunIDs, ids), err
}
