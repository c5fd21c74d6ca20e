package layout

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// kernelResult is a point of a kernel: BenchmarkResult of bench_all.py.
type kernelResult struct {
	Kernel      string                     `json:"kernel_name"`
	Backend     string                     `json:"backend"`
	Precision   *string                    `json:"precision"` // null for a kernel without a precision
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

// kernelRun is a run of a point. The entry of a single run has no timing and metadata, because the point has them; it has timing if the
// time does not count for the point.
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

// kernelSummary is the content of summary.json. Its timestamp is the measured commit, as in the original tool.
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
		if !p.tried() && tried[p.run.Benchmark] { // the name of the kernel alone belongs to a measured point
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

// kernelNames returns possible names for the file of a point, from one of its runs: the kernel alone if it has one point that was not
// skipped, else with backend and precision, else with all axes.
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

// others fills in the measured values besides the time: medians over the runs. Memory is the memory of the device, or of the process if
// only that is known. Energy and power are means, as is the duration.
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

// ofProcess reports whether the peak memory is the memory of the process.
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

// kernelManifestOf returns the kernels that were run, in the order of their names, with the measured backends and precisions. A kernel that
// was not measured has the planned ones.
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

// describe fills in the description of a kernel from its runs: from the findings of discover, else from the measured axes.
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

// kernelEnv is env.json: the environment of the newest run, and the libraries, machines and commits of all runs.
type kernelEnv struct {
	OS           *string     `json:"os"`
	OSVersion    *string     `json:"os_version"`
	Kernel       *string     `json:"kernel"`
	Python       *string     `json:"python_version"`
	Architecture *string     `json:"architecture"`
	Processor    *string     `json:"processor"`
	Git          *kernelGit  `json:"git"`
	CUDA         *kernelCUDA `json:"cuda"`
	NumPy        *string     `json:"numpy_version"`
	// Libraries are the versions of the packages that any of the runs has loaded; for several versions, the version of the newest run.
	Libraries map[string]string `json:"libraries"`
	Machines  []string          `json:"machines"` // all machines of the runs
	Commits   []string          `json:"commits"`  // all commits of the runs
}

type kernelGit struct {
	Commit *string `json:"commit"`
	Branch *string `json:"branch"`
	Dirty  *bool   `json:"dirty"`
}

type kernelCUDA struct {
	Available bool    `json:"available"`
	Version   *string `json:"version,omitempty"`
	Count     number  `json:"device_count,omitempty"`
	Device    *string `json:"device_name,omitempty"`
}

// kernelRunEnv is the environment of a run, with members of env.json: a later call may replace env.json by the environment of other runs.
type kernelRunEnv struct {
	OS           *string     `json:"os,omitempty"`
	Kernel       *string     `json:"kernel,omitempty"`
	Python       *string     `json:"python_version,omitempty"`
	Architecture *string     `json:"architecture,omitempty"`
	Git          *kernelGit  `json:"git,omitempty"`
	CUDA         *kernelCUDA `json:"cuda,omitempty"`
	NumPy        *string     `json:"numpy_version,omitempty"`
}

func kernelRunEnvOf(r *schema.Run) kernelRunEnv {
	e := kernelEnvOf([]*schema.Run{r})
	return kernelRunEnv{e.OS, e.Kernel, e.Python, e.Architecture, e.Git, e.CUDA, e.NumPy}
}

func kernelEnvOf(runs []*schema.Run) kernelEnv {
	e := kernelEnv{Machines: []string{}, Commits: []string{}, Libraries: map[string]string{}}
	if len(runs) == 0 {
		return e
	}
	for _, r := range runs {
		e.Machines, e.Commits = with(e.Machines, r.Env.Machine), with(e.Commits, r.Env.GitCommit)
	}
	env := &runs[len(runs)-1].Env
	os := env.OS
	if os != "" {
		os = strings.ToUpper(os[:1]) + os[1:]
	}
	e.OS, e.OSVersion, e.Kernel, e.Python = files.Optional(os), files.Optional(env.Facts["os.build"]), files.Optional(env.OSKernel), files.Optional(pythonVersion(runs))
	e.Processor = files.Optional(env.CPUModel)
	for _, r := range runs { // a run that did not start, or does not use a package, does not know its version
		for name, version := range r.Env.Facts {
			if library, is := strings.CutPrefix(name, factPackage); is {
				e.Libraries[library] = version
			}
		}
		if version := r.Env.Facts["numpy.version"]; version != "" {
			e.NumPy = &version
		}
		if name := r.Env.Facts["cpu.architecture"]; name != "" {
			e.Architecture = &name
		}
	}
	if version := e.Libraries["numpy"]; version != "" {
		e.NumPy = &version
	}
	if env.GitCommit != "" {
		e.Git = &kernelGit{files.Optional(env.GitCommit), files.Optional(env.GitBranch), env.GitDirty}
	}
	for _, r := range runs { // the newest run that knows a device: a run that did not start may not
		if gpu := &r.Env; gpu.GPUName != "" || gpu.CUDAVersion != "" {
			e.CUDA = &kernelCUDA{true, files.Optional(gpu.CUDAVersion), integer(gpu.GPUCount), files.Optional(gpu.GPUName)}
		}
	}
	return e
}

// pythonVersion returns the version of the newest run that knows it: a skipped run has started no Python.
func pythonVersion(runs []*schema.Run) (version string) {
	for _, r := range runs {
		if r.Env.PythonVersion != "" {
			version = r.Env.PythonVersion
		}
	}
	return version
}

// kernelPoint holds the runs of a point and their combined results.
type kernelPoint struct {
	id     string
	run    *schema.Run // the first one
	names  []string    // of its file, see kernelNames
	runs   []*schema.Run
	ok     []*schema.Run // without those of a point with a wrong result
	status schema.Status // the worst of its runs
	why    string        // reason for that status
	time   *schema.Metric
}

// kernelPoints returns the points of runs in an order that two sessions share: by the names of their files.
func kernelPoints(runs []*schema.Run) []*kernelPoint {
	var all []*kernelPoint
	at, wrong := map[string]*kernelPoint{}, wrongPoints(runs)
	for _, r := range runs {
		p := at[r.PointID]
		if p == nil {
			p = &kernelPoint{id: r.PointID, run: r, names: kernelNames(r)}
			all, at[r.PointID] = append(all, p), p
		}
		p.runs = append(p.runs, r)
		if r.Status == schema.StatusOK && !wrong[r.PointID+r.Side] {
			p.ok = append(p.ok, r)
		}
	}
	for _, p := range all {
		p.combine()
	}
	slices.SortStableFunc(all, func(a, b *kernelPoint) int { return slices.Compare(a.names, b.names) })
	return all
}

// tried reports whether a run of the point was not skipped, and is supported.
func (p *kernelPoint) tried() bool {
	return slices.ContainsFunc(p.runs, func(r *schema.Run) bool { return rankOf(r.Status) != 1 })
}

// combine sets the status and the time of a point. It pools the samples of its runs, so the statistics of the time describe the listed
// samples.
func (p *kernelPoint) combine() {
	as := 0
	for i, r := range p.runs {
		status, why := outcome(r)
		switch {
		case i == 0 || rankOf(status) > rankOf(p.status):
			p.status, p.why, as = status, why, 1
		case status == p.status:
			as++
		}
	}
	if p.status != schema.StatusOK && as < len(p.runs) {
		p.why = fmt.Sprintf("%d of %d runs: %s", as, len(p.runs), p.why)
	}
	var times []*schema.Metric
	for _, r := range p.ok {
		if m := timeOf(r); m != nil && (len(times) == 0 || m.Name == times[0].Name) {
			times = append(times, m)
		}
	}
	p.time = together(times)
}

// together returns a metric with the samples of all metrics, or nil without metrics. If a metric has no samples, together returns the
// medians of their statistics.
func together(all []*schema.Metric) *schema.Metric {
	if len(all) < 2 {
		if len(all) == 0 {
			return nil
		}
		return all[0]
	}
	whole := schema.Metric{Name: all[0].Name, Unit: all[0].Unit}
	for _, m := range all {
		values := m.Values()
		if len(values) == 0 {
			return middleOf(all)
		}
		whole.Reals = append(whole.Reals, values...)
	}
	run := schema.Run{Metrics: []schema.Metric{whole}}
	stat.Complete(&run)
	return &run.Metrics[0]
}

// middleOf returns a metric without samples. Each of its statistics is the median over the metrics; a statistic that a metric lacks is left
// out.
func middleOf(all []*schema.Metric) *schema.Metric {
	over := func(of func(*schema.Summary) *float64) *float64 {
		var values []float64
		for _, m := range all {
			v := of(&m.Summary)
			if v == nil {
				return nil // the statistics of a row are all of the same runs
			}
			values = append(values, *v)
		}
		return median(values)
	}
	n := int64(0)
	for _, m := range all {
		if m.Summary.N == nil {
			n = -1
			break
		}
		n += *m.Summary.N
	}
	m := &schema.Metric{Name: all[0].Name, Unit: all[0].Unit, Summary: schema.Summary{
		Mean: over(func(s *schema.Summary) *float64 { return s.Mean }), StdDev: over(func(s *schema.Summary) *float64 { return s.StdDev }),
		P50: over(func(s *schema.Summary) *float64 { return s.P50 }), P90: over(func(s *schema.Summary) *float64 { return s.P90 }),
		P99: over(func(s *schema.Summary) *float64 { return s.P99 }),
	}}
	if n >= 0 {
		m.Summary.N = &n
	}
	return m
}

// all returns the values of a metric in a unit, of the runs that count.
func (p *kernelPoint) all(name, unit string, of func(*schema.Metric) *float64) (values []float64) {
	for _, r := range p.ok {
		if v := of(metricOf(r, name, unit)); v != nil {
			values = append(values, *v)
		}
	}
	return values
}

// metric returns the metric of one of the runs that count.
func (p *kernelPoint) metric(runID, name string) *schema.Metric {
	for _, r := range p.ok {
		if r.RunID == runID {
			return r.Metric(name)
		}
	}
	return nil
}

// kernelFolder is the directory of the files of points.
const kernelFolder = "kernels"

// kernelFiles are the files of points that earlier calls have written.
type kernelFiles struct {
	covered []string            // names of files of the points that are written now
	others  map[string][]string // possible names of the other points, by id
	taken   map[string]bool     // names of the files of the other points, in lower case
	tried   map[string]bool     // kernels that have another point that was not skipped
}

// earlierKernels looks at the files in a directory that this package has written.
func earlierKernels(dir string, covered map[string]bool) kernelFiles {
	found := kernelFiles{others: map[string][]string{}, taken: map[string]bool{}, tried: map[string]bool{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return found // the first call
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		content, err := files.Read(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		switch own := ownIn(content, kernelMember); {
		case own.PointID == "":
		case covered[own.PointID]:
			found.covered = append(found.covered, e.Name())
		default:
			names := kernelNames(own.run())
			if own.tried() {
				found.tried[own.Point.Benchmark] = true
			} else {
				names = names[1:]
			}
			found.others[own.PointID] = names
			found.taken[strings.ToLower(strings.TrimSuffix(e.Name(), ".json"))] = true
		}
	}
	return found
}

// kernelMember is a member of each result.
const kernelMember = "kernel_name"

// run returns a run with the known fields.
func (o *ownID) run() *schema.Run {
	r := schema.Run{RunID: o.RunID, PointID: o.PointID}
	o.Point.Set(&r)
	return &r
}

// ranked is a point of a kernel with its times in ms.
type ranked struct {
	*kernelPoint
	p50, p90 *float64
	perS     *float64
}

// leaderboard returns the points that have a time, fastest first, without those that have a wrong result.
func leaderboard(results []*kernelResult) (all []ranked) {
	for _, k := range results {
		if p := k.point; middle(p.time) != nil {
			all = append(all, ranked{p, milliseconds(middle(p.time)), milliseconds(p.time.Summary.P90), perSecond(meanOf(p.time))})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(*a.p50, *b.p50) })
	return all
}

// markdown returns summary.md.
func (s *kernelSummary) markdown(runs []*schema.Run) []byte {
	var p page
	p.line("# QuASIM Benchmark Report\n")
	s.environmentText(&p)
	p.line("## Summary\n")
	p.line("- **Total Kernels**: %d\n- **Successful**: %d\n- **Failed**: %d", s.Total, s.Successful, s.Failed)
	p.line("- **Skipped**: %d\n- **Unsupported**: %d\n", s.Skipped, s.Unsupported)
	board := leaderboard(s.Results)
	p.line("## Performance Leaderboard\n")
	p.header("Kernel", "Backend", "Precision", "p50 (ms)", "p90 (ms)", "Throughput (ops/s)", "Problem Size")
	for _, k := range board[:min(10, len(board))] {
		p.row(k.run.Benchmark, orUnknown(k.run.Backend), cmp.Or(k.run.Precision, "-"), figure(k.p50, 3), figure(k.p90, 3), figure(k.perS, 2),
			described(axes(k.run, "precision")))
	}
	if len(board) > 10 {
		p.line("\n%d more results are in summary.json.", len(board)-10)
	}
	p.line("\n## Resource Usage\n")
	resources(&p, s.Results)
	p.line("\n## Key Findings\n")
	s.findings(&p, board)
	p.line("\n## Recommendations\n")
	recommendations(&p, board)
	p.notOK(runs, label)
	return []byte(p.String())
}

// label returns a short name of what a run measured.
func label(r *schema.Run) string {
	return strings.TrimSpace(r.Benchmark + " " + r.Backend + " " + described(axes(r)))
}

func (s *kernelSummary) environmentText(p *page) {
	e := &s.Environment
	p.line("## Environment\n")
	if e.Git != nil {
		commit := *e.Git.Commit
		p.line("- **Commit**: `%s`", commit[:min(8, len(commit))])
		p.line("- **Branch**: `%s`", textOr(e.Git.Branch, unknown))
		if e.Git.Dirty != nil {
			p.line("- **Dirty**: %s", map[bool]string{true: "True", false: "False"}[*e.Git.Dirty])
		}
		p.line("")
	}
	p.line("- **OS**: %s\n- **Python**: %s", textOr(e.OS, unknown), textOr(e.Python, unknown))
	if e.CUDA != nil {
		p.line("- **CUDA**: %s\n- **GPU**: %s", textOr(e.CUDA.Version, unknown), textOr(e.CUDA.Device, unknown))
	}
	if len(e.Machines) > 1 || len(e.Commits) > 1 {
		p.line("- **Note**: these results are from %d machines and %d commits; the environment above is that of the newest", len(e.Machines), len(e.Commits))
	}
	p.line("\n")
}

func textOr(text *string, otherwise string) string {
	if text == nil {
		return otherwise
	}
	return oneLine(*text)
}

func resources(p *page, results []*kernelResult) {
	none := true
	for _, k := range results {
		if k.Memory == nil && k.Energy == nil {
			continue
		}
		if none {
			p.header("Kernel", "Peak Memory (MB)", "Energy (J)", "Power (W)", "Backend", "Precision", "Memory Of")
		}
		none = false
		cells := []string{k.Kernel, "N/A", "N/A", "N/A", k.Backend, textOr(k.Precision, "-"), ""}
		if k.Memory != nil && k.Memory.Peak != "" {
			cells[1], cells[6] = twoDigits(k.Memory.Peak), "device"
			if k.ofProcess() {
				cells[6] = "process"
			}
		}
		if k.Energy != nil {
			cells[2], cells[3] = orNA(k.Energy.Energy), orNA(k.Energy.Power)
		}
		p.row(cells...)
	}
	if none {
		p.line("No memory data available.")
	}
}

func (s *kernelSummary) findings(p *page, board []ranked) {
	if len(board) > 0 {
		p.line("- **Fastest Kernel**: `%s` (%s ms p50)", oneLine(board[0].run.Benchmark), figure(board[0].p50, 3))
		if fastest := slices.MaxFunc(board, func(a, b ranked) int { return cmp.Compare(value(a.perS), value(b.perS)) }); fastest.perS != nil {
			p.line("- **Highest Throughput**: `%s` (%s ops/s)", oneLine(fastest.run.Benchmark), figure(fastest.perS, 2))
		}
	}
	var least *kernelResult
	for _, k := range s.Results {
		if k.Memory != nil && k.Memory.Peak != "" && (least == nil || k.Memory.Peak.float() < least.Memory.Peak.float()) {
			least = k
		}
	}
	if least != nil {
		p.line("- **Most Memory Efficient**: `%s` (%s MB)", oneLine(least.Kernel), twoDigits(least.Memory.Peak))
	}
	var backends, failed []string
	for _, k := range s.Results {
		switch rankOf(k.point.status) {
		case 0:
			backends = with(backends, k.Backend)
		case 1:
		default:
			failed = with(failed, k.Kernel)
		}
	}
	slices.Sort(backends)
	if len(backends) > 0 {
		p.line("- **Backends Tested**: %s", oneLine(strings.Join(backends, ", ")))
	}
	if len(failed) > 0 {
		p.line("- **Failed Benchmarks**: %s", oneLine(strings.Join(failed, ", ")))
	}
}

func value(v *float64) float64 {
	if v == nil {
		return math.Inf(-1)
	}
	return *v
}

// recommendations follow the rules of the original tool: a standard deviation above 10 % of the mean, more than 1000 MB, a single
// precision.
func recommendations(p *page, board []ranked) {
	var noisy, large, precisions []string
	for _, k := range board {
		s := k.time.Summary
		if s.StdDev != nil && s.Mean != nil && *s.StdDev > .1**s.Mean {
			noisy = with(noisy, k.run.Benchmark)
		}
		if m := median(k.all("device_memory_peak", "B", middle)); m != nil && *m > 1000<<20 {
			large = with(large, k.run.Benchmark)
		}
		precisions = with(precisions, k.run.Precision)
	}
	if len(noisy) > 0 {
		p.line("- **High Variance**: %s: the standard deviation is more than 10 %% of the mean; measure more runs (bench --repeats).", oneLine(strings.Join(noisy, ", ")))
	}
	if len(large) > 0 {
		p.line("- **High Memory**: %s: more than 1000 MB of device memory.", oneLine(strings.Join(large, ", ")))
	}
	if len(precisions) == 1 {
		p.line("- **Precision Testing**: only %s was measured; bench -P precision=fp32,fp16 measures others.", precisions[0])
	}
	if len(noisy) == 0 && len(large) == 0 && len(precisions) != 1 {
		p.line("None.")
	}
}

func twoDigits(n number) string { return fmt.Sprintf("%.2f", n.float()) }

func orNA(n number) string {
	if n == "" {
		return "N/A"
	}
	return fmt.Sprintf("%.4f", n.float())
}
