package formats

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// asv are the formats of airspeed velocity. The files of the commits are read from its tree of results; benchmarks.json, one folder up,
// defines the meaning of their values.
var asv = []foreign.Format{
	{
		Name:      "asv",
		About:     "airspeed velocity: results/MACHINE/COMMIT-ENVIRONMENT.json, versions 1 and 2, with benchmarks.json and machine.json",
		Level:     "a run is a benchmark with one combination of its parameters, a sample is the mean of several calls (--record-samples)",
		Recognize: func(h *foreign.Head) bool { return h.Has("commit_hash", "date", "params", "python", "results") },
		Read:      readASV,
	},
	{
		Name:  "asv-tree",
		About: "airspeed velocity: benchmarks.json and machine.json",
		Side:  "read together with the results of commits",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("machine", "arch", "cpu", "os", "ram", "version") || h.Matches(asvMachine) ||
				(h.Values == 1 && !h.Has("results") && h.Matches(asvBenchmarks))
		},
	},
}

var (
	asvBenchmarks = regexp.MustCompile(`"param_names"\s*:\s*\[(?s:.*)"type"\s*:\s*"(?:time|timeraw|memory|peakmemory|track)"`)
	asvMachine    = regexp.MustCompile(`^\s*\{\s*"machine"\s*:\s*"[^"]*"\s*,\s*"version"\s*:\s*1\s*\}\s*$`)
)

// asvFile is a file of results without the results themselves.
type asvFile struct {
	CommitHash       string                    `json:"commit_hash"`
	Environment      string                    `json:"env_name"`
	Date             foreign.Number            `json:"date"` // of the commit, in ms
	Params           map[string]foreign.Text   `json:"params"`
	Variables        map[string]foreign.Text   `json:"env_vars"` // of asv's matrix
	Requirements     jsontext.Value            `json:"requirements"`
	Columns          []string                  `json:"result_columns"`
	Version          foreign.Text              `json:"version"`
	StartedAt        map[string]foreign.Number `json:"started_at"`        // of version 1
	BenchmarkVersion map[string]foreign.Text   `json:"benchmark_version"` // of version 1

	requirements map[string]foreign.Text
	benchmarks   map[string]jsontext.Value
	alone        bool // without a benchmarks.json
}

// asvBenchmark describes a benchmark; it is an entry of benchmarks.json.
type asvBenchmark struct {
	ParamNames []string `json:"param_names"`
	Type       string   `json:"type"`
	Unit       string   `json:"unit"`
}

func readASV(in *foreign.Input, out *foreign.Output) error {
	ahead, err := in.Ahead()
	if err != nil {
		return err
	}
	defer ahead.Close()
	file, err := asvHeader(ahead, out)
	if err != nil {
		return err
	}
	out.Version(string(file.Version))
	if err := file.readSides(in); err != nil {
		out.Refuse("side files", err)
	}
	j := in.JSON()
	return j.Members(func(name string) error {
		if name != "results" {
			return j.Skip()
		}
		return out.RefuseMismatch(j.Members(func(name string) error {
			text, err := j.Value()
			if err != nil {
				return err
			}
			return out.RefuseMismatch(file.readResult(name, j.Where(), text, out))
		}))
	})
}

// asvHeader reads everything except the results, which are in between. Errors in the text are reported when the results are read.
func asvHeader(in *foreign.Input, out *foreign.Output) (*asvFile, error) {
	j := in.JSON()
	f := &asvFile{}
	members := fieldsOf(f)
	err := j.Members(func(name string) error { return out.RefuseMismatch(members.take(j, name)) })
	if _, mismatch := errors.AsType[*foreign.Mismatch](err); mismatch {
		return nil, err
	}
	if foreign.Decode(f.Requirements, &f.requirements) != nil {
		f.requirements = nil // a list, in the oldest files
	}
	return f, nil
}

// readSides reads benchmarks.json and machine.json.
func (f *asvFile) readSides(in *foreign.Input) error {
	var machine map[string]foreign.Text
	err := side(in, "machine.json", &machine)
	for name, text := range machine {
		if _, ok := f.Params[name]; !ok && f.Params != nil {
			f.Params[name] = text
		}
	}
	f.alone = true
	for _, name := range []string{"../benchmarks.json", "benchmarks.json"} {
		if _, absent := in.Side(name); !errors.Is(absent, fs.ErrNotExist) {
			f.alone = false
			return errors.Join(err, side(in, name, &f.benchmarks))
		}
	}
	return err
}

// asvTypes are the types of benchmarks by the prefixes of their names, as in asv itself.
var asvTypes = []struct{ prefix, kind, unit string }{
	{"timeraw_", "time", "seconds"},
	{"time_", "time", "seconds"},
	{"peakmem_", "peakmemory", "bytes"},
	{"mem_", "memory", "bytes"},
	{"track_", "track", "unit"},
	{"Timeraw", "time", "seconds"},
	{"Time", "time", "seconds"},
	{"PeakMem", "peakmemory", "bytes"},
	{"Mem", "memory", "bytes"},
	{"Track", "track", "unit"},
}

