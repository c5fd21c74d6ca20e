package sweep

import (
	"math"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/runner/expression"
)

// RunDir is the placeholder for the private directory of each run. The directory is empty when the run begins and is removed after
// it. Only the runner knows its path.
const RunDir = "{" + runDirName + "}"

const runDirName = "run_dir"

// The words of artifacts that are no files.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// defaultArtifactLimit is the size, in B, up to which a file is kept.
const defaultArtifactLimit = 16 << 20

// maxArtifacts bounds the patterns of a sweep.
const maxArtifacts = 100

// Artifacts defines which files of a run are kept.
type Artifacts struct {
	// Files are patterns for the files, filled in: relative to cwd, absolute, or after RunDir; and the words Stdout and
	// Stderr. None says that nothing is kept, not even what a failed run printed.
	Files []string
	Limit int64 // B of one file; larger ones are named and not kept
}

// artifactKeys are the keys of artifacts where it is a map.
var artifactKeys = []Key{
	{Name: "files", Value: oneOrMany(0, textValue), Doc: "Patterns of files, folders with everything in them, stdout, stderr. {axis} and {run_dir} are filled in."},
	{Name: "limit", Value: scalarValue, Default: "16MiB", Doc: "The largest size of a file that is kept."},
}

// artifactsKey says which files of a run are kept.
var artifactsKey = Key{
	Name: "artifacts", Value: eitherOf(textValue, listOf(0, textValue), Value{Kind: Object, Keys: artifactKeys}),
	Doc: "Files to keep with each run. Default: what a failed run printed. [] keeps nothing.",
}

// artifactsSpec is what the key artifacts says.
type artifactsSpec struct {
	files  []template
	limit  int64
	shared *Artifacts // where it is the same at every point
}

// readArtifacts reads the key artifacts.
func (p *program) readArtifacts(d *document) error {
	f := d.keys["artifacts"]
	if !f.given() {
		return nil
	}
	spec := artifactsSpec{limit: defaultArtifactLimit}
	files := f
	if f.Kind == yaml.MappingNode {
		said, err := f.known("artifacts.", keyNames(artifactKeys))
		if err != nil {
			return err
		}
		if files = said["files"]; !files.given() {
			return f.errorf("want files: patterns of files, stdout, stderr")
		}
		if limit := said["limit"]; limit.given() {
			if spec.limit, err = limit.bytes(); err != nil {
				return err
			}
		}
	}
	var err error
	spec.files, err = p.readPatterns(files)
	p.artifacts = &spec
	return err
}

// readPatterns reads the patterns of files.
func (p *program) readPatterns(f field) (patterns []template, err error) {
	items := f.items()
	if len(items) > maxArtifacts {
		return nil, f.errorf("more than %d patterns", maxArtifacts)
	}
	for _, item := range items {
		text, err := item.text()
		if err != nil {
			return nil, err
		}
		if _, err := filepath.Match(text, ""); err != nil {
			return nil, item.errorf("%q is not a valid pattern: a [ is not closed, or it ends with a \\", shorten(text))
		}
		if strings.Contains(text, "**") {
			return nil, item.errorf("** is not supported: name a folder, which stands for all files in it, at any depth")
		}
		pattern, err := item.parse(text, p.scope)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, pattern)
	}
	return patterns, nil
}

// bytes is a size such as 16MiB.
func (f field) bytes() (int64, error) {
	text, err := f.scalar()
	if err != nil {
		return 0, err
	}
	size, err := expression.ParseAmount(text, "B")
	if err != nil {
		return 0, f.errorf("want a size such as 16MiB: %v", err)
	}
	if size < 1 || size > math.MaxInt64/2 || size != math.Trunc(size) {
		return 0, f.errorf("want a size of at least 1 B, got %s", shorten(text))
	}
	return int64(size), nil
}

// fillArtifacts gives which files of a point's runs are kept.
func (p *program) fillArtifacts(point *Point, row []*value) error {
	spec := p.artifacts
	if spec == nil && point.KeepOutput {
		spec = &artifactsSpec{limit: defaultArtifactLimit}
	}
	if spec == nil {
		return nil
	}
	if spec.shared != nil {
		point.Artifacts = spec.shared
		return nil
	}
	kept := &Artifacts{Limit: spec.limit}
	for _, t := range spec.files {
		text, err := t.fillPath(row)
		if err != nil {
			return err
		}
		kept.Files = append(kept.Files, text)
		*p.size += 16 + len(text)
	}
	for _, word := range []string{Stdout, Stderr} {
		if point.KeepOutput && !slices.Contains(kept.Files, word) {
			kept.Files = append(kept.Files, word)
		}
	}
	point.Artifacts = kept
	if !slices.ContainsFunc(spec.files, func(t template) bool { return !t.fixed() }) {
		spec.shared = kept
	}
	return nil
}
