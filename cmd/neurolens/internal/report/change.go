package report

import (
	"fmt"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// Change is what a sentence says of a point: two values, how far they are apart and how sure that is. The sentence is made of it.
type Change struct {
	summary.Subject
	Metric     summary.Text  `json:"metric" doc:"primary metric of the point; null if the sentence has no value of a point"`
	Unit       summary.Text  `json:"unit" doc:"unit of base and head"`
	Base       *float64      `json:"base" doc:"value that head is compared with: of the baseline, or the level before"`
	Head       *float64      `json:"head" doc:"value of the point, or its level since"`
	Scale      summary.Text  `json:"scale" doc:"what change, low and high are: ratio (head / base - 1), or difference in the unit"`
	Size       *float64      `json:"change" doc:"the estimated change, which the two values may contradict (estimator)"`
	Low        *float64      `json:"low" doc:"lower end of the confidence interval of the change; null if there is none"`
	High       *float64      `json:"high" doc:"upper end of that interval"`
	Confidence *float64      `json:"confidence" doc:"confidence level of the interval, as a ratio; null if there is none"`
	Estimator  summary.Text  `json:"estimator" doc:"as in pairs; null over sessions"`
	Since      *summary.Time `json:"since" doc:"start of the first session of the new level; of two sides, of the first run of the head"`
	BaseCommit summary.Text  `json:"base_commit" doc:"commit before the change; of two sides, of the base if all of its runs have the same one"`
	HeadCommit summary.Text  `json:"head_commit" doc:"first commit after the change; of two sides, of the head if all of its runs have the same one"`
}

// ofTrend returns the last change of a trend.
func ofTrend(t *summary.Trend) Change {
	return Change{
		Subject: t.Subject, Metric: t.Metric, Unit: t.Unit, Base: t.OldLevel, Head: t.Level, Scale: t.Scale, Size: t.Shift,
		Since: t.Since, BaseCommit: t.Base, HeadCommit: t.Head,
	}.within(t.Low, t.High, new(judge.Confidence))
}

// ofDeparture returns how far the newest session of a trend is off its level.
func ofDeparture(t *summary.Trend) Change {
	return Change{
		Subject: t.Subject, Metric: t.Metric, Unit: t.Unit, Base: t.Level, Head: t.OffValue, Scale: t.OffScale, Size: t.OffShift, Since: t.OffSince, HeadCommit: t.OffCommit,
	}
}

// ofPair returns the change of a pair. A speed-up of 1.54 is a change of −0.351 if lower is better, and of 0.54 if higher is.
func ofPair(p *summary.Pair) Change {
	c := Change{Subject: p.Subject, Metric: p.Metric, Unit: p.Unit, Base: p.Base, Head: p.Value, Estimator: p.Estimator}
	if p.Difference != nil {
		c.Scale, c.Size = summary.Text(schema.ScaleDifference), p.Difference
		return c.within(p.DifferenceLow, p.DifferenceHigh, p.Confidence)
	}
	if p.Speedup == nil {
		return c
	}
	of := func(speedup *float64) *float64 {
		if speedup == nil {
			return nil
		}
		return new(ratioOf(*speedup, chart.Better(p.Better)) - 1)
	}
	c.Scale, c.Size = summary.Text(schema.ScaleRatio), of(p.Speedup)
	low, high := of(p.Low), of(p.High)
	if low != nil && high != nil && *low > *high { // the lowest speed-up is the largest change
		low, high = high, low
	}
	return c.within(low, high, p.Confidence)
}

// changeOf returns the change of a pair of the report, between two sides with their dates and commits.
func (d *Document) changeOf(p *summary.Pair) Change {
	c := ofPair(p)
	for _, side := range d.Comparisons[p.Comparison].Sides {
		commit := summary.Text("")
		if len(side.Commits) == 1 {
			commit = summary.Text(side.Commits[0])
		}
		if side.Side == "base" {
			c.BaseCommit = commit
		} else {
			c.Since, c.HeadCommit = side.Since, commit
		}
	}
	return c
}

// within returns the change with an interval, if both of its ends are known.
func (c Change) within(low, high, confidence *float64) Change {
	if low == nil || high == nil {
		return c
	}
	if c.Low, c.High, c.Confidence = low, high, confidence; confidence == nil {
		c.Confidence = new(judge.Confidence)
	}
	return c
}

// text returns the metric, both values, and the change with its interval. A change that does not follow from the values stands before them.
func (c Change) text() string {
	interval := c.interval(views.Ends)
	if interval != "" {
		interval = views.Confidence(*c.Confidence) + " interval " + interval
	}
	base, head := quantity(c.Base, c.Unit, c.Metric), quantity(c.Head, c.Unit, c.Metric)
	if c.Estimator == compare.FlagPaired || c.Estimator == compare.FlagPairwise {
		return fmt.Sprintf("%s %s, medians %s → %s", c.Metric, views.WithInterval(c.size(), interval), base, head)
	}
	return fmt.Sprintf("%s %s", c.Metric, views.FromTo(base, head, c.size(), interval))
}

// size prints the change, and its estimator if the values contradict it.
func (c Change) size() string {
	switch {
	case c.Size == nil:
		return term.Unknown
	case c.Estimator == "":
		return views.Change(*c.Size, schema.Scale(c.Scale), string(c.Unit))
	}
	return views.Change(*c.Size, schema.Scale(c.Scale), string(c.Unit)) + " " + estimatorWord(c.Estimator)
}

// interval prints the interval as views.Interval does for a table, or views.Ends for a sentence; empty if there is none.
func (c Change) interval(form func(low, high float64, scale schema.Scale, unit string) string) string {
	if c.Low == nil || c.High == nil {
		return ""
	}
	return form(*c.Low, *c.High, schema.Scale(c.Scale), string(c.Unit))
}

// estimatorWord returns the word beside a change that the medians of the sides contradict.
func estimatorWord(estimator summary.Text) string {
	if estimator == compare.FlagRunMeans {
		return "in the mean"
	}
	return string(estimator)
}

// changed prints a speed-up as the change of a metric, as compare prints it: 1.54 is −35.1 % if lower is better, +54.0 % if higher is.
func changed(speedup *float64, better chart.Better) string {
	if speedup == nil {
		return term.Unknown
	}
	return views.Signed(ratioOf(*speedup, better) - 1)
}

// ratioOf is value / baseline for a speed-up.
func ratioOf(speedup float64, better chart.Better) float64 {
	if better == chart.Higher {
		return speedup
	}
	return 1 / speedup
}

// levelOf returns the confidence level of the intervals of pairs; if they differ, the lowest.
func levelOf(pairs ...*summary.Pair) string {
	level := 1.
	for _, p := range pairs {
		if p.Confidence != nil {
			level = min(level, *p.Confidence)
		}
	}
	if level == 1 { // there is no interval
		level = judge.Confidence
	}
	return views.Confidence(level)
}

// quantity prints a value of a metric in a unit that suits it.
func quantity[Name ~string](v *float64, unit summary.Text, metric Name) string {
	return views.QuantityOf(answer.Value(v), string(unit), string(metric))
}
