package runner

import (
	"time"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/schema"
)

// estimate predicts how long the remaining launches will take, from the earlier launches of the same points. A point without
// launches is assumed to be average.
type estimate struct {
	points map[subject]*pace
	known  time.Duration // of the launches left whose point was launched
	left   int           // the other launches left
	total  time.Duration // of all launches measured
	count  int
}

// pace is how long the launches of one point take.
type pace struct {
	total time.Duration
	count int
	left  int
}

// mean is the mean duration; 0 before the first one.
func (p *pace) mean() time.Duration {
	if p.count == 0 {
		return 0
	}
	return p.total / time.Duration(p.count)
}

// newEstimate knows which launches remain and, from earlier sessions, how long some took.
func newEstimate(plan Plan) *estimate {
	e := &estimate{points: map[subject]*pace{}}
	for _, p := range plan.Launches {
		if p.Done == nil && p.Launch.Point.Skip == nil { // which takes no time
			e.add(subjectOf(p.Launch))
		}
	}
	for _, p := range plan.Launches {
		if p.Done != nil && p.Done.Status != schema.StatusSkipped { // which took no time
			e.measure(subjectOf(p.Launch), time.Duration(p.Done.Stages.Launch()))
		}
	}
	return e
}

// at is the pace of a point, made where there is none.
func (e *estimate) at(s subject) *pace {
	p, ok := e.points[s]
	if !ok {
		p = &pace{}
		e.points[s] = p
	}
	return p
}

// add adds a launch to those left.
func (e *estimate) add(s subject) { e.change(e.at(s), func(p *pace) { p.left++ }) }

// measure adds the time that a launch took.
func (e *estimate) measure(s subject, took time.Duration) {
	e.total, e.count = e.total+took, e.count+1
	e.change(e.at(s), func(p *pace) { p.total, p.count = p.total+took, p.count+1 })
}

// done removes a launch from the remaining ones.
func (e *estimate) done(s subject) { e.change(e.at(s), func(p *pace) { p.left-- }) }

// change keeps the sums right while a pace changes.
func (e *estimate) change(p *pace, edit func(*pace)) {
	account := func(sign int) {
		if p.count == 0 {
			e.left += sign * p.left
		} else {
			e.known += time.Duration(sign*p.left) * p.mean()
		}
	}
	account(-1)
	edit(p)
	account(+1)
}

// learn adds how long the newest successful run of each point took, if it had the same settings.
func (e *estimate) learn(plan Plan, earlier []schema.Run, target func(subject) *prepare.Target) {
	newest := map[string]*schema.Run{}
	for i := range earlier {
		r := &earlier[i]
		key := r.PointID + r.Env.Facts[prepare.FactConfig] + r.Env.Facts[factProfile]
		if r.Status == schema.StatusOK && newest[key] == nil {
			newest[key] = r
		}
	}
	for _, p := range plan.Launches {
		sub := subjectOf(p.Launch)
		if p.Done != nil || len(newest) == 0 || e.at(sub).count > 0 {
			continue
		}
		if r := newest[p.Launch.Point.PointID+target(sub).Facts[prepare.FactConfig]+p.Launch.Profile]; r != nil {
			e.measure(sub, time.Duration(r.Stages.Launch()))
		}
	}
}

// remaining is 0 if nothing was measured.
func (e *estimate) remaining() time.Duration {
	if e.count == 0 {
		return 0
	}
	return e.known + time.Duration(e.left)*(e.total/time.Duration(e.count))
}
