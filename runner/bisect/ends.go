package bisect

import (
	"context"
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema"
)

// compareEnds measures the good commit against the bad one to find the point that differs, and by how much. If none does, the
// returned end is the result of the search.
func (s *Search) compareEnds(ctx context.Context) (End, error) {
	bad := s.History.Bad
	if at := slices.IndexFunc(s.Known, func(k Step) bool { return k.Commit == bad.ID && k.Blocks > 0 }); at >= 0 {
		step := s.Known[at]
		s.ends = difference{step.PointID, schema.Scale(step.Scale), step.inBlocks()}
		s.take(step)
		return End{}, nil
	}
	session, err := s.Measure(ctx, Trial{Commit: bad, Open: s.undecidedEnds})
	if err != nil {
		return End{}, err
	}
	best, sure := -1, 0.
	for i, series := range session.Points {
		d := s.decideEnds(series, len(session.Points))
		if surer := math.Abs(d.Change.Value) / (d.Change.High - d.Change.Low); d.Like == Bad && (best < 0 || surer > sure) {
			best, sure = i, surer
		}
	}
	if best < 0 {
		return s.alike(session), nil
	}
	series := session.Points[best]
	change := s.decideEnds(series, len(session.Points)).Change
	s.ends = difference{series.Point.ID, series.Scale, change.Value}
	return End{}, s.keep(series.step(bad.ID, Bad, session.ID, change))
}

// decideEnds decides whether a point, one of several, differs between the ends.
func (s *Search) decideEnds(series *Series, points int) Decision {
	share := budget{expected: s.budget.expected}.next() / float64(points)
	return s.Decide(Question{Error: share, Looks: s.Looks, MinChange: s.MinChange(series)}, series.seen())
}

// undecidedEnds are the points for which it is not known whether they differ; none, once one does.
func (s *Search) undecidedEnds(session *Session) (open []string) {
	session.look()
	for _, series := range session.Points {
		d := s.decideEnds(series, len(session.Points))
		if d.Like == Bad {
			return nil
		}
		if !series.failing() && !d.Nothing {
			open = append(open, series.Point.ID)
		}
	}
	return open
}

// alike is the result if no point differs.
func (s *Search) alike(session *Session) End {
	var end End
	for _, series := range session.Points {
		d := s.decideEnds(series, len(session.Points))
		step := series.step(s.History.Bad.ID, Skip, session.ID, d.Change)
		switch {
		case d.Change.Confidence == 0 || series.failing():
			step.Reason = series.why()
		case d.Nothing:
			step.Result = Good
		default:
			end.More = max(end.More, d.More)
		}
		end.Unchanged = append(end.Unchanged, step)
	}
	return end
}
