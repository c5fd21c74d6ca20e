package sweep

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// remedy says what may have been meant by a name that is none of known.
func remedy(name string, known []string) string {
	if schema.IsAxisColumn(schema.CanonicalAlias(name)) {
		return "put axes under grid"
	}
	if own := foreignKeys[name]; own != "" && slices.Contains(known, own) {
		return "did you mean " + own + "?"
	}
	if near := schema.Nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return "none is defined"
	}
	return "want one of " + strings.Join(known, " ")
}

// foreignKeys are keys by the names that they have in other tools.
var foreignKeys = map[string]string{
	"matrix": "grid", "axes": "grid", "sweep": "grid", "parameters": "grid", "parameter_list": "grid", "combinations": "grid",
	"runs": "repeats", "reps": "repeats", "num_runs": "repeats", "invocations": "repeats", "iters": "iterations", "loops": "iterations", "num_iterations": "iterations",
	"warmup_iterations": "warmup", "warmup_runs": "warmup", "num_warmup": "warmup", "name": "suite", "cmd": "command", "program": "command", "executable": "command", "exec": "command",
	"script": "file", "path": "file", "function": "benchmark", "labels": "tags", "environment": "env", "workdir": "cwd", "working_directory": "cwd", "seeds": "seed",
	"skip": "skip_if", "if": "skip_if", "threshold": "thresholds", "duration": "budget", "time_limit": "timeout", "metric": "primary",
}
