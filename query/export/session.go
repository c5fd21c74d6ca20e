package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/schema"
)

// FolderSession writes the folder of a running session. With the layout Runs each run is written when it finishes; other layouts are written at
// the end, from the store. A nil FolderSession writes nothing.
type FolderSession struct {
	layout layout.Layout
	dir    string
	runs   *layout.BenchRuns // for the layout Runs
	ids    []string          // ids of the runs, for other layouts
}

// OpenFolder creates the folder; it returns nil if dir is empty. Existing files are left alone, because the session may still fail to start.
func OpenFolder(l layout.Layout, dir string) (*FolderSession, error) {
	if dir == "" {
		return nil, nil
	}
	if err := outside(dir); err != nil {
		return nil, err
	}
	s := &FolderSession{layout: l, dir: dir}
	if l == layout.Runs {
		var err error
		s.runs, err = layout.OpenBenchRuns(dir)
		return s, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making %s: %w", dir, err)
	}
	return s, nil
}

// Begin adds the runs of earlier sessions that this session resumes. It fails if the folder cannot be written. open opens the store; it is
// only called if the folder lacks some of these runs.
func (s *FolderSession) Begin(ctx context.Context, earlier []schema.Run, open func(context.Context) (*query.DB, error)) error {
	switch {
	case s == nil:
		return nil
	case s.runs != nil:
		return s.runs.Begin(earlier, func(ids []string, each func(schema.Run) error) error {
			db, err := open(ctx)
			if err != nil {
				return err
			}
			err = db.WholeOf(ctx, ids, func(r schema.Run) error {
				if err := db.SetOperators(ctx, &r); err != nil {
					return err
				}
				return each(r)
			})
			return errors.Join(err, db.Close())
		})
	}
	for i := range earlier {
		s.ids = append(s.ids, earlier[i].RunID)
	}
	probe, err := os.CreateTemp(s.dir, ".begin-*.part") // fail before anything is measured
	if err != nil {
		return fmt.Errorf("writing into %s: %w", s.dir, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Add adds a run that has been stored.
func (s *FolderSession) Add(run schema.Run) error {
	switch {
	case s == nil:
		return nil
	case s.runs != nil:
		return s.runs.Add(run)
	}
	s.ids = append(s.ids, run.RunID)
	return nil
}

// Close writes the rest, and returns warnings about runs without a file. open opens the store; it is only called if needed.
func (s *FolderSession) Close(ctx context.Context, open func(context.Context) (*query.DB, error)) (warnings []string, err error) {
	switch {
	case s == nil:
		return nil, nil
	case s.runs != nil:
		return s.runs.Warnings(), s.runs.Close()
	case len(s.ids) == 0:
		return nil, nil
	}
	ctx = context.WithoutCancel(ctx) // runs that finished before an interrupt are written too
	db, err := open(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(s.ids)
	_, err = WriteFolder(ctx, db, FolderRequest{Layout: s.layout, Dir: s.dir, IDs: slices.Compact(s.ids)})
	return nil, errors.Join(err, db.Close())
}

// FolderOutputs returns the paths that a session writes to, so that they do not count as changed code; none without a folder.
func FolderOutputs(l layout.Layout, dir string) []string {
	if dir == "" {
		return nil
	}
	names := []string{"artifacts"}
	switch l {
	case layout.Runs:
		names = []string{"runs", "fp", "summary.csv", "summary.csv.old"}
	case layout.Chapters:
		names = append(names, "benchmark_test_results.json", "benchmark_test_results.md")
	case layout.Kernels:
		names = []string{"env.json", "kernel_manifest.json", "kernels", "summary.json", "summary.md", "regressions.md"}
	case layout.Grid:
		names = []string{"benchmark_results.json", "benchmark_results.failed.json", "benchmark_results.md"}
	case layout.Matrix:
		if filepath.Clean(dir) != "." { // names of files depend on the runs
			return []string{dir}
		}
		names = []string{"report", "failed"}
	}
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names
}
