// Package runtest makes runs for tests and benchmarks: with few values, with all values, and as they come from sweeps. It
// also gives them a place for their files. It is not part of any program.
package runtest

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Each yields runs one after the other, in the form that AppendAll takes, or the error of one that is not valid.
func Each(runs ...schema.Run) iter.Seq2[schema.Valid, error] {
	return func(yield func(schema.Valid, error) bool) {
		for _, r := range runs {
			if !yield(schema.Check(r)) {
				return
			}
		}
	}
}

// identified completes a run with a new id and the hash of its point.
func identified(r schema.Run) schema.Run {
	r.RunID = schema.NewULID(r.StartedAt).String()
	r.PointID = schema.PointID(&r)
	return r
}

// Small returns a valid run with few values.
func Small() schema.Run {
	return identified(schema.Run{
		Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens, Status: schema.StatusOK,
		StartedAt: time.Now().UTC(), Benchmark: "tiny", Primary: "latency",
		Metrics: []schema.Metric{{Name: "latency", Unit: "ns", Tick: 1, Ticks: []int64{3, 1, 2}}},
	})
}

// Full has a value in every column, with the edges of every type.
func Full() schema.Run {
	session := schema.NewULID(time.Now()).String()
	return identified(schema.Run{
		SessionID: session, RepeatIndex: new(int64(0)), BlockIndex: new(int64(1)), PositionIndex: new(int64(2)),
		Side: "base", Resumes: session, Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens,
		Suite: "suite", Benchmark: "bénch 東京", Variant: "v", Executor: schema.ExecutorBuiltin, Backend: "builtin",
		BackendVersion: "1", Model: "m", ModelSHA256: "00", Precision: "fp32",
		BatchSize: new(int64(math.MaxInt64)), SeqLen: new(int64(math.MinInt64)),
		Params: map[string]string{"dim": "64", "leer": ""}, Applied: map[string]string{}, Tags: map[string]string{"a": "b"},
		Work:      schema.Work{Bytes: new(int64(0)), Flops: new(0.0), Items: new(math.Copysign(0, -1))},
		StartedAt: time.Date(2026, 11, 21, 8, 0, 0, 123_456_000, time.UTC), TimeSource: schema.TimeClock,
		Stages: schema.Stages{
			Build: new(int64(1)), Setup: new(int64(2)), Warmup: new(int64(3)), Measure: new(int64(4)),
			Validate: new(int64(5)), Teardown: new(int64(6)), Profile: new(int64(7)),
		},
		Status: schema.StatusError, Stage: schema.StageMeasure, ErrorKind: "exit", Error: "line one\nline two",
		ExitCode: new(int64(0)), Signal: "SIGSEGV", Warnings: []string{"drift", ""},
		Artifacts: []schema.Artifact{{Kind: "log", Path: "a/b", SHA256: "ff", Bytes: new(int64(0))}, {Kind: "log"}},
		Env:       fullEnv(), Primary: "latency", Metrics: fullMetrics(),
		Ops: []schema.Op{
			{
				Index: 0, Name: "matmul", Type: "MatMul", Device: "cpu", StartNS: new(int64(0)), DurationNS: new(int64(9)),
				Count: new(int64(1)), Kernels: []string{"k1", ""}, Counters: map[string]float64{"l2": 0, "inf": math.Inf(1)},
			},
			{Index: 1, Kernels: []string{}, Counters: map[string]float64{}},
		},
	})
}

func fullEnv() schema.Env {
	return schema.Env{
		HostID: "h", Machine: "m", Hostname: "lab3", OS: "linux", OSKernel: "6.1", CPUModel: "cpu", CPUCount: new(int64(2)),
		MemoryBytes: new(int64(1 << 40)), GPUName: "gpu", GPUCount: new(int64(0)), DriverVersion: "1", CUDAVersion: "12",
		PythonVersion: "3", GitCommit: "c", GitBranch: "b", GitDirty: new(false),
		Facts: map[string]string{"load1": "0", "empty": ""}, Missing: map[string]string{"gpu.clock": "permission"},
	}
}

// fullMetrics fill every column of samples in some row; no row can have them all.
func fullMetrics() []schema.Metric {
	return []schema.Metric{
		{
			Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 0.5,
			Ticks: []int64{5, math.MaxInt64, math.MinInt64, 0, 7}, WarmupTicks: []int64{9}, AtNS: []int64{0, 1, 2, 3, 4},
			IterationsPerSample: []int64{1},
		},
		{
			Name: "loss", Unit: "ratio", Reals: []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)},
			WarmupReals: []float64{0.1},
		},
		{Name: "empty", Tick: 1, Ticks: []int64{}, WarmupTicks: []int64{}},
		{Name: "imported", Unit: "s", Summary: fullSummary()},
	}
}

func fullSummary() schema.Summary {
	return schema.Summary{
		N: new(int64(3)), Min: new(0.0), Max: new(9.0), Mean: new(3.0), StdDev: new(1.0), P25: new(1.0), P50: new(2.0),
		P75: new(3.0), P90: new(4.0), P95: new(5.0), P99: new(6.0), MAD: new(7.0), LogMedian: new(-1.0), First: new(2.5),
		SteadyIndex: new(int64(0)), Version: new(int64(1)),
	}
}

// Realistic returns a run with 1,000 samples of a clock and an environment of 120 facts.
func Realistic() schema.Run {
	r := Small()
	random := rand.New(rand.NewPCG(1, 2))
	ticks := make([]int64, 1000)
	for i := range ticks {
		ticks[i] = int64(1.4e6 * math.Exp(0.02*random.NormFloat64()))
	}
	one := func() *int64 { return new(int64(1 + random.Int64N(1e6))) }
	r.SessionID = schema.NewULID(time.Now()).String()
	r.RepeatIndex, r.BlockIndex, r.PositionIndex = one(), one(), one()
	r.Suite, r.Variant, r.Executor, r.Backend, r.BackendVersion = "quickstart", "base", schema.ExecutorBuiltin, "builtin", "0.1"
	r.Model, r.Precision, r.BatchSize, r.SeqLen = "builtin:tiny_linear", "fp32", one(), one()
	r.Params = map[string]string{"dim": "64", "op": "gelu"}
	r.Applied = map[string]string{"threads": "2", "dim": "64", "op": "gelu"}
	r.TimeSource = schema.TimeClock
	r.Stages = schema.Stages{Setup: one(), Warmup: one(), Measure: one(), Teardown: one()}
	r.Env = fullEnv()
	r.Env.GPUName, r.Env.GPUCount, r.Env.DriverVersion, r.Env.CUDAVersion = "", nil, "", ""
	r.Env.Facts, r.Env.Missing = map[string]string{}, map[string]string{}
	for i := range 70 { // as many facts as bench stores on a machine, and some more
		r.Env.Facts[fmt.Sprintf("cpu.vulnerability.number_%d", i)] = fmt.Sprintf("Mitigation: value %d of the host", i)
	}
	for i := range 20 {
		r.Env.Missing[fmt.Sprintf("gpu.0.fact_%d", i)] = "absent"
	}
	r.Metrics = []schema.Metric{
		{
			Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 1,
			Ticks: ticks, WarmupTicks: ticks[:10],
		},
		{Name: "peak_memory", Unit: "B", Better: schema.BetterLower, Level: schema.LevelProcess, Tick: 1, Ticks: []int64{12 << 20}},
		{Name: "throughput", Unit: "1/s", Better: schema.BetterHigher, Level: schema.LevelProcess, Reals: []float64{714.2}},
	}
	r.PointID = schema.PointID(&r)
	return r
}
