package formats

import (
	"errors"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// measure is the NeuroLens metric for a metric of a tool.
type measure struct {
	name   string
	better schema.Better // empty if NeuroLens knows it by the name
}

const (
	lower  = schema.BetterLower
	higher = schema.BetterHigher
)

// servingAggregates are the statistics of a metric under the names that several tools give them.
type servingAggregates struct {
	Unit  string         `json:"unit"`
	Avg   foreign.Number `json:"avg"`
	Min   foreign.Number `json:"min"`
	Max   foreign.Number `json:"max"`
	Std   foreign.Number `json:"std"`
	P25   foreign.Number `json:"p25"`
	P50   foreign.Number `json:"p50"`
	P75   foreign.Number `json:"p75"`
	P90   foreign.Number `json:"p90"`
	P95   foreign.Number `json:"p95"`
	P99   foreign.Number `json:"p99"`
	Count foreign.Number `json:"count"`
}

// summary gives the aggregates in the stored unit of unit. Non-finite values are unknown.
func (a *servingAggregates) summary(unit string) schema.Summary {
	return schema.Summary{
		N: a.Count.Int64(), Mean: a.Avg.Finite(unit), Min: a.Min.Finite(unit), Max: a.Max.Finite(unit),
		StdDev: a.Std.Finite(unit), P25: a.P25.Finite(unit), P50: a.P50.Finite(unit), P75: a.P75.Finite(unit),
		P90: a.P90.Finite(unit), P95: a.P95.Finite(unit), P99: a.P99.Finite(unit),
	}
}

// set sets a statistic by its name: mean, median, std, p99. It returns false if a summary does not have it.
func (a *servingAggregates) set(name string, value foreign.Number) bool {
	fields := map[string]*foreign.Number{
		"avg": &a.Avg, "mean": &a.Avg, "min": &a.Min, "max": &a.Max, "std": &a.Std, "median": &a.P50, "count": &a.Count,
		"p25": &a.P25, "p50": &a.P50, "p75": &a.P75, "p90": &a.P90, "p95": &a.P95, "p99": &a.P99,
	}
	field, ok := fields[name]
	if ok {
		*field = value
	}
	return ok
}

// nothing reports whether all statistics are zero or missing: tools print zeros if nothing was measured.
func (a *servingAggregates) nothing() bool {
	for _, n := range []foreign.Number{a.Avg, a.Min, a.Max, a.Std, a.P25, a.P50, a.P75, a.P90, a.P95, a.P99} {
		if v := n.Float64(); v != nil && *v != 0 {
			return false
		}
	}
	return true
}

// addAggregates adds a metric without samples. given is the unit in the file.
func addAggregates(r *schema.Run, m measure, a *servingAggregates, given string) {
	if r.Metric(m.name) != nil {
		return
	}
	unit := unitOf(given)
	metric := foreign.Aggregate(m.name, unit, a.summary(unit))
	if m.better != "" {
		metric.Better = m.better
	}
	if a.Count != "" && metric.Summary == (schema.Summary{N: metric.Summary.N}) {
		return // a count of nothing
	}
	foreign.Add(r, metric, given)
}

// addValue gives a run a metric of one number.
func addValue(r *schema.Run, m measure, value foreign.Number, given string) {
	addAggregates(r, m, &servingAggregates{Avg: value}, given)
}

// addSeries adds a metric with samples, if there are any.
func addSeries(r *schema.Run, m measure, s foreign.Series, level schema.Level) {
	if s.Len() == 0 || r.Metric(m.name) != nil {
		return
	}
	metric := s.Metric(m.name, level)
	if m.better != "" {
		metric.Better = m.better
	}
	foreign.Add(r, metric, s.Given)
}

// unitOf translates a unit of these tools to NeuroLens's spelling.
func unitOf(given string) string {
	switch given {
	case "sec", "seconds":
		return "s"
	case "msec":
		return "ms"
	case "usec":
		return "us"
	case "nsec":
		return "ns"
	case "requests/sec", "tokens/sec", "tokens/sec/user", "tokens/s", "samples/s", "images/s", "steps/s", "inputs/s", "requests/s", "infer/sec", "per sec":
		return "1/s"
	}
	return given
}

// noResult turns a run into a failed one: with a reason, without values.
func noResult(r *schema.Run, why string) {
	r.Status, r.Error, r.Metrics, r.Primary = schema.StatusError, why, nil, ""
	maps.DeleteFunc(r.Env.Facts, func(name, _ string) bool { return strings.HasPrefix(name, "source.") })
}

// join appends samples of the same unit.
func join(s *foreign.Series, more foreign.Series) {
	s.Unit, s.Given = more.Unit, more.Given
	if s.Reals == nil && more.Reals == nil {
		s.Ticks = append(s.Ticks, more.Ticks...)
		return
	}
	s.Reals, s.Ticks = append(s.Reals, reals(s.Ticks)...), nil
	s.Reals = append(append(s.Reals, more.Reals...), reals(more.Ticks)...)
}

func reals(ticks []int64) []float64 {
	values := make([]float64, len(ticks))
	for i, t := range ticks {
		values[i] = float64(t)
	}
	return values
}

// measured keeps the samples, in seconds, of completed requests: a null, a zero or a failed request has none.
func measured(numbers []foreign.Number, failed func(i int) bool, unit string) (foreign.Series, []int, error) {
	var kept []foreign.Number
	var at []int
	for i, n := range numbers {
		if v := n.Float64(); v == nil || *v == 0 || failed(i) {
			continue
		}
		kept, at = append(kept, n), append(at, i)
	}
	s, err := foreign.SeriesOf(kept, unit)
	return s, at, err
}

// since gives times since the first of them, for the samples at some indices, or nil if not all are known.
func since(starts []foreign.Number, at []int, n int) []int64 {
	if len(starts) != n || n == 0 {
		return nil
	}
	first := math.Inf(1)
	values := make([]float64, n)
	for i, s := range starts {
		v := s.Finite("")
		if v == nil {
			return nil
		}
		values[i] = *v
		first = min(first, *v)
	}
	times := make([]int64, 0, len(at))
	for _, i := range at {
		d := math.Round((values[i] - first) * 1e9)
		if d >= math.MaxInt64 {
			return nil
		}
		times = append(times, int64(d))
	}
	return times
}

// gpus sets the name and the number of the GPUs from a comma-separated list.
func gpus(env *schema.Env, list string) {
	names := strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	if len(names) == 0 {
		return
	}
	env.GPUCount = new(int64(len(names)))
	env.GPUName = strings.Join(slices.Compact(names), ", ")
}

// decode reads the text of a value. If it does not fit, it is refused, and decode returns false.
func decode(out *foreign.Output, where string, text jsontext.Value, v any) bool {
	err := foreign.DecodeAt(where, text, v)
	if err != nil {
		refuse(out, "", err)
	}
	return err == nil
}

// refuse refuses what does not fit, in a file or a line.
func refuse(out *foreign.Output, file string, err error) {
	var m *foreign.Mismatch
	if errors.As(err, &m) {
		file, err = file+m.Where, m.Err
	}
	out.Refuse(file, err)
}

// modelName is the name of a model: only the last part if it is a folder on somebody's machine, but all of
// facebook/opt-125m.
func modelName(text string) string {
	slashed := strings.ReplaceAll(text, `\`, "/")
	if strings.HasPrefix(slashed, "/") || strings.HasPrefix(slashed, "~") || strings.HasPrefix(slashed, ".") || strings.Contains(slashed, ":/") {
		return path.Base(slashed)
	}
	return text
}

// modelNames are the names of several models in one.
func modelNames[T ~string](names []T) string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = modelName(string(name))
	}
	return strings.Join(short, ",")
}

// sideOf reads the first of some files that exists next to this one, or returns nil.
func sideOf(in *foreign.Input, names ...string) []byte {
	for _, name := range names {
		if content, err := in.Side(name); err == nil {
			return content
		}
	}
	return nil
}

// beside is the first of some files that exists next to this one, or empty.
func beside(in *foreign.Input, names ...string) string {
	for _, name := range names {
		if name != in.Head.Name && in.Beside(name) {
			return name
		}
	}
	return ""
}
