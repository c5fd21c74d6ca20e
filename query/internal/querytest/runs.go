package querytest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

func RealMetric(name, unit string, values ...float64) schema.Metric {
	m := schema.Metric{Name: name, Unit: unit, Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Reals: values}
	if k, ok := schema.KindOfMetric(name); ok {
		m.Better = k.Better
	}
	m.Summary = stat.Summarize(values)
	return m
}

// RunsOf makes a run for each location of a point: n is incremented for each, samples are within 1 % of the location. The first runs of
// all points of a session come first, then the second ones.
func RunsOf(n *int, session int, edit func(*schema.Run), locations ...float64) []schema.Run {
	var runs []schema.Run
	for i, location := range locations {
		*n++
		runs = append(runs, NewRun(*n, 0, func(r *schema.Run) {
			r.SessionID, r.BatchSize, r.Params = SessionID(session), new(int64(1)), nil
			r.StartedAt = Start.Add(time.Duration(session)*24*time.Hour + time.Duration(i)*10*time.Second + time.Duration(*n)*time.Millisecond)
			r.RepeatIndex, r.BlockIndex = new(int64(i)), new(int64(i))
			r.Metrics, r.Primary = []schema.Metric{RealMetric("latency", "ns", location, .995*location, 1.005*location)}, "latency"
			if edit != nil {
				edit(r)
			}
		}))
	}
	return runs
}

func On(side string, batch int64) func(*schema.Run) {
	return func(r *schema.Run) { r.Side, r.BatchSize = side, new(batch) }
}

// Of returns an edit for runs: it sets the fields that identify a point.
func Of(batch int64, edit func(*schema.Run)) func(*schema.Run) {
	return func(r *schema.Run) {
		r.BatchSize, r.BlockIndex = new(batch), nil
		edit(r)
	}
}

// Ended makes a run one that Ended otherwise.
func Ended(status schema.Status) func(*schema.Run) {
	return func(r *schema.Run) {
		r.Status, r.Stage, r.Metrics, r.Primary = status, schema.StageMeasure, nil, ""
	}
}

func MetricOf(name, unit string, better schema.Better, level float64) schema.Metric {
	m := schema.Metric{Name: name, Unit: unit, Better: better, Clock: "monotonic", Level: schema.LevelIteration, Reals: []float64{level, level * 1.001, level * .999}}
	m.Summary = stat.Summarize(m.Values())
	return m
}

// FullRun returns a run with most columns set and 1,000 samples, as a real one has.
func FullRun(n int) schema.Run {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	return NewRun(n, 0, func(r *schema.Run) {
		r.Suite, r.Variant, r.BackendVersion, r.SessionID = "quickstart", "plain", "1.2.3", SessionID(n/250)
		r.Applied = map[string]string{"threads": "2", "seed": "1"}
		r.Work = schema.Work{Bytes: new(int64(1 << 20)), Flops: new(1e9), Items: new(32.0)}
		r.Stages = schema.Stages{Setup: new(int64(5e6)), Warmup: new(int64(9e6)), Measure: new(int64(9e8)), Teardown: new(int64(1e5))}
		r.BlockIndex, r.PositionIndex = new(int64(n/4)), new(int64(n%4))
		e := &r.Env
		e.HostID, e.Hostname, e.OS, e.OSKernel, e.CPUModel = "0123456789abcdef", "lab3", "Debian 13", "6.12.1", "Some CPU @ 3.0 GHz"
		e.PythonVersion, e.GitCommit, e.GitBranch, e.GitDirty = "3.13.1", strings.Repeat("9f3c", 10), "main", new(false)
		for i := range 40 {
			e.Facts[fmt.Sprintf("fact.number.%d", i)] = fmt.Sprint("value ", i)
		}
		e.Missing = map[string]string{"gpu.name": "absent", "cpu.governor": "permission"}
		ticks := make([]int64, 1000)
		for i := range ticks {
			ticks[i] = 100_000 + random.Int64N(50_000)
		}
		m := schema.Metric{Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 1, Ticks: ticks}
		m.Summary = stat.Summarize(m.Values())
		memory := schema.Metric{Name: "peak_memory", Unit: "B", Better: schema.BetterLower, Level: schema.LevelProcess, Tick: 1, Ticks: []int64{50 << 20}}
		memory.Summary = stat.Summarize(memory.Values())
		r.Metrics, r.Primary = []schema.Metric{m, memory}, "latency"
	})
}

// Everything returns a run with every column.
func Everything() schema.Run {
	r := FullRun(300)
	r.Side, r.Resumes, r.ModelSHA256 = "head", SessionID(9), strings.Repeat("ab", 32)
	r.Stages.Build, r.Stages.Validate, r.Stages.Profile = new(int64(1)), new(int64(2)), new(int64(3))
	r.Stage, r.ErrorKind, r.Error, r.ExitCode, r.Signal = "measure", "kind", "it's \"odd\"\nvery", new(int64(0)), "SIGSEGV"
	r.Warnings = []string{"drift", "throttled"}
	r.Artifacts = []schema.Artifact{{Kind: "report", Path: "a/b", SHA256: "cd", Bytes: new(int64(5))}}
	e := &r.Env
	e.GPUName, e.GPUCount, e.DriverVersion, e.CUDAVersion = "NVIDIA H100", new(int64(8)), "570.86", "12.8"
	m := &r.Metrics[0]
	m.WarmupTicks, m.AtNS, m.IterationsPerSample = []int64{7}, m.Ticks, []int64{1}
	r.Metrics = append(r.Metrics, schema.Metric{Name: "loss", Unit: "ratio", Reals: []float64{0.5, -1}, WarmupReals: []float64{9}})
	r.Ops = []schema.Op{{Index: 0, Name: "MatMul", Type: "gemm", Device: "cuda:0", StartNS: new(int64(0)), DurationNS: new(int64(9)), Count: new(int64(2)), Kernels: []string{"k1"}, Counters: map[string]float64{"dram": 1.5}}}
	r.PointID = schema.PointID(&r)
	return r
}

// VariousRuns returns 60 runs of 4 sessions, some without samples, some with two metrics and ops.
func VariousRuns() []schema.Run {
	runs := make([]schema.Run, 60)
	for i := range runs {
		runs[i] = NewRun(i, int64(1000*(i+1)), func(r *schema.Run) {
			r.SessionID = SessionID(i / 16)
			r.Env.GitCommit = fmt.Sprintf("%040x", i/16)
			switch i % 10 {
			case 3:
				r.Status, r.ErrorKind, r.Stage, r.Error = schema.StatusError, "kind", "measure", "it's odd"
			case 7:
				r.Ops = []schema.Op{{Index: 0, Name: "MatMul", Counters: map[string]float64{"dram": 1.5}}, {Index: 1, Kernels: []string{"k"}}}
			}
		})
		if i%10 == 7 {
			loss := schema.Metric{Name: "loss", Unit: "ratio", Reals: []float64{0.5, -1}, WarmupReals: []float64{9}}
			loss.Summary = stat.Summarize(loss.Reals)
			runs[i].Metrics = append(runs[i].Metrics, loss)
		}
	}
	return runs
}
