package compare

import (
	"github.com/neurolens/neurolens/query/judge"
)

// Gate is what a comparison means for whoever must decide.
type Gate struct {
	Regressions int     // points that regressed, and points that the base has and the head has lost
	Lost        int     // of those: missing, failed or unsupported on the head, or failing more often beyond chance
	Unsettled   int     // points without a verdict that is good enough, or that may fail more often
	Open        []Point // the unsettled points
	Looks       int     // sessions of the head: extra runs are looked at again
	Planned     int     // in their place how often what was measured until it was settled was looked at, at most
	Points      int     // that were gated
	Controls    int     // which no gate is about
}

// Gate decides. Points that the base does not have ok runs of are not gated, nor are controls.
func (c *Comparison) Gate() Gate {
	var g Gate
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
		case p.unsettled():
			g.Unsettled++
			g.Open = append(g.Open, p)
		}
	}
	return g
}

// gated tells whether a point is one that a gate is about: the base has it, and what the head changes may touch it.
func (p *Point) gated() bool {
	return p.BaseOK && p.Verdict != Added && p.Verdict != Fixed && !p.Control
}

// lost tells whether a point of so many is gone, or fails more often beyond chance (Bonferroni).
func (p *Point) lost(points int) bool {
	switch p.Verdict {
	case Missing, Failed:
		return true
	case Unsupported:
		return p.Reason != Skipped
	}
	return p.Failures && p.FailureChance*float64(points) < judge.Level
}

// unsettled tells whether nobody can say whether a point got worse.
func (p *Point) unsettled() bool {
	switch p.Verdict {
	case judge.Inconclusive, judge.Estimate, judge.Changed, Unsupported:
		return true
	}
	return p.Failures
}
