package prepare

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
)

// kindBuild is the kind of error of a run whose build failed.
const kindBuild = "build"

// built is the result of a build command.
type built struct {
	took   int64 // ns
	status schema.Status
	err    error
	absent bool // there is no such program
}

// builds are the builds of a session.
type builds struct {
	points   map[Subject]built // of points with a build
	commands map[string]built  // by side, folder and words
	hashes   []string          // of the files that builds have made, by side; see FactBuild
	times    [][]span          // when builds of each side ran
	began    time.Time         // before anything of the session was started; zero for a single side
}

// Builder runs build commands.
type Builder struct {
	Run     func(context.Context, task.Spec) (task.Outcome, error)
	Observe func(of Subject, command []string) // called before each command
}

// Build runs the build commands of all points, each distinct one once per side. It runs before anything is planned, because a resumed
// session compares the files that builds make. A point whose build failed is not launched. It is an error if a command could not be run
// at all.
func (t *Targets) Build(ctx context.Context, b Builder) error {
	if len(t.Sides) > 1 {
		t.builds.began = stamp()
	}
	before := make([][]tree, len(t.Sides))
	for i := range t.Sides {
		before[i] = t.treesBefore(i)
	}
	for _, p := range t.run() {
		for side := range t.Sides {
			if len(p.Build) == 0 {
				continue
			}
			all, err := t.buildPoint(ctx, b, Subject{p, side})
			if err != nil || ctx.Err() != nil {
				return err
			}
			t.builds.points[Subject{p, side}] = all
		}
	}
	for i, trees := range before {
		t.builds.hashes[i] = builtHash(trees, t.Exclude)
	}
	return nil
}

// InheritBuild adopts the hash of the built files of an earlier session, if building changed nothing.
func (t *Targets) InheritBuild(hash string) {
	if t.builds.hashes[0] == "" {
		t.builds.hashes[0] = hash
	}
}

// buildPoint runs the commands of one point until one fails.
func (t *Targets) buildPoint(ctx context.Context, b Builder, sub Subject) (built, error) {
	var all built
	for _, command := range sub.Point.Build {
		one, err := t.buildOne(ctx, b, sub, command)
		if err != nil {
			return built{}, err
		}
		all = built{all.took + one.took, one.status, one.err, one.absent}
		if one.err != nil {
			break
		}
	}
	return all, nil
}

// buildOne runs a build command, unless this session has already run it on that side.
func (t *Targets) buildOne(ctx context.Context, b Builder, sub Subject, command []string) (built, error) {
	p, side := sub.Point, t.Sides[sub.Side]
	dir := side.resolve(p.Dir)
	env := t.environ(sub.Side, p.BuildEnv)
	key := JSONList(slices.Concat([]string{side.Name, dir}, env, command))
	if one, ok := t.builds.commands[key]; ok {
		return one, nil
	}
	if none := absentBuilder(command, env); none.absent {
		t.builds.commands[key] = none
		return none, nil
	}
	b.Observe(sub, command)
	ran := span{from: stamp()}
	limit := p.Timeouts.Build
	outcome, err := b.Run(ctx, task.Spec{
		Launch: task.Launch{Executor: schema.ExecutorCommand, Command: command, Dir: dir, Iterations: 1}, Env: env,
		Deadlines: task.EachStage(limit),
	})
	if err != nil {
		return built{}, fmt.Errorf("building %s: %w", p.Benchmark, err)
	}
	ran.to = stamp()
	t.builds.times[sub.Side] = append(t.builds.times[sub.Side], ran)
	one := built{took: outcome.Stages.Launch(), status: outcome.Status}
	if outcome.Status != schema.StatusOK {
		one.err = buildError(command, outcome, limit)
	}
	t.builds.commands[key] = one
	return one, nil
}

// CheckBuilders is for a session that builds nothing: it records the builds that could not begin, because their program does not exist.
// Later programs of a build are not checked, as an earlier one may make them.
func (t *Targets) CheckBuilders() {
	for _, p := range t.run() {
		for side := range t.Sides {
			if len(p.Build) == 0 {
				continue
			}
			if none := absentBuilder(p.Build[0], t.environ(side, p.BuildEnv)); none.absent {
				t.builds.points[Subject{p, side}] = none
			}
		}
	}
}

// NotBuilt reports whether a point has a build that has not run yet, which may make a missing file.
func (t *Targets) NotBuilt(sub Subject) bool {
	_, ran := t.builds.points[sub]
	return len(sub.Point.Build) > 0 && !ran
}

// absentBuilder returns the result of a build command whose program does not exist; otherwise it is empty.
func absentBuilder(command, env []string) built {
	if _, err := task.LookPath(command[0], slices.Concat(os.Environ(), env)); !errors.Is(err, exec.ErrNotFound) {
		return built{}
	}
	return built{status: schema.StatusError, err: fmt.Errorf("build: %s: no such program on PATH", command[0]), absent: true}
}

