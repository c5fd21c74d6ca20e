package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// misnamed is what other tools would take for a project file too.
const misnamed = "neurolens.yml"

// Remarks are what of the settings is probably not as it was meant, though it is no error.
func (p *Project) Remarks() []string {
	var all []string
	if path := p.unread(); path != "" {
		all = append(all, fmt.Sprintf("%s is not read: name it %s", path, projectFile))
	}
	var known []string
	for _, k := range schema.MetricKinds {
		known = append(known, k.Name)
	}
	for _, v := range p.said {
		metric, is := strings.CutPrefix(v.key, "thresholds.")
		if !is || slices.Contains(known, metric) {
			continue
		}
		if near := schema.Nearest(metric, known); near != "" {
			all = append(all, fmt.Sprintf("%s: thresholds.%s applies only to metrics of that name; did you mean %s?", p.at(v.line), metric, near))
		}
	}
	return all
}

// unread is a misnamed file here or above that would count, were it a project file; empty where there is none.
func (p *Project) unread() string {
	nearer := func(path string) bool { return p.path == "" || len(filepath.Dir(path)) < len(filepath.Dir(p.path)) }
	if _, err := os.Lstat(misnamed); !errors.Is(err, fs.ErrNotExist) && p.path != projectFile {
		return misnamed
	}
	for above := range foldersAbove(p.home) {
		if path := filepath.Join(above, misnamed); nearer(path) && isOurs(path) {
			return path
		}
	}
	return ""
}
