package runtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// Sweep makes runs like those of years of sweeps: sessions of PerSession runs of a few points each, on one of ten
// machines, with latencies of 0.13 to 54 ms, a spread of 1 to 12 %, a slow drift and a tail. Equal seeds give equal runs.
type Sweep struct {
	Start      time.Time // of the first run
	Step       time.Duration
	PerSession int
	Samples    int     // of each run; 0 means that the metric has only a summary
	Tick       float64 // of the clock, in ns

	random  *rand.Rand
	made    int
	session string
	machine int
}

// NewSweep makes the usual sweep: 24 runs per session, one run per minute, a clock with a resolution of 1 ns.
func NewSweep(seed uint64, samples int) *Sweep {
	return &Sweep{
		Start: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Step: time.Minute, PerSession: 24, Samples: samples, Tick: 1,
		random: rand.New(rand.NewPCG(seed, 0)),
	}
}

// id makes a ULID of a time.
func (s *Sweep) id(at time.Time) string {
	var bits [10]byte
	binary.LittleEndian.PutUint64(bits[:], s.random.Uint64())
	binary.LittleEndian.PutUint16(bits[8:], uint16(s.random.Uint32()))
	return schema.ULIDFrom(at, bits).String()
}

// Next makes the next run.
func (s *Sweep) Next() schema.Run {
	at := s.Start.Add(time.Duration(s.made) * s.Step)
	place := s.made % s.PerSession
	if place == 0 {
		s.session, s.machine = s.id(at), s.random.IntN(10)
	}
	s.made++
	r := schema.Run{
		RunID: s.id(at), SessionID: s.session, RepeatIndex: new(int64(place / 12)), BlockIndex: new(int64(place / 12)), PositionIndex: new(int64(place % 12)),
		Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens, Suite: "nightly", Benchmark: "gemm", Variant: "fused",
		Executor: schema.ExecutorBuiltin, Backend: []string{"cpu", "onnxrt", "torch"}[place%3], BackendVersion: "1.2", Model: "mlp",
		Precision: "fp32", BatchSize: new(int64(1 << (place % 4))),
		Params: map[string]string{"dim": strconv.Itoa(64 << (place % 5)), "op": "gelu"}, Applied: map[string]string{"threads": "8"},
		Tags: map[string]string{"branch": "main"}, StartedAt: at, TimeSource: schema.TimeClock, Status: schema.StatusOK,
		Stages: schema.Stages{
			Setup: new(s.random.Int64N(1e9)), Warmup: new(s.random.Int64N(1e8)), Measure: new(s.random.Int64N(1e10)), Teardown: new(s.random.Int64N(1e7)),
		},
		Env: s.env(), Primary: "latency",
	}
	if s.random.IntN(50) == 0 {
		r.Status, r.ErrorKind, r.Error = schema.StatusError, "exit", "exit status 1: "+strconv.Itoa(s.random.IntN(100))
	}
	r.Metrics = []schema.Metric{s.latency()}
	r.PointID = schema.PointID(&r)
	return r
}

// env returns the environment of the machine of the session.
func (s *Sweep) env() schema.Env {
	facts := map[string]string{"load1": strconv.FormatFloat(s.random.Float64(), 'f', 2, 64)}
	for i := range 20 {
		facts[fmt.Sprintf("cpu.fact_%d", i)] = fmt.Sprintf("value %d of machine %d", i, s.machine)
	}
	return schema.Env{
		HostID: fmt.Sprintf("host%d", s.machine), Machine: fmt.Sprintf("m%d", s.machine), Hostname: fmt.Sprintf("lab%d", s.machine),
		OS: "linux", OSKernel: "6.1", CPUModel: "EPYC", CPUCount: new(int64(16)), MemoryBytes: new(int64(64 << 30)),
		GitCommit: s.session, GitBranch: "main", GitDirty: new(false), Facts: facts,
	}
}

// latency makes the samples of a run.
func (s *Sweep) latency() schema.Metric {
	median := 0.13e6 * math.Exp(s.random.Float64()*math.Log(54/0.13))
	spread := 0.01 + 0.11*s.random.Float64()
	m := schema.Metric{
		Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: s.Tick,
		Ticks: make([]int64, s.Samples),
	}
	if s.Samples == 0 {
		m.Tick, m.Ticks = 0, nil
		m.Summary = schema.Summary{N: new(int64(100)), P50: new(math.Round(median)), Mean: new(median)}
	}
	for i := range m.Ticks {
		value := median * (1 + spread*s.random.NormFloat64() + 0.02*float64(i)/float64(s.Samples))
		if s.random.IntN(200) == 0 {
			value += median * s.random.ExpFloat64()
		}
		m.Ticks[i] = max(1, int64(value/s.Tick))
	}
	return m
}
