package layout

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
)

// kernelResult is a point of a kernel: BenchmarkResult of bench_all.py.
type kernelResult struct {
	Kernel      string                     `json:"kernel_name"`
	Backend     string                     `json:"backend"`
	Precision   *string                    `json:"precision"` // null for a kernel that takes none
	ProblemSize map[string]json.RawMessage `json:"problem_size"`
	Timing      kernelTiming               `json:"timing"`
	Memory      *kernelMemory              `json:"memory"`
	Energy      *kernelEnergy              `json:"energy"`
	Accuracy    *kernelAccuracy            `json:"accuracy"`
	Success     bool                       `json:"success"`
	Error       *string                    `json:"error_message"`
	Metadata    kernelMetadata             `json:"metadata"`

	Variant string       `json:"variant,omitempty"`
	Model   string       `json:"model,omitempty"`
	Runs    []*kernelRun `json:"runs"`

	point *kernelPoint
}

// kernelRun is a run of a point. The entry of a single run has no timing and metadata, because the point has them; it has timing if the time does not
// count for the point.
type kernelRun struct {
	Timing      *kernelTiming   `json:"timing,omitempty"`
	Metadata    *kernelMetadata `json:"metadata,omitempty"`
	Own         *own            `json:"neurolens"`
	Environment kernelRunEnv    `json:"environment"`
}

type kernelTiming struct {
	P50        number   `json:"latency_ms_p50"`
	P90        number   `json:"latency_ms_p90"`
	P99        number   `json:"latency_ms_p99"`
	Mean       number   `json:"latency_ms_mean"`
	Std        number   `json:"latency_ms_std"` // of the population
	Throughput number   `json:"throughput_ops_per_sec"`
	Iterations number   `json:"iterations"`
	Raw        []number `json:"raw_times_ms"`
}

type kernelMemory struct {
	Peak      number `json:"peak_mb"` // MiB, as are the others here
	Allocated number `json:"allocated_mb"`
	Reserved  number `json:"reserved_mb"`
}

type kernelEnergy struct {
	Energy   number `json:"energy_j"` // of one call
	Power    number `json:"power_w"`
	Duration number `json:"duration_s"` // of one call
}

type kernelAccuracy struct {
	RMSE        number `json:"rmse"`
	Max         number `json:"max_error"`
	Relative    number `json:"relative_error"`
	Determinism number `json:"determinism_std"`
}

type kernelMetadata struct {
	Iterations json.RawMessage `json:"iterations"`
	Warmup     json.RawMessage `json:"warmup"`
	Seed       json.RawMessage `json:"seed"`
}

// kernelSummary is summary.json. Its timestamp is the measured commit, as in the original tool.
type kernelSummary struct {
	Timestamp   *string         `json:"timestamp"`
	Total       int             `json:"total_kernels"`
	Successful  int             `json:"successful"`
	Failed      int             `json:"failed"`
	Environment kernelEnv       `json:"environment"`
	Results     []*kernelResult `json:"results"`
	Skipped     int             `json:"skipped"`
	Unsupported int             `json:"unsupported"`
}

// kernels makes the files of the QuASIM bench tools: one result and one file for each point of a kernel. The files of these points that
// an earlier call has written under other names are removed.
func (f *Folder) kernels(dir string) ([]file, error) {
	runs := f.measured()
	points := kernelPoints(runs)
	s := kernelSummary{Total: len(points), Environment: kernelEnvOf(runs), Results: []*kernelResult{}}
	if s.Environment.Git != nil {
		s.Timestamp = s.Environment.Git.Commit
	}
	covered := map[string]bool{}
	for _, p := range points {
		covered[p.id] = true
	}
	earlier := earlierKernels(filepath.Join(dir, kernelFolder), covered)
	names, tried := maps.Clone(earlier.others), earlier.tried
	for _, p := range points {
		s.count(p.status)
		s.Results = append(s.Results, kernelResultOf(p))
		names[p.id] = p.names
		tried[p.run.Benchmark] = tried[p.run.Benchmark] || p.tried()
	}
	for _, p := range points {
		if !p.tried() && tried[p.run.Benchmark] { // the kernel alone is a point that was measured
			names[p.id] = names[p.id][1:]
		}
	}
	chosen := named(names, earlier.taken)
	var all []file
	add := func(path string, v any) error {
		one, err := document(path, v)
		all = append(all, one)
		return err
	}
	written := map[string]bool{}
	for _, k := range s.Results {
		path := kernelFolder + "/" + chosen[k.point.id] + ".json"
		written[path] = true
		if err := add(path, k); err != nil {
			return nil, err
		}
	}
	for _, name := range earlier.covered {
		if path := kernelFolder + "/" + name; !written[path] {
			all = append(all, file{path: path, stale: func(content []byte) bool { return covered[ownIn(content, kernelMember).PointID] }})
		}
	}
	if err := add("env.json", s.Environment); err != nil {
		return nil, err
	}
	if err := add("kernel_manifest.json", kernelManifestOf(runs)); err != nil {
		return nil, err
	}
	if f.against || len(f.base) > 0 {
		all = append(all, file{path: "regressions.md", text: regressions(measuredOf(f.base), runs)})
	}
	summary, err := f.summaryFiles("summary.json", "summary.md", &s, s.markdown(runs))
	return append(all, summary...), err
}

