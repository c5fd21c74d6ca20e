package formats

import (
	"cmp"
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

// aggregates are the statistics of a metric under the names in several tools.
type aggregates struct {
	Unit  string         `json:"unit"`
	Avg   foreign.Number `json:"avg" stat:"avg"`
	Min   foreign.Number `json:"min" stat:"min"`
	Max   foreign.Number `json:"max" stat:"max"`
	Std   foreign.Number `json:"std" stat:"std"`
	P25   foreign.Number `json:"p25" stat:"p25"`
	P50   foreign.Number `json:"p50" stat:"p50"`
	P75   foreign.Number `json:"p75" stat:"p75"`
	P90   foreign.Number `json:"p90" stat:"p90"`
	P95   foreign.Number `json:"p95" stat:"p95"`
	P99   foreign.Number `json:"p99" stat:"p99"`
	Count foreign.Number `json:"count" stat:"n"`
}

// nothing reports whether all statistics are zero or missing: tools print zeros if nothing was measured.
func nothing(s *schema.Summary) bool {
	return !slices.ContainsFunc([]*float64{s.Mean, s.Min, s.Max, s.StdDev, s.P25, s.P50, s.P75, s.P90, s.P95, s.P99},
		func(v *float64) bool { return v != nil && *v != 0 })
}

// addAggregates adds a metric without samples. given is the unit in the file.
func addAggregates(r *schema.Run, m measure, s schema.Summary, given string) {
	if r.Metric(m.name) != nil || s == (schema.Summary{N: s.N}) { // only a count
		return
	}
	metric := foreign.Aggregate(m.name, unitOf(given), s)
	metric.Better = cmp.Or(m.better, metric.Better)
	foreign.Add(r, metric, given)
}

// addValue adds a metric of one number to a run.
func addValue(r *schema.Run, m measure, value foreign.Number, given string) {
	addAggregates(r, m, schema.Summary{Mean: value.Finite(unitOf(given))}, given)
}

// addSeries adds a metric with samples, if there are any.
func addSeries(r *schema.Run, m measure, s foreign.Series, level schema.Level) {
	if s.Len() == 0 || r.Metric(m.name) != nil {
		return
	}
	metric := s.Metric(m.name, level)
	metric.Better = cmp.Or(m.better, metric.Better)
	foreign.Add(r, metric, s.Given)
}

// unitOf translates a unit of these tools to NeuroLens's spelling.
func unitOf(given string) string {
	switch given {
	case "sec", "seconds":
		return "s"
	case "msec", "usec", "nsec":
		return strings.TrimSuffix(given, "ec")
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
	for _, ticks := range [][]int64{s.Ticks, more.Ticks} {
		for _, t := range ticks {
			s.Reals = append(s.Reals, float64(t))
		}
	}
	s.Reals, s.Ticks = append(s.Reals, more.Reals...), nil
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

// since returns times since the first of them, for the samples at some indices, or nil if not all are known.
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
	if len(names) > 0 {
		env.GPUCount = new(int64(len(names)))
		env.GPUName = strings.Join(slices.Compact(names), ", ")
	}
}

// decode reads the text of a value. If it does not fit, it is refused, and decode returns false.
func decode(out *foreign.Output, where string, text jsontext.Value, v any) bool {
	err := foreign.DecodeAt(where, text, v)
	if err != nil {
		refuse(out, "", err)
	}
	return err == nil
}

// refuse refuses a value that does not fit, in a file or a line.
func refuse(out *foreign.Output, file string, err error) {
	var m *foreign.Mismatch
	if errors.As(err, &m) {
		file, err = file+m.Where, m.Err
	}
	out.Refuse(file, err)
}

// modelName returns the name of a model: only the last part if it is a folder on somebody's machine, but all of
// facebook/opt-125m.
func modelName(text string) string {
	slashed := strings.ReplaceAll(text, `\`, "/")
	if strings.HasPrefix(slashed, "/") || strings.HasPrefix(slashed, "~") || strings.HasPrefix(slashed, ".") || strings.Contains(slashed, ":/") {
		return path.Base(slashed)
	}
	return text
}

// modelNames returns the names of several models in one.
func modelNames[T ~string](names []T) string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = modelName(string(name))
	}
	return strings.Join(short, ",")
}

// primary makes the first of some metrics that a run has the primary one, unless it has one.
func primary(r *schema.Run, names ...string) {
	for _, name := range names {
		if r.Primary == "" && r.Metric(name) != nil {
			r.Primary = name
		}
	}
}

// sideOf reads a file next to this one; nil if it cannot be read.
func sideOf(in *foreign.Input, name string) []byte {
	content, err := in.Side(name)
	if err != nil {
		return nil
	}
	return content
}

// beside returns the first of some files that exists next to this one, or empty.
func beside(in *foreign.Input, names ...string) string {
	for _, name := range names {
		if name != in.Head.Name && in.Beside(name) {
			return name
		}
	}
	return ""
}