// benchmark describes a benchmark: from benchmarks.json if it exists, otherwise from the name.
func (f *asvFile) benchmark(name string) asvBenchmark {
	var b asvBenchmark
	if text, ok := f.benchmarks[name]; ok && foreign.Decode(text, &b) == nil && b.Type != "" {
		return b
	}
	for _, part := range slices.Backward(strings.Split(name, ".")) {
		for _, t := range asvTypes {
			if strings.HasPrefix(part, t.prefix) {
				return asvBenchmark{Type: t.kind, Unit: t.unit}
			}
		}
	}
	return asvBenchmark{Type: "track"}
}

var versionText = regexp.MustCompile(`^[0-9]+(\.[0-9a-z]+)*$`)

// run returns a run with the values that all results of a benchmark share.
func (f *asvFile) run(name string) schema.Run {
	p := f.Params
	system, _, _ := strings.Cut(string(p["os"]), " ") // Linux 6.1, macOS-14
	r := schema.Run{Benchmark: name, Env: schema.Env{
		Machine: string(p["machine"]), OS: osOf(system), CPUModel: string(p["cpu"]), CPUCount: foreign.Number(p["num_cpu"]).Int64(),
		PythonVersion: versionText.FindString(string(p["python"])), // an environment that asv did not make has a path in its place
		GitCommit:     f.CommitHash,
	}}
	for _, fact := range []string{"arch", "os", "ram"} {
		foreign.SetFact(&r, fact, string(p[fact]))
	}
	if !strings.HasPrefix(f.Environment, "existing") { // else a path
		foreign.SetFact(&r, "env_name", f.Environment)
	}
	if at := f.Date.Int64(); at != nil {
		foreign.SetFact(&r, "commit_date_ms", strconv.FormatInt(*at, 10))
	}
	f.setMatrix(&r)
	return r
}

// noBenchmarks is the note for results without benchmarks.json.
const noBenchmarks = "benchmarks.json is not next to the results: units and names of parameters are unknown, unless the names of benchmarks show them"

// Environment variables are kept if they are a number or a short word, and do not have the name of a secret.
var (
	harmless = regexp.MustCompile(`^[A-Za-z0-9_.+-]{1,16}$`)
	secret   = regexp.MustCompile(`(?i)token|key|secret|pass|pwd|auth|cred`)
)

