package formats

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// expectations are the best values ever measured on a kind of machine, each separately. They do not come from one run.
type expectations struct {
	HardwareKey   string                    `json:"hardware_key"`
	SchemaVersion foreign.Text              `json:"schema_version"`
	Examples      map[string]jsontext.Value `json:"examples"`
}

type expectedExample struct {
	Example  string `json:"example"`
	Type     string `json:"type"`
	Metrics  values `json:"metrics"`
	Metadata struct {
		Best      string `json:"best_optimization"`
		Technique string `json:"best_optimization_technique"`
		File      string `json:"best_optimization_file"`
		Goal      string `json:"optimization_goal" fact:"optimization_goal"`
		Commit    string `json:"git_commit"`
		UpdatedAt string `json:"updated_at"`
	} `json:"metadata"`
	Provenance struct {
		Commit      string         `json:"git_commit" run:"Env.GitCommit"`
		HardwareKey string         `json:"hardware_key" run:"Env.Machine"`
		Iterations  foreign.Number `json:"iterations" fact:"config.iterations"`
		Warmup      foreign.Number `json:"warmup_iterations" fact:"config.warmup_iterations"`
		Timestamp   string         `json:"timestamp"`
	} `json:"provenance"`
}

// ratcheted is the note about such values: any unchanged program can look slower than them.
const ratcheted = "ratcheted: each value is the best one ever measured, and no single run had all of them"

// readExpectations reads the whole file at once: it covers one chapter, and the machine is at its end.
func readExpectations(in *foreign.Input, out *foreign.Output) error {
	return readNext(in.JSON(), out, func(_ string, e *expectations) error {
		out.Version(cmp.Or(string(e.SchemaVersion), "1"))
		return eachMember(e.Examples, "/examples", out, func(where, key string, x *expectedExample) error {
			base, best := x.runs(in, key, e.HardwareKey)
			for _, r := range []schema.Run{base, best} {
				if err := out.Run(where, r); err != nil {
					return err
				}
				out.Note(ratcheted, 1)
			}
			return nil
		})
	})
}

var gpusOfKey = regexp.MustCompile(`^([0-9]{1,4})x_`)

var chapterFolder = regexp.MustCompile(`^ch[0-9]+$`)

// chapterOfPath returns the chapter whose folder a file is in, if the harness keeps it there: ch1 of
// ch1/expectations_b200.json. The file itself does not name its chapter.
func chapterOfPath(file string) string {
	if folder := path.Base(path.Dir(filepath.ToSlash(file))); chapterFolder.MatchString(folder) {
		return folder
	}
	return ""
}

// runs returns the expected values of the baseline and of its best optimization.
func (x *expectedExample) runs(in *foreign.Input, key, machine string) (base, best schema.Run) {
	r := schema.Run{Benchmark: x.Example, Backend: x.Type}
	if key != x.Example && key != x.Example+"_"+x.Type || x.Example == "" {
		r.Benchmark = key
	}
	r.Benchmark = chapterName(chapterOfPath(in.Name), r.Benchmark)
	if x.Type == "python" {
		r.Backend = "torch"
	}
	setTags(&r, map[string]foreign.Text{"expectation": "true"})
	describe(&r, x)
	r.Env.GitCommit, r.Env.Machine = cmp.Or(r.Env.GitCommit, x.Metadata.Commit), cmp.Or(r.Env.Machine, machine)
	if m := gpusOfKey.FindStringSubmatch(r.Env.Machine); m != nil {
		r.Env.GPUCount = foreign.Number(m[1]).Int64()
	}
	for _, text := range []string{x.Provenance.Timestamp, x.Metadata.UpdatedAt} {
		if r.StartedAt.IsZero() {
			in.SetStart(&r, text)
		}
	}
	base, best = r, r
	base.Env.Facts, best.Env.Facts = maps.Clone(r.Env.Facts), maps.Clone(r.Env.Facts)
	base.Variant, best.Variant = baselineVariant, x.variant()
	x.side(&base, "baseline_")
	x.side(&best, "best_optimized_")
	for _, key := range []string{"best_speedup", "best_memory_savings_ratio"} {
		addMean(&best, harnessQuantity{strings.TrimPrefix(key, "best_"), "ratio", schema.BetterHigher}, key, positive(numberOf(x.Metrics[key])))
	}
	return base, best
}

