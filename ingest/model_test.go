package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/neurolens/neurolens/ingest/internal/disk"
	"github.com/neurolens/neurolens/ingest/internal/runfile"
	"github.com/neurolens/neurolens/ingest/internal/sealing"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// Times of the model, in which no time passes but that which it takes of its own will. Nothing stalls for as long as a claim's grace, as nothing does for ten minutes; but it stalls for
// longer than what counts as abandoned, so that those who stalled meet those who took over.
const (
	modelStale = 30 * time.Millisecond
	modelStall = 90 * time.Millisecond
	modelGrace = time.Second
)

// model is a store that processes append to, seal, take over and read, all at once, and what has to hold of it.
type model struct {
	t     *testing.T
	dir   string
	steps *stepCounts // here
	total *stepCounts // in the stores before
	stop  atomic.Bool

	mu      sync.Mutex
	acked   map[string]string // digests by run
	crashes int
	looks   int
	sealed  map[string][]string // runs by sealed file
	holder  map[string]string   // sealed files by run
}

// TestModel lets writers, sealers, packers and readers work in one store, stall and crash at any step, and holds the
// invariants of FORMAT.md: no acknowledged run is ever missing, no run is there twice, what is sealed never changes and
// never goes away. The time of the model is made up, so that the machine's speed does not matter; as what it made must not
// be met by other tests, it is a process of its own. NEUROLENS_LONG=all goes on until every step has seen 100 crashes.
func TestModel(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it needs directories under their descriptors in /proc")
	}
	if os.Getenv(childModel) != "" {
		synctest.Test(t, epochs)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestModel$", "-test.v", "-test.timeout=0")
	cmd.Env = append(os.Environ(), childModel+"=1")
	said, err := cmd.CombinedOutput()
	t.Logf("%s", said)
	valuetest.NoError(t, err)
}

// childModel is set for the process in which the model runs.
const childModel = "NEUROLENS_INGEST_MODEL"

// epochs are models of one store after the other.
func epochs(t *testing.T) {
	counts := newStepCounts()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	most, duration := tier(1, 2, 0), time.Duration(tier(250, 3000, 3000))*time.Millisecond
	runs, crashes, looks := 0, 0, 0
	for epoch := 0; !t.Failed(); epoch++ {
		enough := epoch >= most
		if most == 0 {
			enough = crashes >= 5000 && counts.takeOvers >= 5000 && slices.Min(counts.crashesByStep()) >= 100
		}
		if enough {
			break
		}
		m := newModel(t, counts)
		m.run(seed+uint64(epoch), duration)
		if !t.Failed() {
			m.end()
			_ = os.RemoveAll(m.dir)
		}
		counts.merge(m.steps)
		runs, crashes, looks = runs+len(m.acked), crashes+m.crashes, looks+m.looks
		t.Logf("after %d epochs: %d acknowledged, %d crashes, %d take-overs, fewest at a step %d",
			epoch+1, runs, crashes, counts.takeOvers, slices.Min(counts.crashesByStep()))
	}
	t.Logf("%d runs acknowledged, %d looks of readers, %d crashes, %d take-overs, %d rescued; crashes by step:",
		runs, looks, crashes, counts.takeOvers, counts.rescued)
	for _, s := range steps {
		t.Logf("%6d of %6d  %s", counts.crashes[s.name], counts.met[s.name], s.name)
	}
}

// crashesByStep counts the crashes at each step.
func (c *stepCounts) crashesByStep() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []int
	for _, s := range steps {
		all = append(all, c.crashes[s.name])
	}
	return all
}

func newModel(t *testing.T, counts *stepCounts) *model {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	mustDo(t, Init(dir))
	return &model{t: t, dir: dir, steps: newStepCounts(), total: counts, acked: map[string]string{}, sealed: map[string][]string{}, holder: map[string]string{}}
}

