package runner

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// The facts with the hashes of the program of a command, and of the other words of it that are files.
const (
	factCommand     = "command.sha256"
	factCommandFile = "command.sha256." // and the word
)

// maxCommandFiles bounds the words of a command that are looked at as files.
const maxCommandFiles = 20

// prepareCommand finds the program, in the PATH of the point, and hashes it and the files that the command names. What
// cannot be found is left to the launch.
func (s *session) prepareCommand(t *target, side side) {
	path, err := task.LookPath(t.point.Command[0], slices.Concat(os.Environ(), t.spec.Env))
	if err != nil {
		return
	}
	path = inDir(t.spec.Dir, path)
	if owner := side.foreign(path); owner != "" {
		t.refuse(schema.StatusUnsupported, "not_applied", location{},
			fmt.Errorf("%s is in %s, not on the side under test", path, owner))
	}
	if text, err := s.host.sha256(path); err == nil {
		t.facts[factCommand] = text
	}
	for _, word := range t.point.Command[1:min(len(t.point.Command), maxCommandFiles)] {
		path := inDir(t.spec.Dir, word)
		if info := infoOf(path); info == nil || !info.Mode().IsRegular() || s.host.outputs[path] {
			continue
		}
		if text, err := s.host.sha256(path); err == nil {
			t.facts[factCommandFile+word] = text
		}
	}
}

// noteOutputs finds the words of a command that name its output: files that its first launch in a session has changed.
// They are no part of the code.
func (h *host) noteOutputs(t *target) {
	if t.launched {
		return
	}
	t.launched = true
	for fact := range t.facts {
		word, ok := strings.CutPrefix(fact, factCommandFile)
		path := inDir(t.spec.Dir, word)
		if ok && !sameFile(h.hashes[path].file, infoOf(path)) {
			delete(t.facts, fact)
			delete(h.hashes, path)
			h.outputs[path] = true
		}
	}
}
