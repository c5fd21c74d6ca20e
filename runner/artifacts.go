package runner

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/artifact"
	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// KeepFile stores the content of a file that a run left, and gives the SHA-256 under which it is stored, in hex, and the
// bytes of the content. A run that names it is handed over after that.
type KeepFile func(content io.Reader) (sha256 string, size int64, err error)

// missingArtifact begins the name of an artifact, where a run says why it is not kept; the path follows.
const missingArtifact = "artifact."

// profileLimit is the size, in B, up to which what a profiler recorded is kept: it is text that becomes much shorter.
const profileLimit = 256 << 20

// printedLimit is the size, in B, up to which what a failed run printed is kept without being asked for.
const printedLimit = 16 << 20

// leaving is what becomes of the files of one run; nil where nobody keeps any.
type leaving struct {
	keep   KeepFile
	wanted *sweep.Artifacts // nil: nothing is said
	mask   func(string) string
	finder *artifact.Finder

	artifacts []schema.Artifact
	missing   map[string]string // why an artifact is not kept, by its path
	printed   map[string]string // what the run printed, by the word for it; nothing where it is longer than may be kept
	longer    map[string]int64  // its size then
}

// newLeaving looks at what is there before a launch.
func (r *launcher) newLeaving(t *prepare.Target) *leaving {
	if r.keep == nil {
		return nil
	}
	wanted := t.Point.Artifacts
	v := &leaving{
		keep: r.keep, wanted: wanted, mask: t.Mask().Text,
		missing: map[string]string{}, printed: map[string]string{}, longer: map[string]int64{},
	}
	rules := artifact.Rules{Dir: t.Spec.Dir, RunDir: sweep.RunDir, Limit: printedLimit}
	if wanted != nil {
		rules.Limit = wanted.Limit
		for _, file := range wanted.Files {
			if file != sweep.Stdout && file != sweep.Stderr {
				rules.Patterns = append(rules.Patterns, file)
			}
		}
	}
	v.finder = artifact.Before(rules)
	return v
}

// take keeps the files that a run has left, and holds what it printed until it is known whether it failed.
func (v *leaving) take(left task.Left) {
	if v == nil || v.wanted != nil && len(v.wanted.Files) == 0 {
		return
	}
	for _, found := range v.finder.After(left.Dir) {
		v.keepFile(schema.ArtifactFile, found)
	}
	v.keepProfile(left.Profile)
	limit := int64(printedLimit)
	if v.wanted != nil {
		limit = v.wanted.Limit
	}
	v.hold(sweep.Stdout, left.Stdout, limit)
	v.hold(sweep.Stderr, left.Stderr, limit)
}

// hold reads what was printed, without its secrets.
func (v *leaving) hold(word string, file *os.File, limit int64) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return
	}
	if info.Size() > limit {
		v.longer[word] = info.Size()
		return
	}
	text, err := io.ReadAll(io.NewSectionReader(file, 0, info.Size()))
	if err == nil {
		v.printed[word] = v.mask(string(text))
	}
}

// keepProfile keeps what a profiler recorded, where there was one.
func (v *leaving) keepProfile(path string) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	found := artifact.Found{Path: filepath.Base(path), Size: info.Size(), File: path}
	if found.Size > profileLimit {
		found.Why = fmt.Sprintf("larger than %d MiB", profileLimit>>20)
	}
	v.keepFile(schema.ArtifactProfile, found)
}

// keepFile keeps a file, or says why it is not.
func (v *leaving) keepFile(kind string, found artifact.Found) {
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

// store has the content of an artifact stored. Where that fails the run is kept all the same.
func (v *leaving) store(a schema.Artifact, content io.Reader) {
	hash, size, err := v.keep(content)
	if err != nil {
		v.add(a, err.Error())
		return
	}
	a.SHA256, a.Bytes = hash, &size
	v.add(a, "")
}

// add notes an artifact, and why it is not kept.
func (v *leaving) add(a schema.Artifact, why string) {
	v.artifacts = append(v.artifacts, a)
	if why != "" {
		v.missing[missingArtifact+a.Path] = why
	}
}

// finish gives a run its artifacts: also what it printed, where that is wanted or the run has failed.
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
			v.add(a, fmt.Sprintf("larger than the limit of a file, %d B", size))
		} else if text := v.printed[word]; text != "" {
			a.Bytes = new(int64(len(text)))
			v.store(a, strings.NewReader(text))
		}
	}
	run.Artifacts = v.artifacts
	for name, why := range v.missing {
		run.Env.Missing[name] = why
	}
}
