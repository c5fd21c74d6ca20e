package formats

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// param is a parameter in a name.
type param struct{ name, text string }

// setParams sets all parameters of a run, or none if two of them are the same axis: bs and batch_size, n and n.
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

// setText is foreign.SetParam without parsing a word as a number. Most texts in names are words.
func setText(r *schema.Run, name, text string) {
	if text != "" && !strings.ContainsRune("+-.0123456789", rune(text[0])) {
		foreign.SetAxis(r, name, text)
		return
	}
	foreign.SetParam(r, name, text)
}

// statistic returns the field of a summary for a statistic, by any name that tools use for it; nil if a summary does not have the
// statistic.
func statistic(s *schema.Summary, name string) **float64 {
	switch name {
	case "mean", "avg":
		return &s.Mean
	case "median", "p50":
		return &s.P50
	case "stddev", "stdev", "std":
		return &s.StdDev
	case "min":
		return &s.Min
	case "max":
		return &s.Max
	case "p25", "q1":
		return &s.P25
	case "p75", "q3":
		return &s.P75
	case "p90":
		return &s.P90
	case "p95":
		return &s.P95
	case "p99":
		return &s.P99
	}
	return nil
}

// setStatistic sets a statistic of a summary from a number in a unit. It returns false if a summary does not have the
// statistic.
func setStatistic(s *schema.Summary, name string, n foreign.Number, unit string) bool {
	field := statistic(s, name)
	if field != nil {
		*field = n.Finite(unit)
	}
	return field != nil
}

// numberOf returns the number in a JSON value, or empty for anything else.
func numberOf(value jsontext.Value) (n foreign.Number) {
	if value.Kind() == jsontext.KindString && strings.Trim(string(value), `"`) == "" || foreign.Decode(value, &n) != nil {
		return ""
	}
	return n
}

// positive returns a number, or empty if it is not positive: these tools write such numbers for unknown values.
func positive(n foreign.Number) foreign.Number {
	if v := n.Float64(); v != nil && *v <= 0 {
		return ""
	}
	return n
}

// lone returns the summary of one value.
func lone(n foreign.Number, unit string) schema.Summary {
	v := n.Finite(unit)
	if v == nil {
		return schema.Summary{}
	}
	return schema.Summary{N: new(int64(1)), Min: v, Max: v, Mean: v, P50: v}
}

// baseName returns the name of a file without its folders, of any system; empty for a path without one.
func baseName(file string) string {
	name := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if name == "." || name == "/" {
		return ""
	}
	return name
}

// programName returns the name of an executable, by its path.
func programName(file string) string { return strings.TrimSuffix(baseName(file), ".exe") }

// dottedVersion returns the version of a library of NVIDIA by its number: 22703 is 2.27.3, 100300 is 10.3.0, and 8601, in fewer digits, is
// 8.6.1.
func dottedVersion(number foreign.Number) string {
	n, step := number.Int64(), int64(100)
	if n == nil || *n <= 0 {
		return ""
	}
	if *n < 10_000 {
		step = 10
	}
	return fmt.Sprintf("%d.%d.%d", *n/(100*step), *n/100%step, *n%100)
}

// cudaVersion returns the version of CUDA by its number: 12040 is 12.4.
func cudaVersion(n foreign.Number) string {
	v := n.Int64()
	if v == nil || *v < 1000 {
		return ""
	}
	return fmt.Sprintf("%d.%d", *v/1000, *v%1000/10)
}

// nonZero returns a number, or empty if it is zero, which some tools write for an unknown value.
func nonZero(n foreign.Number) foreign.Number {
	if v := n.Float64(); v != nil && *v == 0 {
		return ""
	}
	return n
}

// single adds a metric with one value per run, unless that is no number. Lower is better, unless higher is known to be.
func single(r *schema.Run, name string, value foreign.Number, unit string) {
	s, _ := foreign.SeriesOf([]foreign.Number{value}, unit)
	m := s.Metric(name, schema.LevelProcess)
	m.Better = cmp.Or(m.Better, schema.BetterLower)
	foreign.Add(r, m, unit)
}

// nanoseconds returns a time in nanoseconds, or nil if it is not a time.
func nanoseconds(n foreign.Number, unit string) *int64 {
	v := n.Finite(unit)
	if v == nil || *v < 0 || *v >= math.MaxInt64 {
		return nil
	}
	return new(int64(math.Round(*v)))
}

// requests are the totals of the requests of a run. A number below zero is unknown.
type requests struct {
	completed, failed *int64         // nil: not in the file
	duration          foreign.Number // of the benchmark; empty: not in the file
	unit              string         // of the duration
}

// add adds facts and, unless the run failed, metrics of the run as a whole. Earlier versions did not read them from every format, or
// without a sample, so it is for Output.RunWith.
func (q *requests) add(r *schema.Run) {
	for fact, n := range map[string]*int64{schema.FactCompletedRequests: q.completed, schema.FactFailedRequests: q.failed} {
		if n != nil && *n < 0 {
			delete(r.Env.Facts, fact)
		} else if n != nil {
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

// setWhole replaces the aggregate of a metric of the run as a whole by one sample.
func setWhole(r *schema.Run, name string, s foreign.Series) {
	r.Metrics = slices.DeleteFunc(r.Metrics, func(m schema.Metric) bool { return m.Name == name })
	foreign.Add(r, s.Metric(name, schema.LevelProcess), s.Given)
}

// missed returns how many of some requests were not completed; nil if either number is not known, or more were completed.
func missed(all, completed *int64) *int64 {
	if all == nil || completed == nil || *completed < 0 || *completed > *all {
		return nil
	}
	return new(*all - *completed)
}
