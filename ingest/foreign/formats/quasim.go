package formats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// quasim reads the reports of QuASIM's bench_all.py: summary.json, which has all results, and kernels/NAME.json, which
// have one each. A result that is also in the summary of its tree is read only from there.
var quasim = []foreign.Format{
	{
		Name: "quasim", About: "QuASIM bench_all.py: summary.json and kernels/*.json",
		Level: "a run is a kernel in one launch of bench_all.py; a sample of latency is one call of it",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("kernel_name", "backend", "timing.latency_ms_p50") ||
				h.Has("results[].kernel_name", "results[].timing.latency_ms_p50") ||
				h.Has("total_kernels", "successful", "failed", "results")
		},
		Read: readQuasim,
	},
	{
		Name: "quasim-env", About: "QuASIM bench_all.py: env.json", Side: "the environment of kernels/*.json, which summary.json has as well",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("os", "os_version", "kernel", "python_version", "architecture", "numpy_version")
		},
	},
	{
		Name: "quasim-manifest", About: "QuASIM bench_all.py: kernel_manifest.json", Side: "a list of the kernels that were found, without results",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("[].name", "[].module_name", "[].function_name", "[].test_command", "[].config")
		},
	},
}

// quasimResult is a result.
type quasimResult struct {
	Kernel      string                    `json:"kernel_name"`
	Backend     string                    `json:"backend"`
	Precision   string                    `json:"precision"`
	ProblemSize map[string]jsontext.Value `json:"problem_size"`
	Timing      quasimTiming              `json:"timing"`
	Memory      *struct {
		Peak      foreign.Number `json:"peak_mb"`
		Allocated foreign.Number `json:"allocated_mb"`
		Reserved  foreign.Number `json:"reserved_mb"`
	} `json:"memory"`
	Energy *struct {
		Energy foreign.Number `json:"energy_j"`
		Power  foreign.Number `json:"power_w"`
	} `json:"energy"`
	Accuracy *struct {
		RMSE        foreign.Number `json:"rmse"`
		Max         foreign.Number `json:"max_error"`
		Relative    foreign.Number `json:"relative_error"`
		Determinism foreign.Number `json:"determinism_std"`
	} `json:"accuracy"`
	Success  *bool                   `json:"success"`
	Error    string                  `json:"error_message"`
	Metadata map[string]foreign.Text `json:"metadata"`
	Own      *layoutRun              `json:"neurolens"` // in files of earlier versions, in which a result is a run
	Runs     []quasimRun             `json:"runs"`      // of files that NeuroLens wrote

	run *quasimRun // the one of Runs that is read
}

// quasimRun is a run of a point. If it is the only one, the point has its timing and metadata.
type quasimRun struct {
	Timing      *quasimTiming           `json:"timing"`
	Metadata    map[string]foreign.Text `json:"metadata"`
	Own         *layoutRun              `json:"neurolens"`
	Environment quasimEnv               `json:"environment"`
}

// quasimTiming are the statistics of the time.
type quasimTiming struct {
	P50        foreign.Number `json:"latency_ms_p50" stat:"p50"`
	P90        foreign.Number `json:"latency_ms_p90" stat:"p90"`
	P99        foreign.Number `json:"latency_ms_p99" stat:"p99"`
	Mean       foreign.Number `json:"latency_ms_mean" stat:"mean"`
	Std        foreign.Number `json:"latency_ms_std"`
	Throughput foreign.Number `json:"throughput_ops_per_sec"`
	Iterations foreign.Number `json:"iterations"`
	Raw        jsontext.Value `json:"raw_times_ms"`
}

// quasimEnv is env.json, and the environment of a summary.
type quasimEnv struct {
	OS           string `json:"os"`
	Kernel       string `json:"kernel" run:"Env.OSKernel"`
	Python       string `json:"python_version" run:"Env.PythonVersion"`
	Architecture string `json:"architecture" fact:"cpu.architecture"`
	Git          struct {
		Commit string `json:"commit" run:"Env.GitCommit"`
		Branch string `json:"branch" run:"Env.GitBranch"`
		Dirty  *bool  `json:"dirty" run:"Env.GitDirty"`
	} `json:"git"`
	CUDA struct {
		Version string         `json:"version" run:"Env.CUDAVersion"`
		Count   foreign.Number `json:"device_count" run:"Env.GPUCount"`
		Device  string         `json:"device_name" run:"Env.GPUName"`
	} `json:"cuda"`
	NumPy    string   `json:"numpy_version" fact:"numpy.version"`
	Machines []string `json:"machines"` // in files that NeuroLens wrote
}

