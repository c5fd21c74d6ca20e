package check_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/storetest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/table"
)

// TestRepairEveryByte damages every file of stores that together have every kind of file: a bit of each byte is flipped,
// and the file is cut off there. After repair nothing is damaged. Every run of which no row is in the row group of that
// byte, or behind the cut, is as it was; of the others, rows of that table alone are gone, or the run is, and no row is
// another one. What is gone is counted, planned and marked. All events are there, but for a damaged one that no pack has.
//
// Rows that a pack or a claim has again are another matter than those that are stored once, so each has a store of its own.
// By default the test takes some bytes of each file; with NEUROLENS_LONG=1 every 499th byte, with NEUROLENS_LONG=all all:
// 300,000 cases of 14 to 23 ms each: more than an hour of one core.
func TestRepairEveryByte(t *testing.T) {
	t.Parallel()
	kinds := map[disk.Kind]bool{}
	for _, make := range []func(testing.TB) tiny{onceStored, packedStore, claimedStore} {
		d := newDamaging(t, make(t))
		for _, name := range d.names {
			s := disk.Classify(name)
			if kinds[s.Kind] = true; s.Kind != disk.KindOut { // nobody relies on it
				t.Run(d.what+" "+calledAlways(s), func(t *testing.T) { d.each(t, name) })
			}
		}
	}
	if len(kinds) != 11 {
		t.Errorf("the stores have files of %d kinds, want 11", len(kinds))
	}
}

// tiny is a store as small as it gets.
type tiny struct {
	dir, what string
	twice     []disk.Kind // which of its files have runs that another file has, too
	event     string      // that has no copy; empty where there is none
}

// onceStored has a sealed file of two row groups of each table, a claim that is planned, a run in a segment, an event that a
// pack has, one that has a run set and one that has neither, and an artifact. Every run is stored once.
func onceStored(t testing.TB) tiny {
	t.Helper()
	store, dir := newStore(t)
	defer store.Close()
	withOp, live := smallRun(), smallRun()
	withOp.Ops = []schema.Op{{Index: 0, Name: "matmul"}}
	sealed := sealedFrom(t, dir, store, fullRun(), smallRun(), withOp)
	mustDo(t, os.RemoveAll(filepath.Join(dir, schema.ClaimsDir)))
	splitSealed(t, dir, sealed)

	waiting := smallRun()
	planned := must(schema.ParseULID(waiting.RunID))
	mustAppend(t, store, waiting)
	claim := schema.Claim{ID: schema.NewULID(time.Now().Add(time.Second)), Attempt: 3}
	storetest.MakeClaim(t, dir, claim)
	segment := schema.NewULID(time.Now()).String()
	mustDo(t, os.Rename(filepath.Join(dir, path.Dir(liveFile(dir).Path())), filepath.Join(dir, claim.Path(), segment)))
	plan := schema.Plan{Runs: []string{planned.String()}, Dropped: []string{}, File: schema.NewSealedFile(claim.ID, []schema.ULID{planned}).Name()}
	writeFile(t, filepath.Join(dir, claim.Path(), schema.PlanFile), must(plan.Encode()))
	writeFile(t, filepath.Join(dir, claim.Path(), disk.OutName(schema.Runs, claim.Attempt)), []byte("half of i"))

	next := must(ingest.Open(dir, "test")) // for a segment of its own
	defer next.Close()
	mustAppend(t, next, live)
	run := []string{live.RunID}
	packed := must(store.Annotate(ingest.Annotation{Kind: schema.EventTag, Runs: run, Key: "k", Value: "v"}))
	line := must(os.ReadFile(filepath.Join(dir, eventName(packed))))
	writeFile(t, filepath.Join(dir, schema.PackedEvents(schema.NewULID(time.Now()))), line)
	wide := must(store.Annotate(ingest.Annotation{Kind: schema.EventTag, Runs: run, Key: "wide", Value: "v"}))
	writeFile(t, filepath.Join(dir, schema.RunSetFile(must(schema.ParseULID(wide.EventID)))), must(schema.EncodeRunSet(wide)))
	event := eventName(must(store.Annotate(ingest.Annotation{Kind: schema.EventRemove, Runs: run})))
	content := []byte("what a run produced")
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	writeFile(t, filepath.Join(dir, schema.ArtifactsDir, sum[:2], sum+".log"), content)
	return tiny{dir: dir, what: "once", event: event}
}

