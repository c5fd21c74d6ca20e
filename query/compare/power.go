package compare

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Prediction is a prediction from the newest session with two sides: how much its blocks differed.
type Prediction struct {
	Machine string // machine of that session
	Session string // id of that session; empty: there is none
	noises  []noise
}

// noise has the differences of the blocks of a point, and its threshold, as logarithms.
type noise struct {
	differences []float64
	margin      float64
}

// Predict reads the newest session with two sides of some points, which are given by their ids. If there is none, the Prediction is empty:
// other points may be noisier.
func Predict(ctx context.Context, db *query.DB, points []string) (Prediction, error) {
	ofPoints := " point_id=" + filter.QuoteAll(points)
	newest, err := db.Runs(ctx, query.ListRequest{Filter: "source=" + schema.SourceNeuroLens + " side=head status=ok" + ofPoints, Limit: 1}, "session_id", "machine")
	if err != nil || len(newest) == 0 {
		return Prediction{}, err
	}
	f := Prediction{Session: newest[0].SessionID, Machine: newest[0].Env.Machine}
	c, err := Compare(ctx, db, Request{Base: "session_id=" + f.Session + ofPoints, Inputs: true, Absolute: true})
	if errors.Is(err, answer.ErrInput) { // no point has both sides
		return Prediction{}, nil
	}
	if err != nil {
		return Prediction{}, err
	}
	for i := range c.Rows {
		row := &c.Rows[i]
		if e := row.Estimates; e != nil && len(row.Inputs.Blocks) > 1 && row.Scale == schema.ScaleRatio && !row.Control {
			f.noises = append(f.noises, noise{row.Inputs.Blocks, math.Log1p(e.Margin)})
		}
	}
	return f, nil
}

// MinDetectableEffect returns the minimum detectable effect of a session with this many blocks and planned looks, as a ratio - 1: the
// median over the points of judge.MinDetectableEffect, if blocks differ as much as before. ok is false if there is no earlier session.
func (f Prediction) MinDetectableEffect(blocks, looks int) (change float64, ok bool) {
	var all []float64
	for _, n := range f.noises {
		if change, ok := judge.MinDetectableEffect(n.differences, n.margin, blocks, len(f.noises), looks); ok {
			all = append(all, change)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	return math.Expm1(stat.Quantile(all, .5)), true
}