// run lets the processes work.
func (m *model) run(seed uint64, duration time.Duration) {
	time.AfterFunc(duration, func() { m.stop.Store(true) })
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() { m.processes(rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	for range 2 {
		wg.Go(m.readers)
	}
	wg.Wait()
}

// processes are one process after another.
func (m *model) processes(random *rand.Rand) {
	for !m.stop.Load() && !m.t.Failed() {
		files := &mortalFiles{
			OS: must(disk.NewOS(m.dir)), at: -1, stall: modelStall, steps: m.steps,
			random: rand.New(rand.NewPCG(random.Uint64(), 0)),
		}
		if random.IntN(8) > 0 { // else it ends well
			files.at = random.IntN(300)
		}
		switch random.IntN(4) {
		case 0:
		case 1:
			files.step, files.nth = steps[random.IntN(len(steps))].name, random.IntN(3)
		default:
			crashes := m.total.crashesByStep()
			files.step = steps[slices.Index(crashes, slices.Min(crashes))].name
		}
		m.process(random, files)
		if files.crashed() {
			m.mu.Lock()
			m.crashes++
			m.mu.Unlock()
		}
	}
}

// process opens the store, appends and seals, as a sweep does, and ends or crashes.
func (m *model) process(random *rand.Rand, files *mortalFiles) {
	store, err := openStore(m.dir, "model", files)
	if err != nil {
		if !files.crashed() {
			m.t.Error(err)
		}
		return
	}
	store.sealer.Rules = sealing.Rules{
		Runs: 3 + random.IntN(4), Age: time.Hour, Together: 1 + random.IntN(4), Stale: modelStale, Grace: modelGrace,
		Dead: func(sealing.Owner) bool { return false },
	}
	for range random.IntN(12) {
		if files.crashed() {
			return
		}
		m.append(random, store)
		if random.IntN(8) == 0 {
			time.Sleep(time.Duration(random.Int64N(int64(2 * modelStale))))
		}
	}
	switch random.IntN(8) {
	case 0, 1, 2:
		_, err := store.Seal(context.Background())
		m.check(files, err)
	case 3:
		p := sealing.Packer{Files: files, Version: "model", Now: time.Now(), Rules: sealing.PackRules{MinFiles: 3, MaxRows: 30, Memory: sealing.StandardPackRules().Memory}}
		m.check(files, p.Pack())
	case 4:
		m.appendAll(random, store)
	}
	m.check(files, store.Close())
}

// check reports an error of a process that has not crashed. A claim that is taken from a process that stalls is none.
func (m *model) check(files *mortalFiles, err error) {
	if err != nil && !files.crashed() && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
		m.t.Error(err)
	}
}

// append appends a run, once more if that fails.
func (m *model) append(random *rand.Rand, store *Store) {
	run := m.newRun(random)
	for range 2 {
		if err := store.Append(run); err == nil {
			m.acknowledge(run)
			return
		}
	}
}

// appendAll appends runs straight to sealed files.
func (m *model) appendAll(random *rand.Rand, store *Store) {
	var runs []schema.Run
	for range 1 + random.IntN(5) {
		runs = append(runs, m.newRun(random))
	}
	_, err := store.AppendAll(runtest.Each(runs...))
	if err == nil {
		m.acknowledge(runs...)
	}
}

func (m *model) acknowledge(runs ...schema.Run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, run := range runs {
		m.acked[run.RunID] = schema.DigestOf(&run)
	}
}

// newRun returns one with everything, without samples, or of the usual kind.
func (m *model) newRun(random *rand.Rand) schema.Run {
	run := smallRun()
	switch random.IntN(6) {
	case 0:
		at := run.RunID
		run = fullRun()
		run.RunID, run.StartedAt = at, time.Now().UTC()
	case 1:
		run.Primary, run.Metrics = "", nil
	}
	run.StartedAt = must(schema.ParseULID(run.RunID)).Time()
	return run
}

// readers look at the store again and again.
func (m *model) readers() {
	for !m.stop.Load() && !m.t.Failed() {
		m.look()
		time.Sleep(50 * time.Millisecond) // of the model
	}
}

// look reads the names in the store as a reader does, opens what is new, and compares that with what was acknowledged
// before.
func (m *model) look() {
	m.mu.Lock()
	want := make([]string, 0, len(m.acked))
	for run := range m.acked {
		want = append(want, run)
	}
	m.looks++
	m.mu.Unlock()
	for range 1000 {
		listed, err := schema.List(os.DirFS(m.dir), schema.Scope{})
		if errors.Is(err, fs.ErrNotExist) {
			continue // a directory was removed between opening and reading it
		}
		if err != nil {
			m.t.Errorf("listing: %v", err)
			return
		}
		there := map[string]bool{}
		if !m.openLive(listed.Live, there) {
			continue // something was moved: begin anew
		}
		m.openSealed(listed.Sealed, there)
		m.checkPacks(listed)
		for _, run := range want {
			if !there[run] {
				m.missing(run)
			}
		}
		return
	}
	m.t.Error("a reader gets nowhere")
}

// missing reports an acknowledged run that a reader did not meet, and where it is.
func (m *model) missing(run string) {
	var found []string
	_ = filepath.WalkDir(m.dir, func(name string, _ fs.DirEntry, _ error) error {
		if filepath.Base(name) == run+".parquet" {
			found = append(found, name)
		}
		return nil
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.t.Errorf("run %s was acknowledged and is missing; live files of it: %q; sealed in %q", run, found, m.holder[run])
}

// openLive reads live files, and tells whether all were there.
func (m *model) openLive(files []schema.LiveFile, there map[string]bool) bool {
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(f.Path())))
		if errors.Is(err, fs.ErrNotExist) {
			return false
		}
		if err == nil {
			err = schema.CheckFileHash(content)
		}
		if err != nil {
			m.t.Errorf("%s: %v", f.Path(), err)
		}
		there[f.Run.String()] = true
	}
	return true
}

