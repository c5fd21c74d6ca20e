package formats

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

var pyperf = foreign.Format{
	Name:  "pyperf",
	About: "pyperf and pyperformance: JSON of one or more benchmarks (-o), formats 5, 6 and 1.0",
	Level: "a run is a process that pyperf started, a sample is a value: the mean of its loops",
	Recognize: func(h *foreign.Head) bool {
		return h.HasAny("benchmarks[].runs[].values", "benchmarks[].runs[].warmups", "benchmarks[].runs[].samples")
	},
	Read: readPyperf,
}

// pyperfMetadata is the metadata of a suite, a benchmark or a run. Values that all items of a level share are only in the
// level above.
type pyperfMetadata map[string]foreign.Text

// over merges the metadata of a level with the levels above it.
func (m pyperfMetadata) over(above pyperfMetadata) pyperfMetadata {
	all := pyperfMetadata{}
	maps.Copy(all, above)
	maps.Copy(all, m)
	return all
}

// pyperfSuite has the values that apply to all benchmarks of a file. They follow the benchmarks.
type pyperfSuite struct {
	Version  foreign.Text   `json:"version"`
	Metadata pyperfMetadata `json:"metadata"`
}

// readPyperf reads a suite, or the suites of several lines.
func readPyperf(in *foreign.Input, out *foreign.Output) error {
	return documents(in, out, func(suite *pyperfSuite, j *foreign.JSON, others func(fields) error) error {
		return others(fields{"benchmarks": array(j, out, func(where string, b *pyperfBenchmark) error {
			common := b.Metadata.over(b.CommonMetadata).over(suite.Metadata)
			return eachText(b.Runs, where+"/runs", out, func(at string, run *pyperfRun) error {
				run.raw = suite.Version == "5" || suite.Version == "6"
				run.Metadata = run.Metadata.over(common)
				run.Values = slices.Concat(run.Values, run.Samples)
				return run.yield(in, at, out)
			})
		})})
	})
}

type pyperfBenchmark struct {
	Metadata       pyperfMetadata   `json:"metadata"`
	CommonMetadata pyperfMetadata   `json:"common_metadata"` // of format 5
	Runs           []jsontext.Value `json:"runs"`
}

type pyperfRun struct {
	Metadata pyperfMetadata     `json:"metadata"`
	Values   []foreign.Number   `json:"values"`
	Samples  []foreign.Number   `json:"samples"` // of format 5: values
	Warmups  [][]foreign.Number `json:"warmups"` // loops, value
	raw      bool               // the value of a warm-up is the total of all its loops
}

// yield yields the run of a process.
func (run *pyperfRun) yield(in *foreign.Input, where string, out *foreign.Output) error {
	meta := run.Metadata
	out.Version(string(meta["perf_version"]))
	if len(run.Values) == 0 {
		out.LeaveOut("calibration runs", 1)
		return nil
	}
	r := schema.Run{Benchmark: string(meta["name"])}
	if r.Benchmark == "" {
		r.Benchmark, _, _ = strings.Cut(path.Base(in.Name), ".")
	}
	setPyperfStatement(&r, meta)
	setPyperfEnv(&r, meta)
	in.SetStart(&r, string(meta["date"]))
	m, unit, err := run.metric()
	if err != nil {
		return refusal(where, "%w", err)
	}
	foreign.Add(&r, m, unit)
	for _, name := range []string{"command_max_rss", "mem_max_rss"} {
		if n := foreign.Number(meta[name]); n.Finite("B") != nil && r.Metric("peak_memory") == nil {
			s, _ := foreign.SeriesOf([]foreign.Number{n}, "B") // it is a number
			foreign.Add(&r, s.Metric("peak_memory", schema.LevelProcess), "B")
		}
	}
	return out.Run(where, r)
}

// pyperfUnits are the units that pyperf knows.
var pyperfUnits = map[foreign.Text]struct{ metric, unit string }{
	"":        {"latency", "s"},
	"second":  {"latency", "s"},
	"byte":    {"memory", "B"},
	"integer": {"value", ""},
}

