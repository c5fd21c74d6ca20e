package query

import (
	"github.com/neurolens/neurolens/query/compare"
)

// Gate is what a comparison means for whoever must decide.
type Gate struct {
	Regressions int   // points that regressed, and points that the base has and the head has lost
	Lost        int   // of those: missing, failed or unsupported on the head though ok on the base, or newly failing runs
	Unsettled   int   // points without a verdict that is good enough
	MoreRuns    []int // a side, that would settle each point that runs can settle
	Looks       int   // sessions of the head: extra runs are looked at again
	Points      int   // that were gated
}

// Gate decides. Points that neither side supports, and those that are new, are not gated.
func (c *Comparison) Gate() Gate {
	var g Gate
	for _, p := range c.Points {
		g.Looks = max(g.Looks, p.Looks)
		switch v := p.Verdict; {
		case v == Added, v == Fixed, !p.BaseOK:
			continue
		case v == Missing, v == Failed, v == Unsupported, p.Failures:
			g.Lost++
			g.Regressions++
		case v == compare.Regressed:
			g.Regressions++
		case v == compare.Inconclusive, v == compare.Estimate:
			g.Unsettled++
			if p.MoreRuns > 0 {
				g.MoreRuns = append(g.MoreRuns, p.MoreRuns)
			}
		}
		g.Points++
	}
	return g
}
