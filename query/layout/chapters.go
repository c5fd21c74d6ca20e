package layout

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
)

// suite is benchmark_test_results.json.
type suite struct {
	Timestamp *string    `json:"timestamp"` // start of the newest run
	Results   []*chapter `json:"results"`
}

type chapter struct {
	Name       string          `json:"chapter"`
	Status     string          `json:"status"`
	Benchmarks []*pair         `json:"benchmarks"`
	Summary    *chapterSummary `json:"summary"`
}

// pair is a baseline with the optimizations that are compared with it.
type pair struct {
	Example       string            `json:"example"`
	Type          string            `json:"type"`
	BaselineFile  *string           `json:"baseline_file"`
	Time          number            `json:"baseline_time_ms"` // mean
	Throughput    *throughput       `json:"baseline_throughput"`
	Optimizations []*optimization   `json:"optimizations"`
	BestSpeedup   number            `json:"best_speedup"`
	Status        string            `json:"status"`
	Error         *string           `json:"error"`
	SkipReason    string            `json:"skip_reason,omitempty"`
	Percentiles   map[string]number `json:"baseline_percentiles,omitempty"` // ms
	P75           number            `json:"baseline_p75_ms,omitempty"`
	P90           number            `json:"baseline_p90_ms,omitempty"`
	Memory        number            `json:"baseline_memory_mb,omitempty"` // MiB, peak of the device
	Custom        map[string]number `json:"baseline_custom_metrics,omitempty"`
	Nsys          string            `json:"baseline_nsys_rep,omitempty"`
	Ncu           string            `json:"baseline_ncu_rep,omitempty"`
	Torch         string            `json:"baseline_torch_trace,omitempty"`
	Runs          []*chapterRun     `json:"runs"`

	side *side
	axes map[string]json.RawMessage
}

type throughput struct {
	Requests   number  `json:"requests_per_s"`
	Tokens     number  `json:"tokens_per_s"`
	Samples    number  `json:"samples_per_s"`
	Bytes      number  `json:"bytes_per_s"`
	Custom     number  `json:"custom_unit_per_s"`
	CustomName *string `json:"custom_unit_name"`
	LatencyMS  number  `json:"latency_ms"`
	Goodput    number  `json:"goodput"`
}

type optimization struct {
	File       *string           `json:"file"`
	Technique  string            `json:"technique"`
	Status     string            `json:"status"`
	Time       number            `json:"time_ms,omitempty"`
	Speedup    number            `json:"speedup,omitempty"`
	Error      *string           `json:"error,omitempty"`
	SkipReason string            `json:"skip_reason,omitempty"`
	P75        number            `json:"p75_ms,omitempty"`
	P90        number            `json:"p90_ms,omitempty"`
	Memory     number            `json:"memory_mb,omitempty"`
	Custom     map[string]number `json:"custom_metrics,omitempty"`
	Throughput *throughput       `json:"throughput,omitempty"`
	Nsys       string            `json:"optimized_nsys_rep,omitempty"`
	Ncu        string            `json:"optimized_ncu_rep,omitempty"`
	Torch      string            `json:"optimized_torch_trace,omitempty"`
	Runs       []*chapterRun     `json:"runs"`

	side    *side
	speedup *float64
}

// chapters makes the files of BenchmarkHarness.
func (f *Folder) chapters() ([]file, error) {
	s := f.suite()
	return f.summaryFiles("benchmark_test_results.json", "benchmark_test_results.md", s, s.markdown(f.measured()))
}

// suite sorts runs into chapters and pairs. Chapters, pairs and optimizations are in alphabetical order, as in the harness: the order of
// the runs is another one in each session.
func (f *Folder) suite() *suite {
	s := &suite{Results: []*chapter{}}
	chapters, pairs := map[string]*chapter{}, map[string][]*schema.Run{}
	var order []string
	var newest time.Time
	for i := range f.runs {
		r := &f.runs[i]
		if key := pairKey(r); pairs[key] == nil {
			order = append(order, key)
		}
		pairs[pairKey(r)] = append(pairs[pairKey(r)], r)
		if r.StartedAt.After(newest) {
			newest = r.StartedAt
		}
	}
	if !newest.IsZero() {
		s.Timestamp = new(newest.UTC().Format("2006-01-02T15:04:05.000000+00:00"))
	}
	for _, key := range order {
		runs := pairs[key]
		name, example := chapterOf(runs[0])
		c := chapters[name]
		if c == nil {
			c = &chapter{Name: name, Status: "completed", Benchmarks: []*pair{}}
			chapters[name] = c
		}
		c.Benchmarks = append(c.Benchmarks, f.pairOf(example, runs))
	}
	for _, name := range slices.Sorted(maps.Keys(chapters)) {
		c := chapters[name]
		c.tellApart()
		slices.SortStableFunc(c.Benchmarks, func(a, b *pair) int { return strings.Compare(a.Example, b.Example) })
		c.Summary = c.summarize()
		s.Results = append(s.Results, c)
	}
	return s
}

