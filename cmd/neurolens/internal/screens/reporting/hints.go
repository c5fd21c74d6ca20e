package reporting

import (
	"strings"

	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// hints say what to do about runs of a status.
var hints = map[schema.Status]string{
	schema.StatusError:       "the benchmark or its check said so; show of such a run has its last output",
	schema.StatusCrashed:     "the process ended by a signal or without a result; show of such a run has the signal and its last output",
	schema.StatusOOM:         "memory ran out; make the point smaller, or leave it out with skip_if",
	schema.StatusUnsupported: "this combination does not exist here; leave it out with exclude, or measure it elsewhere",
	schema.StatusSkipped:     "it was planned not to run, for the reason beside it; nothing is to be done",
	schema.StatusOutputLimit: "it wrote more than is kept; let it print less",
	schema.StatusCancelled:   "somebody ended the session; the same bench command goes on where it ended",
	schema.StatusUnkillable:  "a process survived SIGKILL, as one that waits for a device; look at the machine before you measure again",
	schema.StatusLost:        "the process that watched it died; the same bench command measures it again",
}

// importedHints are those where another tool measured the runs.
var importedHints = map[schema.Status]string{
	schema.StatusError:   "the benchmark or its check said so; the reasons are those of the file",
	schema.StatusCrashed: "the process ended by a signal or without a result; the reasons are those of the file",
	schema.StatusTimeout: "it took longer than the tool that measured it allows; raise the deadline there",
}

// hint is what to do about a failure, in one sentence. imported tells that another tool measured all runs.
func hint(f *summary.Failure, imported bool) string {
	switch {
	case imported && !f.Wrong && importedHints[schema.Status(f.Status)] != "":
		return importedHints[schema.Status(f.Status)]
	case f.Wrong:
		return "what was computed is wrong, so that it wins nowhere, however fast it is; compare its output with the reference's"
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
