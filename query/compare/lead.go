package compare

import (
	"context"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Lead is how far the best of several points is ahead of the best of the others: see judge.Lead.
type Lead struct {
	Scale     schema.Scale // of Low and High: how many times as good it is, or by how much in the unit
	Low, High float64      // the interval at judge.Confidence, which holds although the point was chosen for its values; NaN: none
	Reason    judge.Reason // why there is no interval; empty: there is one, or values of 0 or less are compared with others
}

// LeadOf returns the lead of a point of a selection over other points, which are given by their ids, in the primary metric. It is an ErrInput if
// none of them can be compared with it.
func LeadOf(ctx context.Context, db *query.DB, selection, best string, others []string) (Lead, error) {
	c, err := Compare(ctx, db, Request{
		Base: bothFilters(selection, pointID+"="+filter.QuoteAll(append([]string{best}, others...))), Axis: pointID, Reference: best,
		Paired: true, Absolute: true, together: true,
	})
	if err != nil {
		return Lead{}, err
	}
	return leadOf(c.Rows, len(others)), nil
}

// pointID is the axis by which all other points are compared with one, whatever they differ in.
const pointID = "point_id"

// leadOf combines the comparisons of a point, the base, with all others.
func leadOf(rows []Row, others int) Lead {
	none := Lead{Low: math.NaN(), High: math.NaN()}
	if len(rows) < others {
		none.Reason = judge.Machines
		return none
	}
	l := Lead{Scale: rows[0].Scale}
	var differences []stat.Estimate
	for i := range rows {
		r, e := &rows[i], rows[i].Estimates
		holds := slices.Contains([]judge.Reason{"", judge.Noise, judge.Quantised, judge.Commits, judge.FewRuns}, r.Reason)
		switch {
		case e == nil, !holds, math.IsNaN(e.Low), math.IsInf(e.Low, 0), math.IsInf(e.High, 0):
			none.Reason = r.Reason
			if holds {
				none.Reason = judge.FewRuns
			}
			return none
		case r.Scale != l.Scale:
			return none
		}
		d := stat.Estimate{Low: e.Low, High: e.High}
		if r.Ratio {
			d.Low, d.High = math.Log1p(e.Low), math.Log1p(e.High)
		}
		if r.Better == string(schema.BetterHigher) {
			d.Low, d.High = -d.High, -d.Low
		}
		differences = append(differences, d)
	}
	if l.Low, l.High = judge.Lead(differences); l.Scale == schema.ScaleRatio {
		l.Low, l.High = math.Exp(l.Low), math.Exp(l.High)
	}
	return l
}
