package main

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
	"strings"

	"github.com/spf13/cobra"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/runner/worktree"
)

// querySides opens the stores of a comparison, whose sides may be files, and calls ask with those that hold the head or both sides. In the
// request, a side that is a file becomes the filter behind its name; its private store is gone afterwards.
func (a *app) querySides(cmd *cobra.Command, req *compare.Request, ask func(db *query.DB, format string) error) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	if req.Usual == nil {
		req.Usual = a.project.Usual(cmd.Name())
	}
	asking(cmd.Context(), true)
	ctx, remark := cmd.Context(), a.remarks()
	sides := []string{req.Base, req.Head}
	base, err := a.openFileSide(ctx, &req.Base, &req.BaseFile, remark)
	if err != nil {
		return withDraft(ctx, err, sides)
	}
	defer closed(base)
	head, err := a.openFileSide(ctx, &req.Head, &req.HeadFile, remark)
	if err != nil {
		return withDraft(ctx, err, sides)
	}
	defer closed(head)
	switch {
	case base != nil && head != nil:
		req.BaseDB = base
		return ask(head.Snapshot(), format)
	case base != nil && req.Head == "": // both sides are in it
		return ask(base.Snapshot(), format)
	}
	db, err := a.open(ctx, a.readStores())
	if err != nil {
		return err
	}
	defer closed(db)
	if head != nil {
		req.BaseDB = db
		return ask(head.Snapshot(), format)
	}
	req.BaseDB = base
	return ask(db.Snapshot(), format)
}

// withDraft returns the error of a side that cannot be read: of a table of no known format with the command that stores the runs of both.
func withDraft(ctx context.Context, err error, sides []string) error {
	var files []string
	for _, side := range sides {
		if file, is, _ := parseFileSide(side); is && file.commit == "" {
			files = append(files, file.path)
		}
	}
	commands, _ := draftCommands(ctx, files, nil)
	if len(commands) != 1 {
		return err
	}
	return usageErrorf("reading %s: %s; this shows one and stores the runs by it: %s", files[0], needsMapping, commands[0])
}

// queryBase opens the stores for runs and for a base, which may be a file: then base is the store of its runs, and filter the rest of its
// text.
func (a *app) queryBase(cmd *cobra.Command, base string, ask func(db, base *query.DB, filter string) error) error {
	if _, err := a.outputFormat(); err != nil {
		return err
	}
	asking(cmd.Context(), true)
	var name string
	file, err := a.openFileSide(cmd.Context(), &base, &name, a.remarks())
	if err != nil {
		return err
	}
	defer closed(file)
	db, err := a.open(cmd.Context(), a.readStores())
	if err != nil {
		return err
	}
	defer closed(db)
	return ask(db, file, base)
}

// openFileSide opens the runs of a side that is a file, as a private store that is removed at the end of the program. It is nil for a
// side that is a filter. name becomes the text of the side, and side the filter of the file's runs.
func (a *app) openFileSide(ctx context.Context, side, name *string, remark func(string)) (*query.DB, error) {
	file, is, err := parseFileSide(*side)
	if err != nil {
		return nil, usageError{err}
	}
	if !is {
		return nil, nil
	}
	private, err := a.temporary.Dir()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(private.Path, "side-")
	if err != nil {
		return nil, err
	}
	store, notes, err := file.read(ctx, dir)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, usageError{err}
	}
	for _, note := range notes {
		remark(note)
	}
	*side, *name = file.filter, *side
	return a.open(ctx, []string{store})
}

// closed closes a store after its answer; nil is none.
func closed(db *query.DB) {
	if db != nil {
		_ = db.Close() // in memory: there is nothing to lose
	}
}

// read reads the file into a new store in dir, an empty private folder, and returns the store and the notes of the readers. It refuses a
// file that is not understood as a whole, because a comparison of the rest would hide what is missing. Unless dir cannot be written, the
// error is one line about the file.
func (r fileSide) read(ctx context.Context, dir string) (store string, notes []string, err error) {
	file := r.path
	if r.commit != "" {
		content, err := worktree.ReadFile(ctx, ".", r.commit, r.path)
		if err != nil {
			return "", nil, err
		}
		file = filepath.Join(dir, "file", path.Base(r.path))
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			return "", nil, err
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return "", nil, err
		}
	}
	store = filepath.Join(dir, "store")
	if notes, err = storeFile(ctx, store, file); err != nil {
		return "", nil, fmt.Errorf("reading %s: %w", r.name(), err)
	}
	for i, note := range notes {
		notes[i] = r.name() + ": " + note
	}
	return store, notes, nil
}

