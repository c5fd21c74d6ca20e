package benchmarks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// sideRole is the variable that makes the test binary the reader of another way to keep runs: it answers the question
// of its last argument about the directory before it.
const sideRole = "NEUROLENS_SCALE_SIDE"

// Questions that every way to keep runs answers, with one line for each run or number.
const (
	askNewest    = "ls"        // the newest 20
	askColumn    = "column"    // the newest 20 with a p50 above 50 ms
	askParameter = "parameter" // the newest 20 whose parameter dim is 64
	askQuantiles = "quantiles" // the sums of p50 and p99 of all runs, computed from their samples, in ns
)

// What the sides have.
const (
	sideRuns    = 2000
	sideSamples = 1000
	newest      = 20
	slow        = 50e6 // ns
)

// side is a way to keep runs other than NeuroLens.
type side struct {
	name   string
	append float64       // the most that an append to a store may take, as a ratio to this way; 0: none
	slower time.Duration // by which a list of runs may take longer than in this way; 0: no goal
	open   func(dir string) (sideWriter, error)
	ask    func(dir, question string) ([]string, error)
}

// sideWriter appends runs durably, one by one, as NeuroLens does.
type sideWriter interface {
	Append(r schema.Run) error
	Close() error
}

var sides = []side{
	{"one JSON document a run", 1, 0, newDocuments, askDocuments},
	{"SQLite, one row a run", 0, 10 * time.Millisecond, newSQLite, askSQLite},
	{"one-run Parquet files, a glob", 0, 0, newGlob, askGlob},
}

// answerSide prints the answer of a side.
func answerSide(name, dir, question string) error {
	for _, s := range sides {
		if s.name != name {
			continue
		}
		lines, err := s.ask(dir, question)
		if err == nil {
			_, err = fmt.Println(strings.Join(lines, "\n"))
		}
		return err
	}
	return fmt.Errorf("%q keeps no runs", name)
}

// BenchmarkSideBySide keeps the same runs in NeuroLens and in other ways, and asks all of them the same, each in a
// process of its own, by turns.
func BenchmarkSideBySide(b *testing.B) {
	neurolens, root := program(b), scaleDir(b)
	temp, err := os.MkdirTemp(root, "sides-")
	must(b, err)
	defer os.RemoveAll(temp)
	self, err := os.Executable()
	must(b, err)
	own := filepath.Join(temp, "store")
	must(b, ingest.Init(own))
	kept := keepSide(b, own, func() (sideWriter, error) { return ingest.Open(own, "scale") })
	askOwn := func(question string) measured {
		m := start(b, "NEUROLENS_FORMAT=csv", append([]string{neurolens, "--store", own}, ownQuestions[question]...)...)
		_, m.Stdout, _ = bytes.Cut(m.Stdout, []byte("\n")) // the headings
		return m
	}
	for i, s := range sides {
		dir := filepath.Join(temp, fmt.Sprint(i))
		must(b, os.Mkdir(dir, 0o777))
		other := keepSide(b, dir, func() (sideWriter, error) { return s.open(dir) })
		ownAppends, otherAppends := appendBoth(b, s.open)
		lines := []line{
			{name: "bytes of a run", ratios: []float64{float64(kept.size) / float64(other.size)}},
			turns("append", &ownAppends, &otherAppends).within(s.append, 0),
			{name: "append and seal", ratios: []float64{kept.all.Seconds() / other.all.Seconds()}},
		}
		for _, question := range []string{askNewest, askColumn, askParameter, askQuantiles} {
			ours, theirs := askBoth(b, question, askOwn, func() measured { return start(b, sideRole+"=1", self, s.name, dir, question) })
			lines = append(lines, turns(question, &ours, &theirs))
			if s.slower > 0 && question != askQuantiles {
				later := theirs.later(s.slower)
				lines = append(lines, turns(fmt.Sprintf("%s, as a ratio to it and %v", question, s.slower), &ours, &later).within(1, 0))
			}
		}
		b.Run(s.name, func(b *testing.B) { report(b, s.name, lines...) })
	}
}

