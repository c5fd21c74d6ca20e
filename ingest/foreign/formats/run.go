package formats

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// param is a parameter in a name.
type param struct{ name, text string }

// setParams gives a run all of the parameters, or none where two of them are the same axis: bs and batch_size, n and n.
func setParams(r *schema.Run, params []param) bool {
	for i, p := range params {
		for _, other := range params[:i] {
			if schema.CanonicalAlias(p.name) == schema.CanonicalAlias(other.name) {
				return false
			}
		}
	}
	for _, p := range params {
		setText(r, p.name, p.text)
	}
	return true
}

// setText is foreign.SetParam, but for words, which are most of the texts in names, without the attempt at a number.
func setText(r *schema.Run, name, text string) {
	if text != "" && !strings.ContainsRune("+-.0123456789", rune(text[0])) {
		foreign.SetAxis(r, name, text)
		return
	}
	foreign.SetParam(r, name, text)
}

// meanOf is a metric of which a file has only the mean, in the stored unit; unit is that of the file.
func meanOf(name string, value *float64, unit string) schema.Metric {
	return foreign.Aggregate(name, unit, schema.Summary{Mean: value})
}

// addMore adds a mean for which higher is better.
func addMore(r *schema.Run, name string, value *float64, unit string) {
	m := meanOf(name, value, unit)
	m.Better = schema.BetterHigher
	foreign.Add(r, m, unit)
}

// addLess adds a mean for which lower is better.
func addLess(r *schema.Run, name string, value *float64, unit string) {
	m := meanOf(name, value, unit)
	m.Better = schema.BetterLower
	foreign.Add(r, m, unit)
}

// milliseconds converts milliseconds to nanoseconds. It is nil if it is not a time.
func milliseconds(n foreign.Number) *int64 { return nanoseconds(n, "ms") }

// nanoseconds gives a time in nanoseconds, or nil if it is not a time.
func nanoseconds(n foreign.Number, unit string) *int64 {
	v := n.Finite(unit)
	if v == nil || *v < 0 || *v >= math.MaxInt64 {
		return nil
	}
	return new(int64(math.Round(*v)))
}

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
