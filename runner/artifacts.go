package runner

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// KeepFile stores the content of a file that a run left. It returns the SHA-256 under which the content is stored, in hex, and
// its size in bytes. A run that refers to the content is passed on after that.
type KeepFile func(content io.Reader) (sha256 string, size int64, err error)

// profileLimit is the maximum size, in B, of a profiler's recording that is kept.
const profileLimit = 256 << 20

// printedLimit is the maximum size, in B, of a failed run's output that is kept by default.
const printedLimit = 16 << 20

// Files counts the files of the runs of a session that were to be kept.
type Files struct {
	Kept, NotKept int
	Why           string   // the first reason why one was not kept
	Unmatched     []string // patterns that matched no file of any run, though one ended well
}

// count adds the files of a run.
func (f *Files) count(v *leaving, run *schema.Run) {
	if v == nil {
		return
	}
	for _, a := range run.Artifacts {
		why, not := v.missing[schema.MissingArtifact+a.Path]
		if !not {
			f.Kept++
			continue
		}
		if f.NotKept++; f.Why == "" {
			f.Why = why
		}
	}
}

// patterns records the artifact patterns of all points of a session, and whether any run has left a matching file.
type patterns struct {
	order   []string
	matched map[string]bool
}

// note adds the patterns of a run that ended well.
func (p *patterns) note(v *leaving, run *schema.Run) {
	if v == nil || v.wanted == nil || run.Status != schema.StatusOK {
		return
	}
	for _, file := range v.wanted.Files {
		if file == sweep.Stdout || file == sweep.Stderr {
			continue
		}
		before, known := p.matched[file]
		if !known {
			p.order = append(p.order, file)
		}
		p.matched[file] = before || v.matched[file]
	}
}

// unmatched lists the patterns without a matching file.
func (p *patterns) unmatched() []string {
	return slices.DeleteFunc(slices.Clone(p.order), func(file string) bool { return p.matched[file] })
}

// leaving collects the files of one run; nil if none are kept.
type leaving struct {
	keep   KeepFile
	wanted *sweep.Artifacts // nil: not set
	mask   func(string) string
	secret func(content []byte) bool // reports whether the report of a profiler has a secret
	finder *output.ArtifactFinder

	matched   map[string]bool // patterns that have found a file
	artifacts []schema.Artifact
	missing   map[string]string // why an artifact is not kept, by its path
	printed   map[string]string // outputs of the run, by the word for each; empty if it is larger than the limit
	longer    map[string]int64  // its size then
}

// newLeaving records which files exist before a launch.
func (r *launcher) newLeaving(t *prepare.Target) *leaving {
	if r.keep == nil {
		return nil
	}
	wanted := t.Point.Artifacts
	v := &leaving{
		keep: r.keep, wanted: wanted, mask: t.Mask().Text,
		secret:  func(content []byte) bool { return t.Mask().In(content, t.Spec.Command) },
		matched: map[string]bool{}, missing: map[string]string{}, printed: map[string]string{}, longer: map[string]int64{},
	}
	rules := output.ArtifactRules{Dir: t.Spec.Dir, RunDir: sweep.RunDir, Limit: v.limit()}
	if wanted != nil {
		for _, file := range wanted.Files {
			if file != sweep.Stdout && file != sweep.Stderr {
				rules.Patterns = append(rules.Patterns, file)
			}
		}
	}
	v.finder = output.FindBefore(rules)
	return v
}

// take keeps the files that a run has left, and holds its printed output until it is known whether the run failed.
func (v *leaving) take(left task.Left) {
	if v == nil || v.wanted != nil && len(v.wanted.Files) == 0 {
		return
	}
	for _, found := range v.finder.After(left.Dir) {
		v.matched[found.Pattern] = true
		v.keepFile(schema.ArtifactFile, found)
	}
	v.keepProfile(left.Profile)
	v.hold(sweep.Stdout, left.Stdout)
	v.hold(sweep.Stderr, left.Stderr)
}

// limit returns the maximum size, in B, of a file that is kept.
func (v *leaving) limit() int64 {
	if v.wanted != nil {
		return v.wanted.Limit
	}
	return printedLimit
}

// hold reads printed output and masks its secrets.
func (v *leaving) hold(word string, file *os.File) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return
	}
	if info.Size() > v.limit() {
		v.longer[word] = info.Size()
		return
	}
	text, err := io.ReadAll(io.NewSectionReader(file, 0, info.Size()))
	if err == nil {
		v.printed[word] = v.mask(string(text))
	}
}

// text returns printed output that was held, with its secrets masked.
func (v *leaving) text(word string) string {
	if v == nil {
		return ""
	}
	return v.printed[word]
}

// keepProfile keeps the recording of a profiler, if there is one.
func (v *leaving) keepProfile(path string) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	found := output.Artifact{Path: filepath.Base(path), Size: info.Size(), File: path}
	if found.Size > profileLimit {
		found.Why = fmt.Sprintf("larger than %d MiB", profileLimit>>20)
	} else if content, err := os.ReadFile(path); err != nil || v.secret(content) {
		found.Why = "has a secret of the environment or of the command line" // profilers record both
	}
	v.keepFile(schema.ArtifactProfile, found)
}

// keepFile keeps a file, or records why it is not kept.
func (v *leaving) keepFile(kind string, found output.Artifact) {
	a := schema.Artifact{Kind: kind, Path: found.Path, Bytes: &found.Size}
	if found.Why != "" {
		v.add(a, found.Why)
		return
	}
	file, err := found.Open()
	if err != nil {
		v.add(a, err.Error())
		return
	}
	defer file.Close()
	v.store(a, file)
}

// store stores the content of an artifact. If that fails, the run is stored all the same.
func (v *leaving) store(a schema.Artifact, content io.Reader) {
	hash, size, err := v.keep(content)
	if err != nil {
		v.add(a, err.Error())
		return
	}
	a.SHA256, a.Bytes = hash, &size
	v.add(a, "")
}

// add records an artifact, and why it is not kept.
func (v *leaving) add(a schema.Artifact, why string) {
	v.artifacts = append(v.artifacts, a)
	if why != "" {
		v.missing[schema.MissingArtifact+a.Path] = why
	}
}

// finish gives a run its artifacts, including its printed output if that is requested or the run failed.
func (v *leaving) finish(run *schema.Run) {
	if v == nil {
		return
	}
	for _, word := range []string{sweep.Stdout, sweep.Stderr} {
		asked := v.wanted != nil && slices.Contains(v.wanted.Files, word)
		failed := run.Status.Failed() && run.Status != schema.StatusCancelled
		if !asked && !failed {
			continue
		}
		a := schema.Artifact{Kind: word, Path: word}
		if size, long := v.longer[word]; long {
			a.Bytes = &size
			v.add(a, "larger than "+schema.ForPeople(float64(v.limit()), "B")+": raise artifacts.limit")
		} else if text := v.printed[word]; text != "" {
			a.Bytes = new(int64(len(text)))
			v.store(a, strings.NewReader(text))
		}
	}
	v.giveTo(run)
}

// giveTo adds the artifacts to a run.
func (v *leaving) giveTo(run *schema.Run) {
	if v == nil {
		return
	}
	run.Artifacts = v.artifacts
	maps.Copy(run.Env.Missing, v.missing)
}
