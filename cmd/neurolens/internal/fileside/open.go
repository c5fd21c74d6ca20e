package fileside

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/ingest/imports"
	"github.com/neurolens/neurolens/runner/worktree"
)

// read reads the file into a new store in dir, a private folder that is empty, and gives the directory of the store, and what
// the readers note of the file. Files that
// are not understood as a whole are refused: a comparison of the rest would pass over what is gone. The error is one line about
// what is wrong with the file, but for what is wrong with dir.
func (r reference) read(ctx context.Context, dir, writer string) (store string, notes []string, err error) {
	file := r.Path
	if r.Commit != "" {
		content, err := worktree.ReadFile(ctx, ".", r.Commit, r.Path)
		if err != nil {
			return "", nil, err
		}
		file = filepath.Join(dir, "file", path.Base(r.Path))
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			return "", nil, err
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return "", nil, err
		}
	}
	store = filepath.Join(dir, "store")
	if notes, err = fill(ctx, store, file, writer); err != nil {
		return "", nil, fmt.Errorf("reading %s: %w", r.name(), err)
	}
	for i, note := range notes {
		notes[i] = r.name() + ": " + note
	}
	return store, notes, nil
}

// name is what to call the file in an error.
func (r reference) name() string {
	if r.Commit != "" {
		return gitPrefix + r.Commit + ":" + r.Path
	}
	return r.Path
}

// fill makes a store of a file, and gives what its readers note of what they read.
func fill(ctx context.Context, dir, file, writer string) (notes []string, err error) {
	sources, err := foreign.Sources([]string{file}, nil)
	if err != nil {
		return nil, cmp.Or(errors.Unwrap(err), err) // without the path, which the message has already
	}
	if err := ingest.Init(dir); err != nil {
		return nil, err
	}
	store, err := ingest.Open(dir, writer)
	if err != nil {
		return nil, err
	}
	reading := imports.New(sources, imports.Options{Formats: formats.All()}, unwatched{})
	done, err := reading.Into(ctx, store)
	if err := errors.Join(err, store.Close()); err != nil {
		return nil, err
	}
	if reading.Incomplete() {
		return nil, whyIncomplete(reading.Reports)
	}
	if done.Added == 0 {
		return nil, errors.New("it has no runs")
	}
	for _, report := range reading.Reports {
		notes = append(notes, slices.Sorted(maps.Keys(report.Notes))...)
	}
	return notes, nil
}

// whyIncomplete is the first reason for which something was not read.
func whyIncomplete(reports []imports.Report) error {
	for _, report := range reports {
		switch {
		case len(report.Refusals) > 0 && report.Runs == 0:
			return errors.New(report.Refusals[0].String())
		case len(report.Refusals) > 0:
			return fmt.Errorf("%s (%d refused in all; ingest FILE stores the rest)", report.Refusals[0], report.Refused)
		case report.Why != "" && report.State != imports.Side:
			return errors.New(report.Why)
		}
	}
	return errors.New("nothing in it could be read")
}

// unwatched is for a reading that nobody watches.
type unwatched struct{}

func (unwatched) Add(foreign.Source)     {}
func (unwatched) File(int)               {}
func (unwatched) Reading(*foreign.Input) {}
func (unwatched) Run()                   {}
