package prepare

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/lazyregexp"
)

// span is a period of file times, both ends included.
type span struct{ from, to time.Time }

// stamp returns the modification time of a file that is written now. The clock of a file system lags behind the clock of the system.
func stamp() time.Time {
	f, err := os.CreateTemp("", "neurolens-*")
	if err != nil {
		return time.Now()
	}
	defer os.Remove(f.Name())
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return time.Now()
	}
	return info.ModTime()
}

// changeable returns the time at which a file changed last; ok is false if the file does not exist. The kernel's own files have the
// current time.
func changeable(path string) (info fs.FileInfo, ok bool) {
	info = infoOf(path)
	return info, info != nil && info.Mode().IsRegular() && !within(path, "/proc") && !within(path, "/sys")
}

// writtenByBuild reports whether a file was written while builds of a side ran. The content of a file may be older than its last change,
// which may concern its mode or the number of its names.
func (b *builds) writtenByBuild(side int, path string) bool {
	info, ok := changeable(path)
	if !ok {
		return false
	}
	during := func(at time.Time) bool {
		return slices.ContainsFunc(b.times[side], func(s span) bool { return !at.Before(s.from) && !at.After(s.to) })
	}
	return during(output.ChangedAt(info)) || during(info.ModTime())
}

// changedSince reports whether a file has changed since a time; the zero time: there is none.
func changedSince(from time.Time, path string) bool {
	info, ok := changeable(path)
	return ok && !from.IsZero() && !output.ChangedAt(info).Before(from)
}

// CheckBuilt refuses, before the first launch, a program or a file of a command that both sides share although a build has written it.
func (t *Targets) CheckBuilt() error {
	if len(t.Sides) < 2 {
		return nil
	}
	for _, p := range t.run() {
		head := t.filesOf(Subject{p, 1})
		for _, f := range t.filesOf(Subject{p, 0}) {
			same := func(other task.File) bool {
				a, b := infoOf(f.Path), infoOf(other.Path)
				return a != nil && b != nil && os.SameFile(a, b)
			}
			if (t.builds.writtenByBuild(0, f.Path) || t.builds.writtenByBuild(1, f.Path)) && slices.ContainsFunc(head, same) {
				return t.overwritten(p, f)
			}
		}
	}
	return nil
}

// filesOf lists the program of a command, and the code that its words and its standard input name: whole words, and absolute paths in lines
// of a shell.
func (t *Targets) filesOf(sub Subject) (files []task.File) {
	p := sub.Point
	if len(p.Command) == 0 || p.Skip != nil {
		return nil
	}
	dir := t.Sides[sub.Side].resolve(p.Dir)
	program, err := task.LookPath(p.Command[0], slices.Concat(os.Environ(), t.environ(sub.Side, p.Env)))
	if err != nil {
		return nil // the launch reports it
	}
	files = append(files, task.File{Path: task.InDir(dir, program), Executed: true})
	reader := p.Command[0] // the word before, without flags
	look := func(word string, whole bool) {
		path := task.InDir(dir, word)
		info, ok := changeable(path)
		switch {
		case !whole && !filepath.IsAbs(word) || !ok:
		case info.Mode()&0o111 != 0:
			files = append(files, task.File{Path: path, Executed: true})
		case isCode(path) || interpreters.MatchString(filepath.Base(reader)) || reader == "." || reader == "source":
			files = append(files, task.File{Path: path})
		}
		if !strings.HasPrefix(word, "-") {
			reader = word
		}
	}
	for _, word := range p.Command[1:min(len(p.Command), maxCommandFiles)] {
		parts := strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(delimiters, r) })
		if len(parts) < 2 || infoOf(task.InDir(dir, word)) != nil {
			look(word, true)
			continue
		}
		for _, part := range parts[:min(len(parts), maxCommandFiles)] {
			look(part, false)
		}
	}
	if p.Stdin != "" {
		reader = p.Command[0]
		look(p.Stdin, true)
	}
	return files
}

// code are the suffixes of the names of files with code that is read, not executed: of source, bytecode and archives of both.
var code = strings.Fields(".py .pyc .pl .pm .rb .js .mjs .cjs .ts .jar .class .php .lua .r .jl .sh .bash .zsh .wasm")

