package formats

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var benchmarkHarness = foreign.Format{
	Name:      "benchmark-harness",
	Log:       true,
	About:     "BenchmarkHarness of the AI performance engineering book: results, expectations, peaks, single runs, profiler CSV",
	Level:     "a run is the baseline or one optimization of a pair, a sample is an iteration; results files have only means",
	Recognize: func(h *foreign.Head) bool { return harnessReader(h) != nil },
	Read: func(in *foreign.Input, out *foreign.Output) error {
		read := harnessReader(in.Head)
		if read == nil {
			return errors.New("it is none of the files of BenchmarkHarness that are read: results, expectations, peaks, single runs, profiler CSV")
		}
		return read(in, out)
	},
}

var (
	expectationKey = regexp.MustCompile(`"best_optimi[sz]`)
	nsysHeader     = regexp.MustCompile(`(?i)^"?metric"?, *"?value"?$`)
	nsysRow        = regexp.MustCompile(`(?mi)^"?(total gpu time|kernel time|memory throughput|compute (throughput|utilization))`)
	ncuRow         = regexp.MustCompile(`^"?[a-z][a-z0-9]*__[a-z0-9_.]+"? *, *"?[-+0-9.,eE]+"?$`)
)

// harnessReader returns the reader for a file by its beginning, or nil if it is not a file of BenchmarkHarness.
func harnessReader(h *foreign.Head) func(*foreign.Input, *foreign.Output) error {
	switch {
	case h.Has("results[].chapter", "results[].status"), h.Has("results[].chapter", "results[].benchmarks"):
		return readSuite
	case h.Has("examples", "hardware_key"), h.Has("examples") && h.Matches(expectationKey):
		return readExpectations
	case h.Has("result.timing", "run_id"), h.Has("result.timing.mean_ms"):
		return readHarnessRun
	case h.Has("timing.mean_ms", "timing.median_ms", "timing.iterations"):
		return readHarnessResult
	case h.Has("timestamp", "benchmarks[].returncode", "benchmarks[].duration_sec"):
		return readContinuous
	case h.Has("timestamp", "gpu_name") && h.HasAny("hbm", "fp16_compute", "l2_cache", "nvlink", "torch_compile"):
		return readPeaks
	case nsysHeader.MatchString(h.FirstLine()) && h.Matches(nsysRow):
		return readNsysPairs
	case ncuRow.MatchString(h.FirstLine()):
		return readNcuPairs
	case strings.HasPrefix(h.FirstLine(), "# Benchmark Test Results"):
		return readHarnessReport
	}
	return nil
}

// readHarnessReport leaves a report to the results file that it was made from, which has more details.
func readHarnessReport(in *foreign.Input, out *foreign.Output) error {
	stem := strings.TrimSuffix(path.Base(in.Path), path.Ext(in.Path))
	for _, folder := range []string{"", "../results/"} {
		if in.Beside(folder + stem + ".json") {
			out.LeaveTo(folder+stem+".json", "report whose results file is read instead", 1)
			return nil
		}
	}
	return errors.New("it is a Markdown report, which is not read: ingest the benchmark_test_results.json that it was made from")
}

// chapterName returns the name of a benchmark in the harness: chapter and example.
func chapterName(chapter, example string) string {
	if chapter == "" {
		return example
	}
	return chapter + "/" + example
}

// baselineVariant is the variant that the others of a pair are compared with.
const baselineVariant = "baseline"

// variantOf returns the variant for a technique. The harness names a file without a technique, optimized_X of the example X,
// after the file. Here it has the name that the rule pairs of discover gives it, so that imported and measured pairs are
// the same points.
func variantOf(example, technique string) string {
	if technique == "optimized_"+example {
		return "optimized"
	}
	return technique
}

