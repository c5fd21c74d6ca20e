package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// lines is a format of tests: after the name of it a run a line, a benchmark and milliseconds; `in FILE` says that another
// file has more, and `bad` is refused.
var lines = foreign.Format{
	Name:      "lines",
	Recognize: func(h *foreign.Head) bool { return h.FirstLine() == "lines" },
	Read: func(in *foreign.Input, out *foreign.Output) error {
		for n, line := range in.Lines() {
			if line.Err != nil {
				return line.Err
			}
			benchmark, value, _ := strings.Cut(line.Text, " ")
			where := fmt.Sprintf("line %d", n)
			switch {
			case n == 1:
			case benchmark == "in":
				out.LeaveTo(value, "it is in another file", 1)
			case benchmark == "bad":
				out.Refuse(where, errors.New("it is bad"))
			default:
				r := schema.Run{Benchmark: benchmark, StartedAt: time.Unix(1_700_000_000, 0), TimeSource: schema.TimeFile, Status: schema.StatusOK}
				wrong := schema.Summary{N: new(int64(2)), Max: new(99.0), Version: new(int64(2))}
				foreign.Add(&r, schema.Metric{Name: "latency", Reals: []float64{float64(len(value)), 3}, Summary: wrong}, "ms")
				if err := out.Run(where, r); err != nil {
					return err
				}
			}
		}
		return nil
	},
}

var beside = foreign.Format{
	Name: "beside", Side: "it goes with lines", Recognize: func(h *foreign.Head) bool { return h.FirstLine() == "beside" },
}

// told is what a Watcher was told.
type told struct {
	files, runs int
	added       []string
	stop        func(runs int)
}

func (w *told) Add(s foreign.Source)   { w.added = append(w.added, filepath.Base(s.Name)) }
func (w *told) File(i int)             { w.files = max(w.files, i+1) }
func (w *told) Reading(*foreign.Input) {}

func (w *told) Run() {
	w.runs++
	if w.stop != nil {
		w.stop(w.runs)
	}
}

// reading is of files of a folder, by names; none for the folder.
func reading(t *testing.T, dir string, watch ReadWatcher, names ...string) *Reading {
	t.Helper()
	paths := []string{dir}
	if len(names) > 0 {
		paths = nil
	}
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	sources := must(foreign.Sources(paths, strings.NewReader("")))
	return NewReading(sources, ReadOptions{Formats: []foreign.Format{lines, beside}, Added: foreign.Added{Machine: "m"}}, watch)
}

func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.txt": "lines\nmatmul 10\nsort 9\n", "b.txt": "lines\nbad\ncopy 1\n", "c.txt": "no idea\n", "d.txt": "beside\n",
		"e.txt": "lines\nscan 1\nin a.txt\n",
	} {
		mustDo(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

func newReadingStore(t *testing.T) *Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	mustDo(t, Init(dir))
	store := must(Open(dir, "test"))
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func fileStates(r *Reading) string {
	var all []string
	for _, report := range r.Reports {
		all = append(all, fmt.Sprintf("%s %s %d", filepath.Base(report.Name), report.State, report.Runs))
	}
	return strings.Join(all, ", ")
}

// TestInto: what files of a folder say is stored once, and of each file it is said how far it was read.
func TestInto(t *testing.T) {
	t.Parallel()
	dir, store := folder(t), newReadingStore(t)
	for _, want := range []Appended{{Added: 4}, {Skipped: 4}} {
		watch := &told{}
		r := reading(t, dir, watch)
		done := must(r.Into(t.Context(), store))
		valuetest.Equal(t, done, want)
		valuetest.Equal(t, r.Known(), want.Skipped)
		valuetest.Equal(t, fileStates(r), "a.txt read 2, b.txt partly 1, c.txt unknown 0, d.txt side 0, e.txt read 1")
		if !r.Incomplete() || watch.files != 5 || watch.runs != want.Added || r.Reports[0].Source != "lines" {
			t.Errorf("incomplete %t, %+v, source %q", r.Incomplete(), watch, r.Reports[0].Source)
		}
	}
}

// TestIncomplete: a file that nobody knows is missed where it was named, or where nothing else was read.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for _, name := range []string{"b.txt", "e.txt"} {
		mustDo(t, os.Remove(filepath.Join(dir, name)))
	}
	unknown := t.TempDir()
	mustDo(t, os.WriteFile(filepath.Join(unknown, "c.txt"), []byte("no idea\n"), 0o666))
	for _, c := range []struct {
		reading *Reading
		want    bool
	}{
		{reading(t, dir, &told{}), false},
		{reading(t, dir, &told{}, "a.txt", "c.txt"), true},
		{reading(t, unknown, &told{}), true},
		{reading(t, dir, &told{}, "a.txt", "d.txt"), false},
	} {
		if _, err := c.reading.Into(t.Context(), newReadingStore(t)); err != nil || c.reading.Incomplete() != c.want {
			t.Errorf("%s: incomplete %t, %v", fileStates(c.reading), c.reading.Incomplete(), err)
		}
	}
}

// TestElsewhere: a file that says where the rest of it is brings that along when it was named, once.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for _, names := range [][]string{{"e.txt"}, {"e.txt", "a.txt"}} {
		watch := &told{}
		r := reading(t, dir, watch, names...)
		valuetest.Equal(t, must(r.Into(t.Context(), newReadingStore(t))).Added, 3, names)
		if added := len(names) == 1; added != slices.Equal(watch.added, []string{"a.txt"}) || !r.Reports[1].Named {
			t.Errorf("%v: added %v, %+v", names, watch.added, r.Reports)
		}
	}
}

// TestStopped: a reading that is stopped says so, and another one does all of it.
func TestStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := reading(t, folder(t), &told{stop: func(runs int) {
		if runs == 2 {
			cancel()
		}
	}})
	store := newReadingStore(t)
	if done, err := r.Into(ctx, store); !errors.Is(err, context.Canceled) || done != (Appended{}) {
		t.Errorf("%+v, %v", done, err)
	}
	last := r.Reports[len(r.Reports)-1]
	if last.State != FilePartly || last.Why != "reading was stopped" || len(r.Reports) > 2 {
		t.Errorf("%+v", r.Reports)
	}
	valuetest.Equal(t, must(reading(t, folder(t), &told{}).Into(t.Context(), store)).Added, 4, "again")
}

// TestPreview: a preview has the summaries that the store would compute, whatever the file says of its samples.
func TestPreview(t *testing.T) {
	t.Parallel()
	n := 0
	for run, err := range reading(t, folder(t), &told{}, "a.txt", "e.txt").Preview(t.Context()) {
		valuetest.OK(t, err)
		if m := run.Metric("latency"); m == nil || m.Summary.Max == nil || *m.Summary.Max != slices.Max(m.Values()) {
			t.Errorf("%+v", run.Metrics)
		}
		n++
	}
	valuetest.Equal(t, n, 3)
}
