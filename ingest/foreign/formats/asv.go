package formats

import (
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

// asv are the formats of airspeed velocity. The files of the commits are read from its tree of results; benchmarks.json,
// one folder up, says what their values are.
func asv() []foreign.Format {
	return []foreign.Format{
		{
			Name:      "asv",
			About:     "airspeed velocity: results/MACHINE/COMMIT-ENVIRONMENT.json, versions 1 and 2, with benchmarks.json and machine.json",
			Level:     "a run is a benchmark with one combination of its parameters, a sample is the mean of several calls (--record-samples)",
			Recognize: func(h *foreign.Head) bool { return h.Has("commit_hash", "date", "params", "python", "results") },
			Read:      readASV,
		},
		{
			Name:      "asv-tree",
			About:     "airspeed velocity: benchmarks.json and machine.json",
			Side:      "read together with the results of commits",
			Recognize: isASVSide,
		},
	}
}

var (
	asvBenchmarks = regexp.MustCompile(`"param_names"\s*:\s*\[(?s:.*)"type"\s*:\s*"(?:time|timeraw|memory|peakmemory|track)"`)
	asvMachine    = regexp.MustCompile(`^\s*\{\s*"machine"\s*:\s*"[^"]*"\s*,\s*"version"\s*:\s*1\s*\}\s*$`)
)

func isASVSide(h *foreign.Head) bool {
	return h.Has("machine", "arch", "cpu", "os", "ram", "version") || h.Matches(asvMachine) ||
		(h.Values == 1 && !h.Has("results") && h.Matches(asvBenchmarks))
}

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

// asvBenchmark is what benchmarks.json says of a benchmark.
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
			return file.readResult(asvPlace{name, j.Where()}, text, out)
		}))
	})
}

// asvHeader reads everything except the results, which are in between. Errors in the text are reported when those are
// read.
func asvHeader(in *foreign.Input, out *foreign.Output) (*asvFile, error) {
	j := in.JSON()
	f := &asvFile{}
	fields := map[string]any{
		"commit_hash": &f.CommitHash, "env_name": &f.Environment, "date": &f.Date, "params": &f.Params, "requirements": &f.Requirements,
		"env_vars": &f.Variables, "result_columns": &f.Columns, "version": &f.Version, "started_at": &f.StartedAt,
		"benchmark_version": &f.BenchmarkVersion,
	}
	err := j.Members(func(name string) error {
		return out.RefuseMismatch(decodeMember(j, name, fields))
	})
	var m *foreign.Mismatch
	if errors.As(err, &m) {
		return nil, err
	}
	if foreign.Decode(f.Requirements, &f.requirements) != nil {
		f.requirements = nil // a list, in the oldest files
	}
	return f, nil
}

// readSides reads what benchmarks.json and machine.json add.
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

// benchmark describes a benchmark: by benchmarks.json if it is there, otherwise by the name.
func (f *asvFile) benchmark(name string) asvBenchmark {
	var b asvBenchmark
	if text, ok := f.benchmarks[name]; ok && foreign.Decode(text, &b) == nil && b.Type != "" {
		return b
	}
	parts := strings.Split(name, ".")
	slices.Reverse(parts)
	for _, part := range parts {
		for _, t := range asvTypes {
			if strings.HasPrefix(part, t.prefix) {
				return asvBenchmark{Type: t.kind, Unit: t.unit}
			}
		}
	}
	return asvBenchmark{Type: "track"}
}

// env is where the results come from.
func (f *asvFile) env() schema.Env {
	p := f.Params
	system, _, _ := strings.Cut(string(p["os"]), " ") // Linux 6.1, macOS-14
	return schema.Env{
		Machine: string(p["machine"]), OS: osOf(system), CPUModel: string(p["cpu"]), CPUCount: foreign.Number(p["num_cpu"]).Int64(),
		PythonVersion: versionText.FindString(string(p["python"])), // an environment that asv did not make has a path in its place
		GitCommit:     f.CommitHash,
	}
}

var versionText = regexp.MustCompile(`^[0-9]+(\.[0-9a-z]+)*$`)

// run is a run with the values that all results of a benchmark share.
func (f *asvFile) run(name string) schema.Run {
	r := schema.Run{Benchmark: name, Env: f.env()}
	for _, fact := range []string{"arch", "os", "ram"} {
		foreign.SetFact(&r, fact, string(f.Params[fact]))
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

// lack notes that the unit and the names of the parameters are unknown for a run without benchmarks.json.
func (f *asvFile) lack(r *schema.Run, b *asvBenchmark, params int, out *foreign.Output) {
	if !f.alone || b.Unit != "" && b.Unit != "unit" && params == 0 {
		return
	}
	out.Note(noBenchmarks, 1)
	r.Env.Missing = map[string]string{"asv.benchmarks": "benchmarks.json was not beside the results"}
}

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

// asvPlace is the name of a benchmark and the JSON pointer of its result.
type asvPlace struct{ name, where string }

func (p asvPlace) at(i, of int) string {
	if of == 1 {
		return p.where
	}
	return fmt.Sprintf("%s, combination %d", p.where, i)
}

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

// choices are the values of the parameters as asv shows them: text without quotation marks, unless only the marks distinguish
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

// asvMetrics are the metrics of the types of benchmarks.
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
