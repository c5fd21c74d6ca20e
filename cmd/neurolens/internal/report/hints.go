package report

import (
	"strings"

	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// hints say what to do about runs of a status.
var hints = map[schema.Status]string{
	schema.StatusError:       "the benchmark or its check reported an error; neurolens show of such a run has its last output",
	schema.StatusCrashed:     "the process ended by a signal or without a result; neurolens show of such a run has the signal and its last output",
	schema.StatusOOM:         "memory ran out; make the point smaller, or leave it out with skip_if",
	schema.StatusUnsupported: "this combination cannot run here; leave it out with exclude, or measure it elsewhere",
	schema.StatusSkipped:     "skipped as planned, for the reason given; nothing to do",
	schema.StatusOutputLimit: "it wrote too much output; bench --output null discards what a program prints",
	schema.StatusCancelled:   "the session was cancelled; the same bench command continues it",
	schema.StatusUnkillable:  "a process survived SIGKILL, probably waiting for a device; check the machine before you measure again",
	schema.StatusLost:        "its supervisor process died; the same bench command measures it again",
}

// importedHints are those where another tool measured the runs.
var importedHints = map[schema.Status]string{
	schema.StatusError:   "the benchmark or its check reported an error; the file has the reasons",
	schema.StatusCrashed: "the process ended by a signal or without a result; the file has the reasons",
	schema.StatusTimeout: "it took longer than its benchmark tool allows; raise the deadline there",
}

// hint is what to do about a failure, in one sentence. imported tells that another tool measured all runs.
func hint(f *summary.Failure, imported bool) string {
	switch {
	case imported && !f.Wrong && importedHints[schema.Status(f.Status)] != "":
		return importedHints[schema.Status(f.Status)]
	case f.Wrong:
		return "the result is wrong, which never counts as a win; compare its output with that of the reference"
	case f.Status == string(schema.StatusTimeout):
		return "a stage took longer than its deadline; raise " + timeoutKeys(f.Stages)
	}
	return hints[schema.Status(f.Status)]
}

// timeoutKeys are the keys of a sweep to raise for these stages.
func timeoutKeys(stages []summary.Text) string {
	if len(stages) == 0 {
		return "timeouts of the sweep, or timeout_multiplier"
	}
	keys := make([]string, len(stages))
	for i, stage := range stages {
		keys[i] = "timeouts." + string(stage)
	}
	return strings.Join(keys, " and ") + " in the sweep"
}
