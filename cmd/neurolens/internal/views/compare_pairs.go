package views

import (
	"slices"

	"github.com/neurolens/neurolens/query/compare"
)

// pair is a point of either side.
type pair struct {
	place int            // of its first row of both sides, else of its first row
	rows  []*compare.Row // in the order of the metrics; nil where neither side has the metric
	rank  int            // of its worst verdict in compare.Verdicts
}

// add takes in a row of the pair. One without a metric, where no run of either side is ok, is what is said in all of them.
func (p *pair) add(r *compare.Row, metrics []string) {
	if !r.Point.NeitherSupports() {
		p.rank = min(p.rank, slices.Index(compare.Verdicts, r.Verdict))
	}
	if r.Metric != "" {
		p.rows[slices.Index(metrics, r.Metric)] = r
		return
	}
	for i := range p.rows {
		p.rows[i] = r
	}
}

// loud tells whether somebody has to read of the pair in any metric.
func (p *pair) loud() bool {
	return slices.ContainsFunc(p.rows, func(r *compare.Row) bool { return r != nil && isLoud(r) })
}

// pairKeys name pairs, whatever the metric. A side that does not have a metric has no point in its row: the row is of the pair
// that the other side's point is in, where that is one.
type pairKeys struct{ byBase, byHead map[string]string }

// ambiguous is what stands for a point that is in several pairs.
const ambiguous = "several"

func newPairKeys(rows []compare.Row) pairKeys {
	k := pairKeys{map[string]string{}, map[string]string{}}
	note := func(to map[string]string, point, key string) {
		if known := to[point]; known != "" && known != key {
			key = ambiguous
		}
		to[point] = key
	}
	for i := range rows {
		if r := &rows[i]; r.BaseID != "" && r.HeadID != "" {
			note(k.byBase, r.BaseID+r.Identity.Machine, pairOf(r))
			note(k.byHead, r.HeadID+r.Identity.Machine, pairOf(r))
		}
	}
	return k
}

func (k pairKeys) of(r *compare.Row) string {
	key := ""
	switch {
	case r.HeadID == "":
		key = k.byBase[r.BaseID+r.Identity.Machine]
	case r.BaseID == "":
		key = k.byHead[r.HeadID+r.Identity.Machine]
	}
	if key == "" || key == ambiguous {
		return pairOf(r)
	}
	return key
}

// pairOf names what is compared in a row, whatever the metric.
func pairOf(r *compare.Row) string { return r.BaseID + " " + r.HeadID + " " + r.Identity.Machine }
