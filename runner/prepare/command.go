package prepare

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// maxCommandFiles bounds the words of a command that are looked at as files.
const maxCommandFiles = 20

// prepareCommand finds the program in the PATH of the point, and hashes it and the files that the command names. Files that cannot be
// found are left to the launch.
func (h *Targets) prepareCommand(t *Target, side Side) {
	path, err := task.LookPath(t.Point.Command[0], slices.Concat(os.Environ(), t.Spec.Env))
	absent := errors.Is(err, exec.ErrNotFound) || err == nil && infoOf(inDir(t.Spec.Dir, path)) == nil
	if absent && t.Point.Optional {
		t.refuse(schema.StatusSkipped, kindAbsent, t.at(t.Point.CommandLine), t.checkProgram(t.Spec.Command[0]))
	}
	if err != nil {
		return
	}
	path = inDir(t.Spec.Dir, path)
	if owner := side.foreign(path); owner != "" {
		t.refuse(schema.StatusUnsupported, kindForeign, location{}, h.foreignProgram(path, owner))
	}
	if text, err := h.sha256(path); err == nil {
		t.Facts[factCommand] = text
	}
	files := t.Point.Command[1:min(len(t.Point.Command), maxCommandFiles)]
	if t.Point.Stdin != "" {
		files = append(slices.Clone(files), t.Point.Stdin)
	}
	for _, word := range files {
		path := inDir(t.Spec.Dir, word)
		if info := infoOf(path); info == nil || !info.Mode().IsRegular() || h.outputs[path] {
			continue
		}
		if text, err := h.sha256(path); err == nil {
			t.Facts[FactCommandFile+shellwords.ToUTF8(word)] = text
		}
	}
}

// NoteOutputs finds words of a command that name its output: files that its first launch in a session has changed. They are not part of
// the code.
func (h *Targets) NoteOutputs(t *Target) {
	if t.launched {
		return
	}
	t.launched = true
	for fact := range t.Facts {
		word, ok := strings.CutPrefix(fact, FactCommandFile)
		path := inDir(t.Spec.Dir, shellwords.FromUTF8(word))
		if ok && !sameFile(h.hashes[path].file, infoOf(path)) {
			delete(t.Facts, fact)
			delete(h.hashes, path)
			h.outputs[path] = true
		}
	}
}