// backendOf returns the backend: a benchmark is a Python file with torch, or a CUDA program.
func backendOf(kind, file string) string {
	switch {
	case kind == "cuda", kind == "" && path.Ext(file) == ".cu":
		return "cuda"
	case kind == "python", kind == "" && path.Ext(file) == ".py":
		return "torch"
	}
	return kind
}

// The texts in which the harness, torch and CUDA report the reason of a failure.
var (
	timeoutText = regexp.MustCompile(`(?i)\btimeout: |exceeded timeout|timed out after`)
	memoryText  = regexp.MustCompile(`(?i)out of memory|OutOfMemory`)
	skipText    = regexp.MustCompile(`(?i)^(skipped:|hardware/software limitation:)`)
	buildText   = regexp.MustCompile(`(?i)failed to build|executable not found`)
	stageText   = regexp.MustCompile(`Benchmark (setup|warmup|measurement|profiling) stage`)
)

// harnessStages translates the stages of the harness to ours.
var harnessStages = map[string]schema.Stage{
	"setup": schema.StageSetup, "warmup": schema.StageWarmup, "measurement": schema.StageMeasure, "profiling": schema.StageProfile,
}

// failRun sets how a run without a time ended, from the message of the harness. word is the status in the file.
func failRun(r *schema.Run, word, text string) {
	r.Status, r.Error = schema.StatusError, text
	if text == "" {
		r.Error = "no time was stored"
	}
	switch {
	case word == "skipped", skipText.MatchString(text):
		r.Status = schema.StatusSkipped
	case timeoutText.MatchString(text):
		r.Status, r.Stage = schema.StatusTimeout, schema.StageMeasure
		if m := stageText.FindStringSubmatch(text); m != nil {
			r.Stage = harnessStages[m[1]]
		}
	case memoryText.MatchString(text):
		r.Status = schema.StatusOOM
	case buildText.MatchString(text):
		r.Stage = schema.StageBuild
	}
	switch word {
	case "", "skipped", "failed", "failed_error", "success", "succeeded":
	default:
		r.ErrorKind = word
	}
}

// harnessManifest describes where a run happened: RunManifest of the harness.
type harnessManifest struct {
	Hardware struct {
		GPUModel    string         `json:"gpu_model" run:"Env.GPUName"`
		CUDA        foreign.Text   `json:"cuda_version" run:"Env.CUDAVersion"`
		Driver      foreign.Text   `json:"driver_version" run:"Env.DriverVersion"`
		Capability  foreign.Text   `json:"compute_capability" fact:"gpu.compute_capability"`
		GPUClock    foreign.Number `json:"gpu_clock_mhz" fact:"gpu.clock_mhz"`
		MemoryClock foreign.Number `json:"memory_clock_mhz" fact:"gpu.memory_clock_mhz"`
		Persistence foreign.Text   `json:"persistence_mode" fact:"gpu.persistence_mode"`
		PowerLimit  foreign.Number `json:"power_limit_w" fact:"gpu.power_limit_w"`
	} `json:"hardware"`
	Software struct {
		PyTorch foreign.Text `json:"pytorch_version" run:"BackendVersion" fact:"python.package.torch"`
		Triton  foreign.Text `json:"triton_version" fact:"python.package.triton"`
		Python  foreign.Text `json:"python_version" run:"Env.PythonVersion"`
		OS      string       `json:"os" run:"Env.OS"`
	} `json:"software"`
	Git struct {
		Commit string `json:"commit" run:"Env.GitCommit"`
		Branch string `json:"branch" run:"Env.GitBranch"`
		Dirty  *bool  `json:"dirty" run:"Env.GitDirty"`
	} `json:"git"`
	Seeds     values `json:"seeds"`
	Config    values `json:"config"`
	StartTime string `json:"start_time"`
}