// variant returns the best technique.
func (x *expectedExample) variant() string {
	for _, name := range []string{x.Metadata.Best, x.Metadata.Technique, strings.TrimSuffix(x.Metadata.File, path.Ext(x.Metadata.File))} {
		if name != "" && name != baselineVariant {
			return variantOf(x.Example, name)
		}
	}
	return "best_optimized"
}

// side adds the metrics of the baseline, or of the best variant. A time of 0.0 comes from a timeout, and nothing can be
// better: it is left out, and the latency from which the throughput was computed is used instead.
func (x *expectedExample) side(r *schema.Run, prefix string) {
	number := func(key string) foreign.Number { return positive(numberOf(x.Metrics[prefix+key])) }
	addLatency(r, schema.Summary{
		Mean: cmp.Or(number("time_ms"), number("throughput.latency_ms")).Finite("ms"), P75: number("p75_ms").Finite("ms"), P90: number("p90_ms").Finite("ms"),
	})
	addMean(r, harnessQuantity{"device_memory_peak", "MiB", schema.BetterLower}, "", number("memory_mb"))
	throughput, custom := values{}, values{}
	for key, value := range x.Metrics {
		if name, ok := strings.CutPrefix(key, prefix+"throughput."); ok {
			throughput[name] = value
		} else if name, ok := strings.CutPrefix(key, prefix+"custom."); ok {
			custom[name] = value
		}
	}
	addThroughput(r, throughput)
	for _, key := range slices.Sorted(maps.Keys(custom)) {
		addMean(r, quantityOf(key), key, numberOf(custom[key]))
	}
}

// peaks reads benchmark_peak_results_*.json: the peak performance of the machine, by probe.
type peaks struct {
	out *foreign.Output
	run schema.Run // the values that all probes share
}

// readPeaks reads the whole file: it holds a dozen probes.
func readPeaks(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	var all values
	if err := j.Decode(&all); err != nil {
		return out.RefuseMismatch(err)
	}
	p := peaks{out: out, run: schema.Run{Backend: "torch"}}
	r := &p.run
	r.BackendVersion = foreign.TextOf(all["pytorch_version"])
	r.Env.GPUName, r.Env.CUDAVersion = foreign.TextOf(all["gpu_name"]), foreign.TextOf(all["cuda_version"])
	in.SetStart(r, foreign.TextOf(all["timestamp"]))
	var hardware values
	if foreign.Decode(all["gpu_hardware"], &hardware) == nil {
		for fact, key := range map[string]string{
			"gpu.compute_capability": "compute_capability", "gpu.multiprocessors": "num_sms", "gpu.memory_gb": "total_memory_gb",
		} {
			foreign.SetFact(r, fact, foreign.TextOf(hardware[key]))
		}
	}
	maps.DeleteFunc(all, func(name string, value jsontext.Value) bool {
		return value.Kind() != jsontext.KindBeginObject || name == "gpu_hardware" || name == "shared_memory"
	})
	return eachMember(all, "", out, func(_, name string, probe *values) error { return p.probe(name, *probe) })
}

var (
	precisionOfProbe = regexp.MustCompile(`^(fp[0-9]+|bf16|tf32|int[0-9]+)_`)
	notHere          = regexp.MustCompile(`(?i)not available|not supported|requires \d+\+ GPUs`)
)

