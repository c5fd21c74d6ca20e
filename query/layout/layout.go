package layout

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
)

// Layout is the name of a layout.
type Layout string

// The layouts.
const (
	Runs     Layout = "runs" // of the NeuroLens bench harness; package report writes it
	Chapters Layout = "chapters"
	Kernels  Layout = "kernels"
	Matrix   Layout = "matrix"
	Grid     Layout = "grid"
)

// All are the layouts of this package.
var All = []Layout{Chapters, Kernels, Matrix, Grid}

// System returns the name of the system that the layout comes from.
func (l Layout) System() string {
	return map[Layout]string{
		Runs: "NeuroLens bench harness", Chapters: "BenchmarkHarness", Kernels: "QuASIM bench tools", Matrix: "Swift MNIST scripts", Grid: "operation grid",
	}[l]
}

// Named returns the layout with a name.
func Named(name string, known []Layout) (Layout, error) {
	words := make([]string, len(known))
	for i, l := range known {
		if words[i] = string(l); words[i] == name {
			return l, nil
		}
	}
	return "", fmt.Errorf("layout %q: want %s or %s", name, strings.Join(words[:len(words)-1], ", "), words[len(words)-1])
}

// Folder returns the directory in which the original system writes the layout, relative to its working directory.
func (l Layout) Folder() string {
	switch l {
	case Runs:
		return "bench_runs"
	case Kernels:
		return "reports"
	case Matrix:
		return "benchmarks"
	}
	return "."
}

// Folder collects runs and writes them as the files of a layout.
type Folder struct {
	Layout Layout
	// JSON and Markdown are the paths of the two summary files. If empty, they have their usual names in the directory.
	JSON, Markdown string
	SummaryOnly    bool // write only the files that JSON and Markdown name, and the file of failed runs beside JSON

	runs, base []schema.Run
	against    bool
	artifacts  map[string][]string
}

// facts are the facts that layouts show. Others are not kept in memory.
var facts = []string{
	"runner.iterations", "runner.warmup", "runner.seed", "runner.file", "runner.object", "runner.timeouts", factLimit, factElapsed, "os.build", "cpu.architecture",
	"numpy.version", schema.FactBaseline, schema.FactFoundBackend, schema.FactFoundImports, schema.FactFoundConfig,
}

// The facts about the stage in which a run missed its deadline: the deadline, and how long the stage had run, in ns.
const (
	factLimit   = "runner.timeout_limit_ns"
	factElapsed = "runner.timeout_elapsed_ns"
)

// factPackage is the prefix of facts with the versions of the packages that were loaded.
const factPackage = "python.package."

// Add adds a run. In a session with two sides, the other runs are compared with the runs of base.
func (f *Folder) Add(r schema.Run) {
	r = slim(r)
	if r.Side == "base" {
		f.base, f.against = append(f.base, r), true
		return
	}
	f.runs = append(f.runs, r)
}

// AddBase adds a run to compare with.
func (f *Folder) AddBase(r schema.Run) { f.base = append(f.base, slim(r)) }

// Against records that a comparison was requested, even if it has no runs.
func (f *Folder) Against() { f.against = true }

// Artifacts sets the files that a run has left in the directory, by their paths in it.
func (f *Folder) Artifacts(runID string, paths []string) {
	if f.artifacts == nil {
		f.artifacts = map[string][]string{}
	}
	f.artifacts[runID] = append(f.artifacts[runID], paths...)
}

// slim returns the run without the values that no layout shows.
func slim(r schema.Run) schema.Run {
	kept := map[string]string{}
	for name, text := range r.Env.Facts {
		if text != "" && (slices.Contains(facts, name) || strings.HasPrefix(name, factPackage)) {
			kept[name] = text
		}
	}
	r.Env.Facts, r.Env.Missing, r.Ops = kept, nil, nil
	return r
}

// file is an output file.
type file struct {
	path string // relative to the directory, or absolute
	text []byte
	// summary is set for a summary file, and for files that belong to it: JSON or Markdown names it.
	summary bool
	// stale, if there is no text, reports whether the content of an existing file is from an earlier call and no longer true.
	// Then the file is removed. Other files are left alone.
	stale func(content []byte) bool
}

