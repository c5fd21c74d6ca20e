package runner

import (
	"fmt"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// factTraceback is the fact with the traceback of an exception.
const factTraceback = "runner.traceback"

// place names the line of the sweep file in what a Python worker said while it set up that is wrong with the model, the
// file, or what was asked of them. What a benchmark raises names its own line.
func (s *session) place(p *sweep.Point, o *task.Outcome) {
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
		if p.File != "" && o.Facts[factTraceback] != "" {
			return
		}
	default:
		return
	}
	o.Error = fmt.Sprintf("%s:%d: %s", s.sweep.Name, line, o.Error)
}