// readQuasim reads a summary, or a file with a single result. Values that apply to all results come before them;
// otherwise they are unknown for all.
func readQuasim(in *foreign.Input, out *foreign.Output) error {
	if in.Head.Has("kernel_name") {
		return readQuasimKernel(in, out)
	}
	j := in.JSON()
	var env schema.Env
	return fields{
		"timestamp": func() error { // the commit that was measured
			var commit foreign.Text
			err := j.Decode(&commit)
			if gitCommit.MatchString(string(commit)) {
				env.GitCommit = cmp.Or(env.GitCommit, string(commit))
			}
			return err
		},
		"environment": func() error {
			var e quasimEnv
			err := j.Decode(&e)
			if err == nil {
				commit := env.GitCommit
				env = e.env()
				env.GitCommit = cmp.Or(env.GitCommit, commit)
			}
			return err
		},
		"results": array(j, out, func(where string, q *quasimResult) error { return q.emit(where, out, &env) }),
	}.read(j, out)
}

var gitCommit = regexp.MustCompile(`^[0-9a-f]{40}$`)

// readQuasimKernel reads a file with one result.
func readQuasimKernel(in *foreign.Input, out *foreign.Output) error {
	text, err := in.JSON().Value()
	if err != nil {
		return err
	}
	text = text.Clone()
	listed, err := inSummary(in, text)
	if err != nil {
		return err
	}
	if listed {
		out.LeaveOut("results that summary.json has as well", 1)
		return nil
	}
	var q quasimResult
	if err := foreign.DecodeAt("", text, &q); err != nil {
		return out.RefuseMismatch(err)
	}
	var env schema.Env
	switch side, err := sideJSON(in, "../env.json"); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		var e quasimEnv
		if side.Decode(&e) == nil { // ignore other files with that name
			env = e.env()
		}
	}
	return out.RefuseMismatch(q.emit("/", out, &env))
}

// inSummary reports whether the summary of the tree has exactly this result.
func inSummary(in *foreign.Input, result jsontext.Value) (found bool, err error) {
	j, err := sideJSON(in, "../summary.json")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	want := foreign.TextOf(result)
	_ = j.Members(func(name string) error { // another file of that name, or a damaged one: its readable part is used
		if name != "results" {
			return j.Skip()
		}
		return j.Elements(func(int) error {
			r, err := j.Value()
			found = found || err == nil && foreign.TextOf(r) == want
			return err
		})
	})
	return found, nil
}

// sideJSON reads a side file.
func sideJSON(in *foreign.Input, name string) (*foreign.JSON, error) {
	content, err := in.Side(name)
	if err != nil {
		return nil, err
	}
	side, err := foreign.FromReader(bytes.NewReader(content), name, in.Location)
	if err != nil {
		return nil, err
	}
	return side.JSON(), nil
}

func (e *quasimEnv) env() schema.Env {
	r := schema.Run{Env: schema.Env{OS: strings.ToLower(e.OS)}}
	describe(&r, e)
	if len(e.Machines) == 1 {
		r.Env.Machine = e.Machines[0]
	}
	return r.Env
}

// emit makes a run from a result, or one for each run of a point in a file that NeuroLens wrote. The zeros of a kernel that failed are not
// measurements.
func (q *quasimResult) emit(where string, out *foreign.Output, env *schema.Env) error {
	if q.Kernel == "" {
		return refusal(where, "a result without kernel_name")
	}
	for i := range q.Runs {
		one := &q.Runs[i]
		if one.Own = one.Own.known(); one.Own == nil {
			out.Refuse(fmt.Sprintf("%s/runs/%d", where, i), fmt.Errorf("a run without the member neurolens"))
			continue
		}
		run := *q
		run.run, run.Own, run.Success = one, one.Own, new(one.Own.Status == string(schema.StatusOK))
		if len(q.Runs) > 1 {
			run.Timing, run.Metadata = quasimTiming{}, one.Metadata
			run.Memory, run.Energy, run.Accuracy = nil, nil, nil // medians over the runs
		}
		if one.Timing != nil {
			run.Timing = *one.Timing
		}
		if err := out.RefuseMismatch(run.one(fmt.Sprintf("%s/runs/%d", where, i), out, env)); err != nil {
			return err
		}
	}
	if len(q.Runs) > 0 {
		return nil
	}
	return q.one(where, out, env)
}