// name returns the name of the file in an error.
func (r fileSide) name() string {
	if r.commit != "" {
		return gitPrefix + r.commit + ":" + r.path
	}
	return r.path
}

// nameOfFile returns the name of the file of a side, without the filter behind it; empty where the side is none.
func nameOfFile(side string) string {
	file, is, _ := parseFileSide(side)
	if !is {
		return ""
	}
	return file.name()
}

// storeFile makes a store of a file, and returns the notes of its readers.
func storeFile(ctx context.Context, dir, file string) (notes []string, err error) {
	sources, err := foreign.Sources([]string{file}, nil)
	if err != nil {
		return nil, cmp.Or(errors.Unwrap(err), err) // without the path, which the message has already
	}
	if err := ingest.Init(dir); err != nil {
		return nil, err
	}
	store, err := ingest.Open(dir, version)
	if err != nil {
		return nil, err
	}
	reading := ingest.NewReading(sources, ingest.ReadOptions{Formats: formats.All()}, unwatched{})
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

// whyIncomplete returns the first reason why something was not read.
func whyIncomplete(reports []ingest.FileReport) error {
	for _, report := range reports {
		switch {
		case len(report.Refusals) > 0 && report.Runs == 0:
			return errors.New(report.Refusals[0].String())
		case len(report.Refusals) > 0:
			return fmt.Errorf("%s (%d refused in all; ingest FILE stores the rest)", report.Refusals[0], report.Refused)
		case report.Why != "" && report.State != ingest.FileSide:
			return errors.New(report.Why)
		}
	}
	return errors.New("nothing in it could be read")
}

// unwatched observes the reading of a file without showing progress.
type unwatched struct{}

func (unwatched) Add(foreign.Source)     {}
func (unwatched) File(int)               {}
func (unwatched) Reading(*foreign.Input) {}
func (unwatched) Run()                   {}

// The prefixes of a side that is a file. A filter by a parameter of such a name begins with "param." instead.
const (
	gitPrefix  = "git:"
	filePrefix = "file:"
)

// fileSide is a side of a comparison whose runs are read from a file.
type fileSide struct {
	commit string // the commit that has the file; empty: it is on the disk
	path   string
	filter string // of its runs; empty: all
}

// isFileSide reports whether a side of a comparison is a file.
func isFileSide(side string) bool {
	_, is, _ := parseFileSide(side)
	return is
}

// parseFileSide parses a side of a comparison. It is a file if it is git:REF:PATH or file:PATH, or without these where it is a path that
// exists and cannot be a filter, which has an operator in every condition. A filter of the file's runs may follow.
func parseFileSide(side string) (r fileSide, isFile bool, err error) {
	if text, ok := strings.CutPrefix(side, gitPrefix); ok {
		ref, rest, found := strings.Cut(text, ":")
		r.path, r.filter = splitFilter(rest)
		if r.commit = ref; !found || ref == "" || r.path == "" {
			return r, true, fmt.Errorf("%q: want git:REF:PATH, as git:main:reports/summary.json", side)
		}
		return r, true, nil
	}
	text, ok := strings.CutPrefix(side, filePrefix)
	if !ok && (isCondition(side) || side == "") {
		first, _ := splitFilter(side)
		if isCondition(first) || !exists(first) {
			return fileSide{}, false, nil
		}
	}
	if !ok && !isCondition(side) && !exists(side) {
		if strings.ContainsAny(side, "./") {
			return r, true, fmt.Errorf("%q is neither a file nor a filter (KEY=VALUE)", side)
		}
		return fileSide{}, false, nil
	}
	if exists(text) {
		return fileSide{path: text}, true, nil
	}
	if r.path, r.filter = splitFilter(text); r.path == "" {
		return r, true, fmt.Errorf("%q: want file:PATH", side)
	}
	return r, true, nil
}

// splitFilter splits a path from the filter behind it, which begins with the first word that can be a condition.
func splitFilter(text string) (path, filter string) {
	for at := 0; at < len(text); at++ {
		if text[at] != ' ' {
			continue
		}
		rest := strings.TrimLeft(text[at:], " ")
		word, _, _ := strings.Cut(rest, " ")
		if isCondition(word) {
			return strings.TrimSpace(text[:at]), rest
		}
	}
	return strings.TrimSpace(text), ""
}

// isCondition reports whether a text has an operator, as every condition of a filter does, or is a word of the filter language.
func isCondition(text string) bool {
	return strings.ContainsAny(text, "=<>~!()") || slices.Contains([]string{"not", "or", "and"}, text)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