// kernelNames returns possible names for the file of a point, from one of its runs: the kernel alone if it has one point that was not skipped,
// else with backend and precision, else with all axes.
func kernelNames(r *schema.Run) []string {
	name := fileName(r.Benchmark)
	longer := name
	for _, part := range []string{r.Backend, r.Precision} {
		if part != "" {
			longer += "_" + fileName(part)
		}
	}
	point := longer + "_" + shortPoint(r)
	all := []string{name, longer, point, longer + "_" + fileName(r.PointID), point + "_" + r.RunID}
	words := strings.NewReplacer("=", "-", " ", "_", ",", "x", "[", "", "]", "", "{", "", "}", "", `"`, "").Replace(described(axes(r, "precision")))
	if whole := longer + "_" + words; words != "" && len(whole) <= 100 {
		all = slices.Insert(all, 2, fileName(whole)) // grid-64x64_size-128
	}
	return all
}

func (s *kernelSummary) count(status schema.Status) {
	switch status {
	case schema.StatusOK:
		s.Successful++
	case schema.StatusSkipped:
		s.Skipped++
	case schema.StatusUnsupported:
		s.Unsupported++
	default:
		s.Failed++
	}
}

// unknown is what these tools write for an unknown word.
const unknown = "unknown"

func orUnknown(text string) string {
	if text == "" {
		return unknown
	}
	return text
}

func kernelResultOf(p *kernelPoint) *kernelResult {
	r := p.run
	k := &kernelResult{
		Kernel: r.Benchmark, Backend: orUnknown(r.Backend), Precision: files.Optional(r.Precision),
		ProblemSize: axes(r, "variant", "model", "precision"), Timing: kernelTimingOf(p.time), Success: p.status == schema.StatusOK, Error: files.Optional(p.why),
		Metadata: kernelMetadataOf(p.runs[len(p.runs)-1]), Variant: r.Variant, Model: r.Model, point: p,
	}
	for _, r := range p.runs {
		m, one := timeOf(r), &kernelRun{Own: ownOf(r), Environment: kernelRunEnvOf(r)}
		one.Own.timed("timing", m, false)
		one.Own.rest(r, m)
		if m != nil && (len(p.runs) > 1 || p.time == nil) {
			one.Timing = new(kernelTimingOf(m))
		}
		if len(p.runs) > 1 {
			one.Metadata = new(kernelMetadataOf(r))
		}
		k.Runs = append(k.Runs, one)
	}
	k.others()
	return k
}

func kernelMetadataOf(r *schema.Run) kernelMetadata {
	return kernelMetadata{settingValue(r, "iterations"), settingValue(r, "warmup"), settingValue(r, "seed")}
}

// settingValue returns a setting of a run as JSON, or null if it is unknown.
func settingValue(r *schema.Run, name string) json.RawMessage {
	text := setting(r, name)
	if text == "" {
		return json.RawMessage("null")
	}
	return jsonValue(text)
}

func kernelTimingOf(m *schema.Metric) kernelTiming {
	t := kernelTiming{Raw: []number{}}
	if m == nil {
		return t
	}
	s := m.Summary
	t.P50, t.P90, t.P99, t.Mean = in(s.P50, "ms"), in(s.P90, "ms"), in(s.P99, "ms"), in(s.Mean, "ms")
	if s.StdDev != nil && s.N != nil && *s.N > 1 {
		n := float64(*s.N)
		t.Std = in(new(*s.StdDev*math.Sqrt((n-1)/n)), "ms")
	}
	t.Throughput, t.Iterations = in(perSecond(s.Mean), "1/s"), integer(s.N)
	if raw := times(m); raw != nil {
		t.Raw = raw
	}
	return t
}