// packedStore has a sealed file of runs without samples, and a pack of it.
func packedStore(t testing.TB) tiny {
	t.Helper()
	store, dir := newStore(t)
	defer store.Close()
	failed := func() schema.Run {
		r := smallRun()
		r.Status, r.Primary, r.Metrics = schema.StatusError, "", nil
		return r
	}
	sealed := sealedFrom(t, dir, store, failed(), failed())
	mustDo(t, os.RemoveAll(filepath.Join(dir, schema.ClaimsDir)))
	storetest.PackSealed(t, dir, []schema.SealedFile{sealed})
	return tiny{dir: dir, what: "packed", twice: []disk.Kind{disk.KindSealed}}
}

// claimedStore has a sealed file whose claim is still there.
func claimedStore(t testing.TB) tiny {
	t.Helper()
	store, dir := newStore(t)
	defer store.Close()
	sealedFrom(t, dir, store, smallRun())
	return tiny{dir: dir, what: "claimed", twice: []disk.Kind{disk.KindSealed, disk.KindLive}}
}

// sealedFrom appends and seals runs.
func sealedFrom(t testing.TB, dir string, store *ingest.Store, runs ...schema.Run) schema.SealedFile {
	t.Helper()
	mustAppend(t, store, runs...)
	must(store.Seal(context.Background()))
	return must(schema.List(schema.Dir(dir), schema.Scope{})).Sealed[0]
}

// liveFile returns the only live file of a store that is in no claim.
func liveFile(dir string) schema.LiveFile {
	return must(schema.List(schema.Dir(dir), schema.Scope{})).Live[0]
}

func eventName(e schema.Event) string { return schema.EventFile(must(schema.ParseULID(e.EventID))) }

// splitSealed writes the files of a sealed file anew: the rows of its first run are in one row group, the others are in a
// second one.
func splitSealed(t testing.TB, dir string, f schema.SealedFile) {
	t.Helper()
	for _, zone := range schema.TableFolders {
		name := filepath.Join(dir, f.Path(zone))
		content := must(os.ReadFile(name))
		file := must(parquet.OpenFile(bytes.NewReader(content), int64(len(content))))
		out := new(bytes.Buffer)
		w := parquet.NewGenericWriter[any](out, file.Schema(), parquet.DataPageVersion(2), parquet.DataPageStatistics(false))
		for _, said := range file.Metadata().KeyValueMetadata {
			w.SetKeyValueMetadata(said.Key, said.Value)
		}
		w.SetKeyValueMetadata(schema.FileHashKey, schema.EmptyFileHash)
		rows := make([]parquet.Row, file.NumRows())
		n, err := file.RowGroups()[0].Rows().ReadRows(rows)
		if n != len(rows) {
			t.Fatalf("%s: %d rows of %d: %v", name, n, len(rows), err)
		}
		others := slices.IndexFunc(rows, func(row parquet.Row) bool { return row[0].String() != rows[0][0].String() })
		for _, some := range [][]parquet.Row{rows[:others], rows[others:]} {
			must(w.WriteRows(some))
			mustDo(t, w.Flush())
		}
		mustDo(t, w.Close())
		mustDo(t, schema.PutFileHash(out.Bytes()))
		writeFile(t, name, out.Bytes())
	}
}

// damaging damages a store and looks what is left.
type damaging struct {
	tiny
	whole  storetest.Memory
	names  []string // of its files
	sums   map[*fstest.MapFile][32]byte
	groups map[string][]rowGroup // of its files of tables
	want   *answers
	known  map[[32]byte]*answers // by the content of the store
}

// answers are what a store says.
type answers struct {
	runs   map[string]storetest.RunState
	events map[string]string // less those of lost rows and of absent runs
	absent bool              // an event says that removed runs may be absent
	lost   map[string][]string
	damage []check.Finding
}

// rowGroup is where a row group is in its file, and which runs have rows in it.
type rowGroup struct {
	from, end int64
	runs      []string
}

func newDamaging(t testing.TB, store tiny) *damaging {
	t.Helper()
	d := &damaging{
		tiny: store, whole: storetest.Memory{MapFS: fstest.MapFS{}}, sums: map[*fstest.MapFile][32]byte{},
		groups: map[string][]rowGroup{}, known: map[[32]byte]*answers{},
	}
	mustDo(t, fs.WalkDir(os.DirFS(store.dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." || name == schema.IgnoreFile {
			return err
		}
		if e.IsDir() {
			d.whole.MapFS[name] = storetest.MemoryDir()
			return nil
		}
		content, s := must(os.ReadFile(filepath.Join(store.dir, name))), disk.Classify(name)
		file := &fstest.MapFile{Data: content, Mode: 0o666, ModTime: time.Now()}
		d.whole.MapFS[name], d.sums[file], d.names = file, sha256.Sum256(content), append(d.names, name)
		if s.Kind == disk.KindSealed {
			d.groups[name] = rowGroupsOf(t, content, tableOf(s.Zone))
			if groups := len(d.groups[name]); store.twice == nil && groups != 2 {
				t.Fatalf("%s has %d row groups, want 2", name, groups)
			}
		}
		return nil
	}))
	d.want = d.answers(t, d.whole)
	return d
}

