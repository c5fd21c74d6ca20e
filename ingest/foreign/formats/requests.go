package formats

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// requests are the totals that a file has of the requests of a run. A number below zero is none.
type requests struct {
	completed, failed *int64         // nil: the file does not say
	duration          foreign.Number // of the benchmark; empty: the file does not say
	unit              string         // of the duration
}

// add adds facts and, unless the run failed, metrics of the run as a whole. Earlier versions did not read them from every format, or without
// a sample, so it is for Output.RunWith.
func (q *requests) add(r *schema.Run) {
	for fact, n := range map[string]*int64{schema.FactCompletedRequests: q.completed, schema.FactFailedRequests: q.failed} {
		switch {
		case n == nil:
		case *n < 0:
			delete(r.Env.Facts, fact)
		default:
			foreign.SetFact(r, fact, strconv.FormatInt(*n, 10))
		}
	}
	if len(r.Metrics) == 0 {
		return
	}
	if v := q.duration.Float64(); v != nil && *v > 0 {
		given := cmp.Or(q.unit, "s")
		if s, err := foreign.SeriesOf([]foreign.Number{q.duration}, unitOf(given)); err == nil {
			s.Given = given
			setWhole(r, "duration", s)
		}
	}
	if q.failed != nil && *q.failed >= 0 {
		setWhole(r, schema.MetricFailedRequests, foreign.Series{Ticks: []int64{*q.failed}})
	}
}

// setWhole sets a metric of the run as a whole, of which it has one sample, in place of the aggregate.
func setWhole(r *schema.Run, name string, s foreign.Series) {
	r.Metrics = slices.DeleteFunc(r.Metrics, func(m schema.Metric) bool { return m.Name == name })
	foreign.Add(r, s.Metric(name, schema.LevelProcess), s.Given)
}

// missed is how many of some requests were not completed; nil if either number is not known, or more were completed.
func missed(all, completed *int64) *int64 {
	if all == nil || completed == nil || *completed < 0 || *completed > *all {
		return nil
	}
	return new(*all - *completed)
}