// ownQuestions are the questions as commands of NeuroLens.
var ownQuestions = map[string][]string{
	askNewest:    {"ls", "--columns", "run_id", "--limit", "20"},
	askColumn:    {"ls", "--columns", "run_id", "--limit", "20", "p50>50ms"},
	askParameter: {"ls", "--columns", "run_id", "--limit", "20", "dim=64"},
	askQuantiles: {"query", "SELECT unnest([sum(q[1]), sum(q[2])]) FROM (SELECT list_aggregate(ticks, 'quantile_cont', [0.5, 0.99]) q FROM samples)"},
}

// keptRuns is what it takes to keep runs.
type keptRuns struct {
	size int64         // of all files, in bytes
	all  time.Duration // until the store is closed
}

// keepSide appends the runs, one by one.
func keepSide(b *testing.B, dir string, open func() (sideWriter, error)) (kept keptRuns) {
	b.Helper()
	w, err := open()
	must(b, err)
	for sweep, i := runtest.NewSweep(1, sideSamples), 0; i < sideRuns; i++ {
		kept.all += appendTo(b, w, sweep.Next())
	}
	begun := time.Now()
	must(b, w.Close())
	kept.all += time.Since(begun)
	kept.size = sizeOf(b, dir)
	return kept
}

// appendTo returns the time that an append of a run takes.
func appendTo(b *testing.B, w sideWriter, run schema.Run) time.Duration {
	b.Helper()
	stat.Complete(&run)
	begun := time.Now()
	must(b, w.Append(run))
	return time.Since(begun)
}

// turnRuns is the number of runs that are appended by turns: so few that NeuroLens does not seal meanwhile, which another writer would feel.
const turnRuns = 200

// appendBoth appends runs to a store and to another way, by turns, because the speed of a disk changes.
func appendBoth(b *testing.B, open func(dir string) (sideWriter, error)) (ours, theirs series) {
	b.Helper()
	root, err := os.MkdirTemp(scaleDir(b), "turns-")
	must(b, err)
	defer os.RemoveAll(root)
	own, others := filepath.Join(root, "store"), filepath.Join(root, "other")
	must(b, errors.Join(ingest.Init(own), os.Mkdir(others, 0o777)))
	store, err := ingest.Open(own, "scale")
	must(b, err)
	other, err := open(others)
	must(b, err)
	for sweep, i := runtest.NewSweep(1, sideSamples), 0; i < turnRuns; i++ {
		run := sweep.Next()
		ours.add(measured{Wall: appendTo(b, store, run)})
		theirs.add(measured{Wall: appendTo(b, other, run)})
	}
	must(b, errors.Join(store.Close(), other.Close()))
	return ours, theirs
}

// askBoth asks a question of both by turns. The answers have to be the same.
func askBoth(b *testing.B, question string, own func(string) measured, other func() measured) (ours, theirs series) {
	b.Helper()
	for range rounds {
		ours.add(own(question))
		theirs.add(other())
	}
	if a, o := answerOf(b, question, ours.out), answerOf(b, question, theirs.out); a != o {
		b.Errorf("%s: the answers are %q and %q", question, a, o)
	}
	return ours, theirs
}

// answerOf returns an answer in one line. Numbers that were added in another order differ in the last digits, which are left out.
func answerOf(b *testing.B, question string, out []byte) string {
	b.Helper()
	words := strings.Fields(string(out))
	if question == askQuantiles {
		for i, number := range words {
			var value float64
			if _, err := fmt.Sscan(number, &value); err != nil {
				b.Fatalf("%q: %v", out, err)
			}
			words[i] = fmt.Sprintf("%.8e", value)
		}
	}
	return strings.Join(words, " ")
}

// sizeOf is that of all files, but of claims and the trash, which go away.
func sizeOf(tb testing.TB, dir string) (size int64) {
	tb.Helper()
	must(tb, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == schema.ClaimsDir || d.Name() == schema.TrashDir {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	}))
	return size
}