// Write writes the files to a directory, which it makes if needed, and returns their paths. Each file is replaced atomically; the
// summary comes last. Files of other runs remain; files of an earlier call about the same runs or points are replaced, also under another
// name.
func (f *Folder) Write(dir string) ([]string, error) {
	slices.SortStableFunc(f.runs, inOrder)
	slices.SortStableFunc(f.base, inOrder)
	all, err := f.files(dir)
	if err != nil {
		return nil, fmt.Errorf("writing layout %s: %w", f.Layout, err)
	}
	var paths []string
	for _, one := range all {
		if f.SummaryOnly && !one.summary {
			continue
		}
		path := one.path
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, filepath.FromSlash(path))
		}
		if one.text == nil {
			if err := one.remove(path); err != nil {
				return paths, err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return paths, fmt.Errorf("making %s: %w", filepath.Dir(path), err)
		}
		if err := files.Replace(path, one.text); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// remove removes the file at a path if it is stale.
func (f *file) remove(path string) error {
	content, err := files.Read(path)
	if err != nil || !f.stale(content) {
		return nil // it does not exist, or is not a file of this package
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %s, a result of an earlier call: %w", path, err)
	}
	return nil
}

// summaryFiles returns the Markdown and the JSON file of a summary, under their usual paths unless others were named.
func (f *Folder) summaryFiles(jsonPath, markdownPath string, value any, markdown []byte) ([]file, error) {
	one, err := document(cmp.Or(f.JSON, jsonPath), value)
	one.summary = f.JSON != ""
	return []file{{path: cmp.Or(f.Markdown, markdownPath), text: markdown, summary: f.Markdown != ""}, one}, err
}

// inOrder compares runs by their start; runs without one by their position in the files that they were read from.
func inOrder(a, b schema.Run) int {
	place := func(r *schema.Run) int64 {
		if r.PositionIndex == nil || !r.StartedAt.IsZero() {
			return 0
		}
		return *r.PositionIndex
	}
	return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(place(&a), place(&b)), strings.Compare(a.RunID, b.RunID))
}

func (f *Folder) files(dir string) ([]file, error) {
	switch f.Layout {
	case Chapters:
		return f.chapters()
	case Kernels:
		return f.kernels(dir)
	case Matrix:
		return f.matrix(dir)
	case Grid:
		return f.grid()
	}
	return nil, fmt.Errorf("%q is not a layout", f.Layout)
}

// measured returns the runs that are not profiling runs.
func (f *Folder) measured() []*schema.Run { return measuredOf(f.runs) }

func measuredOf(runs []schema.Run) (all []*schema.Run) {
	for i := range runs {
		if runs[i].Purpose != schema.PurposeProfile {
			all = append(all, &runs[i])
		}
	}
	return all
}

// maxName bounds the name of a file. File systems allow 255 bytes, of which files.Replace needs some.
const maxName = 200

// bounded returns a name. If it is too long, it returns its beginning and a hash of all of it.
func bounded(name string) string {
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:maxName-17] + "_" + hex.EncodeToString(sum[:8])
}

// named gives each id the first of its possible names that no other id has and that is not taken, ignoring case. The names become
// longer, and the last one is unique. It adds the names to taken. Names that are too long are bounded.
func named(names map[string][]string, taken map[string]bool) map[string]string {
	chosen := map[string]string{}
	for id, all := range names {
		names[id] = make([]string, len(all))
		for i, name := range all {
			names[id][i] = bounded(name)
		}
	}
	left := slices.Sorted(maps.Keys(names))
	for level := 0; len(left) > 0; level++ {
		of := map[string][]string{}
		for _, id := range left {
			all := names[id]
			key := strings.ToLower(all[min(level, len(all)-1)])
			of[key] = append(of[key], id)
		}
		left = nil
		for _, key := range slices.Sorted(maps.Keys(of)) {
			ids := of[key]
			last := !slices.ContainsFunc(ids, func(id string) bool { return level < len(names[id])-1 })
			if (len(ids) > 1 || taken[key]) && !last {
				left = append(left, ids...)
				continue
			}
			for _, id := range ids {
				all := names[id]
				chosen[id], taken[key] = all[min(level, len(all)-1)], true
			}
		}
	}
	return chosen
}

// shortPoint and shortRun return the part of an id that identifies it here, as a part of the name of a file. A store can have any text as
// the id of a point.
func shortPoint(r *schema.Run) string { return fileName(r.PointID[:min(8, len(r.PointID))]) }
func shortRun(r *schema.Run) string   { return r.RunID[max(0, len(r.RunID)-8):] }

// document formats a JSON file.
func document(path string, v any) (file, error) {
	text, err := files.JSON(v)
	return file{path: path, text: text}, err
}
