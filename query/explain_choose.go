package query

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/compare"
)

// interest is the order in which points are worth explaining: what is not here is not, if anything else is.
var interest = []compare.Verdict{
	compare.Regressed, Failed, compare.Changed, compare.Improved, Unsupported, Missing, Fixed,
}

// got worse are the verdicts of points that got worse.
var gotWorse = interest[:2]

// choose finds the point that is to be explained, and keeps its row. Both are of one comparison: where the row is not
// among those of the first, another is asked for more of them, and then for all, as there may be a writer in between.
func (x *explaining) choose(ctx context.Context, compared func(context.Context, CompareRequest) (Comparison, error)) error {
	req := x.req.CompareRequest
	req.Limit, req.Worst = 1, true
	for {
		var err error
		if x.Comparison, err = compared(ctx, req); err != nil {
			return err
		}
		x.Point = x.wanted()
		if x.Point < 0 {
			x.Comparison.Rows = nil
			return nil
		}
		row, limit := rowOf(x.Comparison.Points, x.Point, req.Limit)
		switch {
		case row >= 0:
			x.Comparison.Rows = x.Comparison.Rows[row : row+1]
			return nil
		case req.Limit > 1:
			limit = 0
		}
		req.Limit = limit
	}
}

// wanted is the place of the point that is to be explained among all points; -1 where none is.
func (x *explaining) wanted() int {
	order := func(p ComparedPoint) int {
		if i := slices.Index(interest, p.Verdict); i >= 0 {
			return i
		}
		if p.Verdict == Added {
			return len(interest) + 1
		}
		return len(interest)
	}
	best := -1
	for i, p := range x.Comparison.Points {
		if x.req.Regressed && !slices.Contains(gotWorse, p.Verdict) {
			continue
		}
		if best < 0 || cmp.Or(order(p)-order(x.Comparison.Points[best]), cmp.Compare(sizeOf(x.Comparison.Points[best]), sizeOf(p))) < 0 {
			best = i
		}
	}
	return best
}

// sizeOf is how large the change of a point is; 0 where there is none.
func sizeOf(p ComparedPoint) float64 {
	if math.IsNaN(p.Change) {
		return 0
	}
	return math.Abs(p.Change)
}

// rowOf is the row of a point where the worst come first and there are so many rows of each metric, 0 for all; -1 where it
// has none. Limit is the least with which it has one.
func rowOf(points []ComparedPoint, one, most int) (row, limit int) {
	for first := 0; ; {
		end := first + 1
		for end < len(points) && points[end].Metric == points[first].Metric {
			end++
		}
		if one >= end {
			if row += end - first; most > 0 {
				row -= max(end-first-most, 0)
			}
			first = end
			continue
		}
		place := placeOf(points[first:end], one-first)
		if most > 0 && place >= most {
			return -1, place + 1
		}
		return row + place, place + 1
	}
}

// placeOf is how many points of a metric come before one where the worst come first.
func placeOf(points []ComparedPoint, one int) int {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		p, q := points[a], points[b]
		return cmp.Or(slices.Index(Verdicts, p.Verdict)-slices.Index(Verdicts, q.Verdict), cmp.Compare(sizeOf(q), sizeOf(p)))
	})
	return slices.Index(order, one)
}
