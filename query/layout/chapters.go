package layout

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
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
