package sweep

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// executorsOf are those to which a key means something, or a profiler of the key profile; nil: all.
func executorsOf(key string) []schema.Executor {
	if _, tool, is := strings.Cut(key, " "); is {
		return profilers[tool]
	}
	return keyOf(key).Executors
}

// request is a key that the file or the command line gives, and that not every executor takes.
type request struct {
	key string // or "profile" and a tool
	at  field
}

// requestID is the key and where it stands: a request of several sections is one.
type requestID struct {
	key, from string
	line      int
}

func (r request) id() requestID { return requestID{r.key, r.at.name, r.at.line} }

// request notes a key, to be checked once it is known what runs.
func (d *document) request(key string, at field) {
	d.requests = append(d.requests, request{key, at})
}

// checkTaken refuses a key that means nothing to any of the executors that points have. A key of a whole sweep may mean nothing to the
// files that discover has found. One of the settings beside such a file is the fault of its points.
func (e *expansion) checkTaken() error {
	taken := map[requestID]bool{}
	for _, p := range e.sections {
		for _, r := range p.requests {
			taken[r.id()] = taken[r.id()] || p.takes(r)
		}
	}
	for _, p := range e.sections {
		for _, r := range p.requests {
			if taken[r.id()] || len(e.targets) > 0 && !e.has(p) {
				continue
			}
			err := r.at.errorf("%snot supported with %s: only with %s", r.tool(), listed(p.executors), takers(r.key))
			switch {
			case p.instead != nil && r.at.lines && r.at.name != e.name: // which the settings beside the file say
				e.blame(p, err)
			case !p.found || !r.at.lines || p.from[r.at.Node] == layerBenchmark:
				return err
			}
		}
	}
	return nil
}

// has reports whether a section has points, skipped ones included.
func (e *expansion) has(p *section) bool {
	return slices.Contains(e.of, p) || slices.Contains(e.ofSkipped, p)
}

// blame makes an error the fault of all points of a section.
func (e *expansion) blame(p *section, err error) {
	for i := range e.points {
		if e.of[i] == p {
			e.points[i].fail(err.Error())
		}
	}
}

// takes reports whether a point takes a key. What the file says stays unused where the command line has changed the backend.
func (of *section) takes(r request) bool {
	takers := executorsOf(r.key)
	return takers == nil || r.at.optional || r.at.lines && of.grid.backendReplaced() ||
		of.program.scope.seedUsed && (r.key == "seed" || r.key == "reproducible") || // it stands in a command
		slices.ContainsFunc(of.executors, func(x schema.Executor) bool { return slices.Contains(takers, x) })
}

// tool is the profiler that is meant, with a space; of every other key it is empty.
func (r request) tool() string {
	if _, tool, found := strings.Cut(r.key, " "); found {
		return tool + " "
	}
	return ""
}

// takers lists what a key, or a profiler of the key profile, can be used with.
func takers(key string) string {
	words := executorNames(executorsOf(key))
	if key == "seed" || key == "reproducible" {
		words = append(words, "a command with {seed}")
	}
	return enumerated(words)
}

// listed lists executors: file, onnxrt and torch.
func listed(executors []schema.Executor) string { return enumerated(executorNames(executors)) }

// executorNames are the words of a sweep file for executors: file is the key for Python.
func executorNames(executors []schema.Executor) (words []string) {
	for _, e := range executors {
		if e == schema.ExecutorPython {
			e = "file"
		}
		words = append(words, string(e))
	}
	return words
}

// enumerated lists words, with an and before the last.
func enumerated(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
