package compare

import (
	"github.com/neurolens/neurolens/query/judge"
)

// Gate is the decision of a gate about a comparison. All numbers but Looks and Planned count points.
type Gate struct {
	Regressions        int      // regressed, or Lost
	Lost               int      // missing, failed or unsupported on the head, or failing significantly more often than on the base
	Inconclusive       int      // without a conclusive verdict, or possibly failing more often
	Requests           int      // of Inconclusive: not judged, because more requests failed than are allowed
	InconclusivePoints []Point  // the inconclusive points
	Looks              int      // number of sessions of the head: each adds data that are judged once more
	Planned            int      // if sessions went on until they were conclusive: the planned maximum number of looks, instead of Looks
	Points             int      // gated
	Absent             []string // requested metrics that no run has
	Controls           int      // controls, which are not gated
	SecondLook         bool     // see Comparison.HasSecondLook
}

// Gate decides. Controls, and points without an ok run on the base, are not gated.
func (c *Comparison) Gate() Gate {
	g := Gate{Absent: c.Absent.Metrics, SecondLook: c.HasSecondLook()}
	for _, p := range c.Points {
		if p.Control {
			g.Controls++
		}
		if p.gated() {
			g.Points++
		}
	}
	for _, p := range c.Points {
		if !p.gated() {
			continue
		}
		if p.Planned {
			g.Planned = max(g.Planned, p.Looks)
		} else {
			g.Looks = max(g.Looks, p.Looks)
		}
		switch {
		case p.lost(g.Points):
			g.Lost++
			g.Regressions++
		case p.Verdict == judge.Regressed:
			g.Regressions++
		case p.inconclusive():
			g.Inconclusive++
			if p.Reason == judge.FailedRequests {
				g.Requests++
			}
			g.InconclusivePoints = append(g.InconclusivePoints, p)
		}
	}
	return g
}

// gated reports whether a gate judges the point: the base measured it, and it is not a control.
func (p *Point) gated() bool {
	return p.BaseOK && p.Verdict != Added && p.Verdict != Fixed && !p.Control
}

// lost reports whether the head no longer measures the point, or fails significantly more often; Bonferroni's correction for
// the number of points.
func (p *Point) lost(points int) bool {
	switch p.Verdict {
	case Missing, Failed:
		return true
	case Unsupported:
		return p.Reason != Skipped
	}
	return p.Failures && p.FailureChance*float64(points) < judge.Level
}

// inconclusive reports whether it is unknown if the point got worse.
func (p *Point) inconclusive() bool {
	switch p.Verdict {
	case judge.Inconclusive, judge.Estimate, judge.Changed, Unsupported:
		return true
	}
	return p.Failures
}
