package summary

import (
	"cmp"
	"slices"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// BestValue is a value of the axis of a comparison, and for which baselines it is the best.
type BestValue struct {
	Value  string `json:"value" doc:"value of the axis"`
	Points int    `json:"points" doc:"number of baselines for which no other value is better: it improved by verdict and is ahead of the other values, or it is the baseline, and all others with a value regressed"`
	Tied   int    `json:"tied" doc:"number of these for which the 95 % interval of another value overlaps its own, so that the other one may be as good"`
	Most   *int   `json:"most_pair" doc:"index in pairs of the largest of these improvements; null for the baseline"`
	Next   *int   `json:"next_pair" doc:"index in pairs of the value that comes closest by its speed-up; null if it is the baseline, or unknown"`
	Near   *int   `json:"near_pair" doc:"index in pairs of the value itself where next_pair comes closest to it; null if next_pair is null, and for the baseline"`
	Failed int    `json:"failed" doc:"number of baselines for which the value has no ok run, because its runs failed or are unsupported"`
	Least  *int   `json:"least_pair" doc:"index in pairs of the smallest of them"`
}

// decide finds the best value for each baseline. It goes by verdicts on each value against the baseline; two values that are both better
// are told apart by their intervals.
func (c *Comparison) decide(axis string) {
	sets := map[place][]int{}
	for i := range c.pairs {
		if p := &c.pairs[i]; !p.Control && p.BaseID != "" && p.Base != nil {
			of := place{group: string(p.Group), machine: string(p.Machine), point: string(p.BaseID)}
			sets[of] = append(sets[of], i)
		}
	}
	values := map[string]*BestValue{}
	won := func(value string, tied bool) *BestValue {
		b := values[value]
		if b == nil {
			b = &BestValue{Value: value}
			values[value] = b
		}
		if b.Points++; tied {
			b.Tied++
		}
		return b
	}
	for _, own := range sets {
		best, regressed, failed, unchanged := -1, 0, 0, 0
		for _, i := range own {
			p := &c.pairs[i]
			switch judge.Verdict(p.Verdict) {
			case judge.Improved:
				if g, _, _ := p.gain(); g != nil && (best < 0 || *g > *first(c.pairs[best].gain())) {
					best = i
				}
			case judge.Regressed:
				regressed++
			case "failed", "unsupported":
				failed++
			case judge.Unchanged:
				unchanged++
			}
		}
		switch {
		case best >= 0:
			value, _ := c.pairs[best].AxisValue(axis)
			b := won(value, c.overlap(best, own))
			b.Most, b.Least = c.further(b.Most, best, 1), c.further(b.Least, best, -1)
			c.approach(b, best, own)
		case failed == len(own):
			c.Alone++
		case regressed+failed == len(own):
			b := won(c.Baseline, false)
			for _, i := range own {
				if gain := first(c.pairs[i].gain()); gain != nil {
					b.Next = c.further(b.Next, i, 1)
				}
			}
		case unchanged == len(own):
			c.Equal++
		default:
			c.Undecided++
		}
	}
	for i := range c.pairs {
		p := &c.pairs[i]
		value, _ := p.AxisValue(axis)
		if b := values[value]; b != nil && !p.Control && (p.Verdict == "failed" || p.Verdict == "unsupported") {
			b.Failed++
		}
	}
	c.Best = []BestValue{}
	for _, b := range values {
		c.Best = append(c.Best, *b)
	}
	slices.SortFunc(c.Best, func(a, b BestValue) int { return cmp.Or(b.Points-a.Points, a.Tied-b.Tied, byName(a.Value, b.Value)) })
}

// gain returns how much better a pair is, as a speed-up or as a difference, with its interval: more is better. It is nil if it is unknown.
func (p *Pair) gain() (value, low, high *float64) {
	switch {
	case p.Difference == nil:
		return p.Speedup, p.Low, p.High
	case p.Better == Text(schema.BetterHigher):
		return p.Difference, p.DifferenceLow, p.DifferenceHigh
	case p.Better == Text(schema.BetterLower):
		return negative(p.Difference), negative(p.DifferenceHigh), negative(p.DifferenceLow)
	}
	return nil, nil, nil
}

// negative returns a number with the other sign; nil if it is unknown.
func negative(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return new(-*v)
}

func first(value, _, _ *float64) *float64 { return value }

// overlap reports whether another pair of a set may be as good as the best one.
func (c *Comparison) overlap(best int, own []int) bool {
	_, low, _ := c.pairs[best].gain()
	return slices.ContainsFunc(own, func(i int) bool {
		value, _, high := c.pairs[i].gain()
		return i != best && value != nil && (low == nil || high == nil || *high >= *low)
	})
}

// approach notes in b the value that comes closest to the best pair of a set, if none came closer in other sets.
func (c *Comparison) approach(b *BestValue, best int, own []int) {
	next := -1
	for _, i := range own {
		if v := c.pairs[i].Speedup; i != best && v != nil && *v > 1 && (next < 0 || *v > *c.pairs[next].Speedup) {
			next = i
		}
	}
	lead := func(near, next int) float64 { return *c.pairs[near].Speedup / *c.pairs[next].Speedup }
	if next < 0 || c.pairs[best].Speedup == nil || b.Next != nil && lead(*b.Near-c.first, *b.Next-c.first) <= lead(best, next) {
		return
	}
	b.Near, b.Next = new(c.first+best), new(c.first+next)
}

// further returns the index in the pairs of the report of the larger of two gains; with sign -1, of the smaller.
func (c *Comparison) further(known *int, i int, sign float64) *int {
	if known != nil && sign**first(c.pairs[*known-c.first].gain()) >= sign**first(c.pairs[i].gain()) {
		return known
	}
	return new(c.first + i)
}