// pairKey identifies the runs of a pair: their point without the variant.
func pairKey(r *schema.Run) string {
	other := *r
	other.Variant = ""
	return schema.PointID(&other)
}

// chapterOf returns the chapter and the example of a benchmark: ch1/moe. If its name has no chapter, the suite is the chapter.
func chapterOf(r *schema.Run) (name, example string) {
	if name, example, ok := strings.Cut(r.Benchmark, "/"); ok && name != "" && example != "" {
		return name, example
	}
	return cmp.Or(r.Suite, "benchmarks"), r.Benchmark
}

// tellApart adds axes to the names of pairs of one example, so that they differ.
func (c *chapter) tellApart() {
	count := map[string]int{}
	for _, p := range c.Benchmarks {
		count[p.Example]++
	}
	for _, p := range c.Benchmarks {
		if words := described(p.axes); count[p.Example] > 1 && words != "" {
			p.Example += " [" + words + "]"
		}
	}
}

// baselineOf returns the variant that is the baseline: the baseline of the sweep, otherwise the variant called baseline, otherwise runs
// without a variant. Without any of these nothing is compared.
func baselineOf(runs []*schema.Run, variants []string) string {
	names := []string{"baseline", ""}
	if said, ok := strings.CutPrefix(runs[0].Env.Facts[schema.FactBaseline], "variant="); ok {
		names = []string{said, "baseline", ""}
	}
	for _, name := range names {
		if slices.Contains(variants, name) {
			return name
		}
	}
	return "baseline"
}

func (f *Folder) pairOf(example string, runs []*schema.Run) *pair {
	var variants []string
	of := map[string][]*schema.Run{}
	for _, r := range runs {
		if of[r.Variant] == nil {
			variants = append(variants, r.Variant)
		}
		of[r.Variant] = append(of[r.Variant], r)
	}
	slices.Sort(variants)
	baseline := baselineOf(runs, variants)
	base := f.sideOf(of[baseline])
	p := &pair{
		Example: example, Type: typeOf(runs[0]), Optimizations: []*optimization{}, side: base, Runs: base.list(),
		BaselineFile: base.file, Time: in(base.mean, "ms"), Throughput: base.throughput(),
		Percentiles: base.percentiles, P75: base.percentiles["75.0"], P90: base.percentiles["90.0"], Memory: base.memory, Custom: base.custom,
		Nsys: base.trace(".nsys-rep"), Ncu: base.trace(".ncu-rep"), Torch: base.trace(".json", ".json.gz"),
	}
	var best *float64
	for _, variant := range variants {
		if variant == baseline {
			continue
		}
		o := f.optimizationOf(variant, of[variant], base)
		p.Optimizations = append(p.Optimizations, o)
		if o.speedup != nil && (best == nil || *o.speedup > *best) {
			best = o.speedup
		}
	}
	if best != nil {
		p.BestSpeedup = real(*best)
	}
	p.axes = axes(runs[0], "variant")
	p.end()
	return p
}

// typeOf returns the language of a pair, from its backend or its file.
func typeOf(r *schema.Run) string {
	if r.Backend == "cuda" || path.Ext(r.Env.Facts["runner.file"]) == ".cu" {
		return "cuda"
	}
	return "python"
}

