package layout

import (
	"encoding/json"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// kernelResult is one run of a kernel: BenchmarkResult of bench_all.py.
type kernelResult struct {
	Kernel      string                     `json:"kernel_name"`
	Backend     string                     `json:"backend"`
	Precision   string                     `json:"precision"`
	ProblemSize map[string]json.RawMessage `json:"problem_size"`
	Timing      kernelTiming               `json:"timing"`
	Memory      *kernelMemory              `json:"memory"`
	Energy      *kernelEnergy              `json:"energy"`
	Accuracy    *kernelAccuracy            `json:"accuracy"`
	Success     bool                       `json:"success"`
	Error       *string                    `json:"error_message"`
	Metadata    kernelMetadata             `json:"metadata"`

	Variant string `json:"variant,omitempty"`
	Model   string `json:"model,omitempty"`
	Own     *own   `json:"neurolens"`
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

// kernels makes the files of the QuASIM bench tools.
func (f *Folder) kernels() ([]file, error) {
	runs := f.measured()
	s := kernelSummary{Total: len(runs), Environment: kernelEnvOf(runs), Results: []*kernelResult{}}
	if s.Environment.Git != nil {
		s.Timestamp = s.Environment.Git.Commit
	}
	names := named(runs, kernelNames)
	var all []file
	add := func(path string, v any) error {
		one, err := document(path, v)
		all = append(all, one)
		return err
	}
	for _, r := range runs {
		s.count(r.Status)
		result := kernelResultOf(r)
		s.Results = append(s.Results, result)
		if err := add("kernels/"+names[r.RunID]+".json", result); err != nil {
			return nil, err
		}
	}
	if err := add("env.json", s.Environment); err != nil {
		return nil, err
	}
	if err := add("kernel_manifest.json", kernelManifestOf(runs)); err != nil {
		return nil, err
	}
	if f.against || len(f.base) > 0 {
		all = append(all, file{"regressions.md", regressions(measuredOf(f.base), runs)})
	}
	all = append(all, file{"summary.md", s.markdown(runs)})
	return all, add("summary.json", &s)
}

// kernelNames returns possible names for the file of a run: the kernel alone if it has one result.
func kernelNames(r *schema.Run) []string {
	name := fileName(r.Benchmark)
	longer := name
	for _, part := range []string{r.Backend, r.Precision} {
		if part != "" {
			longer += "_" + fileName(part)
		}
	}
	point := longer + "_" + shortPoint(r)
	return []string{name, longer, point, point + "_" + shortRun(r), point + "_" + r.RunID}
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

func kernelResultOf(r *schema.Run) *kernelResult {
	k := &kernelResult{
		Kernel: r.Benchmark, Backend: orUnknown(r.Backend), Precision: orUnknown(r.Precision),
		ProblemSize: axes(r, "variant", "model", "precision"),
		Timing:      kernelTiming{Raw: []number{}},
		Success:     r.Status == schema.StatusOK, Error: optional(why(r)),
		Metadata: kernelMetadata{settingValue(r, "iterations"), settingValue(r, "warmup"), settingValue(r, "seed")},
		Variant:  r.Variant, Model: r.Model, Own: ownOf(r),
	}
	m := timeOf(r)
	k.Own.timed("timing", m, false)
	k.Timing.fill(m)
	shown := append(k.others(r, m), nameOf(m))
	k.Own.rest(r, shown...)
	return k
}

// settingValue returns a setting of a run as JSON, or null if it is unknown.
func settingValue(r *schema.Run, name string) json.RawMessage {
	text := setting(r, name)
	if text == "" {
		return json.RawMessage("null")
	}
	return jsonValue(text)
}

func (t *kernelTiming) fill(m *schema.Metric) {
	if m == nil {
		return
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
}

// others fills in the measured values besides the time and returns the metrics that it used. Memory is that of the device, or of
// the process if only that is known.
func (k *kernelResult) others(r *schema.Run, latency *schema.Metric) (shown []string) {
	value := func(name, unit, as string) number {
		m := metricOf(r, name, unit)
		shown = append(shown, nameOf(m))
		return in(middle(m), as)
	}
	peak := metricOf(r, "device_memory_peak", "B")
	if peak == nil {
		peak = metricOf(r, "peak_memory", "B")
	}
	memory := kernelMemory{in(middle(peak), "MiB"), value("device_memory_allocated", "B", "MiB"), value("device_memory_reserved", "B", "MiB")}
	if memory != (kernelMemory{}) {
		k.Memory, shown = &memory, append(shown, nameOf(peak))
		k.Own.shows("peak_mb", peak, "device_memory_peak")
	}
	energy := kernelEnergy{Energy: value("energy", "mJ", "J"), Power: value("power", "mW", "W")}
	if energy != (kernelEnergy{}) {
		energy.Duration = in(meanOf(latency), "s")
		k.Energy = &energy
	}
	accuracy := kernelAccuracy{
		value("rmse", "", ""), value("max_error", "", ""), value("relative_error", "ratio", "ratio"), value("determinism_std", "", ""),
	}
	if accuracy != (kernelAccuracy{}) {
		k.Accuracy = &accuracy
	}
	return shown
}

// kernelFound is a kernel of kernel_manifest.json.
type kernelFound struct {
	Name         string         `json:"name"`
	Path         *string        `json:"path"`
	Backend      string         `json:"backend"`
	Module       *string        `json:"module_name"`
	Function     *string        `json:"function_name"`
	TestCommand  *string        `json:"test_command"`
	Dependencies []string       `json:"dependencies"`
	Config       map[string]any `json:"config"`
	Backends     []string       `json:"backends"` // of all its runs
	Precisions   []string       `json:"precisions"`
}

// kernelManifestOf returns the kernels that were run, in the order of their first runs.
func kernelManifestOf(runs []*schema.Run) []*kernelFound {
	all, at := []*kernelFound{}, map[string]*kernelFound{}
	for _, r := range runs {
		source := r.Env.Facts["runner.file"]
		k := at[r.Benchmark+"\x00"+source]
		if k == nil {
			k = &kernelFound{
				Name: r.Benchmark, Path: optional(source), Backend: orUnknown(r.Backend), Function: optional(r.Env.Facts["runner.object"]),
				Dependencies: []string{}, Config: map[string]any{}, Backends: []string{}, Precisions: []string{},
			}
			if module, ok := strings.CutSuffix(source, ".py"); ok {
				k.Module = new(strings.ReplaceAll(path.Clean(module), "/", "."))
			}
			all, at[r.Benchmark+"\x00"+source] = append(all, k), k
		}
		k.Backends, k.Precisions = with(k.Backends, r.Backend), with(k.Precisions, r.Precision)
	}
	return all
}

// with adds a word to a list if it is not in it.
func with(list []string, word string) []string {
	if word == "" || slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}
