package compare

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/judge"
)

// interest is the order of verdicts in which points are chosen. Points with other verdicts come last.
var interest = []judge.Verdict{
	judge.Regressed, Failed, judge.Changed, judge.Improved, Unsupported, Missing, Fixed,
}

// gotWorse are the verdicts of points that got worse.
var gotWorse = interest[:2]

// choose chooses the point to explain and keeps its row.
func (x *explaining) choose(ctx context.Context) error {
	req := x.req.Request
	req.Limit, req.Worst, req.Pages = 1, interest, nil
	var err error
	if x.Comparison, err = Compare(ctx, x.db, req); err != nil {
		return ofExplain(err)
	}
	worst := *WorstOf(x.Comparison.Rows, interest) // one of each metric was chosen
	x.Comparison.Rows = nil
	x.confounded = worst.Confounded
	if !x.req.Regressed || slices.Contains(gotWorse, worst.Verdict) {
		x.Comparison.Rows = []Row{worst}
	}
	return nil
}

// ofExplain replaces the prefix compare of an ErrInput by explain.
func ofExplain(err error) error {
	if what, is := strings.CutPrefix(err.Error(), "compare: "); is && errors.Is(err, answer.ErrInput) {
		return answer.InputError("explain: %s", what)
	}
	return err
}
