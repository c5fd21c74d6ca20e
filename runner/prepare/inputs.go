package prepare

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/runner/sweep"
)

// factInput is the prefix of facts with the hashes of files that inputs hold. The path follows, as it is written.
const factInput = "inputs.sha256."

// IsModelFile reports whether a fact is the hash of a file that a model needs besides its own.
func IsModelFile(fact string) bool {
	return strings.HasPrefix(fact, factInput)
}

// extraFile is a file that a model needs besides its own.
type extraFile struct{ fact, path, key string }

// extraFiles are the files of the inputs of a point.
func extraFiles(p *sweep.Point) (files []extraFile) {
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		if path := p.Inputs[name].File; path != "" {
			files = append(files, extraFile{factInput, path, "inputs." + name})
		}
	}
	return files
}

// prepareInputs hashes the files of the inputs of a model. One that cannot be read refuses the target.
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
