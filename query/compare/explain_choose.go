package compare

import (
	"context"
	"slices"

	"github.com/neurolens/neurolens/query/judge"
)

// interest is the order in which points are worth explaining; others are not, if there are any of these.
var interest = []judge.Verdict{
	judge.Regressed, Failed, judge.Changed, judge.Improved, Unsupported, Missing, Fixed,
}

// gotWorse are the verdicts of points that got worse.
var gotWorse = interest[:2]

// choose finds the point that is to be explained, and keeps its row.
func (x *explaining) choose(ctx context.Context) error {
	req := x.req.Request
	req.Limit, req.Worst, req.Pages = 1, interest, nil
	m := &comparing{req: req, many: manyCompared}
	var err error
	if x.Comparison, err = compare(ctx, x.db, m); err != nil {
		return err
	}
	rows := x.Comparison.Rows
	x.Comparison.Rows = nil
	worst := worstFirst(m.chosen, interest, 1) // one of each metric was chosen
	x.confounded = worst[0].confounded
	if !x.req.Regressed || slices.Contains(gotWorse, worst[0].verdict) {
		x.Comparison.Rows = [][]any{rows[slices.Index(m.chosen, worst[0])]}
	}
	return nil
}