// others fills in the measured values besides the time: medians over the runs. Memory is that of the device, or of the process if only
// that is known. Energy and power are means, as is the duration.
func (k *kernelResult) others() {
	value := func(name, unit, as string) number { return in(median(k.point.all(name, unit, middle)), as) }
	peak := "device_memory_peak"
	if value(peak, "B", "MiB") == "" {
		peak = "peak_memory"
	}
	memory := kernelMemory{value(peak, "B", "MiB"), value("device_memory_allocated", "B", "MiB"), value("device_memory_reserved", "B", "MiB")}
	if memory != (kernelMemory{}) {
		k.Memory = &memory
		for _, r := range k.Runs {
			r.Own.shows("peak_mb", k.point.metric(r.Own.RunID, peak), "device_memory_peak")
		}
	}
	average := func(name, unit, as string) number { return in(mean(k.point.all(name, unit, meanOf)), as) }
	energy := kernelEnergy{Energy: average("energy", "mJ", "J"), Power: average("power", "mW", "W")}
	if energy != (kernelEnergy{}) {
		energy.Duration = in(meanOf(k.point.time), "s")
		k.Energy = &energy
	}
	relative := "relative_error"
	if value(relative, "ratio", "") == "" {
		relative = schema.MetricOverNorm // of the tools themselves
	}
	accuracy := kernelAccuracy{value("rmse", "", ""), value("max_error", "", ""), value(relative, "ratio", ""), value("determinism_std", "", "")}
	for _, r := range k.Runs {
		r.Own.shows("relative_error", k.point.metric(r.Own.RunID, relative), "relative_error")
	}
	if accuracy != (kernelAccuracy{}) {
		k.Accuracy = &accuracy
	}
}

// ofProcess reports whether the peak memory is that of the process.
func (k *kernelResult) ofProcess() bool {
	return slices.ContainsFunc(k.Runs, func(r *kernelRun) bool { return r.Own.Metrics["peak_mb"] != "" })
}

// kernelFound is a kernel of kernel_manifest.json.
type kernelFound struct {
	Name         string          `json:"name"`
	Path         *string         `json:"path"`
	Backend      string          `json:"backend"`
	Module       *string         `json:"module_name"`
	Function     *string         `json:"function_name"`
	TestCommand  *string         `json:"test_command"`
	Dependencies []string        `json:"dependencies"`
	Config       json.RawMessage `json:"config"`
	Backends     []string        `json:"backends"` // of all its runs
	Precisions   []string        `json:"precisions"`
}

// kernelManifestOf returns the kernels that were run, in the order of their names, with the measured backends and precisions. A kernel that was not measured
// has the planned ones.
func kernelManifestOf(runs []*schema.Run) []*kernelFound {
	all, of, at := []*kernelFound{}, map[*kernelFound][]*schema.Run{}, map[string]*kernelFound{}
	for _, r := range runs {
		source := r.Env.Facts["runner.file"]
		k := at[r.Benchmark+"\x00"+source]
		if k == nil {
			k = &kernelFound{
				Name: r.Benchmark, Path: files.Optional(source), Function: files.Optional(r.Env.Facts["runner.object"]),
				Dependencies: []string{}, Config: json.RawMessage("{}"), Backends: []string{}, Precisions: []string{},
			}
			if module, ok := strings.CutSuffix(source, ".py"); ok {
				k.Module = new(strings.ReplaceAll(path.Clean(module), "/", "."))
			}
			all, at[r.Benchmark+"\x00"+source] = append(all, k), k
		}
		of[k] = append(of[k], r)
	}
	for _, k := range all {
		k.describe(of[k])
	}
	slices.SortStableFunc(all, func(a, b *kernelFound) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// describe fills in what the runs of a kernel say: what discover found, else what was measured.
func (k *kernelFound) describe(runs []*schema.Run) {
	tried := slices.DeleteFunc(slices.Clone(runs), func(r *schema.Run) bool { return rankOf(r.Status) == 1 })
	if len(tried) == 0 {
		tried = runs
	}
	for _, r := range tried {
		k.Backends, k.Precisions = with(k.Backends, r.Backend), with(k.Precisions, r.Precision)
	}
	slices.Sort(k.Backends)
	slices.Sort(k.Precisions)
	k.Backend = unknown
	if len(k.Backends) > 0 {
		k.Backend = k.Backends[0]
	}
	found := runs[len(runs)-1].Env.Facts
	k.Backend = cmp.Or(found[schema.FactFoundBackend], k.Backend)
	if text := found[schema.FactFoundImports]; text != "" && json.Unmarshal([]byte(text), &k.Dependencies) != nil {
		k.Dependencies = []string{} // an import can have any text
	}
	if text := found[schema.FactFoundConfig]; strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		k.Config = json.RawMessage(text)
	}
}

// with adds a word to a list if it is not in it.
func with(list []string, word string) []string {
	if word == "" || slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}