// one makes a run.
func (q *quasimResult) one(where string, out *foreign.Output, env *schema.Env) error {
	q.Own = q.Own.known()
	r := schema.Run{Benchmark: q.Kernel, Backend: q.Backend, Env: *env}
	r.Env.Facts, r.Env.Machine = maps.Clone(env.Facts), ""
	more := func(r *schema.Run) { // values that earlier versions did not read, or read differently: they do not change the id
		switch {
		case q.run != nil:
			q.run.environment(r, env)
		case r.Env.Machine == "":
			r.Env.Machine = env.Machine
		}
		if maps.DeleteFunc(r.Applied, func(_, text string) bool { return text == "" }); len(r.Applied) == 0 { // unknown
			r.Applied = nil
		}
		if m := r.Metric("relative_error"); m != nil && q.Own == nil {
			m.Name = schema.MetricOverNorm // the file has no number of values to convert it
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.ProblemSize)) {
		foreign.SetParam(&r, name, foreign.TextOf(q.ProblemSize[name]))
	}
	if q.Precision != "unknown" {
		foreign.SetParam(&r, "precision", q.Precision)
	}
	for name, text := range q.Metadata {
		switch name {
		case "iterations", "warmup", "seed":
			foreign.Put(&r.Applied, name, string(text))
		}
	}
	if q.Success != nil && !*q.Success {
		r.Status, r.Error = schema.StatusError, q.Error
		q.Own.identify(&r)
		return out.RunWith(where, r, more)
	}
	if err := q.latency(&r); err != nil {
		return refusal(where, "%w", err)
	}
	q.others(&r)
	q.Own.identify(&r)
	q.Own.values(&r)
	return out.RunWith(where, r, more)
}

// environment sets the environment of a run from its entry. The file has the environment of the newest run only, which earlier versions
// read for every run.
func (q *quasimRun) environment(r *schema.Run, file *schema.Env) {
	facts := r.Env.Facts
	r.Env = q.Environment.env()
	r.Env.GitCommit, r.Env.Machine = q.Own.Commit, q.Own.Machine
	for name, text := range facts {
		if file.Facts[name] == "" {
			foreign.SetFact(r, name, text)
		}
	}
}

// latency adds the times of the calls, or their aggregates if the file has only those.
func (q *quasimResult) latency(r *schema.Run) error {
	const unit = "ms"
	t := &q.Timing
	if q.Own != nil && t.Mean == "" {
		return nil // it is about another metric
	}
	name := q.Own.metric("timing", "latency")
	s, err := foreign.ReadSeries(t.Raw, unit)
	n := t.Iterations.Int64()
	var m schema.Metric
	switch summary := summaryOf(*t, unit); {
	case err != nil && len(t.Raw) > 0 && t.Raw.Kind() != 'n':
		return fmt.Errorf("reading raw_times_ms: %w", err)
	case err == nil && s.Len() > 0:
		m = s.Metric(name, schema.LevelIteration)
	case n != nil && *n <= 0:
		return fmt.Errorf("a success with %d iterations", *n)
	default:
		summary.StdDev = sampleDeviation(t.Std.Finite(unit), n)
		if summary == (schema.Summary{}) {
			return errors.New("a success without times")
		}
		summary.N = n
		m = foreign.Aggregate(name, unit, summary)
	}
	m.Clock = "perf_counter" // bench_all.py measures with it
	q.Own.timing(&m)
	foreign.Add(r, m, unit)
	return nil
}

// sampleDeviation converts the population standard deviation of n values to the sample standard deviation.
func sampleDeviation(population *float64, n *int64) *float64 {
	if population == nil || n == nil || *n < 2 {
		return nil
	}
	return new(*population * math.Sqrt(float64(*n)/float64(*n-1)))
}

// others adds the other metrics.
func (q *quasimResult) others(r *schema.Run) {
	if q.Own == nil { // otherwise it is computed from the mean, and the measured one is among the values
		foreign.Add(r, foreign.Aggregate("throughput", "1/s", schema.Summary{Mean: q.Timing.Throughput.Finite("1/s")}), "1/s")
	}
	if m := q.Memory; m != nil {
		single(r, q.Own.metric("peak_mb", "device_memory_peak"), m.Peak, "MiB")
		single(r, "device_memory_allocated", m.Allocated, "MiB")
		single(r, "device_memory_reserved", m.Reserved, "MiB")
	}
	if e := q.Energy; e != nil {
		single(r, "power", e.Power, "W")
		foreign.Add(r, foreign.Aggregate("energy", "J", schema.Summary{Mean: e.Energy.Finite("J")}), "J")
	}
	if a := q.Accuracy; a != nil {
		single(r, "rmse", a.RMSE, "")
		single(r, "max_error", a.Max, "")
		single(r, q.Own.metric("relative_error", "relative_error"), a.Relative, "ratio")
		single(r, "determinism_std", a.Determinism, "")
	}
}
