package progress

import (
	"io"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/runner/sweep"
)

// Progress says on standard error what a sweep is doing: a live view on a terminal, JSON lines where the result is
// JSON lines, else one line a run.
type Progress struct {
	reporter reporter
	now      func() time.Time
	started  time.Time
	begun    bool
}

// reporter is one way to show a session. Its methods are called one after another.
type reporter interface {
	begin(e runner.Event)    // the first event, whatever it is
	prepare(e runner.Event)  // Plan, Waiting, Build or Reference is set
	looked(e runner.Event)   // Look is set
	stage(e runner.Event)    // Progress is set
	finished(e runner.Event) // Run is set
	end(result runner.Result, elapsed time.Duration)
}

// Console is where progress is said, and how.
type Console struct {
	W      io.Writer
	Screen *term.Screen // what of w can be drawn over; nil: nobody watches
	Color  bool
	JSON   bool // in lines of JSON
	Now    func() time.Time
}

// Session is what is known of a session before it begins.
type Session struct {
	Sweep   *sweep.Sweep
	Against bool               // two commits are compared
	Known   compare.Prediction // of what it can find
	Metrics []string           // that were asked for, in place of the primary one of each run
}

// NewProgress is told what a session runs.
func NewProgress(c Console, s Session) *Progress {
	p := &Progress{now: c.Now, started: c.Now()}
	d := describe(s.Sweep)
	d.against, d.foresight, d.metrics = s.Against, s.Known, s.Metrics
	switch {
	case c.JSON:
		p.reporter = &jsonReporter{w: c.W, description: d}
	case c.Screen != nil:
		p.reporter = newLiveReporter(c, d)
	default:
		p.reporter = &plainReporter{w: c.W, description: d}
	}
	return p
}

// Elapsed is how long it has been since the beginning.
func (p *Progress) Elapsed() time.Duration { return p.now().Sub(p.started) }

// Observe is told every event of the session.
func (p *Progress) Observe(e runner.Event) {
	if !p.begun {
		p.begun = true
		p.reporter.begin(e)
	}
	switch {
	case e.Run != nil:
		p.reporter.finished(e)
	case e.Progress != nil:
		p.reporter.stage(e)
	case e.Look != nil:
		p.reporter.looked(e)
	default:
		p.reporter.prepare(e)
	}
}

// Close leaves the terminal ready for the summary.
func (p *Progress) Close(result runner.Result) {
	if p.begun {
		p.reporter.end(result, p.Elapsed())
	}
}
