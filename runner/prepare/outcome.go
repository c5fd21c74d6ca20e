package prepare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// FactTraceback is the fact with the traceback of an exception.
const FactTraceback = "runner.traceback"

// Check makes a run unsupported if the requested settings were not applied, and adds the line of the sweep to errors.
func (t *Target) Check(o *task.Outcome) {
	checkApplied(t.Spec.Config, o)
	t.noteConverted(o)
	t.annotateSweepLine(o)
}

// annotateSweepLine names the line of the sweep file in what a Python worker said while it set up that is wrong with the model, the
// file, or what was asked of them. What a benchmark raises names its own line.
func (t *Target) annotateSweepLine(o *task.Outcome) {
	p := t.Point
	line := p.ModelLine
	if p.File != "" {
		line = p.FileLine
	}
	if line == 0 || o.Stage != schema.StageSetup || p.Executor == schema.ExecutorBuiltin || p.Executor == schema.ExecutorCommand {
		return
	}
	switch o.ErrorKind {
	case "not_applied", "not_implemented":
	case "setup", "import":
		if p.File != "" && o.Facts[FactTraceback] != "" {
			return
		}
	default:
		return
	}
	o.Error = fmt.Sprintf("%s:%d: %s", t.file, line, o.Error)
}

// checkApplied makes a run unsupported if the requested settings were not applied, so that a benchmark cannot silently change an axis.
// Its samples and operators are dropped, because they do not belong to the point.
func checkApplied(requested map[string]string, o *task.Outcome) {
	if o.Status != schema.StatusOK || o.Applied == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(requested)) {
		applied, known := o.Applied[key]
		if !known || applied == requested[key] {
			continue
		}
		o.Status, o.Stage, o.ErrorKind = schema.StatusUnsupported, schema.StageSetup, "not_applied"
		o.Error = key + " " + requested[key] + " was requested, but " + applied + " was applied"
		o.Metrics, o.Ops = nil, nil
		return
	}
}
