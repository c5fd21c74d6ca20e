package folder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/query/report"
	"github.com/neurolens/neurolens/schema"
)

// Session is the folder of a session that measures. With the layout Runs each run is written as it finishes; the others are written at
// the end, of what the store has then. A nil Session writes nothing.
type Session struct {
	layout layout.Layout
	dir    string
	runs   *report.BenchRuns // of the layout Runs
	ids    []string          // of the others
}

// Open makes the folder; without a name there is none, and no Session. Files that lie there are left alone: the session may be refused
// yet.
func Open(l layout.Layout, dir string) (*Session, error) {
	if dir == "" {
		return nil, nil
	}
	if err := outside(dir); err != nil {
		return nil, err
	}
	s := &Session{layout: l, dir: dir}
	if l == layout.Runs {
		var err error
		s.runs, err = report.OpenBenchRuns(dir)
		return s, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making %s: %w", dir, err)
	}
	return s, nil
}

// Begin adds the runs of earlier sessions that this one goes on from.
func (s *Session) Begin(earlier []schema.Run) error {
	switch {
	case s == nil:
		return nil
	case s.runs != nil:
		return s.runs.Begin(earlier)
	}
	for i := range earlier {
		s.ids = append(s.ids, earlier[i].RunID)
	}
	probe, err := os.CreateTemp(s.dir, ".begin-*.part") // what cannot be written fails before anything was measured
	if err != nil {
		return fmt.Errorf("writing into %s: %w", s.dir, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Add adds a run that the store has.
func (s *Session) Add(run schema.Run) error {
	switch {
	case s == nil:
		return nil
	case s.runs != nil:
		return s.runs.Add(run)
	}
	s.ids = append(s.ids, run.RunID)
	return nil
}

// Close writes what is not written yet, and says what is not there. open opens the store; it is asked where something is read of it.
func (s *Session) Close(ctx context.Context, open func(context.Context) (*query.DB, error)) (warnings []string, err error) {
	switch {
	case s == nil:
		return nil, nil
	case s.runs != nil:
		return s.runs.Warnings(), s.runs.Close()
	case len(s.ids) == 0:
		return nil, nil
	}
	ctx = context.WithoutCancel(ctx) // what finished before an interrupt is written, too
	db, err := open(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(s.ids)
	_, err = Write(ctx, db, Request{Layout: s.layout, Dir: s.dir, IDs: slices.Compact(s.ids)})
	return nil, errors.Join(err, db.Close())
}

// Outputs are the paths that a session writes to, which are no code of what it measures; none without a folder.
func Outputs(l layout.Layout, dir string) []string {
	if dir == "" {
		return nil
	}
	names := []string{"artifacts"}
	switch l {
	case layout.Runs:
		names = []string{"runs", "fp", "summary.csv"}
	case layout.Chapters:
		names = append(names, "benchmark_test_results.json", "benchmark_test_results.md")
	case layout.Kernels:
		names = []string{"env.json", "kernel_manifest.json", "kernels", "summary.json", "summary.md", "regressions.md"}
	case layout.Grid:
		names = []string{"benchmark_results.json", "benchmark_results.md"}
	case layout.Matrix:
		if filepath.Clean(dir) != "." { // the names of its files are those of its runs
			return []string{dir}
		}
		names = []string{"report.json", "report.md"}
	}
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names
}
