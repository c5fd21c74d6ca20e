package formats

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// asvResult is the result of a benchmark. Each list has one value for each combination of the parameters, the last of
// which varies fastest. An empty list is null.
type asvResult struct {
	Result    []foreign.Number
	Params    [][]string
	Version   foreign.Text
	StartedAt foreign.Number // in ms
	Q25, Q75  []foreign.Number
	Number    []foreign.Number // calls in a sample
	Repeat    []foreign.Number // samples
	Samples   [][]foreign.Number
}

// maxCombinations limits the combinations of a result without any value.
const maxCombinations = 100_000

// readResult reads the result of a benchmark and yields a run for each combination.
func (f *asvFile) readResult(place asvPlace, text jsontext.Value, out *foreign.Output) error {
	result, err := f.decode(place, text)
	if err != nil {
		return out.RefuseMismatch(err)
	}
	n := 1
	for _, values := range result.Params {
		n *= len(values)
		if n > max(maxCombinations, len(result.Result)) {
			break
		}
	}
	switch {
	case result.Result == nil && n <= maxCombinations:
		result.Result = make([]foreign.Number, n)
	case len(result.Result) != n:
		out.Refuse(place.where, fmt.Errorf("%d results for %d combinations of parameters", len(result.Result), n))
		return nil
	}
	b, choices := f.benchmark(place.name), result.choices()
	for i := range n {
		r := f.run(place.name)
		for k, rest := len(choices)-1, i; k >= 0; k-- {
			foreign.SetParam(&r, b.paramName(k, len(choices)), choices[k][rest%len(choices[k])])
			rest /= len(choices[k])
		}
		f.lack(&r, &b, len(choices), out)
		foreign.SetFact(&r, "benchmark_version", string(result.Version))
		if ms := result.StartedAt.Int64(); ms != nil {
			foreign.SetStart(&r, time.UnixMilli(*ms), schema.TimeFile)
		}
		if err := b.measured(&r, result, i); err != nil {
			out.Refuse(place.at(i, n), err)
			continue
		}
		if err := out.Run(place.at(i, n), r); err != nil {
			return err
		}
	}
	return nil
}

// paramName is the name of a parameter; asv calls those without names param1, param2.
func (b *asvBenchmark) paramName(i, of int) string {
	if len(b.ParamNames) == of && b.ParamNames[i] != "" {
		return b.ParamNames[i]
	}
	return "param" + strconv.Itoa(i+1)
}

// decode reads a result of either version.
func (f *asvFile) decode(place asvPlace, text jsontext.Value) (*asvResult, error) {
	result := &asvResult{StartedAt: f.StartedAt[place.name], Version: f.BenchmarkVersion[place.name]}
	var err error
	switch {
	case f.Columns != nil && text.Kind() != '{':
		err = result.decodeColumns(place.where, f.Columns, text)
	case text.Kind() == '{':
		err = result.decodeObject(place.where, text)
	default:
		result.Result = make([]foreign.Number, 1)
		err = foreign.DecodeAt(place.where, text, &result.Result[0])
	}
	return result, err
}

// decodeColumns reads a list of values by column. Columns at the end are left out if they are null.
func (result *asvResult) decodeColumns(where string, columns []string, text jsontext.Value) error {
	var values []jsontext.Value
	if err := foreign.DecodeAt(where, text, &values); err != nil {
		return err
	}
	fields := map[string]any{
		"result": &result.Result, "params": &result.Params, "version": &result.Version, "started_at": &result.StartedAt,
		"stats_q_25": &result.Q25, "stats_q_75": &result.Q75, "stats_number": &result.Number, "stats_repeat": &result.Repeat,
		"samples": &result.Samples,
	}
	for i, value := range values[:min(len(values), len(columns))] {
		field, ok := fields[columns[i]]
		if !ok {
			continue
		}
		if err := foreign.DecodeAt(where+"/"+strconv.Itoa(i), value, field); err != nil {
			return err
		}
	}
	return nil
}

// decodeObject reads a result of version 1.
func (result *asvResult) decodeObject(where string, text jsontext.Value) error {
	var object struct {
		Result  jsontext.Value `json:"result"`
		Params  [][]string     `json:"params"`
		Samples jsontext.Value `json:"samples"`
		Stats   jsontext.Value `json:"stats"`
	}
	if err := foreign.DecodeAt(where, text, &object); err != nil {
		return err
	}
	result.Params = object.Params
	var stats []struct {
		Q25    foreign.Number `json:"q_25"`
		Q75    foreign.Number `json:"q_75"`
		Number foreign.Number `json:"number"`
		Repeat foreign.Number `json:"repeat"`
	}
	for _, list := range []struct {
		text jsontext.Value
		into any
		name string
	}{{object.Result, &result.Result, "/result"}, {object.Samples, &result.Samples, "/samples"}, {object.Stats, &stats, "/stats"}} {
		if err := foreign.DecodeAt(where+list.name, asvListOf(list.text), list.into); err != nil {
			return err
		}
	}
	for _, s := range stats {
		result.Q25, result.Q75 = append(result.Q25, s.Q25), append(result.Q75, s.Q75)
		result.Number, result.Repeat = append(result.Number, s.Number), append(result.Repeat, s.Repeat)
	}
	return nil
}

