package formats

import (
	"maps"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// harnessResult is what one benchmark gave: BenchmarkResult of the harness.
type harnessResult struct {
	Timing struct {
		MeanMS      foreign.Number            `json:"mean_ms"`
		MedianMS    foreign.Number            `json:"median_ms"`
		StdMS       foreign.Number            `json:"std_ms"`
		MinMS       foreign.Number            `json:"min_ms"`
		MaxMS       foreign.Number            `json:"max_ms"`
		P90MS       foreign.Number            `json:"p90_ms"`
		P95MS       foreign.Number            `json:"p95_ms"`
		P99MS       foreign.Number            `json:"p99_ms"`
		Percentiles map[string]foreign.Number `json:"percentiles"`
		Iterations  foreign.Number            `json:"iterations"`
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

// readHarnessResult reads a BenchmarkResult that stands alone.
func readHarnessResult(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	for j.More() {
		var h harnessResult
		if err := j.Decode(&h); err != nil {
			if err := out.RefuseMismatch(err); err != nil {
				return err
			}
			continue
		}
		out.Version(string(h.SchemaVersion))
		if err := h.emit("/", out, schema.Run{}); err != nil {
			return err
		}
	}
	return nil
}

// readHarnessRun reads a BenchmarkRun: a result with its manifest.
func readHarnessRun(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	for j.More() {
		var d struct {
			Manifest      harnessManifest `json:"manifest"`
			Result        harnessResult   `json:"result"`
			RunID         string          `json:"run_id"`
			Timestamp     string          `json:"timestamp"`
			SchemaVersion foreign.Text    `json:"schemaVersion"`
		}
		if err := j.Decode(&d); err != nil {
			if err := out.RefuseMismatch(err); err != nil {
				return err
			}
			continue
		}
		out.Version(string(d.SchemaVersion))
		var r schema.Run
		d.Manifest.environment(in, &r)
		if at, source, err := in.Time(d.Timestamp, foreign.ISO...); err == nil && r.StartedAt.IsZero() {
			foreign.SetStart(&r, at, source)
		}
		nameByID(&r, d.RunID)
		if err := d.Result.emit("run "+d.RunID, out, r); err != nil {
			return err
		}
	}
	return nil
}

var (
	suiteRunID   = regexp.MustCompile(`^(ch[0-9]+|capstone)_(.+?)_(baseline|optimized_(.+))$`)
	defaultRunID = regexp.MustCompile(`^run_[0-9]{8}_[0-9]{6}$`)
)

// nameByID names a run by its id, which the suite makes of chapter, example and technique.
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

// emit makes a run from a result. r has what is known about where and when it ran.
func (h *harnessResult) emit(where string, out *foreign.Output, r schema.Run) error {
	switch {
	case r.Benchmark != "":
	case h.Name != "":
		r.Benchmark = h.Name
	default:
		r.Benchmark = "benchmark"
	}
	r.Backend = "torch"
	if h.Device != "" && !strings.HasPrefix(h.Device, "cuda") {
		foreign.SetParam(&r, "device", h.Device)
	}
	foreign.SetParam(&r, "world_size", string(h.WorldSize))
	profiled := r
	r.Env.Facts = maps.Clone(r.Env.Facts)
	foreign.SetFact(&r, "config.mode", h.Mode)
	foreign.SetFact(&r, "config.warmup_iterations", string(h.Timing.Warmup))
	h.stages(&r)
	if h.outcome(&r) {
		if err := h.latency(&r); err != nil {
			out.Refuse(where, err)
			return nil
		}
		if err := h.tokens(&r); err != nil {
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
		if err := m.profile(where, out, profiled, profilers[i], foreign.TextOf(h.Artifacts[key])); err != nil {
			return err
		}
	}
	return nil
}

// outcome sets how a run ended, and reports whether it has times.
func (h *harnessResult) outcome(r *schema.Run) bool {
	var errors []string
	for _, text := range h.Errors {
		if text != "" {
			errors = append(errors, string(text))
		}
	}
	why := strings.Join(errors, "\n")
	mean := h.Timing.MeanMS.Float64()
	timed := mean != nil && !(*mean <= 0) || mean == nil && h.Timing.RawMS.Kind() == jsontext.KindBeginArray
	switch {
	case h.TimeoutStage != "":
		r.Status, r.Stage, r.Error = schema.StatusTimeout, harnessStages[h.TimeoutStage], why
		return false
	case why != "":
		failRun(r, "", why)
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

// stages sets the durations of the stages, which the harness writes as a map or as the text of one.
func (h *harnessResult) stages(r *schema.Run) {
	w := h.Watchdog
	if w == nil && foreign.Decode([]byte(h.Message), &w) == nil {
		h.Message = ""
	}
	w.stages(r)
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

// clock is the clock of an iteration: CUDA events, or Python's clock without CUDA. In other modes, torch or Triton choose
// it.
func (h *harnessResult) clock() string {
	switch {
	case h.Mode == "custom" && strings.HasPrefix(h.Device, "cuda"):
		return "cuda_event"
	case h.Mode == "custom" && h.Device == "cpu":
		return "perf_counter"
	}
	return ""
}

// latency adds the times of a run: those of all iterations, or else their aggregates.
func (h *harnessResult) latency(r *schema.Run) error {
	t := &h.Timing
	s, err := foreign.ReadSeries(t.RawMS, "ms")
	if t.RawMS.Kind() == jsontext.KindBeginArray && err != nil {
		return err
	}
	if s.Len() == 0 || t.RawMS.Kind() != jsontext.KindBeginArray {
		sum := schema.Summary{
			N: t.Iterations.Int64(), Mean: t.MeanMS.Finite("ms"), StdDev: t.StdMS.Finite("ms"), Min: t.MinMS.Finite("ms"),
			Max: t.MaxMS.Finite("ms"), P90: t.P90MS.Finite("ms"), P95: t.P95MS.Finite("ms"), P99: t.P99MS.Finite("ms"),
		}
		setPercentiles(&sum, t.Percentiles)
		if median := t.MedianMS.Finite("ms"); median != nil {
			sum.P50 = median
		}
		addLatency(r, sum)
		return nil
	}
	m := s.Metric(schema.PrimaryMetric, schema.LevelIteration)
	m.Clock = h.clock()
	if h.Mode == "pytorch" {
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
