package benchmarks

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/table"
)

// dirVariable names the directory in which the stores stand. It is 3 GB when all are made.
const dirVariable = "NEUROLENS_SCALE_DIR"

// What a synthetic store is like.
const (
	perFile = 24   // runs of a session, and usually of a sealed file
	events  = 1000 // tags, notes and removals
	months  = 24   // over which the runs stand
)

// recipe says how large a synthetic store is. Equal recipes make equal runs.
type recipe struct {
	name    string
	runs    int
	samples int // of each run
	perFile int // runs of a sealed file: some sessions
}

// The stores: of as many runs, all sealed by 24 and packed.
var recipes = []recipe{{"1k", 1_008, 10, perFile}, {"10k", 10_008, 10, perFile}, {"100k", 100_008, 10, perFile}, {"1M", 1_008_000, 10, perFile}}

// scaleDir returns the directory of the stores. Without it there is nothing to measure.
func scaleDir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv(dirVariable)
	if dir == "" {
		skip(tb, "scale", dirVariable+" names no directory for the stores, which are made once")
	}
	must(tb, os.MkdirAll(dir, 0o755))
	return dir
}

// storeOf gives the directory of a store, which it makes where it is not there. It is packed once more, as by any later writer: what was made
// in the last minute has no sizes of folders yet.
func storeOf(tb testing.TB, r recipe) string {
	tb.Helper()
	dir := made(tb, r.name, r.write)
	must(tb, pack(dir))
	return dir
}

// pack packs a store.
func pack(dir string) error {
	store, err := ingest.Open(dir, "scale")
	if err != nil {
		return err
	}
	return errors.Join(store.Pack(), store.Close())
}

// made gives the directory of that name, which is made where it is not there.
func made(tb testing.TB, name string, write func(dir string) error) string {
	tb.Helper()
	dir := filepath.Join(scaleDir(tb), name)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	start := time.Now()
	part, err := os.MkdirTemp(filepath.Dir(dir), name+".part-")
	must(tb, err)
	must(tb, write(part))
	must(tb, os.Rename(part, dir))
	fmt.Printf("%s: made in %.0f s\n", dir, time.Since(start).Seconds())
	return dir
}

// sweep gives the runs of a sealed file.
func (r recipe) sweep(file int) *runtest.Sweep {
	s := runtest.NewSweep(uint64(file), r.samples)
	first := s.Start
	s.Step = first.AddDate(0, months, 0).Sub(first) / time.Duration(r.runs)
	s.Start = first.Add(s.Step * time.Duration(file*r.perFile))
	return s
}

// write makes the store: sealed files by all processors at once and without an fsync, for what is at stake is a store
// that can be made anew; events; packs.
func (r recipe) write(dir string) error {
	if err := ingest.Init(dir); err != nil {
		return err
	}
	next := make(chan int)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for file := range next {
				errs[i] = errors.Join(errs[i], r.seal(dir, file))
			}
		})
	}
	for file := range r.runs / r.perFile {
		next <- file
	}
	close(next)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := r.writeEvents(dir); err != nil {
		return err
	}
	return pack(dir)
}

// seal writes one sealed file.
func (r recipe) seal(dir string, file int) error {
	runs := make([]schema.Run, 0, r.perFile)
	ids := make([]schema.ULID, 0, r.perFile)
	for s := r.sweep(file); len(runs) < r.perFile; {
		run := s.Next()
		id, err := schema.ParseULID(run.RunID)
		if err != nil {
			return err
		}
		runs, ids = append(runs, run), append(ids, id)
	}
	hash := sha256.Sum256(fmt.Append(nil, file))
	name := schema.NewSealedFile(schema.ULIDFrom(ids[len(ids)-1].Time(), [10]byte(hash[:])), ids)
	out, err := newSealed(dir, name)
	if err != nil {
		return err
	}
	for i := range runs {
		if err := out.write(&runs[i]); err != nil {
			return err
		}
	}
	return out.close()
}

// sealed is a sealed file that is being written.
type sealed struct {
	runs, samples         *table.Writer
	runsFile, samplesFile *os.File
}

func newSealed(dir string, name schema.SealedFile) (*sealed, error) {
	runs, err := create(filepath.Join(dir, name.Path(schema.RunsDir)))
	if err != nil {
		return nil, err
	}
	samples, err := create(filepath.Join(dir, name.Path(schema.SamplesDir)))
	if err != nil {
		return nil, errors.Join(err, runs.Close())
	}
	return &sealed{
		table.NewWriter(runs, schema.Runs, "scale", nil), table.NewWriter(samples, schema.Samples, "scale", nil), runs, samples,
	}, nil
}

func (s *sealed) write(r *schema.Run) error {
	stat.Complete(r)
	if err := s.runs.Write(schema.RunRow(r, schema.DigestOf(r))); err != nil {
		return err
	}
	return s.samples.Write(append([]any{r.RunID}, schema.MetricRow(&r.Metrics[0])...))
}

func (s *sealed) close() error {
	return errors.Join(s.runs.Close(), s.samples.Close(), s.runsFile.Close(), s.samplesFile.Close())
}

// create makes a file, and its directory where that is not there.
func create(path string) (*os.File, error) {
	f, err := os.Create(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
		return os.Create(path)
	}
	return f, err
}

// writeEvents says something about runs of all times: of ten events five tag, four note and one removes. They are younger than the store, as
// where nothing was compacted or merged.
func (r recipe) writeEvents(dir string) error {
	random := rand.New(rand.NewPCG(1, 0))
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for i := range events {
		s := r.sweep(random.IntN(r.runs / r.perFile))
		id := schema.ULIDFrom(at.Add(time.Duration(i)*time.Second), [10]byte{9: byte(i)})
		e := schema.Event{EventID: id.String(), At: time.Now().UTC(), Runs: []string{s.Next().RunID}}
		switch {
		case i%10 == 0:
			e.Kind = schema.EventRemove
		case i%2 == 0:
			e.Kind, e.Value = schema.EventNote, "the fan was loud"
		default:
			e.Kind, e.Key, e.Value = schema.EventTag, "kept", "yes"
		}
		content, err := e.Encode()
		if err != nil {
			return err
		}
		name := filepath.Join(dir, schema.EventFile(id))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, content, 0o666)); err != nil {
			return err
		}
	}
	return nil
}