func (f *Folder) optimizationOf(variant string, runs []*schema.Run, base *side) *optimization {
	s := f.sideOf(runs)
	o := &optimization{
		Technique: cmp.Or(variant, "optimized"), File: s.file, Status: s.word(), Time: in(s.mean, "ms"), Runs: s.list(), side: s,
		P75: s.percentiles["75.0"], P90: s.percentiles["90.0"], Memory: s.memory, Custom: s.custom, Throughput: s.throughput(),
		Nsys: s.trace(".nsys-rep"), Ncu: s.trace(".ncu-rep"), Torch: s.trace(".json", ".json.gz"),
	}
	if s.skipped() {
		o.SkipReason = s.why
	} else {
		o.Error = files.Optional(s.why)
	}
	if s.mean != nil && base.mean != nil && *s.mean > 0 {
		o.speedup = new(*base.mean / *s.mean)
		o.Speedup = real(*o.speedup)
	}
	return o
}

// end sets the status of a pair: the worst of its sides, with the error of that side.
func (p *pair) end() {
	var sides []*side
	if len(p.side.runs) > 0 {
		sides = append(sides, p.side)
	}
	for _, o := range p.Optimizations {
		sides = append(sides, o.side)
	}
	worst := slices.MaxFunc(sides, func(a, b *side) int { return cmp.Compare(a.rank(), b.rank()) })
	p.Status = worst.word()
	if worst.skipped() {
		p.SkipReason = worst.why
	} else {
		p.Error = files.Optional(worst.why)
	}
}

// chapterRun is a run of a side: BenchmarkResult of the harness.
type chapterRun struct {
	Time     number         `json:"time_ms"` // mean
	Timing   *chapterTiming `json:"timing,omitempty"`
	Stage    string         `json:"timeout_stage,omitempty"`
	Duration number         `json:"timeout_duration_seconds,omitempty"`
	Limit    number         `json:"timeout_limit_seconds,omitempty"`
	Errors   []string       `json:"errors,omitempty"`
	Watchdog *watchdog      `json:"watchdog,omitempty"` // of a run that is not ok
	Own      *own           `json:"neurolens"`
}

// chapterTiming are the statistics of the time of a run.
type chapterTiming struct {
	Mean       number   `json:"mean_ms"`
	Median     number   `json:"median_ms"`
	Std        number   `json:"std_ms"` // of the sample
	P99        number   `json:"p99_ms"`
	Iterations number   `json:"iterations"`
	Raw        []number `json:"raw_times_ms"`
}

// watchdog has the state of the stages in the words of the harness.
type watchdog struct {
	Setup       watched  `json:"setup"`
	Warmup      watched  `json:"warmup"`
	Measurement watched  `json:"measurement"`
	Profiling   *watched `json:"profiling,omitempty"`
}

// watched is the state of a stage: completed, timeout, error, or pending if it was not reached. Duration is in seconds.
type watched struct {
	Status   string `json:"status"`
	Duration number `json:"duration"`
}

// list returns the individual runs.
func (s *side) list() []*chapterRun {
	list := []*chapterRun{}
	for _, r := range s.runs {
		one := &chapterRun{Own: ownOf(r)}
		m := timeOf(r)
		if r.Purpose == schema.PurposeProfile {
			m = nil // its time is the time under the profiler
		}
		if m != nil {
			one.Time, one.Timing = in(m.Summary.Mean, "ms"), chapterTimingOf(m)
			one.Own.timed("time_ms", m, false)
		}
		one.Own.rest(r, m)
		one.failure(r)
		list = append(list, one)
	}
	return list
}

func chapterTimingOf(m *schema.Metric) *chapterTiming {
	s := &m.Summary
	return &chapterTiming{in(s.Mean, "ms"), in(s.P50, "ms"), in(s.StdDev, "ms"), in(s.P99, "ms"), integer(s.N), times(m)}
}

// failure records how a run that is not ok ended.
func (c *chapterRun) failure(r *schema.Run) {
	if r.Status == schema.StatusOK {
		return
	}
	c.Watchdog = watchdogOf(r)
	if rankOf(r.Status) == 1 {
		return
	}
	c.Errors = []string{why(r)}
	if r.Status != schema.StatusTimeout {
		return
	}
	c.Errors[0] = "TIMEOUT: " + c.Errors[0]
	c.Stage, c.Limit = stageWord(r.Stage), limitOf(r)
	if c.Duration = seconds(factNS(r, factElapsed)); c.Duration == "" {
		c.Duration = seconds(durationOf(r, r.Stage))
	}
}