// probe makes a run of a probe, and one of each way that it times.
func (p *peaks) probe(name string, probe values) error {
	r := p.run
	r.Env.Facts = maps.Clone(r.Env.Facts)
	r.Benchmark = "peak/" + name
	if m := precisionOfProbe.FindStringSubmatch(name); m != nil {
		foreign.SetParam(&r, "precision", m[1])
	}
	for _, axis := range []string{"matrix_size", "test_size_mb", "gpu_count"} {
		foreign.SetParam(&r, axis, string(positive(numberOf(probe[axis]))))
	}
	timed, err := p.timed(name, r, probe)
	if timed || err != nil {
		return err
	}
	if why := foreign.TextOf(probe["error"]); why != "" {
		failRun(&r, "", why)
		if r.Status == schema.StatusError && notHere.MatchString(why) {
			r.Status = schema.StatusUnsupported
		}
		return p.out.Run("/"+name, r)
	}
	for _, m := range []struct{ key, name, unit string }{
		{"peak_bandwidth_gbs", "bandwidth", "GB/s"},
		{"peak_bandwidth_tbs", "bandwidth", "TB/s"}, // the same again
		{"peak_tflops", "compute", "Tflop/s"},
	} {
		if r.Metric(m.name) == nil {
			foreign.Add(&r, foreign.Aggregate(m.name, m.unit, lone(positive(numberOf(probe[m.key])), m.unit)), m.unit)
		}
	}
	addMean(&r, harnessQuantity{"utilization", "%", schema.BetterHigher}, "", positive(numberOf(probe["peak_utilization_percent"])))
	if len(r.Metrics) == 0 {
		failRun(&r, "", "no value was stored")
	}
	return p.out.Run("/"+name, r)
}

// timed makes runs from the times of a probe: torch.compile against without. Later versions list sizes and modes; the probe itself
// repeats the best of them.
func (p *peaks) timed(name string, r schema.Run, probe values) (bool, error) {
	var sizes []values
	if foreign.Decode(probe["per_size"], &sizes) == nil && len(sizes) > 0 {
		for _, size := range sizes {
			r := r
			r.Params = maps.Clone(r.Params)
			foreign.SetParam(&r, "matrix_size", string(positive(numberOf(size["matrix_size"]))))
			if _, err := p.timed(name, r, size); err != nil {
				return true, err
			}
		}
		return true, nil
	}
	times := map[string]foreign.Number{}
	for key, value := range probe {
		if variant, ok := strings.CutSuffix(key, "_time_ms"); ok && variant != "best_compiled" {
			times[variant] = positive(numberOf(value))
		}
	}
	var modes []struct {
		Mode   string         `json:"mode"`
		TimeMS foreign.Number `json:"compiled_time_ms"`
	}
	if foreign.Decode(probe["modes_tried"], &modes) == nil {
		for _, m := range modes {
			times[m.Mode] = positive(m.TimeMS)
		}
	}
	for _, variant := range slices.Sorted(maps.Keys(times)) {
		r := r
		r.Env.Facts, r.Variant = maps.Clone(r.Env.Facts), variant
		if times[variant] == "" {
			failRun(&r, "", foreign.TextOf(probe["error"]))
		} else {
			foreign.Add(&r, foreign.Aggregate(schema.PrimaryMetric, "ms", lone(times[variant], "ms")), "ms")
		}
		if err := p.out.Run("/"+name, r); err != nil {
			return true, err
		}
	}
	return len(times) > 0, nil
}

// continuousJob is a command that the continuous runner ran. Its output is not kept, except for the reason of a failure.
type continuousJob struct {
	Name       string         `json:"name"`
	ReturnCode foreign.Number `json:"returncode"`
	Stderr     string         `json:"stderr"`
	Duration   foreign.Number `json:"duration_sec"`
	Timeout    bool           `json:"timeout"`
	Output     jsontext.Value `json:"benchmark_output"` // a result file of any kind
}

// readContinuous reads benchmark_run_*.json: commands by name, each run once. It reads the whole file at once, because it
// has few jobs.
func readContinuous(in *foreign.Input, out *foreign.Output) error {
	var d struct {
		Tag        foreign.Text     `json:"tag"`
		Timestamp  foreign.Text     `json:"timestamp"`
		Benchmarks []jsontext.Value `json:"benchmarks"`
	}
	if err := in.JSON().Decode(&d); err != nil {
		return out.RefuseMismatch(err)
	}
	var common schema.Run
	if d.Tag != "" {
		setTags(&common, map[string]foreign.Text{"tag": d.Tag})
	}
	if at, err := time.Parse("20060102_150405", string(d.Timestamp)); err == nil { // the end, in UTC
		foreign.SetStart(&common, at, schema.TimeFile)
	}
	return eachText(d.Benchmarks, "/benchmarks", out, func(where string, job *continuousJob) error {
		if job.Output != nil {
			out.LeaveOut("file that a job wrote", 1)
		}
		return out.Run(where, job.run(common))
	})
}

// signals are the names of the signals that most often end a process.
var signals = map[int64]string{4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}

