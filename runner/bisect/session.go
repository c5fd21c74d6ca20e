package bisect

import "github.com/neurolens/neurolens/schema"

// Session holds the measurements of one session, of the good commit and another one.
type Session struct {
	ID     string
	Points []*Series
}

// NewSession prepares a session with these points. An empty metric means the primary one of each point.
func NewSession(points []Point, metric string) *Session {
	s := &Session{Points: make([]*Series, len(points))}
	for i, p := range points {
		s.Points[i] = &Series{Point: p, Metric: metric, Scale: p.Scale}
	}
	return s
}

// Add adds a run.
func (s *Session) Add(run *schema.Run) {
	for _, series := range s.Points {
		series.add(run)
	}
}

// Useless reports that no point can be measured, because on one side none was built or exists.
func (s *Session) Useless() bool {
	for _, series := range s.Points {
		if !series.useless {
			return false
		}
	}
	return true
}

// Excuse records why the other commit cannot be measured at all. The commit is then skipped.
func (s *Session) Excuse(why string) {
	for _, series := range s.Points {
		series.failure[1] = why
	}
}

// Blocks is the number of blocks of the point with the largest number.
func (s *Session) Blocks() (n int) {
	for _, series := range s.Points {
		n = max(n, series.Blocks())
	}
	return n
}

// look makes the measurements so far available for decisions.
func (s *Session) look() {
	for _, series := range s.Points {
		series.looked = len(series.blocks)
	}
}