// openSealed reads the sealed files that were not seen before. Those that were have to be there.
func (m *model) openSealed(files []schema.SealedFile, there map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := map[string]bool{}
	for _, f := range files {
		names[f.Name()] = true
		if _, seen := m.sealed[f.Name()]; !seen {
			m.openNew(f)
		}
	}
	for name, runs := range m.sealed {
		if !names[name] {
			continue // another reader saw it since this one listed
		}
		for _, run := range runs {
			there[run] = true
		}
	}
}

// checkPacks: the packs and the files that a reader takes instead of the sealed files have as many runs as these.
func (m *model) checkPacks(listed *schema.Listing) {
	covers := map[schema.ULID][]schema.ULID{}
	for _, pack := range listed.Packs {
		ids, err := schema.PackCovers(os.DirFS(m.dir), pack)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.t.Errorf("%s: %v", pack.Name(), err)
		}
		covers[pack.ID] = ids
	}
	packs, files := schema.PlanPacks(listed, covers)
	rows := 0
	for _, f := range listed.Sealed {
		rows += f.Rows
	}
	for _, f := range slices.Concat(packs, files) {
		rows -= f.Rows
	}
	if rows != 0 {
		m.t.Errorf("packs and the other files have %d runs less than the sealed files", rows)
	}
}

// openNew reads a sealed file: each run in it is in no other one, and has its samples.
func (m *model) openNew(f schema.SealedFile) {
	runs := checkSealed(m.t, m.dir, f)
	m.sealed[f.Name()] = runs
	for _, run := range runs {
		if other := m.holder[run]; other != "" {
			m.t.Errorf("run %s is in %s and in %s", run, other, f.Name())
		}
		m.holder[run] = f.Name()
	}
}

// end lets one last process finish everything.
func (m *model) end() {
	time.Sleep(2 * modelGrace) // of the model
	var claims []schema.Claim
	for range 100 {
		m.seal()
		var live []string
		if live, _, claims = whereRuns(m.t, m.dir); len(live)+len(claims) == 0 {
			break
		}
	}
	live, sealed, claims := whereRuns(m.t, m.dir)
	if len(live)+len(claims) > 0 {
		m.t.Errorf("live files %v and claims %v are left", live, claims)
	}
	slices.Sort(sealed)
	if n := len(sealed); len(slices.Compact(sealed)) != n {
		m.t.Error("a run is sealed twice")
	}
	m.look()
	listed, err := schema.List(os.DirFS(m.dir), schema.Scope{})
	if err != nil {
		m.t.Fatal(err)
	}
	m.checkNames(listed)
	for _, f := range listed.Sealed {
		rows, _ := sealedRows(m.t, m.dir, f, schema.Runs)
		for run, row := range rows {
			if want, acked := m.acked[run]; acked && row[0][runfile.DigestPlace] != want {
				m.t.Errorf("run %s had the digest %s and has %v", run, want, row[0][runfile.DigestPlace])
			}
		}
	}
	checkStore(m.t, m.dir)
}

// seal seals all that may be sealed, of whomever, in the time of the model.
func (m *model) seal() {
	files := quickFiles(m.dir)
	files.stall, files.random = 1, rand.New(rand.NewPCG(1, 1))
	if _, err := openWith(m.t, m.dir, files, heirRules()).Seal(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// checkNames: every sealed file that was seen at any time is there.
func (m *model) checkNames(listed *schema.Listing) {
	for name := range m.sealed {
		if !slices.ContainsFunc(listed.Sealed, func(f schema.SealedFile) bool { return f.Name() == name }) {
			m.t.Errorf("%s is gone", name)
		}
	}
	if len(listed.Sealed) == 0 && len(m.acked) > 0 {
		m.t.Error(fmt.Sprint("nothing is sealed of ", len(m.acked)))
	}
}