// buildError returns an error with the failed command and the error line of its output.
func buildError(command []string, o task.Outcome, limit time.Duration) error {
	text := o.Error
	switch {
	case o.Status == schema.StatusTimeout:
		text = fmt.Sprintf("took more than %s; raise timeouts.build", limit)
	case o.ExitCode != nil && *o.ExitCode != 0:
		text = fmt.Sprintf("exit status %d", *o.ExitCode)
	}
	mask := probe.NewMask(os.Environ())
	if reason := task.ErrorLine(mask.Text(o.StderrTail)); reason != "" {
		text += ": " + reason
	}
	return fmt.Errorf("build %s: %s", strings.Join(mask.Arguments(command), " "), text)
}

// Limits of the search for files that a build has changed.
const (
	maxTreeFiles  = 200_000   // maximum number of files in a tree
	maxBefore     = 16 << 20  // B: a larger file counts as changed if it was written, even with the same content
	maxBeforeTree = 256 << 20 // B, of all files that are read before a build
	maxAfter      = 256 << 20 // B: a larger changed file is represented by its size and time
)

// tree is the state of the regular files below a folder, by their path below it.
type tree struct {
	root    string
	files   map[string]fileState
	outputs worktree.Outputs // no products of a build
}

// fileState identifies the content of a file.
type fileState struct {
	size     int64
	modified time.Time
	sum      string // of its content before a build; empty if it was not read
}

// treeBefore returns the state of the files around a folder before a build: of its repository, if it is in one.
func treeBefore(dir string, exclude []string) tree {
	t := tree{root: rootOf(dir), files: map[string]fileState{}, outputs: worktree.OpenOutputs()}
	left := int64(maxBeforeTree)
	t.walk(exclude, func(path string, state fileState) {
		if state.size <= min(left, maxBefore) {
			left -= state.size
			state.sum, _ = hashFile(filepath.Join(t.root, path))
		}
		t.files[path] = state
	})
	return t
}

// changes lists each file that a build has created or changed, with the hash of its content. A file that was written with the same
// content has not changed.
func (t tree) changes(exclude []string) []string {
	var lines []string
	t.walk(exclude, func(path string, state fileState) {
		before, known := t.files[path]
		if known && before.size == state.size && before.modified.Equal(state.modified) {
			return
		}
		sum := fmt.Sprintf("%d B of %s", state.size, state.modified.UTC())
		if state.size <= maxAfter {
			if text, err := hashFile(filepath.Join(t.root, path)); err == nil {
				sum = text
			}
		}
		if !known || before.sum != sum {
			lines = append(lines, path+"\x00"+sum+"\n")
		}
	})
	return lines
}

// walk visits the readable regular files, in the order of their names, except files of git and of exclude, and the outputs of this
// process.
func (t tree) walk(exclude []string, visit func(path string, state fileState)) {
	n := 0
	_ = filepath.WalkDir(t.root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // unreadable files are skipped
			return nil
		case d.Name() == ".git" || slices.Contains(exclude, path):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		case n == maxTreeFiles:
			return fs.SkipAll
		}
		n++
		info, err := d.Info()
		below, relErr := filepath.Rel(t.root, path)
		if err == nil && relErr == nil && !t.outputs.Has(info) {
			visit(below, fileState{size: info.Size(), modified: info.ModTime()})
		}
		return nil
	})
}

// rootOf returns the root of the git working tree around dir, or dir.
func rootOf(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	for parent := dir; ; parent = filepath.Dir(parent) {
		if exists(filepath.Join(parent, ".git")) {
			return parent
		}
		if parent == filepath.Dir(parent) {
			return dir
		}
	}
}

// treesBefore returns the trees in which the builds of a side run.
func (t *Targets) treesBefore(on int) []tree {
	var trees []tree
	for i := range t.Sweep.Points {
		p := &t.Sweep.Points[i]
		dir := t.Sides[on].resolve(p.Dir)
		known := func(in tree) bool { return in.root == rootOf(dir) }
		if len(p.Build) > 0 && !slices.ContainsFunc(trees, known) {
			trees = append(trees, treeBefore(dir, t.Exclude))
		}
	}
	return trees
}

// builtHash returns the hash of the changes that builds have made in trees; empty: none.
func builtHash(trees []tree, exclude []string) string {
	digest, empty := sha256.New(), true
	for _, t := range trees {
		for _, line := range t.changes(exclude) {
			empty = false
			digest.Write([]byte(line))
		}
	}
	if empty {
		return ""
	}
	return hex.EncodeToString(digest.Sum(nil))
}
