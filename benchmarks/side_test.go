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
	name string
	open func(dir string) (sideWriter, error)
	ask  func(dir, question string) ([]string, error)
}

// sideWriter appends runs durably, one by one, as NeuroLens does.
type sideWriter interface {
	Append(r schema.Run) error
	Close() error
}

var sides = []side{
	{"one JSON document a run", newDocuments, askDocuments},
	{"SQLite, one row a run", newSQLite, askSQLite},
	{"one-run Parquet files, a glob", newGlob, askGlob},
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
	out := rows{{"runs of 1,000 samples", "B/run", "ms/append", "ls ms", "column ms", "parameter ms", "quantiles ms", "peak MB"}}
	for b.Loop() {
		out = out[:1]
		answers := map[string]string{}
		own := filepath.Join(temp, "store")
		line := keepSide(b, own, func() (sideWriter, error) {
			return ingest.Open(own, "scale")
		})
		out = append(out, append([]string{"NeuroLens", line[0], line[1]}, askSide(b, answers, func(question string) measured {
			m := start(b, "NEUROLENS_FORMAT=csv", append([]string{neurolens, "--store", own}, ownQuestions[question]...)...)
			_, m.Stdout, _ = bytes.Cut(m.Stdout, []byte("\n")) // the headings
			return m
		})...))
		for i, s := range sides {
			dir := filepath.Join(temp, fmt.Sprint(i))
			line := keepSide(b, dir, func() (sideWriter, error) { return s.open(dir) })
			self, err := os.Executable()
			must(b, err)
			out = append(out, append([]string{s.name, line[0], line[1]}, askSide(b, answers, func(question string) measured {
				return start(b, sideRole+"=1", self, s.name, dir, question)
			})...))
		}
	}
	var bare series
	for range rounds {
		bare.add(bareProcess(b))
	}
	fmt.Printf("\n%s: %d runs; a bare DuckDB process takes %.1f ms\n%s", b.Name(), sideRuns, bare.median(), out)
}

// ownQuestions are the questions as commands of NeuroLens.
var ownQuestions = map[string][]string{
	askNewest:    {"ls", "--columns", "run_id", "--limit", "20"},
	askColumn:    {"ls", "--columns", "run_id", "--limit", "20", "p50>50ms"},
	askParameter: {"ls", "--columns", "run_id", "--limit", "20", "dim=64"},
	askQuantiles: {"query", "SELECT unnest([sum(q[1]), sum(q[2])]) FROM (SELECT list_aggregate(ticks, 'quantile_cont', [0.5, 0.99]) q FROM samples)"},
}

// keepSide appends the runs, one by one, and gives the bytes and the milliseconds of each.
func keepSide(b *testing.B, dir string, open func() (sideWriter, error)) []string {
	b.Helper()
	must(b, os.RemoveAll(dir))
	if filepath.Base(dir) == "store" {
		must(b, ingest.Init(dir))
	} else {
		must(b, os.MkdirAll(dir, 0o777))
	}
	w, err := open()
	must(b, err)
	var took time.Duration
	for sweep, i := runtest.NewSweep(1, sideSamples), 0; i < sideRuns; i++ {
		run := sweep.Next()
		stat.Complete(&run)
		begun := time.Now()
		must(b, w.Append(run))
		took += time.Since(begun)
	}
	begun := time.Now()
	must(b, w.Close())
	took += time.Since(begun)
	return []string{fmt.Sprint(sizeOf(b, dir) / sideRuns), fmt.Sprintf("%.2f", took.Seconds()*1e3/sideRuns)}
}

// askSide asks all questions and gives the milliseconds of each, and the largest peak memory. The answers have to be
// those of the sides before.
func askSide(b *testing.B, answers map[string]string, ask func(question string) measured) []string {
	b.Helper()
	var cells []string
	peak := int64(0)
	for _, question := range []string{askNewest, askColumn, askParameter, askQuantiles} {
		var s series
		for range 5 {
			s.add(ask(question))
		}
		lines := strings.Fields(string(s.out))
		if question == askQuantiles { // numbers that are added in another order differ in the last digits
			for i, number := range lines {
				var value float64
				if _, err := fmt.Sscan(number, &value); err != nil {
					b.Fatalf("%q: %v", s.out, err)
				}
				lines[i] = fmt.Sprintf("%.8e", value)
			}
		}
		answer := strings.Join(lines, " ")
		if before, asked := answers[question]; asked && before != answer {
			b.Errorf("%s: the answer is %q, where it was %q", question, answer, before)
		}
		answers[question] = answer
		cells, peak = append(cells, fmt.Sprintf("%.0f", s.median())), max(peak, s.peak)
	}
	return append(cells, fmt.Sprint(peak>>20))
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
