package export

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/schema"
)

// FolderRequest selects the runs, the layout and the destination.
type FolderRequest struct {
	Layout layout.Layout
	Dir    string // is created if it does not exist
	// JSON and Markdown are paths of the two summary files, relative to the working directory. Empty: their usual names in Dir.
	JSON, Markdown string
	SummaryOnly    bool      // write only the summary files that JSON and Markdown name
	Filter         string    // selects the runs
	IDs            []string  // ids of the runs, instead of Filter; nil: use Filter
	Against        string    // for kernels: filter of the runs to compare with; empty: none, or all runs of AgainstDB
	AgainstDB      *query.DB // has the runs of Against if they are not stored beside the others; nil: they are
}

// FolderWritten describes what Write did.
type FolderWritten struct {
	Runs       int      // number of matching runs
	Files      []string // files that were written, without artifacts
	NotNumbers map[string]int
}

// Where returns a short description of where the files are.
func (w *FolderWritten) Where() string {
	if len(w.Files) <= 2 {
		return strings.Join(w.Files, ", ")
	}
	return filepath.Dir(w.Files[len(w.Files)-1])
}

// WriteFolder writes a folder. It is an ErrInput if no run matches, if the layout cannot express the request, and if the folder is inside a
// store; then nothing is written.
func WriteFolder(ctx context.Context, db *query.DB, req FolderRequest) (FolderWritten, error) {
	if err := req.check(); err != nil {
		return FolderWritten{}, err
	}
	if err := outside(req.Dir); err != nil {
		return FolderWritten{}, err
	}
	w := writing{ctx: ctx, db: db, dir: req.Dir, folder: layout.Folder{Layout: req.Layout, SummaryOnly: req.SummaryOnly}}
	var err error
	if w.folder.JSON, err = absolute(req.JSON); err != nil {
		return FolderWritten{}, err
	}
	if w.folder.Markdown, err = absolute(req.Markdown); err != nil {
		return FolderWritten{}, err
	}
	var found query.Found
	if req.IDs != nil {
		err = db.WholeOf(ctx, req.IDs, w.add)
	} else {
		found, err = db.Whole(ctx, query.ListRequest{Filter: req.Filter}, w.add)
	}
	done := FolderWritten{Runs: w.runs, NotNumbers: found.NotNumbers}
	if err == nil && w.runs == 0 {
		err = answer.InputError("layout %s: no run matches, nothing is written", req.Layout)
	}
	if err == nil && len(w.machines) > 1 {
		err = answer.InputError("layout %s mixes machines in one table: %s; add machine=%s",
			req.Layout, answer.Brief(strings.Join(w.machines, ", ")), w.machines[0])
	}
	if err != nil {
		return done, err
	}
	if req.compares() {
		w.folder.Against()
		if _, err := cmp.Or(req.AgainstDB, db).Whole(ctx, query.ListRequest{Filter: req.Against}, func(r schema.Run) error {
			w.folder.AddBase(r)
			return nil
		}); err != nil {
			return done, err
		}
	}
	done.Files, err = w.folder.Write(req.Dir)
	return done, err
}

// compares reports whether there are runs to compare with.
func (r *FolderRequest) compares() bool { return r.Against != "" || r.AgainstDB != nil }

// check rejects requests that the layout does not support.
func (r *FolderRequest) check() error {
	if r.compares() && r.Layout != layout.Kernels {
		return answer.InputError("layout %s has no comparison: only kernels takes a filter of runs to compare with", r.Layout)
	}
	return nil
}

// outside rejects a folder inside a store.
func outside(dir string) error {
	path, err := Resolved(dir)
	if err != nil {
		return answer.InputError("out-dir %s: %v", answer.Printable(dir), err)
	}
	for ; ; path = filepath.Dir(path) {
		if _, err := schema.ReadHeader(schema.Dir(path)); err == nil {
			return answer.InputError("out-dir %s is inside the store %s", answer.Printable(dir), answer.Printable(path))
		}
		if path == filepath.Dir(path) {
			return nil
		}
	}
}

func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

// writing is one call of Write.
type writing struct {
	ctx    context.Context
	db     *query.DB
	dir    string
	folder layout.Folder
	runs   int
	// machines are the machines of the runs, ascending.
	machines []string
}

func (w *writing) add(r schema.Run) error {
	w.runs++
	w.folder.Add(r)
	if at, there := slices.BinarySearch(w.machines, r.Env.Machine); r.Env.Machine != "" && !there {
		w.machines = slices.Insert(w.machines, at, r.Env.Machine)
	}
	if w.folder.Layout != layout.Chapters || w.folder.SummaryOnly || len(r.Artifacts) == 0 {
		return nil
	}
	paths, err := w.artifacts(&r)
	w.folder.Artifacts(r.RunID, paths)
	return err
}

// placeOf returns the folder of a kind of artifacts, as in BenchmarkHarness.
func placeOf(kind string) string {
	switch kind {
	case schema.ArtifactStdout, schema.ArtifactStderr:
		return "logs"
	case schema.ArtifactFile:
		return "files"
	}
	return "profiles" // including kinds of other tools: nsys, ncu, torch
}

// artifacts writes the stored files of a run into artifacts/RUN, and returns their paths in the folder. The folder artifacts/RUN appears
// only when it is complete; if it exists, it is left unchanged. Files that are not stored are skipped.
func (w *writing) artifacts(r *schema.Run) ([]string, error) {
	place := path.Join("artifacts", r.RunID)
	whole := filepath.Join(w.dir, filepath.FromSlash(place))
	if _, err := os.Lstat(whole); err == nil {
		return below(w.dir, whole)
	}
	all, err := query.Artifacts(w.ctx, w.db, r)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(a query.Artifact) bool { return a.State != query.ArtifactStored })
	if len(all) == 0 {
		return nil, nil
	}
	for i := range all {
		all[i].Path = placeOf(all[i].Kind) + path.Clean("/"+all[i].Path)
	}
	part := filepath.Join(w.dir, "artifacts", "."+r.RunID+".part")
	if err := os.RemoveAll(part); err != nil { // left by a killed process
		return nil, fmt.Errorf("writing %s: %w", whole, err)
	}
	if _, _, err := query.SaveArtifacts(w.ctx, all, part); err != nil {
		_ = os.RemoveAll(part)
		return nil, err
	}
	if err := os.Rename(part, whole); err != nil {
		_ = os.RemoveAll(part)
		return nil, fmt.Errorf("writing %s: %w", whole, err)
	}
	return below(w.dir, whole)
}

// below returns the files of a folder, as paths relative to an outer folder.
func below(around, dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		p, err = filepath.Rel(around, p)
		paths = append(paths, filepath.ToSlash(p))
		return err
	})
	return paths, err
}
