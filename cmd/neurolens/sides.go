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

// querySides is queryStores for a comparison, whose sides may be files.
func (a *app) querySides(cmd *cobra.Command, req *compare.Request, answer func(db *query.DB, format string) error) error {
	format, err := a.outputFormat()
	if err != nil {
		return err
	}
	if req.Usual == nil {
		req.Usual = a.project.Usual(cmd.Name())
	}
	o := a.sides(cmd)
	return o.Query(cmd.Context(), req, func(err error) error { return usageError{err} }, func(db *query.DB) error { return answer(db.Snapshot(), format) })
}

// queryBase is queryStores for runs and a base, which may be a file.
func (a *app) queryBase(cmd *cobra.Command, base string, answer func(db, base *query.DB, filter string) error) error {
	if _, err := a.outputFormat(); err != nil {
		return err
	}
	return a.sides(cmd).Base(cmd.Context(), base, func(err error) error { return usageError{err} }, answer)
}

// sides opens the stores of a comparison, and files.
func (a *app) sides(cmd *cobra.Command) sideOpener {
	asking(cmd.Context(), true)
	private := func() (string, error) {
		dir, err := a.temporary.Dir()
		if err != nil {
			return "", err
		}
		return dir.Path, nil
	}
	return sideOpener{Stores: a.readStores(), Writer: version, Private: private, Remark: a.remarks(), Open: a.open}
}

// sideOpener opens the stores that a comparison is asked of.
type sideOpener struct {
	Stores  []string               // of the user
	Writer  string                 // names the version of this program in private stores
	Private func() (string, error) // gives a private folder that somebody removes later
	Remark  func(text string)      // is told what people should know of a file
	Open    func(ctx context.Context, stores []string) (*query.DB, error)
}

// Query calls do with the stores that hold HEAD, or both sides. Of a side that is a file the request has what is left of its text,
// a filter, and its name; its store is gone afterwards. refused makes the error of a file that makes no sense.
func (o sideOpener) Query(ctx context.Context, req *compare.Request, refused func(error) error, do func(db *query.DB) error) error {
	base, err := o.side(ctx, &req.Base, &req.BaseFile, refused)
	if err != nil {
		return err
	}
	defer closed(base)
	head, err := o.side(ctx, &req.Head, &req.HeadFile, refused)
	if err != nil {
		return err
	}
	defer closed(head)
	switch {
	case base != nil && head != nil:
		req.BaseDB = base
		return do(head)
	case base != nil && req.Head == "": // both sides are in it
		return do(base)
	}
	db, err := o.Open(ctx, o.Stores)
	if err != nil {
		return err
	}
	defer closed(db)
	if head != nil {
		req.BaseDB = db
		return do(head)
	}
	req.BaseDB = base
	return do(db)
}

// Base calls do with the stores of the user and, where the base is a file, with the store of its runs and what is left of its text.
func (o sideOpener) Base(ctx context.Context, base string, refused func(error) error, do func(db, base *query.DB, filter string) error) error {
	var name string
	file, err := o.side(ctx, &base, &name, refused)
	if err != nil {
		return err
	}
	defer closed(file)
	db, err := o.Open(ctx, o.Stores)
	if err != nil {
		return err
	}
	defer closed(db)
	return do(db, file, base)
}

// side reads the file that a side is; nil where it is none.
func (o sideOpener) side(ctx context.Context, side, name *string, refused func(error) error) (*query.DB, error) {
	file, is, err := parse(*side)
	if err != nil {
		return nil, refused(err)
	}
	if !is {
		return nil, nil
	}
	private, err := o.Private()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(private, "side-")
	if err != nil {
		return nil, err
	}
	store, notes, err := file.read(ctx, dir, o.Writer)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, refused(err)
	}
	for _, note := range notes {
		o.Remark(note)
	}
	*side, *name = file.Filter, *side
	return o.Open(ctx, []string{store})
}

// closed lets go of stores whose answer is there.
func closed(db *query.DB) {
	if db != nil {
		_ = db.Close() // in memory: there is nothing to lose
	}
}

// read reads the file into a new store in dir, a private folder that is empty, and gives the directory of the store, and what
// the readers note of the file. Files that
// are not understood as a whole are refused: a comparison of the rest would pass over what is gone. The error is one line about
// what is wrong with the file, but for what is wrong with dir.
func (r fileReference) read(ctx context.Context, dir, writer string) (store string, notes []string, err error) {
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
func (r fileReference) name() string {
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

// whyIncomplete is the first reason for which something was not read.
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

// unwatched is for a reading that nobody watches.
type unwatched struct{}

func (unwatched) Add(foreign.Source)     {}
func (unwatched) File(int)               {}
func (unwatched) Reading(*foreign.Input) {}
func (unwatched) Run()                   {}

// What a reference begins with. A filter of a parameter that is called so begins with param.
const (
	gitPrefix  = "git:"
	filePrefix = "file:"
)

// fileReference names a file of which the runs of a side are read.
type fileReference struct {
	Commit string // that has the file; empty: it is on the disk
	Path   string
	Filter string // of its runs; empty: all
}

// isFileSide reports whether a side of a comparison is a file.
func isFileSide(side string) bool {
	_, is, _ := parse(side)
	return is
}

// parse reads a side of a comparison. It is a file if it is git:REF:PATH or file:PATH, or without these where it is a path that
// exists and cannot be a filter, which has an operator in every condition. A filter of the file's runs may follow.
func parse(side string) (r fileReference, isFile bool, err error) {
	if text, ok := strings.CutPrefix(side, gitPrefix); ok {
		ref, rest, found := strings.Cut(text, ":")
		r.Path, r.Filter = split(rest)
		if r.Commit = ref; !found || ref == "" || r.Path == "" {
			return r, true, fmt.Errorf("%q: want git:REF:PATH, as git:main:reports/summary.json", side)
		}
		return r, true, nil
	}
	text, ok := strings.CutPrefix(side, filePrefix)
	if !ok && (isCondition(side) || side == "") {
		first, _ := split(side)
		if isCondition(first) || !exists(first) {
			return fileReference{}, false, nil
		}
	}
	if !ok && !isCondition(side) && !exists(side) {
		if strings.ContainsAny(side, "./") {
			return r, true, fmt.Errorf("%q is neither a file nor a filter (KEY=VALUE)", side)
		}
		return fileReference{}, false, nil
	}
	if exists(text) {
		return fileReference{Path: text}, true, nil
	}
	if r.Path, r.Filter = split(text); r.Path == "" {
		return r, true, fmt.Errorf("%q: want file:PATH", side)
	}
	return r, true, nil
}

// split parts a path from the filter behind it, which begins with the first word that can be one.
func split(text string) (path, filter string) {
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

// isCondition tells whether a text has what every condition of a filter has.
func isCondition(text string) bool {
	return strings.ContainsAny(text, "=<>~!()") || slices.Contains([]string{"not", "or", "and"}, text)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
