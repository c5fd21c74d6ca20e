package output

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// ArtifactRules define which files of a run are kept.
type ArtifactRules struct {
	Patterns []string // in the syntax of filepath.Match; a folder includes all files in it
	Dir      string   // the base of relative patterns; empty: the working directory
	RunDir   string   // the prefix of patterns for the directory of the run
	Limit    int64    // B per file; the limit for all files together is limitOfAll times as much
}

// Limits for looking at and keeping files.
const (
	maxLooked  = 100_000 // files
	maxKept    = 1000    // files
	limitOfAll = 16      // times the limit of one file
)

// tick is longer than the resolution of the clock of any common file system.
const tick = 20 * time.Millisecond

// runDirName is the name of the directory of the run in the paths of artifacts.
const runDirName = "run_dir"

// Artifact is a file that a run has left.
type Artifact struct {
	Path    string // relative to Rules.Dir if it is inside; run_dir/... in the directory of the run
	Pattern string // that found it
	Size    int64  // B
	Why     string // why it is not kept; empty: it is kept
	File    string // its real path
}

// ArtifactFinder finds the files of one run.
type ArtifactFinder struct {
	rules  ArtifactRules
	before map[string]fs.FileInfo
	began  time.Time
	full   map[string]bool // patterns for which not all files were examined
}

// FindBefore records which files exist before a run begins. If one of them was written a moment ago, it waits until the clock of the file
// system has advanced, because two writes could not be distinguished otherwise.
func FindBefore(rules ArtifactRules) *ArtifactFinder {
	f := &ArtifactFinder{rules: rules, before: map[string]fs.FileInfo{}, full: map[string]bool{}}
	for _, pattern := range rules.Patterns {
		if !f.isOfRun(pattern) {
			maps.Copy(f.before, f.glob(pattern, ""))
		}
	}
	var latest time.Time
	for _, info := range f.before {
		if at := ChangedAt(info); at.After(latest) {
			latest = at
		}
	}
	if age := time.Since(latest); age >= 0 && age < tick {
		time.Sleep(tick - age)
	}
	f.began = time.Now()
	return f
}

// After returns the files that the run has left, in the order of the patterns and then of their paths. runDir is the directory of the
// run.
func (f *ArtifactFinder) After(runDir string) (found []Artifact) {
	known, named := map[string]bool{}, map[string]bool{}
	room := f.rules.Limit * limitOfAll
	for _, pattern := range f.rules.Patterns {
		files := f.glob(pattern, runDir)
		if f.full[pattern] {
			found = append(found, Artifact{Path: pattern, Pattern: pattern, Why: fmt.Sprintf("there are more than %d files, so it is not known which of them the run wrote", maxLooked)})
			continue
		}
		for _, file := range slices.Sorted(maps.Keys(files)) {
			info := files[file]
			if known[file] || !f.isOfRun(pattern) && !written(f.before[file], info) || f.isOlder(file, info) {
				continue
			}
			known[file] = true
			next := Artifact{Path: f.name(file, runDir, named), Pattern: pattern, Size: info.Size(), File: file}
			if next.Why = f.refusal(next.Size, len(found), room); next.Why == "" {
				room -= next.Size
			}
			found = append(found, next)
		}
	}
	return found
}

// isOlder reports whether a file with a new name existed before the run: the run made a hard link to it, or a symbolic link to a folder
// on its path. Only then is the clock of the file system compared with the clock of this machine.
func (f *ArtifactFinder) isOlder(file string, info fs.FileInfo) bool {
	began := f.began.Add(-tick)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 { // making a link changes the other time
		return info.ModTime().Before(began)
	}
	folder, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(folder)
	return err == nil && real != folder && ChangedAt(info).Before(began)
}

// refusal returns the reason why a file is not kept, given the number of other files and the room left; empty: it is kept.
func (f *ArtifactFinder) refusal(size int64, others int, room int64) string {
	limit := schema.ForPeople(float64(f.rules.Limit), "B")
	switch {
	case others >= maxKept:
		return fmt.Sprintf("more than %d files", maxKept)
	case size > f.rules.Limit:
		return "larger than " + limit + ": raise artifacts.limit"
	case size > room:
		return fmt.Sprintf("the files of the run are together larger than %d times %s: raise artifacts.limit", limitOfAll, limit)
	}
	return ""
}

// isOfRun reports whether a pattern refers to the directory of the run.
func (f *ArtifactFinder) isOfRun(pattern string) bool {
	return f.rules.RunDir != "" && strings.HasPrefix(pattern, f.rules.RunDir)
}

// resolved returns a pattern with the directory that it is relative to.
func (f *ArtifactFinder) resolved(pattern, runDir string) string {
	switch rest, ofRun := strings.CutPrefix(pattern, f.rules.RunDir); {
	case ofRun && f.rules.RunDir != "":
		return literal(runDir) + rest
	case filepath.IsAbs(pattern) || f.rules.Dir == "":
		return pattern
	}
	return filepath.Join(literal(f.rules.Dir), pattern)
}

// name returns the unique name of an artifact within the run.
func (f *ArtifactFinder) name(file, runDir string, taken map[string]bool) string {
	name := filepath.ToSlash(f.relative(file, runDir))
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s~%d", strings.TrimSuffix(name, fmt.Sprintf("~%d", n-1)), n)
	}
	taken[name] = true
	return name
}

// relative returns the path of a file in the directory of the run or of the benchmark; for other files the whole path.
func (f *ArtifactFinder) relative(file, runDir string) string {
	if in, err := filepath.Rel(runDir, file); err == nil && filepath.IsLocal(in) {
		return filepath.Join(runDirName, in)
	}
	if in, err := filepath.Rel(f.rules.Dir, file); err == nil && filepath.IsLocal(in) {
		return in
	}
	if whole, err := filepath.Abs(file); err == nil {
		return whole
	}
	return file
}

// literal returns a path as a pattern that matches only this path.
func literal(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// glob finds the files that match a pattern, and the files in folders that match it. Links are not followed, and files that cannot be
// read are ignored.
func (f *ArtifactFinder) glob(pattern, runDir string) map[string]fs.FileInfo {
	files := map[string]fs.FileInfo{}
	names, err := filepath.Glob(f.resolved(pattern, runDir))
	if err != nil {
		return files // the sweep was checked
	}
	for _, name := range names {
		info, err := os.Lstat(name)
		switch {
		case err != nil:
		case info.Mode().IsRegular():
			files[filepath.Clean(name)] = info
		case info.IsDir() && !addFolder(name, files):
			f.full[pattern] = true
		}
	}
	return files
}

// addFolder finds the files in a folder, and reports whether it has seen all of them.
func addFolder(folder string, files map[string]fs.FileInfo) (all bool) {
	err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if len(files) >= maxLooked {
			return errFull
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files[filepath.Clean(name)] = info
		}
		return nil
	})
	return !errors.Is(err, errFull)
}

// errFull ends a walk.
var errFull = errors.New("more files than are looked at")

// written reports whether a file has changed.
func written(before, after fs.FileInfo) bool {
	return before == nil || !os.SameFile(before, after) || before.Size() != after.Size() ||
		!before.ModTime().Equal(after.ModTime()) || !ChangedAt(before).Equal(ChangedAt(after))
}

// Open opens the file without blocking.
func (f *Artifact) Open() (*os.File, error) {
	file, err := os.OpenFile(f.File, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, file.Close(), errors.New("it is no longer a file"))
	}
	return file, nil
}
