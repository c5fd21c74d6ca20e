package bisect

import "github.com/neurolens/neurolens/schema"

// Session is what one session has measured of the good commit and another one.
type Session struct {
	ID     string
	Points []*Series
}

// NewSession is a session of these points, before its first run. An empty metric is the primary one of each.
func NewSession(points []Point, metric string) *Session {
	s := &Session{Points: make([]*Series, len(points))}
	for i, p := range points {
		s.Points[i] = &Series{Point: p, Metric: metric}
	}
	return s
}

// Add takes in a run.
func (s *Session) Add(run *schema.Run) {
	for _, series := range s.Points {
		series.add(run)
	}
}

// Useless tells that no point can be measured: on one side none is built, or there.
func (s *Session) Useless() bool {
	for _, series := range s.Points {
		if !series.useless {
			return false
		}
	}
	return true
}

// Excuse says why the other commit cannot be measured at all, which has it skipped.
func (s *Session) Excuse(why string) {
	for _, series := range s.Points {
		series.failure[1] = why
	}
}

// Blocks is how many blocks the point with the most of them has.
func (s *Session) Blocks() (n int) {
	for _, series := range s.Points {
		n = max(n, series.Blocks())
	}
	return n
}

// look has what was measured until now decide.
func (s *Session) look() {
	for _, series := range s.Points {
		series.looked = len(series.blocks)
	}
}
