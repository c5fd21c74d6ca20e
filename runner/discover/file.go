package discover

import (
	"fmt"
	"slices"
	"strings"
)

// prefix marks functions that are benchmarks by their names.
const prefix = "bench_"

// Objects lists the benchmarks in a Python file, by its text: functions named bench_*, and classes with benchmark_fn. It returns none
// if there is a single object that bench takes anyway, and if only Python can find out what the file contains. stem is the name of
// the file without its extension.
func Objects(source, stem string) ([]string, error) {
	m, err := readModule(source)
	if err != nil { // Python says it better
		return nil, nil
	}
	usual, missing := m.object(usualObjects, stem)
	if usual != "" {
		return nil, nil
	}
	var found, others []string
	for _, f := range m.functions {
		switch {
		case f.method:
		case strings.HasPrefix(f.name, prefix):
			found = appendNew(found, f.name)
		case !strings.HasPrefix(f.name, "_"):
			others = appendNew(others, f.name)
		}
	}
	for _, c := range m.classes {
		if has, _ := m.measures(c.name); has && !strings.HasPrefix(c.name, "_") {
			found = appendNew(found, c.name)
		}
	}
	if len(found) > 0 || missing == nil {
		return found, nil
	}
	has := "it has no function either"
	if len(others) > 0 {
		const maxShown = 8
		shown := others[:min(len(others), maxShown)]
		has = fmt.Sprintf("it has %s: choose one with %s.py:%s", strings.Join(shown, ", "), stem, others[0])
		if more := len(others) - len(shown); more > 0 {
			has = fmt.Sprintf("it has %s and %d more: choose one with %s.py:%s", strings.Join(shown, ", "), more, stem, others[0])
		}
	}
	return nil, fmt.Errorf("%s.py has no %s* function and no class with %s; %s", stem, prefix, method, has)
}

// appendNew adds a name unless it is there. A later function of the same name replaces the first one, in its position.
func appendNew(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
