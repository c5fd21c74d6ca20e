package discover

import (
	"path"
	"strings"
)

// imports are the modules that the files of a search import.
type imports map[string][]imported // by the last word of the module

// imported is a module that a file imports.
type imported struct {
	module   string // as a slash path without .py; from the root of the tree where exact, else the end of such a path
	exact    bool
	importer string // the file
}

// add adds what a file imports.
func (all imports) add(file string, modules []string) {
	for _, name := range modules {
		below := strings.TrimLeft(name, ".")
		one := imported{strings.ReplaceAll(below, ".", "/"), false, file}
		if up := len(name) - len(below); up > 0 {
			dir := path.Dir(file)
			for ; up > 1; up-- {
				dir = path.Dir(dir)
			}
			one.module, one.exact = path.Join(dir, one.module), true
		}
		last := path.Base(one.module)
		all[last] = append(all[last], one)
	}
}

// importer is a file that imports another one; empty: none does. Where Python looks for modules is not known, so the end of a path counts
// as a module: common and lib.common are src/lib/common.py.
func (all imports) importer(file string) string {
	module := strings.TrimSuffix(file, pythonSuffix)
	for _, i := range all[path.Base(module)] {
		if i.importer != file && (i.module == module || !i.exact && strings.HasSuffix(module, "/"+i.module)) {
			return i.importer
		}
	}
	return ""
}