// isCode reports whether a file that a program reads is code: by its name, or because its first line names an interpreter.
func isCode(path string) bool {
	if name := strings.ToLower(filepath.Base(path)); slices.Contains(code, filepath.Ext(name)) || isLibrary(path) {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var start [2]byte
	_, err = io.ReadFull(f, start[:])
	return err == nil && string(start[:]) == "#!"
}

// isLibrary reports whether a file is a shared library, by its name.
func isLibrary(path string) bool { return strings.Contains(filepath.Base(path), ".so") }

// sourceOf returns the source of a file in the cache of Python, __pycache__/NAME.TAG.pyc, or path if it is not such a file.
func sourceOf(path string) string {
	dir, name := filepath.Split(path)
	module, _, ok := strings.Cut(name, ".")
	if dir = filepath.Clean(dir); !ok || filepath.Base(dir) != "__pycache__" {
		return path
	}
	return filepath.Join(filepath.Dir(dir), module+".py")
}

// byContent matches programs in the cache of go, in a folder whose name is the hash of their inputs: if both sides use the same one,
// their code is the same.
var byContent = lazyregexp.MustCompile(`/[0-9a-f]{64}-d/[^/]+$`)

// isOverwritten reports whether a file outside of the tree of a side was changed after that side used it: the head was built after the
// base. A program or a library that both sides run may also come from an earlier build, which a later one mistook for its own. A program
// may be built by the command itself, and a build may be followed by a hook that changes its mode or its names. Compilers also write
// libraries at run time, into caches that both sides may share.
func (t *Targets) isOverwritten(sub Subject, f task.File) bool {
	path := f.Path
	if !f.Executed {
		if path = sourceOf(path); !isCode(path) {
			return false
		}
	}
	switch {
	case within(path, t.Sides[sub.Side].Root) || byContent.MatchString(path):
		return false
	case sub.Side == 0 && t.builds.writtenByBuild(1, path):
		return true
	case !f.Executed || !t.files[Subject{sub.Point, 1 - sub.Side}][f]:
		return false
	case isLibrary(path):
		return t.builds.writtenByBuild(0, path) || t.builds.writtenByBuild(1, path)
	}
	return changedSince(t.builds.began, path)
}

// overwritten returns the error for a file that both sides share although builds write it.
func (t *Targets) overwritten(p *sweep.Point, f task.File) error {
	writer := "a build"
	if !t.builds.writtenByBuild(0, f.Path) && !t.builds.writtenByBuild(1, f.Path) {
		writer = "this session"
	}
	return fmt.Errorf("%s: both sides %s %s, which %s has written outside of its own tree%s: let each build write into its own tree, and name the file by a relative path",
		t.Sweep.Name, verb(f, "run", "read"), f.Path, writer, t.variableOf(p, f.Path))
}

// variableOf names the variable that determines the location of a file; empty: unknown.
func (t *Targets) variableOf(p *sweep.Point, path string) string {
	best, name := "", ""
	for _, entry := range slices.Concat(os.Environ(), environOf(p.Env)) {
		key, value, _ := strings.Cut(entry, "=")
		if slices.Contains([]string{"PATH", "HOME", "PWD", "OLDPWD"}, key) {
			continue
		}
		for _, dir := range filepath.SplitList(value) {
			if !filepath.IsAbs(dir) {
				continue
			}
			real, err := filepath.EvalSymlinks(dir)
			around := slices.ContainsFunc(t.Sides[0].Others, func(tree string) bool { return tree != real && within(tree, real) })
			if err == nil && within(path, real) && !around && len(real) > len(best) { // a folder around a tree is not specific
				best, name = real, key
			}
		}
	}
	if name == "" {
		return ""
	}
	return " (" + name + " points there)"
}

// watchable reports whether the files of a point can be determined by watching it.
func watchable(p *sweep.Point) bool {
	return task.CanWatch && p.Executor == schema.ExecutorCommand && len(p.Hooks.Cleanup) == 0
}

// Watches reports whether the launch of a point on a side has to report its files, because they are not known yet.
func (t *Targets) Watches(sub Subject) bool {
	if len(t.Sides) < 2 || t.files[sub] != nil {
		return false
	}
	return watchable(sub.Point) || sub.Point.Executor == schema.ExecutorPython && len(t.builds.times[1]) > 0
}

// NoteFiles records the files that the first launch of a point on a side has read. It returns an error if the comparison is meaningless:
// code came from the tree of the user or of the other side, or both sides read the same.
func (t *Targets) NoteFiles(sub Subject, o *task.Outcome) error {
	if len(t.Sides) < 2 || o.Status != schema.StatusOK || t.files[sub] != nil {
		return nil
	}
	files := map[task.File]bool{}
	for _, f := range o.Files {
		files[f] = true
	}
	t.files[sub] = files
	for _, f := range o.Files {
		if sub.Point.Executor == schema.ExecutorCommand { // a worker has refused modules of other trees by itself
			if err := t.checkForeign(sub, f); err != nil {
				return fmt.Errorf("%s: %w", t.Sweep.Name, err)
			}
		}
		if t.isOverwritten(sub, f) {
			return t.overwritten(sub.Point, task.File{Path: sourceOf(f.Path), Executed: f.Executed})
		}
	}
	if !t.uses && !t.usedAny() {
		return t.nothingUsed()
	}
	return nil
}

// usedAny reports whether a process has read a file of its own side, or may have.
func (t *Targets) usedAny() bool {
	for _, p := range t.run() {
		base, head := t.files[Subject{p, 0}], t.files[Subject{p, 1}]
		switch {
		case p.Executor != schema.ExecutorCommand || p.Skip != nil:
		case base == nil || head == nil:
			return true // it is not known yet
		case len(p.Build) > 0 && (len(base) == 0 || len(head) == 0):
			return true // nothing could be watched
		}
		for side, files := range []map[task.File]bool{base, head} {
			for f := range files {
				if within(f.Path, t.Sides[side].Root) || f.Executed && !base[f] {
					return true
				}
			}
		}
	}
	return false
}

// checkForeign refuses a file of the user's working tree, or of the other side.
func (t *Targets) checkForeign(sub Subject, f task.File) error {
	side := t.Sides[sub.Side]
	for i, dir := range side.Others {
		if !within(f.Path, dir) || t.isNoCode(side, dir, f.Path) {
			continue
		}
		where, below := "the tree of the other side", strings.TrimPrefix(f.Path, dir)
		if i == 0 {
			where = "your working tree"
			if t.onlyUserHas(dir, below) {
				return fmt.Errorf("side %s %s %s, which only your working tree has%s: %s", side.Name, verb(f, "ran", "read"), f.Path, t.variableOf(sub.Point, f.Path), t.shareAdvice(below))
			}
		}
		return fmt.Errorf("side %s %s %s, which is in %s%s: let each side use its own, by a relative path", side.Name, verb(f, "ran", "read"), f.Path, where, t.variableOf(sub.Point, f.Path))
	}
	return nil
}

// verb returns one of two verbs: for a file that was executed, or one that was read.
func verb(f task.File, executed, read string) string {
	if f.Executed {
		return executed
	}
	return read
}

// isNoCode reports whether a file in a foreign tree is no code of that tree: git's own files, shared files, results, temporary files.
func (t *Targets) isNoCode(side Side, tree, path string) bool {
	temporary, err := filepath.EvalSymlinks(os.TempDir())
	info := infoOf(path)
	return info == nil || !info.Mode().IsRegular() || within(path, filepath.Join(tree, ".git")) || side.exempt(path) ||
		slices.ContainsFunc(t.Exclude, func(dir string) bool { return within(path, dir) }) ||
		err == nil && within(temporary, tree) && within(path, temporary)
}

// within reports whether a path without symbolic links is dir or in it.
func within(path, dir string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, dir+string(filepath.Separator)))
}

// foreignProgram returns an error with the location of a program that is not on the side under test, and advice.
func (t *Targets) foreignProgram(path, owner string) error {
	for _, tree := range t.Sides[0].Trees {
		if below, ok := strings.CutPrefix(path, tree); ok && t.onlyUserHas(tree, below) {
			return fmt.Errorf("%s is in your working tree, and neither side has it: %s", path, t.shareAdvice(below))
		}
	}
	return fmt.Errorf("%s is in %s, not on the side under test", path, owner)
}