func (c *continuousJob) run(r schema.Run) schema.Run {
	r.Benchmark = cmp.Or(c.Name, "benchmark")
	code := c.ReturnCode.Int64()
	switch {
	case c.Timeout:
		r.Status, r.Stage, r.Error = schema.StatusTimeout, schema.StageMeasure, strings.TrimSpace(c.Stderr)
	case code == nil:
		r.Status, r.Error = schema.StatusError, "no return code was stored"
	case *code < 0:
		r.Status, r.Signal, r.Error = schema.StatusCrashed, signals[-*code], strings.TrimSpace(c.Stderr)
	case *code > 0:
		failRun(&r, "", strings.TrimSpace(c.Stderr))
		r.ExitCode = code
	default:
		r.ExitCode = code
		addSample(&r, harnessQuantity{name: schema.PrimaryMetric, unit: "s"}, "", positive(c.Duration), schema.LevelProcess)
	}
	return r
}

// nsysPairs are the rows that the harness writes for nsys, in lower case.
var nsysPairs = map[string]harnessQuantity{
	"total gpu time":               {"total_gpu_time", "ms", schema.BetterLower},
	"kernel time":                  {"kernel_time", "ms", schema.BetterLower},
	"memory throughput gb/s":       {"memory_throughput", "GB/s", schema.BetterHigher},
	"compute throughput gflops":    {"compute_throughput", "Gflop/s", schema.BetterHigher},
	"memory bandwidth utilization": {"memory_bandwidth_utilization", "%", schema.BetterHigher},
	"compute utilization":          {"compute_utilization", "%", schema.BetterHigher},
}

// readNsysPairs reads metrics and values, one a line, of a whole profile.
func readNsysPairs(in *foreign.Input, out *foreign.Output) error {
	r := schema.Run{Benchmark: "profile", Purpose: schema.PurposeProfile}
	foreign.SetParam(&r, "profiler", profilers[0])
	err := readPairs(in, out, func(name string, n foreign.Number) {
		q, ok := nsysPairs[strings.ToLower(name)]
		if !ok {
			key := strings.NewReplacer(" ", "_", "/", "_per_", "(", "", ")", "").Replace(strings.ToLower(name))
			q = quantityOf(key)
		}
		addSample(&r, q, q.name, n, schema.LevelProcess)
	})
	if err != nil {
		return err
	}
	return out.Run("line 1", r)
}

// readNcuPairs reads counters and values, one a line. A counter is repeated for each kernel.
func readNcuPairs(in *foreign.Input, out *foreign.Output) error {
	r := schema.Run{Benchmark: "profile", Purpose: schema.PurposeProfile}
	foreign.SetParam(&r, "profiler", profilers[1])
	var names []string
	counted := map[string][]foreign.Number{}
	err := readPairs(in, out, func(name string, n foreign.Number) {
		if counted[name] == nil {
			names = append(names, name)
		}
		counted[name] = append(counted[name], n)
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		q := counterOf(name)
		s, err := foreign.SeriesOf(counted[name], q.unit)
		if err != nil {
			out.Refuse(name, err)
		}
		q.metric(&r, s.Metric(name, schema.LevelIteration), name)
	}
	return out.Run("line 1", r)
}

// readPairs reads lines of a name and a number. Anything else except a header and empty lines is refused.
func readPairs(in *foreign.Input, out *foreign.Output, pair func(name string, n foreign.Number)) error {
	table := in.CSV()
	for record, err := range table.Records() {
		if err != nil {
			return err
		}
		if len(record) == 1 && strings.TrimSpace(record[0]) == "" || table.Line() == 1 && strings.EqualFold(strings.TrimSpace(record[0]), "metric") {
			continue
		}
		where := fmt.Sprintf("line %d", table.Line())
		if len(record) < 2 {
			out.Refuse(where, fmt.Errorf("%d fields, want a name and a number", len(record)))
			continue
		}
		name, text := strings.Clone(strings.TrimSpace(record[0])), strings.ReplaceAll(strings.TrimSpace(record[1]), ",", "")
		n, err := cellNumber(text)
		if err != nil || n == "" {
			out.Refuse(where, fmt.Errorf("%.60q is not a number", text))
			continue
		}
		pair(name, n)
	}
	return nil
}