// environment sets the environment of a run. From seeds and settings it keeps numbers and booleans as facts: texts could contain
// secrets.
func (m *harnessManifest) environment(in *foreign.Input, r *schema.Run) {
	describe(r, m)
	for prefix, all := range map[string]values{"seed.": m.Seeds, "config.": m.Config} {
		for key, value := range all {
			switch value.Kind() {
			case jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse:
				foreign.SetFact(r, prefix+key, foreign.TextOf(value))
			}
		}
	}
	in.SetStart(r, m.StartTime)
}

// harnessResult is the result of one benchmark: BenchmarkResult of the harness.
type harnessResult struct {
	Timing struct {
		MeanMS      foreign.Number            `json:"mean_ms" stat:"mean"`
		MedianMS    foreign.Number            `json:"median_ms" stat:"median"`
		StdMS       foreign.Number            `json:"std_ms" stat:"std"`
		MinMS       foreign.Number            `json:"min_ms" stat:"min"`
		MaxMS       foreign.Number            `json:"max_ms" stat:"max"`
		P90MS       foreign.Number            `json:"p90_ms" stat:"p90"`
		P95MS       foreign.Number            `json:"p95_ms" stat:"p95"`
		P99MS       foreign.Number            `json:"p99_ms" stat:"p99"`
		Percentiles map[string]foreign.Number `json:"percentiles"`
		Iterations  foreign.Number            `json:"iterations" stat:"n"`
		Warmup      foreign.Number            `json:"warmup_iterations"`
		RawMS       jsontext.Value            `json:"raw_times_ms"`
	} `json:"timing"`
	Inference  values `json:"inference_timing"`
	Memory     values `json:"memory"`
	Throughput values `json:"throughput"`
	Artifacts  values `json:"artifacts"`
	Profiler   values `json:"profiler_metrics"`
	Custom     values `json:"custom_metrics"`
	GPU        values `json:"gpu_metrics"`

	Errors        []foreign.Text `json:"errors"`
	Validation    string         `json:"validation_status"`
	Message       foreign.Text   `json:"validation_message"`
	Watchdog      watchdog       `json:"watchdog"`
	TimeoutStage  string         `json:"timeout_stage"`
	Name          string         `json:"benchmark_name"`
	Device        string         `json:"device"`
	Mode          string         `json:"mode"`
	WorldSize     foreign.Number `json:"world_size"`
	SchemaVersion foreign.Text   `json:"schemaVersion"`
}

// watchdog has the state of each stage.
type watchdog map[string]struct {
	Status   string         `json:"status"`
	Duration foreign.Number `json:"duration"`
}

// readHarnessResult reads a file with one BenchmarkResult.
func readHarnessResult(in *foreign.Input, out *foreign.Output) error {
	return eachDocument(in.JSON(), out, func(_ string, h *harnessResult) error {
		out.Version(string(h.SchemaVersion))
		return h.emit("/", out, schema.Run{})
	})
}

// harnessRun is a BenchmarkRun: a result with its manifest.
type harnessRun struct {
	Manifest      harnessManifest `json:"manifest"`
	Result        harnessResult   `json:"result"`
	RunID         string          `json:"run_id"`
	Timestamp     string          `json:"timestamp"`
	SchemaVersion foreign.Text    `json:"schemaVersion"`
}

func readHarnessRun(in *foreign.Input, out *foreign.Output) error {
	return eachDocument(in.JSON(), out, func(_ string, d *harnessRun) error {
		out.Version(string(d.SchemaVersion))
		var r schema.Run
		d.Manifest.environment(in, &r)
		if r.StartedAt.IsZero() {
			in.SetStart(&r, d.Timestamp)
		}
		nameByID(&r, d.RunID)
		return d.Result.emit("run "+d.RunID, out, r)
	})
}

var (
	suiteRunID   = regexp.MustCompile(`^(ch[0-9]+|capstone)_(.+?)_(baseline|optimized_(.+))$`)
	defaultRunID = regexp.MustCompile(`^run_[0-9]{8}_[0-9]{6}$`)
)

