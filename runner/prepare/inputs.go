package prepare

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
)

// Prefixes of facts with the hashes of files that a model needs besides its own. The path follows, as it is written.
const (
	factInput   = "inputs.sha256."  // what an input holds
	factLibrary = "session.sha256." // a library with operators
)

// IsModelFile reports whether a fact is the hash of a file that a model needs besides its own.
func IsModelFile(fact string) bool {
	return strings.HasPrefix(fact, factInput) || strings.HasPrefix(fact, factLibrary)
}

// extraFile is a file that a model needs besides its own.
type extraFile struct{ fact, path, key string }

// extraFiles are the files of the inputs and the session of a point.
func extraFiles(p *sweep.Point) (files []extraFile) {
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		if path := p.Inputs[name].File; path != "" {
			files = append(files, extraFile{factInput, path, "inputs." + name})
		}
	}
	if p.Session != nil {
		for _, path := range p.Session.Libraries {
			files = append(files, extraFile{factLibrary, path, "session.custom_ops_library"})
		}
	}
	return files
}

// prepareInputs hashes the files of the inputs and the session of a model. One that cannot be read refuses the target.
func (h *Targets) prepareInputs(t *Target, at location) {
	for _, f := range extraFiles(t.Point) {
		text, err := h.sha256(inDir(t.Spec.Dir, f.path))
		if err != nil {
			t.refuseFile("model", at, f.key+": "+f.path, err)
			continue
		}
		t.Facts[f.fact+f.path] = text
	}
}

// fileHashes are the hashes of the files that a model needs besides its own, by their facts.
func (t *Target) fileHashes() map[string]string {
	files := maps.Clone(t.Facts)
	maps.DeleteFunc(files, func(fact, _ string) bool { return !IsModelFile(fact) })
	return files
}
