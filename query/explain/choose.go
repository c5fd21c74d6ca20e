package explain

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/judge"
)

// interest is the order in which points are worth explaining; others are not, if there are any of these.
var interest = []judge.Verdict{
	judge.Regressed, compare.Failed, judge.Changed, judge.Improved, compare.Unsupported, compare.Missing, compare.Fixed,
}

// gotWorse are the verdicts of points that got worse.
var gotWorse = interest[:2]

// choose finds the point that is to be explained, and keeps its row.
func (x *explaining) choose(ctx context.Context) error {
	req := x.req.Request
	req.Limit, req.Worst, req.Pages = 1, interest, nil
	var err error
	if x.Comparison, err = compare.Compare(ctx, x.db, req); err != nil {
		return ofExplain(err)
	}
	worst := *compare.WorstOf(x.Comparison.Rows, interest) // one of each metric was chosen
	x.Comparison.Rows = nil
	x.confounded = worst.Confounded
	if !x.req.Regressed || slices.Contains(gotWorse, worst.Verdict) {
		x.Comparison.Rows = []compare.Row{worst}
	}
	return nil
}

// ofExplain is what is wrong with a question as a comparison says it, in the name of whoever asks.
func ofExplain(err error) error {
	if what, is := strings.CutPrefix(err.Error(), "compare: "); is && errors.Is(err, fault.ErrInput) {
		return fault.Input("explain: %s", what)
	}
	return err
}
