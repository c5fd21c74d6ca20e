package summary

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// Front is the point with the best median over all axes, and the one that comes next. Of axes that are the amount of work only the points with
// the largest values are ranked: less work always takes less.
type Front struct {
	Best, Next           *Point
	BestValue, NextValue *Value
	Work                 []string // these axes

	ranked []*Point
}

// FrontOf ranks points by their medians; it is nil if fewer than two can be ranked, or if they have different metrics. Points with failed runs
// and the controls among the pairs are left out.
func FrontOf(points []Point, pairs []Pair) *Front {
	controls := map[Text]bool{}
	for i := range pairs {
		if p := &pairs[i]; p.Control {
			controls[p.PointID], controls[p.BaseID] = true, true
		}
	}
	f := &Front{}
	var identities []query.Point
	var medians []*float64
	value := func(p *Point) *Value { return p.valueOf(string(p.Metric)) }
	for i := range points {
		p := &points[i]
		v := value(p)
		if p.OKRuns < p.Runs-p.Profiled || v == nil || v.Median == nil || controls[p.PointID] {
			continue
		}
		if v.Better == "" || len(f.ranked) > 0 && (v.Metric != value(f.ranked[0]).Metric || v.Unit != value(f.ranked[0]).Unit) {
			return nil
		}
		f.ranked, identities, medians = append(f.ranked, p), append(identities, p.Subject.Point()), append(medians, v.Median)
	}
	contrasts, _ := query.ContrastsOf(identities, medians)
	for _, x := range contrasts {
		if x.Work {
			f.Work = append(f.Work, x.Axis)
			amount := func(p *Point) float64 {
				text, _ := p.AxisValue(x.Axis)
				n, _ := strconv.ParseFloat(text, 64)
				return n
			}
			most := amount(slices.MaxFunc(f.ranked, func(a, b *Point) int { return cmp.Compare(amount(a), amount(b)) }))
			f.ranked = slices.DeleteFunc(f.ranked, func(p *Point) bool { return amount(p) < most })
		}
	}
	if len(f.ranked) < 2 {
		return nil
	}
	sign := 1.
	if value(f.ranked[0]).Better == Text(schema.BetterHigher) {
		sign = -1
	}
	slices.SortStableFunc(f.ranked, func(a, b *Point) int { return cmp.Compare(sign**value(a).Median, sign**value(b).Median) })
	f.Best, f.Next = f.ranked[0], f.ranked[1]
	f.BestValue, f.NextValue = value(f.Best), value(f.Next)
	return f
}

// Lead is how far the point with the best median over all axes is ahead of the others.
type Lead struct {
	PointID Text     `json:"point_id" doc:"id of that point"`
	Points  int      `json:"points" doc:"number of points that it was chosen from"`
	Runs    int      `json:"runs" doc:"smallest number of ok runs of these points"`
	Scale   Text     `json:"scale" doc:"of low and high. ratio: how many times as good as the best of the others it is. difference: by how much it is better, in the unit"`
	Low     *float64 `json:"low" doc:"lower end of the 95 % interval, which allows for the choice of the point by its median (multiple comparisons with the best); below 1, or a difference below 0, another point may be better. Null if there is none"`
	High    *float64 `json:"high" doc:"upper end of that interval"`
	Reason  Text     `json:"reason" doc:"why there is no interval"`
}

// addLead adds the lead of the best of all points to a comparison whose baseline nobody named.
func (r *reading) addLead(ctx context.Context, db *query.DB, c *Comparison) error {
	f := FrontOf(r.report.Points, c.pairs)
	if f == nil {
		return nil
	}
	l := Lead{PointID: f.Best.PointID, Points: len(f.ranked), Runs: f.BestValue.Runs}
	var others []string
	for _, p := range f.ranked[1:] {
		others, l.Runs = append(others, string(p.PointID)), min(l.Runs, p.valueOf(string(p.Metric)).Runs)
	}
	if l.Runs < 2 { // what a comparison would say, too
		l.Reason = Text(judge.FewRuns)
		c.Lead = l
		return nil
	}
	found, err := compare.LeadOf(ctx, db, r.req.Filter, string(l.PointID), others)
	switch {
	case errors.Is(err, query.ErrInput): // no pair, as on several machines
		return nil
	case err != nil:
		return err
	}
	l.Scale, l.Reason = Text(found.Scale), Text(found.Reason)
	if !math.IsNaN(found.Low) {
		low, high := found.Low, found.High
		best, next := *f.BestValue.Median, *f.NextValue.Median
		if lead := max(best, next) / min(best, next); found.Scale == schema.ScaleRatio { // that of the two medians, which need not be the estimate
			low, high = min(low, lead), max(high, lead)
		}
		l.Low, l.High = known(low), known(high)
	}
	c.Lead = l
	return nil
}
