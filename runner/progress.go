package runner

import (
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// progress reports the events of a session and how far it is.
type progress struct {
	observe  func(Event)
	session  string
	env      *schema.Env
	finished int // of all launches, those of earlier sessions included
	total    int
	estimate *estimate
}

// begin sets how much there is to do.
func (p *progress) begin(plan Plan) {
	p.total, p.finished, p.estimate = len(plan.Launches), plan.Done, newEstimate(plan)
}

// more adds a round.
func (p *progress) more(round Plan) {
	p.total, p.finished = p.total+len(round.Launches), p.finished+round.Done
	for _, planned := range round.Launches {
		if planned.Done == nil {
			p.estimate.add(subjectOf(planned.Launch))
		}
	}
}

// ran reports a finished run that is stored, and how long it took.
func (p *progress) ran(l sweep.Launch, run *schema.Run, took time.Duration) {
	if l.Point.Skip == nil { // which takes no time
		p.estimate.measure(subjectOf(l), took)
		p.estimate.done(subjectOf(l))
	}
	e := p.filled(Event{Launch: l, Run: run})
	p.finished++
	p.observe(e)
}

// report reports an event.
func (p *progress) report(e Event) { p.observe(p.filled(e)) }

// filled sets the fields that every event has.
func (p *progress) filled(e Event) Event {
	e.Session, e.Env, e.Index, e.Launches = p.session, p.env, p.finished, p.total
	e.Remaining = p.estimate.remaining()
	return e
}
