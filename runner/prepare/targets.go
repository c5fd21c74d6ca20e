// Package prepare determines the requirements of a launch before it starts: the program, interpreter or model and their hashes, the
// results of builds, the settings. If something is missing or impossible, the launch does not happen, with that reason. A session uses
// its targets, and the values that identify its runs: see Targets.
package prepare

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"syscall"

	"github.com/neurolens/neurolens/runner/onnx"
	"github.com/neurolens/neurolens/runner/python"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
)

// Options of New.
type Options struct {
	Sweep   *sweep.Sweep
	Sides   []Side   // one, or base and head
	Version string   // of NeuroLens
	Exclude []string // paths that no build makes, though they may lie in the working tree
	// Beside returns the names of the files that are read together with an output of a benchmark tool, if the process writes them; nil:
	// none is.
	Beside func(format, file string) []string
}

// Targets are the points of a session on its sides. They cache facts about this machine: each file is read once as long as it does not
// change, and each interpreter is queried once.
type Targets struct {
	Options
	points       string // see sweep.Sweep.PointsSHA256
	known        map[Subject]*Target
	stale        map[Subject]*Target // prepared before some file changed; see Fresh
	hashes       map[string]hash
	outputs      map[string]bool // files that commands write
	interpreters map[string]interpreter
	described    map[string]onnx.Description // of model files, by their hashes
	conversions  map[string]converted        // by conversion.key
	builds       builds
	lacks        map[Subject]string             // the missing requirement of each subject: see CheckThere
	uses         bool                           // the sweep names a file of a side
	files        map[Subject]map[task.File]bool // that a process of each has read
	ignored      map[string]bool                // folders of PATH: whether no side had them before the builds
}

// Subject is a point on a side: the thing that is launched repeatedly.
type Subject struct {
	Point *sweep.Point
	Side  int
}

// hash is the hash of a file, with the state of the file when it was read.
type hash struct {
	text string
	err  error
	file fs.FileInfo // nil: the file did not exist
}

type interpreter struct {
	python.Interpreter
	err error
}

// New returns targets without preparing anything yet.
func New(o Options) *Targets {
	sides := len(o.Sides)
	return &Targets{
		Options: o, points: o.Sweep.PointsSHA256(), known: map[Subject]*Target{}, stale: map[Subject]*Target{},
		hashes: map[string]hash{}, outputs: map[string]bool{}, interpreters: map[string]interpreter{},
		builds: builds{points: map[Subject]built{}, commands: map[string]built{}, hashes: make([]string, sides), times: make([][]span, sides)},
		files:  map[Subject]map[task.File]bool{}, described: map[string]onnx.Description{}, conversions: map[string]converted{},
		ignored: map[string]bool{}, lacks: map[Subject]string{},
	}
}

// Points returns the hash by which sessions with the same points are recognised.
func (t *Targets) Points() string { return t.points }

// run lists all points that run: the points of the sweep, and the references of their outputs.
func (t *Targets) run() (all []*sweep.Point) {
	for i := range t.Sweep.Points {
		all = append(all, &t.Sweep.Points[i])
	}
	return append(all, t.Sweep.References()...)
}

// Path returns a path of the sweep as the processes of a point see it.
func (t *Targets) Path(sub Subject, path string) string {
	return task.InDir(t.Sides[sub.Side].resolve(sub.Point.Dir), path)
}

// sha256 returns the hash of a file in hex.
func (t *Targets) sha256(path string) (string, error) {
	known, ok := t.hashes[path]
	if !ok {
		known.file = infoOf(path) // before it is read, so that a change while it is read is detected
		known.text, known.err = hashFile(path)
		t.hashes[path] = known
	}
	return known.text, known.err
}

// hashFile returns the SHA-256 of a regular file, in hex. A pipe would be waited for, and a device may have no end.
func hashFile(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", cmp.Or(err, error(&fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}))
	}
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// interpreter queries a Python interpreter.
func (t *Targets) interpreter(ctx context.Context, name string) (python.Interpreter, error) {
	known, ok := t.interpreters[name]
	if !ok {
		known.Interpreter, known.err = python.Resolve(ctx, name, os.Environ())
		t.interpreters[name] = known
	}
	return known.Interpreter, known.err
}

// hashOf returns the hash of bytes in hex.
func hashOf(b []byte) string {
	digest := sha256.Sum256(b)
	return hex.EncodeToString(digest[:])
}

// Fresh returns the current target of a subject. It is prepared again if a hashed file has changed.
func (t *Targets) Fresh(ctx context.Context, sub Subject) *Target {
	if t.forgetChanged() {
		maps.Copy(t.stale, t.known)
		clear(t.known)
	}
	target := t.Of(ctx, sub)
	if old := t.stale[sub]; old != nil {
		target.Changed = old.Changed || !sameCode(old, target)
		delete(t.stale, sub)
	}
	return target
}

// sameCode reports whether two targets of a subject run the same files.
func sameCode(a, b *Target) bool {
	for _, fact := range CodeFacts() {
		if a.Facts[fact] != b.Facts[fact] {
			return false
		}
	}
	return a.ModelSHA256 == b.ModelSHA256 && maps.Equal(a.fileHashes(), b.fileHashes())
}

// forgetChanged forgets the hashes of files that have changed, and reports whether there were any.
func (t *Targets) forgetChanged() bool {
	changed := false
	for path, known := range t.hashes {
		if !sameFile(known.file, infoOf(path)) {
			delete(t.hashes, path)
			changed = true
		}
	}
	return changed
}

// infoOf is os.Stat; nil if the file does not exist.
func infoOf(path string) fs.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// sameFile reports whether a file was neither replaced nor, by its size and time, written.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