// asvListOf is a value as a list of one, unless it is a list or null.
func asvListOf(text jsontext.Value) jsontext.Value {
	switch text.Kind() {
	case jsontext.KindInvalid:
		return jsontext.Value("null")
	case jsontext.KindBeginArray, jsontext.KindNull:
		return text
	}
	return slices.Concat(jsontext.Value("["), text, jsontext.Value("]"))
}

var reprs = regexp.MustCompile(`^(?:u?'(.+)'|<class '(.+)'>)$`)

// choices are the values of the parameters as asv shows them: text without quotation marks, unless only these distinguish
// two values.
func (result *asvResult) choices() [][]string {
	choices := make([][]string, len(result.Params))
	for i, values := range result.Params {
		shown := make([]string, len(values))
		seen := map[string]bool{}
		for k, value := range values {
			shown[k] = value
			if m := reprs.FindStringSubmatch(value); m != nil {
				shown[k] = m[1] + m[2]
			}
			seen[foreign.Canonical(shown[k])] = true
		}
		choices[i] = shown
		if len(seen) < len(values) {
			choices[i] = values
		}
	}
	return choices
}

// asvMetrics are what the types of benchmarks measure.
var asvMetrics = map[string]string{"time": schema.PrimaryMetric, "timeraw": schema.PrimaryMetric, "memory": "memory", "peakmemory": "peak_memory"}

// asvUnits are the units that asv spells out.
var asvUnits = map[string]string{"seconds": "s", "second": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns", "bytes": "B", "unit": ""}

var asvRate = regexp.MustCompile(`(?i)(/|\bper) *s(ec(ond)?)?$`)

// measured adds the measured values of a combination, or the status that says why there are none.
func (b *asvBenchmark) measured(r *schema.Run, result *asvResult, i int) error {
	value := result.Result[i]
	switch {
	case value == "":
		r.Status, r.Error = schema.StatusError, "no result: it failed, or was not chosen to run"
		return nil
	case value == "NaN":
		r.Status = schema.StatusSkipped
		return nil
	}
	name, ok := asvMetrics[b.Type]
	if !ok {
		name = "value"
	}
	unit, ok := asvUnits[b.Unit]
	if !ok {
		unit = b.Unit
	}
	m, err := result.metric(name, unit, i)
	if err != nil {
		return err
	}
	m.Better = schema.BetterLower // asv takes every increase for a regression, even of rates
	if asvRate.MatchString(b.Unit) {
		m.Better = schema.BetterHigher
	}
	foreign.Add(r, m, unit)
	return nil
}

// metric is what was measured: samples if they were recorded, the value itself if there is only one, otherwise asv's
// aggregate of the samples: their median or, in early versions, their minimum.
func (result *asvResult) metric(name, unit string, i int) (schema.Metric, error) {
	level := schema.LevelProcess
	if name == schema.PrimaryMetric {
		level = schema.LevelIteration
	}
	if i < len(result.Samples) && len(result.Samples[i]) > 0 {
		s, err := foreign.SeriesOf(result.Samples[i], unit)
		if err != nil {
			return schema.Metric{}, fmt.Errorf("reading samples: %w", err)
		}
		m := s.Metric(name, level)
		if n := at(result.Number, i).Int64(); n != nil && *n > 0 && level == schema.LevelIteration {
			m.IterationsPerSample = []int64{*n}
		}
		return m, nil
	}
	if level == schema.LevelProcess {
		s, err := foreign.SeriesOf(result.Result[i:i+1], unit)
		return s.Metric(name, level), err
	}
	center := result.Result[i].Finite(unit)
	if center == nil {
		return schema.Metric{}, fmt.Errorf("the result is %s", result.Result[i])
	}
	if result.Q25 == nil {
		return foreign.Aggregate(name, unit, schema.Summary{Min: center}), nil
	}
	return foreign.Aggregate(name, unit, schema.Summary{
		N: at(result.Repeat, i).Int64(), P50: center, P25: at(result.Q25, i).Finite(unit), P75: at(result.Q75, i).Finite(unit),
	}), nil
}

func at(numbers []foreign.Number, i int) foreign.Number {
	if i < len(numbers) {
		return numbers[i]
	}
	return ""
}