// watchdogOf returns the states of the stages of a run; nil if none has begun.
func watchdogOf(r *schema.Run) *watchdog {
	state := func(stage schema.Stage) watched {
		w := watched{Status: "pending", Duration: seconds(durationOf(r, stage))}
		switch {
		case stage == r.Stage && r.Status == schema.StatusTimeout:
			w.Status = "timeout"
		case stage == r.Stage:
			w.Status = "error"
		case w.Duration != "":
			w.Status = "completed"
		}
		return w
	}
	w := &watchdog{Setup: state(schema.StageSetup), Warmup: state(schema.StageWarmup), Measurement: state(schema.StageMeasure)}
	if r.Purpose == schema.PurposeProfile {
		w.Profiling = new(state(schema.StageProfile))
	}
	pending := watched{Status: "pending"}
	if w.Setup == pending && w.Warmup == pending && w.Measurement == pending && (w.Profiling == nil || *w.Profiling == pending) {
		return nil
	}
	return w
}

// stageWord returns a stage in the word of the harness, which has fewer stages.
func stageWord(stage schema.Stage) string {
	switch stage {
	case schema.StageMeasure:
		return "measurement"
	case schema.StageProfile:
		return "profiling"
	}
	return string(stage)
}

// durationOf returns the duration of a stage in ns; nil if it is unknown.
func durationOf(r *schema.Run, stage schema.Stage) *int64 {
	if at := r.Stages.Of(stage); at != nil {
		return *at
	}
	return nil
}

func seconds(ns *int64) number {
	if ns == nil {
		return ""
	}
	return in(new(float64(*ns)), "s")
}