// nameByID names a run by its id, which the suite composes of chapter, example and technique.
func nameByID(r *schema.Run, id string) {
	if m := suiteRunID.FindStringSubmatch(id); m != nil {
		r.Benchmark, r.Variant = chapterName(m[1], m[2]), baselineVariant
		if m[4] != "" {
			r.Variant = variantOf(m[2], m[4])
		}
		return
	}
	foreign.SetFact(r, "source.run_id", id)
	if !defaultRunID.MatchString(id) {
		r.Benchmark = id
	}
}

// emit makes a run from a result. r has the environment and the start of the run.
func (h *harnessResult) emit(where string, out *foreign.Output, r schema.Run) error {
	r.Benchmark, r.Backend = cmp.Or(r.Benchmark, h.Name, "benchmark"), "torch"
	if h.Device != "" && !strings.HasPrefix(h.Device, "cuda") {
		foreign.SetParam(&r, "device", h.Device)
	}
	foreign.SetParam(&r, "world_size", string(h.WorldSize))
	profiled := r
	r.Env.Facts = maps.Clone(r.Env.Facts)
	foreign.SetFact(&r, "config.mode", h.Mode)
	foreign.SetFact(&r, "config.warmup_iterations", string(h.Timing.Warmup))
	if h.Watchdog == nil && foreign.Decode([]byte(h.Message), &h.Watchdog) == nil { // some versions write it as text
		h.Message = ""
	}
	h.Watchdog.stages(&r)
	if h.outcome(&r) {
		if err := cmp.Or(h.latency(&r), h.tokens(&r)); err != nil {
			out.Refuse(where, err)
			return nil
		}
		addThroughput(&r, h.Throughput)
	}
	for _, m := range []struct{ key, name string }{
		{"peak_mb", "device_memory_peak"}, {"allocated_mb", "device_memory_allocated"}, {"reserved_mb", "device_memory_reserved"},
	} {
		addSample(&r, harnessQuantity{m.name, "MiB", schema.BetterLower}, "", positive(numberOf(h.Memory[m.key])), schema.LevelProcess)
	}
	addGPU(&r, h.GPU)
	addCustom(&r, h.Custom)
	if err := out.Run(where, r); err != nil {
		return err
	}
	m := measuredRun{profiler: h.Profiler}
	for i, key := range []string{"nsys_rep", "ncu_rep", "torch_trace_json", "proton_report"} {
		m.traces[i] = foreign.TextOf(h.Artifacts[key])
	}
	return m.profiles(where, out, profiled)
}

// outcome sets how a run ended, and reports whether it has times.
func (h *harnessResult) outcome(r *schema.Run) bool {
	var why foreign.Text
	for _, text := range h.Errors {
		if why != "" && text != "" {
			why += "\n"
		}
		why += text
	}
	mean := h.Timing.MeanMS.Float64()
	timed := mean != nil && !(*mean <= 0) || mean == nil && h.Timing.RawMS.Kind() == jsontext.KindBeginArray
	switch {
	case h.TimeoutStage != "":
		r.Status, r.Stage, r.Error = schema.StatusTimeout, harnessStages[h.TimeoutStage], string(why)
		return false
	case why != "":
		failRun(r, "", string(why))
	case mean != nil && *mean <= 0:
		zeroTime(r, "", "")
	case !timed:
		failRun(r, "", "")
	}
	if r.Status == "" && h.Validation == "failed" {
		r.Status, r.Stage, r.Error = schema.StatusError, schema.StageValidate, string(h.Message)
	}
	if h.Validation == "warning" && h.Message != "" {
		r.Warnings = append(r.Warnings, "validation: "+string(h.Message))
	}
	return timed
}

// stages sets the durations of the stages that have begun.
func (w watchdog) stages(r *schema.Run) {
	for stage, at := range map[string]**int64{
		"setup": &r.Stages.Setup, "warmup": &r.Stages.Warmup, "measurement": &r.Stages.Measure, "profiling": &r.Stages.Profile,
	} {
		switch s := w[stage]; s.Status {
		case "completed", "timeout", "error":
			*at = nanosecondsOf(s.Duration, "s")
		}
	}
}