// metric returns the metric of a process's values, with the unit of the file.
func (run *pyperfRun) metric() (m schema.Metric, unit string, err error) {
	u, ok := pyperfUnits[run.Metadata["unit"]]
	if !ok {
		return m, "", fmt.Errorf("unit %q: want second, byte or integer", run.Metadata["unit"])
	}
	s, err := foreign.SeriesOf(run.Values, u.unit)
	if err != nil {
		return m, "", fmt.Errorf("reading values: %w", err)
	}
	if u.metric != "latency" { // one value of the process, not divided by loops
		m = s.Metric(u.metric, schema.LevelProcess)
		m.Better = schema.BetterLower
		return m, u.unit, nil
	}
	m = s.Metric(u.metric, schema.LevelIteration)
	m.Clock = "perf_counter"
	inner := int64(1)
	if n := foreign.Number(run.Metadata["inner_loops"]).Int64(); n != nil && *n > 0 {
		inner = *n
	}
	if n := foreign.Number(run.Metadata["loops"]).Int64(); n != nil && *n > 0 {
		m.IterationsPerSample = []int64{*n * inner}
	}
	m.WarmupReals, err = run.warmups(float64(inner))
	return m, u.unit, err
}

// warmups returns the values of the warm-up, in ns.
func (run *pyperfRun) warmups(inner float64) ([]float64, error) {
	var values []float64
	for i, w := range run.Warmups {
		if len(w) != 2 || w[0].Float64() == nil || w[1].Float64() == nil {
			return nil, fmt.Errorf("reading warmups: number %d is not a pair of loops and value", i)
		}
		value := *w[1].In("s")
		if loops := *w[0].Float64() * inner; run.raw && loops > 0 {
			value /= loops
		}
		values = append(values, value)
	}
	return values, nil
}

// setPyperfStatement distinguishes benchmarks that pyperf itself named: all statements are timeit, all commands are
// command.
func setPyperfStatement(r *schema.Run, meta pyperfMetadata) {
	switch r.Benchmark {
	case "timeit":
		for _, name := range []string{"timeit_setup", "timeit_stmt", "timeit_teardown"} {
			if text := statement(string(meta[name])); text != "" && text != "pass" {
				foreign.SetAxis(r, strings.TrimPrefix(name, "timeit_"), text)
			}
		}
	case "command":
		if text := string(meta["command"]); text != "" {
			foreign.SetAxis(r, "command", text)
		}
	}
}

// statement returns a statement without the quotation marks around it; several statements keep theirs.
func statement(text string) string {
	if len(text) < 2 || text[0] != text[len(text)-1] || strings.Count(text, text[:1]) != 2 {
		return text
	}
	return text[1 : len(text)-1]
}

// pyperfFacts are the metadata that become facts.
var pyperfFacts = []string{
	"aslr", "cpu_affinity", "cpu_config", "cpu_freq", "cpu_machine", "cpu_temp", "load_avg_1min", "perf_version", "performance_version", "platform",
	"python_compiler", "python_gc", "python_hash_seed", "python_implementation", "runnable_threads", "tags", "timer",
}

func setPyperfEnv(r *schema.Run, meta pyperfMetadata) {
	version, _, _ := strings.Cut(string(meta["python_version"]), " ")
	r.Env = schema.Env{
		Machine: string(meta["hostname"]), Hostname: string(meta["hostname"]),
		OS:       osOf(string(meta["platform"])),
		CPUModel: string(meta["cpu_model_name"]), CPUCount: foreign.Number(meta["cpu_count"]).Int64(),
		PythonVersion: version,
		GitCommit:     string(meta["commit_id"]), GitBranch: string(meta["commit_branch"]),
	}
	for _, name := range pyperfFacts {
		foreign.SetFact(r, name, string(meta[name]))
	}
}

// osOf returns the operating system at the beginning of Python's name of a platform, in the spelling of NeuroLens.
func osOf(platform string) string {
	word, _, _ := strings.Cut(strings.ToLower(platform), "-")
	if word == "macos" {
		return "darwin"
	}
	return word
}
