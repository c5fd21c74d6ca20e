package cmdline

import (
	"os"
	"path"
	"strings"

	"github.com/neurolens/neurolens/runner/discover"
)

// spelled makes a separate text of each benchmark in a Python file: of those named after the file (bench.py:a,b), or of those found in it.
// found is true if the only text is a file in which several were found.
func (l line) spelled() (all []string, found bool, err error) {
	if l.shell {
		return l.texts, false, nil
	}
	for _, text := range l.texts {
		file, names, named := strings.Cut(text, ".py:")
		if named && !strings.ContainsAny(text, " {") {
			for name := range strings.SplitSeq(names, ",") {
				all = append(all, file+".py:"+name)
			}
			continue
		}
		objects, err := objectsOf(text)
		if err != nil {
			return nil, false, err
		}
		if objects == nil {
			all = append(all, text)
		}
		for _, name := range objects {
			all = append(all, text+":"+name)
		}
		found = len(l.texts) == 1 && len(objects) > 1
	}
	return all, found, nil
}

// objectsOf lists the benchmarks of a text that is a Python file, without executing it; nil if Python selects the benchmark, or reports
// what is wrong with the file.
func objectsOf(text string) ([]string, error) {
	if path.Ext(text) != ".py" || strings.Contains(text, " ") {
		return nil, nil
	}
	source, err := os.ReadFile(text)
	if err != nil {
		return nil, nil
	}
	return discover.Objects(string(source), strings.TrimSuffix(path.Base(text), ".py"))
}