func tableOf(zone string) *schema.Table {
	for table, of := range schema.TableFolders {
		if of == zone {
			return table
		}
	}
	return nil
}

// rowGroupsOf returns the row groups of a file of a table, as its footer says.
func rowGroupsOf(t testing.TB, content []byte, of *schema.Table) (groups []rowGroup) {
	t.Helper()
	rows := must(table.Open(bytes.NewReader(content), int64(len(content)), of)).Reader()
	footer := must(parquet.OpenFile(bytes.NewReader(content), int64(len(content)))).Metadata()
	for _, g := range footer.RowGroups {
		first := g.Columns[0].MetaData // run_id, which has no dictionary
		group := rowGroup{from: first.DataPageOffset, end: first.DataPageOffset + g.TotalCompressedSize}
		for range g.NumRows {
			group.runs = append(group.runs, must(rows.Read())[runfile.RunIDPlace].(string))
		}
		groups = append(groups, group)
	}
	return groups
}

// calledAlways returns a name of a file that is the same whenever the test runs.
func calledAlways(s disk.StoreFile) string {
	switch s.Kind {
	case disk.KindOwner, disk.KindPlan:
		return s.Zone + " " + strings.Repeat("- ", strings.Count(s.Path, "/")-1) + path.Base(s.Path)
	case disk.KindPackedEvents:
		return s.Zone + " events"
	case disk.KindRunSet:
		return s.Zone + " event"
	case disk.KindFolderSizes:
		return s.Zone + " folders"
	}
	return s.Zone
}

// each damages a file, and has each case checked.
func (d *damaging) each(t *testing.T, name string) {
	const failures, progress = 10, 1000 // failed cases are enough of a file; bytes after which to say how far it is
	began, cases, failed, what := time.Now(), 0, 0, ""
	content := d.whole.MapFS[name].Data
	defer func() {
		t.Logf("%d bytes, %d cases, %d failed, %.1f s; the last one was %s", len(content), cases, failed, time.Since(began).Seconds(), what)
	}()
	step := tier(max(len(content)/2, 1), 499, 1)
	for at := tier(len(content)/5, 0, 0); at < len(content) && failed < failures; at += step {
		flipped := bytes.Clone(content)
		flipped[at] ^= 1 << (at % 8)
		for how, damaged := range map[string][]byte{"flipped": flipped, "cut": content[:at]} {
			what = fmt.Sprintf("%s, %s at byte %d", name, how, at)
			store := d.whole.Copied()
			store.MapFS[name] = &fstest.MapFile{Data: damaged, Mode: 0o666, ModTime: time.Now()}
			if err := d.check(t, store, d.hitAt(name, at, how == "cut")); err != nil {
				t.Errorf("%s: %v", what, err)
				failed++
			}
			cases++
		}
		if step == 1 && (at+1)%progress == 0 {
			t.Logf("%s: %d of %d bytes, %.1f s", d.what, at+1, len(content), time.Since(began).Seconds())
		}
	}
	clear(d.known)
	for _, name := range d.names {
		if file := d.whole.MapFS[name]; sha256.Sum256(file.Data) != d.sums[file] {
			t.Errorf("%s was changed in its place", name)
		}
	}
}

// hit is a file that was damaged, and what that may cost.
type hit struct {
	name string
	runs []string
	zone string // in which their rows may be gone; that of runs where they may be gone themselves
}

// hitAt returns a file that is damaged from a byte on, or there alone.
func (d *damaging) hitAt(name string, at int, cut bool) hit {
	s := disk.Classify(name)
	h := hit{name: name, zone: s.Zone}
	switch {
	case slices.Contains(d.twice, s.Kind):
		return h
	case s.Kind == disk.KindLive:
		return hit{name, []string{s.Live.Run.String()}, schema.RunsDir}
	}
	for _, g := range d.groups[name] {
		if int64(at) < g.end && (cut || int64(at) >= g.from) {
			h.runs = append(h.runs, g.runs...)
		}
	}
	return h
}