// setMatrix sets the axes of asv's matrix: Python, the packages that asv installed, and environment variables. Versions
// are text, not numbers. A path instead of Python's version is an environment that asv did not make.
func (f *asvFile) setMatrix(r *schema.Run) {
	if python := string(f.Params["python"]); python != "" && !strings.ContainsAny(python, `/\`) {
		foreign.SetAxis(r, "python", python)
	}
	for _, requirement := range slices.Sorted(maps.Keys(f.requirements)) {
		if version := string(f.requirements[requirement]); version != "" {
			foreign.SetAxis(r, requirement, version)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Variables)) {
		if text := string(f.Variables[name]); harmless.MatchString(text) && !secret.MatchString(name) {
			foreign.SetAxis(r, name, text)
		}
	}
}

// asvResult is the result of a benchmark. Each list has one value for each combination of the parameters, the last of
// which varies fastest. An empty list is null.
type asvResult struct {
	Result    []foreign.Number   `json:"result"`
	Params    [][]string         `json:"params"`
	Version   foreign.Text       `json:"version"`
	StartedAt foreign.Number     `json:"started_at"` // in ms
	Q25       []foreign.Number   `json:"stats_q_25"`
	Q75       []foreign.Number   `json:"stats_q_75"`
	Number    []foreign.Number   `json:"stats_number"` // calls in a sample
	Repeat    []foreign.Number   `json:"stats_repeat"` // samples
	Samples   [][]foreign.Number `json:"samples"`
}

// maxCombinations limits the combinations of a result without any value.
const maxCombinations = 100_000

// readResult reads the result of a benchmark and yields a run for each combination.
func (f *asvFile) readResult(name, where string, text jsontext.Value, out *foreign.Output) error {
	result, err := f.decode(name, where, text)
	if err != nil {
		return err
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
		return refusal(where, "%d results for %d combinations of parameters", len(result.Result), n)
	}
	b, choices := f.benchmark(name), result.choices()
	for i := range n {
		r, at := f.run(name), where
		if n > 1 {
			at = fmt.Sprintf("%s, combination %d", where, i)
		}
		for k, rest := len(choices)-1, i; k >= 0; k-- {
			foreign.SetParam(&r, b.paramName(k, len(choices)), choices[k][rest%len(choices[k])])
			rest /= len(choices[k])
		}
		if f.alone && (b.Unit == "" || b.Unit == "unit" || len(choices) > 0) {
			out.Note(noBenchmarks, 1)
			r.Env.Missing = map[string]string{"asv.benchmarks": "benchmarks.json was not beside the results"}
		}
		foreign.SetFact(&r, "benchmark_version", string(result.Version))
		if ms := result.StartedAt.Int64(); ms != nil {
			foreign.SetStart(&r, time.UnixMilli(*ms), schema.TimeFile)
		}
		err := b.measured(&r, result, i)
		if err := out.RunOr(at, r, err); err != nil {
			return err
		}
	}
	return nil
}

// paramName returns the name of a parameter; asv calls parameters without names param1, param2.
func (b *asvBenchmark) paramName(i, of int) string {
	if len(b.ParamNames) == of && b.ParamNames[i] != "" {
		return b.ParamNames[i]
	}
	return "param" + strconv.Itoa(i+1)
}

// decode reads a result of either version.
func (f *asvFile) decode(name, where string, text jsontext.Value) (*asvResult, error) {
	result := &asvResult{StartedAt: f.StartedAt[name], Version: f.BenchmarkVersion[name]}
	switch {
	case text.Kind() == '{':
		return result, result.decodeObject(where, text)
	case f.Columns != nil:
		return result, result.decodeColumns(where, f.Columns, text)
	}
	result.Result = make([]foreign.Number, 1)
	return result, foreign.DecodeAt(where, text, &result.Result[0])
}

// decodeColumns reads a list of values by column. Columns at the end are left out if they are null.
func (result *asvResult) decodeColumns(where string, columns []string, text jsontext.Value) error {
	var values []jsontext.Value
	if err := foreign.DecodeAt(where, text, &values); err != nil {
		return err
	}
	known := fieldsOf(result)
	for i, value := range values[:min(len(values), len(columns))] {
		if field, ok := known[columns[i]]; ok {
			if err := foreign.DecodeAt(where+"/"+strconv.Itoa(i), value, field); err != nil {
				return err
			}
		}
	}
	return nil
}

// decodeObject reads a result of version 1.
func (result *asvResult) decodeObject(where string, text jsontext.Value) error {
	var object struct {
		Result  oneOrMany[foreign.Number]   `json:"result"`
		Params  [][]string                  `json:"params"`
		Samples oneOrMany[[]foreign.Number] `json:"samples"`
		Stats   oneOrMany[struct {
			Q25    foreign.Number `json:"q_25"`
			Q75    foreign.Number `json:"q_75"`
			Number foreign.Number `json:"number"`
			Repeat foreign.Number `json:"repeat"`
		}] `json:"stats"`
	}
	if err := foreign.DecodeAt(where, text, &object); err != nil {
		return err
	}
	result.Result, result.Params, result.Samples = object.Result, object.Params, object.Samples
	for _, s := range object.Stats {
		result.Q25, result.Q75 = append(result.Q25, s.Q25), append(result.Q75, s.Q75)
		result.Number, result.Repeat = append(result.Number, s.Number), append(result.Repeat, s.Repeat)
	}
	return nil
}

var reprs = regexp.MustCompile(`^(?:u?'(.+)'|<class '(.+)'>)$`)

// choices returns the values of the parameters as asv shows them: text without quotation marks, unless only the marks distinguish
// two values.
func (result *asvResult) choices() [][]string {
	choices := slices.Clone(result.Params)
	for i, values := range result.Params {
		shown, seen := make([]string, len(values)), map[string]bool{}
		for k, value := range values {
			shown[k] = value
			if m := reprs.FindStringSubmatch(value); m != nil {
				shown[k] = m[1] + m[2]
			}
			seen[foreign.Canonical(shown[k])] = true
		}
		if len(seen) == len(values) {
			choices[i] = shown
		}
	}
	return choices
}

// asvMetrics are the metrics of the types of benchmarks.
var asvMetrics = map[string]string{"time": schema.PrimaryMetric, "timeraw": schema.PrimaryMetric, "memory": "memory", "peakmemory": "peak_memory"}

// asvUnits are the units that asv spells out.
var asvUnits = map[string]string{"seconds": "s", "second": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns", "bytes": "B", "unit": ""}

var asvRate = regexp.MustCompile(`(?i)(/|\bper) *s(ec(ond)?)?$`)

// measured adds the measured values of a combination, or the status that says why there are none.
func (b *asvBenchmark) measured(r *schema.Run, result *asvResult, i int) error {
	switch result.Result[i] {
	case "":
		r.Status, r.Error = schema.StatusError, "no result: it failed, or was not chosen to run"
		return nil
	case "NaN":
		r.Status = schema.StatusSkipped
		return nil
	}
	unit, ok := asvUnits[b.Unit]
	if !ok {
		unit = b.Unit
	}
	m, err := result.metric(cmp.Or(asvMetrics[b.Type], "value"), unit, i)
	m.Better = schema.BetterLower // asv takes every increase for a regression, even of rates
	if asvRate.MatchString(b.Unit) {
		m.Better = schema.BetterHigher
	}
	foreign.Add(r, m, unit)
	return err
}

// metric returns the measured metric: samples if they were recorded, the value itself if there is only one, otherwise asv's aggregate of
// the samples: their median or, in early versions, their minimum.
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