// latency adds the times of all iterations of a run, or else their aggregates.
func (h *harnessResult) latency(r *schema.Run) error {
	t := &h.Timing
	var s foreign.Series
	if t.RawMS.Kind() == jsontext.KindBeginArray {
		var err error
		if s, err = foreign.ReadSeries(t.RawMS, "ms"); err != nil {
			return err
		}
	}
	if s.Len() == 0 {
		sum := summaryOf(*t, "ms")
		median := sum.P50
		setPercentiles(&sum, t.Percentiles)
		sum.P50 = cmp.Or(median, sum.P50)
		addLatency(r, sum)
		return nil
	}
	m := s.Metric(schema.PrimaryMetric, schema.LevelIteration)
	switch { // in other modes, torch or Triton choose the clock
	case h.Mode == "custom" && strings.HasPrefix(h.Device, "cuda"):
		m.Clock = "cuda_event"
	case h.Mode == "custom" && h.Device == "cpu":
		m.Clock = "perf_counter"
	case h.Mode == "pytorch":
		r.Warnings = append(r.Warnings, "in the mode pytorch the harness repeats its times to fill the iterations")
	}
	foreign.Add(r, m, "ms")
	r.Primary = m.Name
	return nil
}

// tokens adds the times of a model that generates text: to the first token of each request, and per token.
func (h *harnessResult) tokens(r *schema.Run) error {
	for _, t := range []struct {
		name  string
		count string
		level schema.Level
	}{
		{"ttft", "num_requests", schema.LevelRequest},
		{"tpot", "total_tokens_generated", schema.LevelToken},
	} {
		raw := h.Inference["raw_"+t.name+"_times_ms"]
		if raw.Kind() == jsontext.KindBeginArray {
			s, err := foreign.ReadSeries(raw, "ms")
			if err != nil {
				return err
			}
			if s.Len() > 0 {
				foreign.Add(r, s.Metric(t.name, t.level), "ms")
				continue
			}
		}
		at := func(key string) *float64 { return positive(numberOf(h.Inference[t.name+key])).Finite("ms") }
		s := schema.Summary{Mean: at("_mean_ms"), P50: at("_p50_ms"), P90: at("_p90_ms"), P95: at("_p95_ms"), P99: at("_p99_ms")}
		if s.Mean != nil {
			s.N = numberOf(h.Inference[t.count]).Int64()
		}
		foreign.Add(r, foreign.Aggregate(t.name, "ms", s), "ms")
	}
	return nil
}

// suite reads benchmark_test_results.json: a time, and chapters with pairs of a baseline and its optimizations.
type suite struct {
	in   *foreign.Input
	out  *foreign.Output
	time string
}