// factNS returns a fact with a number of ns; nil if the run does not have it.
func factNS(r *schema.Run, name string) *int64 {
	n, err := strconv.ParseInt(r.Env.Facts[name], 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// limitOf returns the deadline of the stage in which a run ended, in seconds. A run of an earlier version has no deadline of its own;
// then it is taken from the text of all deadlines: setup=30s warmup=3s. A whole number has no decimal point, as in the harness.
func limitOf(r *schema.Run) number {
	limit := factNS(r, factLimit)
	for word := range strings.FieldsSeq(r.Env.Facts["runner.timeouts"]) {
		text, is := strings.CutPrefix(word, string(r.Stage)+"=")
		if d, err := time.ParseDuration(text); is && err == nil && limit == nil {
			limit = new(d.Nanoseconds())
		}
	}
	if limit != nil && *limit%1e9 == 0 {
		return integer(new(*limit / 1e9))
	}
	return seconds(limit)
}

// side is a baseline or an optimization: its runs and their combined results.
type side struct {
	runs        []*schema.Run // including profiling runs
	ok          []*schema.Run // the ok runs that count: no profiled run, and no run of a point with a wrong result
	status      schema.Status // the worst of its measured runs; empty if there are none
	why         string
	regressed   bool
	mean        *float64 // ns, mean over the means of ok runs
	percentiles map[string]number
	memory      number
	custom      map[string]number
	file        *string
	traces      []string
}

func (f *Folder) sideOf(runs []*schema.Run) *side {
	s, wrong := &side{runs: runs}, wrongPoints(runs)
	var timed []*schema.Run
	var means, memory []float64
	for _, r := range runs {
		s.traces = append(s.traces, f.artifacts[r.RunID]...)
		if s.file == nil {
			s.file = files.Optional(sourceFile(r))
		}
		if r.Purpose == schema.PurposeProfile {
			continue
		}
		s.regressed = s.regressed || r.Tags["regression"] == "true"
		if status, why := outcome(r); s.status == "" || rankOf(status) > rankOf(s.status) {
			s.status, s.why = status, why
		}
		if wrong[r.PointID+r.Side] {
			continue
		}
		if r.Status == schema.StatusOK {
			s.ok = append(s.ok, r)
		}
		if m := timeOf(r); m != nil {
			timed, means = append(timed, r), append(means, *m.Summary.Mean)
		}
		if v := middle(metricOf(r, "device_memory_peak", "B")); v != nil {
			memory = append(memory, *v)
		}
	}
	s.mean, s.memory = mean(means), in(mean(memory), "MiB")
	s.percentiles, s.custom = percentilesOf(timed), customOf(s.ok)
	if s.status == "" {
		s.why = "only profiled runs"
	}
	return s
}

// sourceFile returns the source file of a benchmark; for an imported benchmark, as named in its results file.
func sourceFile(r *schema.Run) string {
	name := r.Env.Facts["runner.file"]
	if name == "" && r.Variant == "baseline" {
		return r.Params["baseline_file"]
	}
	return name
}

// rankOf orders statuses: of several runs, the status with the highest rank is the combined one.
func rankOf(status schema.Status) int {
	switch status {
	case schema.StatusOK:
		return 0
	case schema.StatusSkipped, schema.StatusUnsupported:
		return 1
	}
	return 3
}

func (s *side) rank() int {
	switch {
	case s.status == "":
		return 1
	case s.status == schema.StatusOK && s.regressed:
		return 2
	}
	return rankOf(s.status)
}

func (s *side) skipped() bool { return s.rank() == 1 }

// word returns the status in the words of the harness.
func (s *side) word() string {
	return []string{"succeeded", "skipped", "failed_regression", "failed_error"}[s.rank()]
}

// percentilesOf returns the percentiles by the names of the harness if there is one ok run; percentiles of several runs cannot be combined.
func percentilesOf(ok []*schema.Run) map[string]number {
	if len(ok) != 1 {
		return nil
	}
	s := timeOf(ok[0]).Summary
	all := map[string]number{}
	for name, v := range map[string]*float64{"25.0": s.P25, "50.0": s.P50, "75.0": s.P75, "90.0": s.P90, "95.0": s.P95, "99.0": s.P99} {
		if text := in(v, "ms"); text != "" {
			all[name] = text
		}
	}
	return all
}

// customUnits are the harness's unit suffixes of names.
var customUnits = map[string]struct{ ending, unit string }{
	"ns": {"_ms", "ms"}, "B": {"_mb", "MiB"}, "ratio": {"_pct", "%"}, "B/s": {"_gbs", "GB/s"}, "MHz": {"_mhz", "MHz"},
	"mW": {"_w", "W"}, "Cel": {"_c", "Cel"}, "flop/s": {"_tflops", "Tflop/s"}, "mJ": {"_j", "J"}, "1/s": {"_per_s", "1/s"},
}

// customOf returns the metrics of ok runs besides time and device memory: means of the medians of the runs. Rates belong to the mean
// time, as in throughput.
func customOf(ok []*schema.Run) map[string]number {
	of, units := map[string][]*schema.Metric{}, map[string]string{}
	for _, r := range ok {
		for i := range r.Metrics {
			m := &r.Metrics[i]
			if m != timeOf(r) && m.Name != "device_memory_peak" {
				of[m.Name], units[m.Name] = append(of[m.Name], m), m.Unit
			}
		}
	}
	all := map[string]number{}
	for name, list := range of {
		u := customUnits[units[name]]
		if v := in(overRuns(list), u.unit); v != "" {
			all[name+u.ending] = v
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// overRuns returns the value of a metric of several runs: the mean of their medians, or for a rate the one that belongs to their mean time.
func overRuns(list []*schema.Metric) *float64 {
	var values []float64
	rate := slices.Contains([]string{"1/s", "B/s", "flop/s"}, list[0].Unit)
	for _, m := range list {
		v := middle(m)
		if rate {
			v = meanRate(m)
		}
		if v != nil {
			values = append(values, *v)
		}
	}
	if v := harmonic(values); rate && v != nil {
		return v
	}
	return mean(values)
}

// throughput returns the rates of the runs that count by the names of the harness; nil if none is known.
func (s *side) throughput() *throughput {
	t := throughput{LatencyMS: in(s.mean, "ms")}
	rate := func(name, unit string) number {
		var list []*schema.Metric
		for _, r := range s.ok {
			if m := metricOf(r, name, unit); m != nil {
				list = append(list, m)
			}
		}
		if len(list) == 0 {
			return ""
		}
		return in(overRuns(list), unit)
	}
	t.Requests, t.Tokens, t.Samples = rate("request_throughput", "1/s"), rate("token_throughput", "1/s"), rate("sample_throughput", "1/s")
	t.Bytes, t.Goodput = rate("bandwidth", "B/s"), rate("goodput", "ratio")
	if t.Custom = rate("throughput", "1/s"); t.Custom != "" {
		t.CustomName = new("items")
	}
	if t == (throughput{LatencyMS: t.LatencyMS}) {
		return nil
	}
	return &t
}

// trace returns the profiler file with an extension; empty if none was kept.
func (s *side) trace(endings ...string) string {
	for _, path := range s.traces {
		if slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(path, ending) }) && strings.Contains(path, "/profiles/") {
			return path
		}
	}
	return ""
}

// chapterSummary counts pairs: total = successful + failed + skipped. Speedups cover all optimizations that have a time, including
// slower ones; without any they are null.
type chapterSummary struct {
	Total              int    `json:"total_benchmarks"`
	Successful         int    `json:"successful"`
	Failed             int    `json:"failed"`
	FailedError        int    `json:"failed_error"`
	FailedRegression   int    `json:"failed_regression"`
	SkippedHardware    int    `json:"skipped_hardware"`
	SkippedDistributed int    `json:"skipped_distributed"`
	Skipped            int    `json:"total_skipped"`
	Speedups           int    `json:"total_speedups"`
	Average            number `json:"average_speedup"`
	Max                number `json:"max_speedup"`
	Min                number `json:"min_speedup"`
	Informational      int    `json:"informational"`
	Geometric          number `json:"geometric_mean_speedup"`
	Slower             int    `json:"slower"` // optimizations with a speedup below 1

	all []speedup
}

// speedup is the speedup of an optimization and where it occurs.
type speedup struct {
	value float64
	where string
}

func (c *chapter) summarize() *chapterSummary {
	s := &chapterSummary{Total: len(c.Benchmarks)}
	for _, p := range c.Benchmarks {
		switch p.Status {
		case "succeeded":
			s.Successful++
		case "failed_regression":
			s.FailedRegression++
		case "skipped":
			s.Skipped++
		default:
			s.FailedError++
		}
		for _, o := range p.Optimizations {
			if o.speedup != nil {
				s.all = append(s.all, speedup{*o.speedup, c.Name + ": " + p.Example + " " + o.Technique})
			}
		}
	}
	s.Failed, s.SkippedHardware = s.FailedError+s.FailedRegression, s.Skipped
	s.speedups()
	return s
}

func (s *chapterSummary) speedups() {
	values := make([]float64, len(s.all))
	for i, one := range s.all {
		if values[i] = one.value; one.value < 1 {
			s.Slower++
		}
	}
	if s.Speedups = len(values); s.Speedups == 0 {
		return
	}
	s.Average, s.Geometric = real(*mean(values)), real(*geometric(values))
	s.Max, s.Min = real(slices.Max(values)), real(slices.Min(values))
}

// add adds the numbers of a chapter.
func (s *chapterSummary) add(o *chapterSummary) {
	s.Total, s.Successful, s.Failed = s.Total+o.Total, s.Successful+o.Successful, s.Failed+o.Failed
	s.FailedError, s.FailedRegression, s.Skipped = s.FailedError+o.FailedError, s.FailedRegression+o.FailedRegression, s.Skipped+o.Skipped
	s.all = append(s.all, o.all...)
}

// times formats a speedup: 1.54x; small ones with more digits, so that they are not 0.00x.
func (n number) times() string {
	switch v := n.float(); {
	case n == "":
		return "-"
	case v < .1:
		return fmt.Sprintf("%.2gx", v)
	default:
		return fmt.Sprintf("%.2fx", v)
	}
}

// ms formats a time: 12.50; with three significant digits where that would be 0.00.
func (n number) ms() string {
	if v := n.float(); v < .1 {
		return fmt.Sprintf("%.3g", v)
	}
	return twoDigits(n)
}

// markdown returns benchmark_test_results.md.
func (s *suite) markdown(runs []*schema.Run) []byte {
	var p page
	p.line("# Benchmark Test Results Summary\n")
	generated := unknown
	if s.Timestamp != nil {
		if at, err := time.Parse(time.RFC3339, *s.Timestamp); err == nil {
			generated = at.Format("2006-01-02 15:04:05") + " UTC"
		}
	}
	p.line("**Generated:** %s\n", generated)
	p.line("Times are means, as in BenchmarkHarness, and a speedup is a ratio of means. `neurolens compare` judges by medians, which one slow run does not move.\n")
	s.overall(&p)
	p.line("## Per-Chapter Summary\n")
	p.header("Chapter", "Status", "Benchmarks", "Successful", "Failed", "Avg Speedup", "Max Speedup", "Min Speedup", "Skipped")
	for _, c := range s.Results {
		p.row(c.Name, c.word(), fmt.Sprint(c.Summary.Total), fmt.Sprint(c.Summary.Successful), fmt.Sprint(c.Summary.Failed),
			c.Summary.Average.times(), c.Summary.Max.times(), c.Summary.Min.times(), fmt.Sprint(c.Summary.Skipped))
	}
	p.line("\n## Detailed Results")
	for _, c := range s.Results {
		p.line("\n### %s", strings.ToUpper(oneLine(c.Name)))
		for _, b := range c.Benchmarks {
			b.markdown(&p)
		}
	}
	p.notOK(runs, label)
	return []byte(p.String())
}

func (s *suite) overall(p *page) {
	var total chapterSummary
	tested := 0
	for _, c := range s.Results {
		total.add(c.Summary)
		if c.word() != "SKIP" {
			tested++
		}
	}
	total.speedups()
	p.line("## Overall Summary\n")
	p.line("- **Chapters tested:** %d/%d", tested, len(s.Results))
	p.line("- **Chapters skipped:** %d", len(s.Results)-tested)
	p.line("- **Total benchmarks:** %d\n- **Successful:** %d\n- **Failed:** %d", total.Total, total.Successful, total.Failed)
	p.line("- **Errors:** %d\n- **Regressions:** %d", total.FailedError, total.FailedRegression)
	if total.Skipped > 0 {
		p.line("- **WARNING: Skipped:** %d", total.Skipped)
	}
	p.line("- **Average speedup:** %s", total.Average.times())
	best, worst := "", ""
	if len(total.all) > 0 {
		byValue := func(a, b speedup) int { return cmp.Compare(a.value, b.value) }
		best, worst = " ("+oneLine(slices.MaxFunc(total.all, byValue).where)+")", " ("+oneLine(slices.MinFunc(total.all, byValue).where)+")"
	}
	p.line("- **Best speedup:** %s%s\n- **Worst speedup:** %s%s", total.Max.times(), best, total.Min.times(), worst)
	p.line("- **Geometric mean speedup:** %s", total.Geometric.times())
	p.line("- **Slower than their baseline:** %d of %d\n", total.Slower, total.Speedups)
}

// word returns the status of a chapter: PASS if all of it succeeded.
func (c *chapter) word() string {
	switch {
	case c.Summary.Failed > 0:
		return "WARN"
	case c.Summary.Successful == 0:
		return "SKIP"
	}
	return "PASS"
}

func (p *pair) markdown(to *page) {
	mark := ""
	if p.Type == "cuda" {
		mark = " *(CUDA)*"
	}
	to.line("\n**%s**%s", oneLine(p.Example), mark)
	links := traceLinks(p.Nsys, p.Ncu, p.Torch)
	switch {
	case len(p.side.runs) == 0:
		to.line("- Baseline: none was run")
	case p.Time != "":
		to.line("- Baseline: `%s` (%s ms)%s", textOr(p.BaselineFile, "baseline"), p.Time.ms(), links)
	default:
		to.line("- Baseline: `%s` (%s: %s)%s", textOr(p.BaselineFile, "baseline"), p.side.word(), oneLine(p.side.why), links)
	}
	for _, o := range p.Optimizations {
		name, links := textOr(o.File, oneLine(o.Technique)), traceLinks(o.Nsys, o.Ncu, o.Torch)
		switch {
		case o.Time == "":
			to.line("- `%s`: %s: %s%s", name, o.Status, oneLine(o.side.why), links)
		case o.Speedup == "":
			to.line("- `%s`: %s ms%s", name, o.Time.ms(), links)
		default:
			to.line("- `%s`: %s ms (%s speedup)%s", name, o.Time.ms(), o.Speedup.times(), links)
		}
	}
	if p.BestSpeedup.float() > 1 {
		to.line("- Best speedup: %s", p.BestSpeedup.times())
	}
}

// traceLinks returns links to the files of profilers.
func traceLinks(nsys, ncu, torch string) string {
	text := ""
	for _, l := range []struct{ name, to string }{{"nsys", nsys}, {"ncu", ncu}, {"torch", torch}} {
		if l.to != "" {
			text += fmt.Sprintf(" | [%s](./%s)", l.name, path.Clean(strings.ReplaceAll(l.to, " ", "%20")))
		}
	}
	return text
}