// check repairs a store of which a file is damaged, and gives what is not as it is to be.
func (d *damaging) check(t *testing.T, f storetest.Memory, h hit) error {
	t.Helper()
	planned, err := check.PlanFiles(context.Background(), f, func(check.Repair) {})
	if err != nil {
		return err
	}
	store := must(check.OpenFiles("memory", "test", f))
	done, err := store.Repair(context.Background(), func(check.Repair) {})
	if err := cmp.Or(err, store.Close()); err != nil {
		return err
	}
	got := d.answers(t, f)
	events := maps.Clone(d.want.events)
	if h.name == d.event {
		delete(events, d.event)
	}
	switch lost, err := d.lost(got, h); {
	case err != nil:
		return err
	case len(got.damage) > 0:
		return fmt.Errorf("there is %+v", got.damage)
	case done.Left != 0 || planned.Loss != done.Loss || lost != done.Loss:
		return fmt.Errorf("lost %+v, counted %+v, planned %+v, left %d", lost, done.Loss, planned.Loss, done.Left)
	case !maps.Equal(got.events, events):
		return fmt.Errorf("the events are %q", got.events)
	case got.absent != (lost.Runs > 0): // one event of the store removes a run
		return fmt.Errorf("an event says that removed runs may be absent: %t, and %d runs are lost", got.absent, lost.Runs)
	}
	return nil
}

// lost counts what a store has lost. The error says what it must not have lost, or has not marked.
func (d *damaging) lost(got *answers, h hit) (lost runfile.Loss, err error) {
	for id := range got.runs {
		if _, there := d.want.runs[id]; !there {
			return lost, fmt.Errorf("run %s is new", id)
		}
	}
	for id, was := range d.want.runs {
		is, there := got.runs[id]
		may := func(zone string) bool { return h.zone == zone && slices.Contains(h.runs, id) }
		var marked []string
		switch {
		case !there:
			lost.Runs++
			if !may(schema.RunsDir) {
				return lost, fmt.Errorf("run %s is gone", id)
			}
			continue
		case is.Run != was.Run:
			return lost, fmt.Errorf("run %s changed", id)
		case is.Ops != was.Ops:
			lost.Ops++
			marked = append(marked, schema.Ops.Name)
			if !may(schema.OpsDir) || !fewer(is.Ops, was.Ops) {
				return lost, fmt.Errorf("the ops of run %s changed", id)
			}
		}
		if is.Samples != was.Samples {
			lost.Samples++
			marked = append(marked, schema.Samples.Name)
			if !may(schema.SamplesDir) || !fewer(is.Samples, was.Samples) {
				return lost, fmt.Errorf("the samples of run %s changed", id)
			}
		}
		if !slices.Equal(got.lost[id], marked) {
			return lost, fmt.Errorf("run %s has lost %q, and is marked %q", id, marked, got.lost[id])
		}
	}
	return lost, nil
}

// fewer tells whether rows are some of others, in their order.
func fewer(rows, of string) bool {
	const size = sha256.Size
	for ; rows != ""; rows = rows[size:] {
		for of != "" && of[:size] != rows[:size] {
			of = of[size:]
		}
		if of == "" {
			return false
		}
		of = of[size:]
	}
	return true
}

// answers returns the answers of a store: of one that has the same files as another they are the same, but for when events were
// written that say what is lost. What was set aside nobody reads.
func (d *damaging) answers(t testing.TB, f storetest.Memory) *answers {
	t.Helper()
	key := sha256.New()
	a := &answers{events: map[string]string{}, lost: map[string][]string{}}
	mustDo(t, disk.Walk(f, func(s disk.StoreFile) error {
		if s.Kind == disk.KindAside {
			return nil
		}
		file := f.MapFS[s.Path]
		if s.Kind == disk.KindEvent {
			if e, err := schema.ReadEvent(f, s.ID); err == nil && e.Kind == schema.EventLost {
				fmt.Fprintf(key, "%q\n", append(e.Runs, e.Key, e.Value))
				return nil
			} else if err == nil && e.Kind == schema.EventAbsent {
				a.absent = true
				fmt.Fprintln(key, "absent")
				return nil
			}
			a.events[s.Path] = string(file.Data)
		}
		sum, known := d.sums[file]
		if !known {
			sum = sha256.Sum256(file.Data)
		}
		fmt.Fprintf(key, "%s %x\n", s.Path, sum)
		return nil
	}))
	id := [sha256.Size]byte(key.Sum(nil))
	if known := d.known[id]; known != nil {
		return known
	}
	if len(d.known) == 100 { // of most cases no other one has the same files
		clear(d.known)
	}
	a.runs, a.damage = storetest.StatesIn(t, f), damage(findingsIn(t, f))
	for id, lost := range runfile.ReadLost(f) {
		a.lost[id] = slices.Sorted(maps.Keys(lost))
	}
	d.known[id] = a
	return a
}