// readSuite reads a results file as a stream. If the chapters come before the time, as in a file with sorted keys, they
// are read once it is known.
func readSuite(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	s := &suite{in: in, out: out}
	for j.More() {
		var kept []jsontext.Value
		s.time = ""
		err := fields{"timestamp": &s.time, "results": func() error {
			if s.time == "" {
				return j.Decode(&kept)
			}
			return eachElement(j, out, s.chapter)
		}}.read(j, out)
		if err == nil {
			err = eachText(kept, "/results", out, s.chapter)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type suiteChapter struct {
	Chapter    string           `json:"chapter"`
	Status     string           `json:"status"`
	Benchmarks []jsontext.Value `json:"benchmarks"`
	Manifests  []jsontext.Value `json:"manifests"`
}

func (s *suite) chapter(where string, c *suiteChapter) error {
	if len(c.Benchmarks) == 0 {
		s.out.LeaveOut("chapter without benchmarks", 1)
	}
	if len(c.Manifests) > 0 {
		s.out.LeaveOut("manifest of a benchmark", len(c.Manifests))
	}
	return eachText(c.Benchmarks, where+"/benchmarks", s.out, func(where string, p *suitePair) error { return s.pair(where, c.Chapter, p) })
}

// suitePair is a baseline and its optimizations.
type suitePair struct {
	Example       string           `json:"example"`
	Type          string           `json:"type"`
	BaselineFile  string           `json:"baseline_file"`
	Status        string           `json:"status"`
	Error         foreign.Text     `json:"error"`
	SkipReason    foreign.Text     `json:"skip_reason"`
	Optimizations []jsontext.Value `json:"optimizations"`
	Expectation   struct {
		HardwareKey string `json:"hardware_key"`
		Regressed   bool   `json:"regressed"`
	} `json:"expectation"`

	TimeMS      foreign.Number            `json:"baseline_time_ms"`
	P75MS       foreign.Number            `json:"baseline_p75_ms"`
	P90MS       foreign.Number            `json:"baseline_p90_ms"`
	MemoryMB    foreign.Number            `json:"baseline_memory_mb"`
	Percentiles map[string]foreign.Number `json:"baseline_percentiles"`
	Throughput  values                    `json:"baseline_throughput"`
	Custom      values                    `json:"baseline_custom_metrics"`
	GPU         values                    `json:"baseline_gpu_metrics"`
	Nsys        string                    `json:"baseline_nsys_rep"`
	Ncu         string                    `json:"baseline_ncu_rep"`
	Torch       string                    `json:"baseline_torch_trace"`
	Profiler    values                    `json:"baseline_profiler_metrics"`
	Runs        []suiteRun                `json:"runs"`
}

// suiteRun is a run of a baseline or an optimization in a file that NeuroLens wrote.
type suiteRun struct {
	TimeMS foreign.Number `json:"time_ms"`
	Timing struct {
		MedianMS   foreign.Number `json:"median_ms" stat:"median"`
		StdMS      foreign.Number `json:"std_ms" stat:"std"`
		P99MS      foreign.Number `json:"p99_ms" stat:"p99"`
		Iterations foreign.Number `json:"iterations" stat:"n"`
		RawMS      jsontext.Value `json:"raw_times_ms"`
	} `json:"timing"`
	Watchdog watchdog   `json:"watchdog"`
	Own      *layoutRun `json:"neurolens"`
}

// suiteOptimization is one alternative to the baseline.
type suiteOptimization struct {
	File       string       `json:"file"`
	Technique  string       `json:"technique"`
	Status     string       `json:"status"`
	Error      foreign.Text `json:"error"`
	SkipReason foreign.Text `json:"skip_reason"`

	TimeMS     foreign.Number `json:"time_ms"`
	P75MS      foreign.Number `json:"p75_ms"`
	P90MS      foreign.Number `json:"p90_ms"`
	MemoryMB   foreign.Number `json:"memory_mb"`
	Throughput values         `json:"throughput"`
	Custom     values         `json:"custom_metrics"`
	GPU        values         `json:"gpu_metrics"`
	Nsys       string         `json:"optimized_nsys_rep"`
	Ncu        string         `json:"optimized_ncu_rep"`
	Torch      string         `json:"optimized_torch_trace"`
	Profiler   values         `json:"optimized_profiler_metrics"`
	Runs       []suiteRun     `json:"runs"`
}

// point returns a run of the pair without its variant. The harness gives the same example to several baselines; the file
// distinguishes them if it is not named after the example.
func (s *suite) point(chapter string, p *suitePair) schema.Run {
	r := schema.Run{Benchmark: chapterName(chapter, p.Example), Backend: backendOf(p.Type, p.BaselineFile)}
	if stem := strings.TrimSuffix(p.BaselineFile, path.Ext(p.BaselineFile)); stem != "baseline_"+p.Example {
		foreign.SetParam(&r, "baseline_file", p.BaselineFile)
	}
	s.in.SetStart(&r, s.time)
	r.Env.Machine = p.Expectation.HardwareKey
	return r
}

// runs makes the runs that a file lists one by one, and reports whether it lists any. Then the other values of the file
// were computed from them.
func (s *suite) runs(where string, list []suiteRun) (listed bool, err error) {
	for i := range list {
		one := &list[i]
		if one.Own = one.Own.known(); one.Own == nil {
			continue
		}
		listed = true
		var r schema.Run
		if one.TimeMS != "" {
			sum := summaryOf(one.Timing, "ms")
			sum.Mean = one.TimeMS.Finite("ms")
			addLatency(&r, sum)
			if raw := one.Timing.RawMS; raw != nil {
				one.Own.Raw = raw
			}
			delete(r.Env.Facts, factPercentiles) // NeuroLens interpolates
			if err := one.Own.time(&r, "time_ms"); err != nil {
				s.out.Refuse(fmt.Sprintf("%s/runs/%d", where, i), err)
				continue
			}
		}
		one.Own.identify(&r)
		one.Watchdog.stages(&r)
		r.Primary = ""
		one.Own.values(&r)
		if err := s.out.Run(fmt.Sprintf("%s/runs/%d", where, i), r); err != nil {
			return true, err
		}
	}
	return listed, nil
}

func (s *suite) pair(where, chapter string, p *suitePair) error {
	base := measuredRun{
		time: p.TimeMS, p75: p.P75MS, p90: p.P90MS, memory: p.MemoryMB, percentiles: p.Percentiles,
		throughput: p.Throughput, custom: p.Custom, gpu: p.GPU, traces: [4]string{p.Nsys, p.Ncu, p.Torch}, profiler: p.Profiler,
		word: p.Status, why: string(cmp.Or(p.Error, p.SkipReason)),
	}
	if len(p.Optimizations) > 0 && p.TimeMS != "" || p.Status != "failed_verification" && positive(p.TimeMS) != "" {
		base.word, base.why = "", "" // the status of the pair is the status of its optimizations
	}
	r := s.point(chapter, p)
	r.Variant = baselineVariant
	if listed, err := s.runs(where, p.Runs); err != nil {
		return err
	} else if !listed && p.Runs == nil {
		if err := base.emit(where, s.out, r); err != nil {
			return err
		}
	}
	regressed := (p.Status == regression || p.Expectation.Regressed) && !slices.ContainsFunc(p.Optimizations, saysRegression)
	taken := map[string]bool{baselineVariant: true, "": true}
	return eachText(p.Optimizations, where+"/optimizations", s.out, func(where string, o *suiteOptimization) error {
		if listed, err := s.runs(where, o.Runs); listed {
			return err
		}
		r := s.point(chapter, p)
		r.Variant = variantOf(p.Example, o.Technique)
		if taken[r.Variant] {
			r.Variant = strings.TrimSuffix(o.File, path.Ext(o.File))
		}
		taken[r.Variant] = true
		m := o.measured()
		m.regressed = regressed
		return m.emit(where, s.out, r)
	})
}

// regression is the status of a variant that is slower than expected.
const regression = "failed_regression"

// saysRegression reports whether an optimization itself has that status. Then it does not apply to the others of its
// pair.
func saysRegression(optimization jsontext.Value) bool {
	var o suiteOptimization
	return foreign.Decode(optimization, &o) == nil && o.Status == regression
}

func (o *suiteOptimization) measured() *measuredRun {
	return &measuredRun{
		time: o.TimeMS, p75: o.P75MS, p90: o.P90MS, memory: o.MemoryMB,
		throughput: o.Throughput, custom: o.Custom, gpu: o.GPU, traces: [4]string{o.Nsys, o.Ncu, o.Torch}, profiler: o.Profiler,
		word: o.Status, why: string(cmp.Or(o.Error, o.SkipReason)),
	}
}
