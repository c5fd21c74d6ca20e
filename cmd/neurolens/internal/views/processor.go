package views

import (
	"context"
	"errors"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

const (
	// minComputingShare is the least share of processor time in the latency of a program that counts as computing. It is small, because on a
	// busy machine even a program that only computes waits for most of its latency.
	minComputingShare = .1
	// maxSecondLook is the number of points up to which processor times are compared too. The second comparison takes as long as the first.
	maxSecondLook = 1000
)

// ByProcessor returns a sentence for each point of a comparison whose latency is undecided and whose processor time is decided.
// baseline is AXIS=VALUE if the request compares the values of an axis. There are no sentences if the request names metrics.
func ByProcessor(ctx context.Context, db *query.DB, req compare.Request, baseline string, c *compare.Comparison) ([]string, error) {
	if len(req.Metrics) > 0 {
		return nil, nil
	}
	names := ofSides()
	if axis, value, ok := strings.Cut(baseline, "="); ok {
		names = alongAxis(axis, value)
	}
	return names.byProcessor(ctx, db, req, c)
}

// byProcessor compares the processor times of the points whose latency is undecided. Other work on the machine changes processor times
// less. The comparison is a second look: the error rates hold for each metric by itself. It leaves out programs that mostly wait.
func (c contest) byProcessor(ctx context.Context, db *query.DB, req compare.Request, first *compare.Comparison) (lines []string, err error) {
	undecided := map[string]float64{} // the latency of the head, by point
	for i := range first.Rows {
		if r := &first.Rows[i]; r.Metric == schema.PrimaryMetric && r.Verdict == judge.Inconclusive && r.Head != nil && r.Head.Value != nil {
			undecided[r.BaseID+r.HeadID] = *r.Head.Value
		}
	}
	if len(undecided) == 0 || len(first.Points) > maxSecondLook {
		return nil, nil
	}
	req.Metrics = []string{cpuUser}
	second, err := compare.Compare(ctx, db.Quiet(), req)
	if errors.Is(err, query.ErrInput) { // no run has it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := c.pointNames(second.Rows)
	for i := range second.Rows {
		r := &second.Rows[i]
		latency, open := undecided[r.BaseID+r.HeadID]
		decided := r.Verdict == judge.Improved || r.Verdict == judge.Regressed
		if open && decided && r.Head.Value != nil && *r.Head.Value >= minComputingShare*latency && len(lines) < maxSentences {
			lines = append(lines, "by "+cpuUser+": "+c.line(r, names[i]))
		}
	}
	return lines, nil
}
