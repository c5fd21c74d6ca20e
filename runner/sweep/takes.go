package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// pythonRun are the executors that run in a Python worker.
var pythonRun = []schema.Executor{
	schema.ExecutorPython, schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT,
}

// taken says which executors a key means something to; a key that is not here means something to all.
var taken = map[string][]schema.Executor{
	"build":         append([]schema.Executor{schema.ExecutorCommand}, pythonRun...),
	"device":        {schema.ExecutorTorch, schema.ExecutorTensorRT},
	"flush_l2":      {schema.ExecutorONNXRT, schema.ExecutorTorch, schema.ExecutorTensorRT},
	"min_run_time":  pythonRun,
	"profile ort":   {schema.ExecutorONNXRT},
	"profile torch": {schema.ExecutorPython, schema.ExecutorTorch},
	"provider":      {schema.ExecutorONNXRT},
	"python":        pythonRun,
	"reproducible":  pythonRun,
	"seed":          pythonRun,
	"threads":       {schema.ExecutorONNXRT, schema.ExecutorTorch},
	"timing":        pythonRun,
}

// takes tells whether a key means something to an executor.
func takes(e schema.Executor, key string) bool {
	executors, limited := taken[key]
	return !limited || slices.Contains(executors, e)
}

// request is a key that the file or the command line gives, and that not every executor takes.
type request struct {
	key string
	at  field
}

// ask notes a key, to be checked once it is known what runs.
func (d *document) ask(key string, at field) {
	d.asked = append(d.asked, request{key, at})
}

// checkTaken refuses a key that means nothing to any of the executors that points have. What the file says stays
// unused where the command line has changed the backend.
func (e *expansion) checkTaken(asked []request) error {
	for _, r := range asked {
		if r.at.lines && e.grid.backendReplaced() {
			continue
		}
		// The seed may stand in a command.
		if e.program.scope.seedUsed && (r.key == "seed" || r.key == "reproducible") {
			continue
		}
		if !slices.ContainsFunc(e.executors, func(x schema.Executor) bool { return takes(x, r.key) }) {
			return r.at.errorf("%smeans nothing with %s: only %s", r.tool(), names(e.executors, " and "), r.takers())
		}
	}
	return nil
}

// tool is the profiler that is meant, with a space; of every other key it is empty.
func (r request) tool() string {
	if _, tool, found := strings.Cut(r.key, " "); found {
		return tool + " "
	}
	return ""
}

// takers says who takes a key.
func (r request) takers() string {
	verb := "take"
	if len(taken[r.key]) == 1 {
		verb = "takes"
	}
	text := names(taken[r.key], ", ")
	if r.key == "seed" || r.key == "reproducible" {
		text += " and a command with {seed}"
	}
	return fmt.Sprintf("%s %s it", text, verb)
}

// names lists executors by what stands in the file for them.
func names(executors []schema.Executor, separator string) string {
	var words []string
	for _, e := range executors {
		if e == schema.ExecutorPython {
			e = "file"
		}
		words = append(words, string(e))
	}
	return strings.Join(words, separator)
}
