package task

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestBuiltinOK(t *testing.T) {
	var stages []schema.Stage
	o := runSpec(t, t.Context(), builtin("ok"), func(p Progress) {
		if len(stages) == 0 || stages[len(stages)-1] != p.Stage {
			stages = append(stages, p.Stage)
		}
	})
	check(t, o, schema.StatusOK, "", "")
	m := metric(t, o, "latency")
	if len(m.Ticks) != 40 || len(m.WarmupTicks) != 5 || m.Level != schema.LevelIteration {
		t.Errorf("latency: %+v", m)
	}
	for _, v := range m.Ticks {
		if v < 200_000 {
			t.Errorf("latency %d ns of an iteration that sleeps 200 us", v)
		}
	}
	if o.Applied["precision"] != "fp32" || o.Work.Items == nil || *o.Work.Items != 4 {
		t.Errorf("applied %v, work %+v", o.Applied, o.Work)
	}
	if peak := metric(t, o, "peak_memory"); len(peak.Ticks) != 1 || peak.Ticks[0] < 1<<20 {
		t.Errorf("peak_memory: %+v", peak)
	}
	s := o.Stages
	if s.Setup == nil || s.Warmup == nil || s.Measure == nil || s.Teardown == nil || s.Validate != nil {
		t.Errorf("stages: %+v", s)
	} else if sum := sumOf(m.Ticks); *s.Measure < sum {
		t.Errorf("measure took %d ns, its iterations %d ns", *s.Measure, sum)
	}
	if o.ExitCode == nil || *o.ExitCode != 0 || o.Error != "" || len(o.Warnings) > 0 {
		t.Errorf("%+v", o)
	}
	if len(stages) == 0 || stages[0] != schema.StageSetup {
		t.Errorf("progress through %v", stages)
	}
}

func sumOf(ticks []int64) (sum int64) {
	for _, v := range ticks {
		sum += v
	}
	return sum
}

// TestBuiltinEnds goes through the ways in which a worker ends badly. Each has warm-up 5, and misbehaves in
// iteration 16 of the measurement, unless it says otherwise.
func TestBuiltinEnds(t *testing.T) {
	for _, c := range []struct {
		do      string
		status  schema.Status
		stage   schema.Stage
		kind    string
		samples int
		text    string
	}{
		{"exit", schema.StatusCrashed, schema.StageMeasure, "exit", 15, "ended without a result: exit status 0"},
		{"kill", schema.StatusCrashed, schema.StageMeasure, "signal", 15, "killed by SIGKILL"},
		{"segv", schema.StatusCrashed, schema.StageMeasure, "signal", 15, "killed by SIGSEGV"},
		{"panic", schema.StatusError, schema.StageMeasure, "panic", 15, "oh no"},
		{"garbage", schema.StatusError, schema.StageMeasure, "protocol", 15, "not an event"},
		{"last garbage", schema.StatusError, schema.StageMeasure, "protocol", 15, "{}"},
		{"long line", schema.StatusError, schema.StageMeasure, "protocol", 15, "more than 1048576 B"},
		{"half a line", schema.StatusCrashed, schema.StageMeasure, "signal", 15, "SIGKILL"},
		{"unknown event", schema.StatusOK, "", "", 40, ""},
		{"refuse", schema.StatusError, schema.StageSetup, "setup", -1, "no such thing"},
		{"unsupported", schema.StatusUnsupported, schema.StageSetup, "precision", -1, "no fp16 here"},
		{"invalid", schema.StatusError, schema.StageValidate, "validate", 40, "result 3: want 4"},
		{"hang in validate", schema.StatusTimeout, schema.StageValidate, "timeout", 40, "raise timeouts.validate"},
		{"stderr", schema.StatusCrashed, schema.StageMeasure, "exit", 15, "exit status 3"},
		{"nonsense", schema.StatusError, schema.StageSetup, "setup", -1, "nonsense"},
	} {
		t.Run(c.do, func(t *testing.T) {
			spec := builtin(c.do)
			if c.status == schema.StatusTimeout {
				spec.Deadlines.Validate = 300 * time.Millisecond
			}
			o := runSpec(t, t.Context(), spec, nil)
			check(t, o, c.status, c.stage, c.kind)
			if !strings.Contains(o.Error, c.text) {
				t.Errorf("error %q: want %q in it", o.Error, c.text)
			}
			if c.samples < 0 {
				if len(o.Metrics) > 0 {
					t.Errorf("metrics without a measurement: %+v", o.Metrics)
				}
			} else {
				valuetest.DeepEqual(t, len(metric(t, o, "latency").Ticks), c.samples)
			}
		})
	}
}

func TestTimeoutKeepsSamples(t *testing.T) {
	spec := builtin("hang")
	spec.Deadlines.Measure = 500 * time.Millisecond
	o := untilItHangs(&spec.Deadlines.Measure, func() (Outcome, bool) {
		o := runSpec(t, t.Context(), spec, nil)
		return o, len(latencies(o)) == 15
	})
	check(t, o, schema.StatusTimeout, schema.StageMeasure, "timeout")
	valuetest.DeepEqual(t, len(metric(t, o, "latency").Ticks), 15)
	valuetest.DeepEqual(t, o.Error, "measure took more than "+short(spec.Deadlines.Measure)+"; raise timeouts.measure", "error")
	if o.Facts["runner.kill_delay_ns"] == "" {
		t.Errorf("facts: %v", o.Facts)
	}
	if o.Stages.Measure == nil || *o.Stages.Measure < int64(spec.Deadlines.Measure) {
		t.Errorf("stages: %+v", o.Stages)
	}
}

func TestTimeoutInSetup(t *testing.T) {
	spec := builtin("hang in setup")
	spec.Deadlines.Setup = 400 * time.Millisecond
	o := runSpec(t, t.Context(), spec, nil)
	check(t, o, schema.StatusTimeout, schema.StageSetup, "timeout")
}

func TestStderrTail(t *testing.T) {
	o := runSpec(t, t.Context(), builtin("stderr"), nil)
	if !strings.HasSuffix(o.StderrTail, "last line\n") || strings.Contains(o.StderrTail, "first line") {
		t.Errorf("tail %q", o.StderrTail)
	}
	if len(o.StderrTail) > tailSize || !utf8.ValidString(o.StderrTail) {
		t.Errorf("tail of %d B, valid %t", len(o.StderrTail), utf8.ValidString(o.StderrTail))
	}
}

// TestLostControlChannel: a benchmark that closes descriptors is as good as any other.
func TestLostControlChannel(t *testing.T) {
	o := runOK(t, builtin("close"))
	if len(metric(t, o, "latency").Ticks) != 40 || !slices.Equal(o.Warnings, []string{"applied_unknown"}) {
		t.Errorf("%+v", o)
	}
	// the deadline is that of the stage that the header names, not of the last one that an event named
	spec := builtin("close")
	spec.Warmup, spec.Iterations = 30, 1500
	spec.Deadlines.Warmup, spec.Deadlines.Measure = time.Second, 60*time.Second
	runOK(t, spec)
}

func TestFloodIsBounded(t *testing.T) {
	spec := builtin("flood")
	spec.OutputLimit = 8 << 20
	o := runSpec(t, t.Context(), spec, nil)
	if o.Status != schema.StatusOutputLimit || o.ErrorKind != "output_limit" || o.Stage == "" {
		t.Fatalf("%+v", o)
	}
}

func TestDaemonIsKilledAndSaid(t *testing.T) {
	valuetest.Program(t, "setsid")
	o := runOK(t, builtin("daemon"))
	if !slices.Equal(o.Warnings, []string{"left_running"}) || o.Facts["runner.left_running"] != "1" {
		t.Errorf("warnings: %v, facts: %v", o.Warnings, o.Facts)
	}
	spec := builtin("daemon and hang")
	spec.Deadlines.Measure = 400 * time.Millisecond
	check(t, runSpec(t, t.Context(), spec, nil), schema.StatusTimeout, schema.StageMeasure, "timeout")
}

func TestBudget(t *testing.T) {
	spec := builtin("slow")
	spec.Iterations, spec.Budget = 0, 20*time.Millisecond
	o := runOK(t, spec)
	if n := len(metric(t, o, "latency").Ticks); n < 1 || n > 20 {
		t.Errorf("%d samples of at least 1 ms in a budget of 20 ms", n)
	}
	spec.Budget = time.Nanosecond
	valuetest.DeepEqual(t, len(metric(t, runSpec(t, t.Context(), spec, nil), "latency").Ticks), 1)
	spec.Budget = time.Hour
	valuetest.DeepEqual(t, len(metric(t, runSpec(t, t.Context(), spec, nil), "latency").Ticks), 100)
	spec.Iterations, spec.Budget = 7, time.Nanosecond // a number given is exact
	valuetest.DeepEqual(t, len(metric(t, runSpec(t, t.Context(), spec, nil), "latency").Ticks), 7)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	spec := builtin("slow")
	spec.Iterations = 100_000
	seen := 0
	o := runSpec(t, ctx, spec, func(p Progress) {
		if p.Stage == schema.StageMeasure && p.Done > 0 {
			seen = max(seen, p.Done)
			cancel()
		}
	})
	check(t, o, schema.StatusCancelled, schema.StageMeasure, "cancelled")
	if n := len(metric(t, o, "latency").Ticks); n < seen {
		t.Errorf("%d samples, %d were seen", n, seen)
	}
	o = runSpec(t, ctx, spec, nil)
	check(t, o, schema.StatusCancelled, schema.StageSetup, "cancelled")
}

func TestRefusedSpecs(t *testing.T) {
	spoilt := func(spoil func(*Spec)) Spec {
		s := builtin("ok")
		spoil(&s)
		return s
	}
	for _, spec := range []Spec{
		{},
		spoilt(func(s *Spec) { s.Executor = schema.ExecutorTorch }),
		spoilt(func(s *Spec) { s.Executor = schema.ExecutorCommand }),
		spoilt(func(s *Spec) { s.Iterations = maxRows + 1 }),
		spoilt(func(s *Spec) { s.Warmup, s.Iterations = 1, maxRows }),
		spoilt(func(s *Spec) { s.Warmup = -1 }),
		spoilt(func(s *Spec) { s.Budget = -1 }),
		spoilt(func(s *Spec) { s.Iterations = 0 }), // and no budget
		spoilt(func(s *Spec) { s.Deadlines.Measure = -1 }),
		spoilt(func(s *Spec) { s.Deadlines.Teardown = 0 }),
		spoilt(func(s *Spec) { s.OutputLimit = -1 }),
	} {
		if o, err := testPool(t).Run(t.Context(), spec, nil); err == nil {
			t.Errorf("%+v ran: %+v", spec, o)
		}
	}
}

func TestNoRunDirectory(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	p := testPool(t)
	if o, err := p.Run(t.Context(), builtin("ok"), nil); err == nil {
		t.Errorf("ran: %+v", o)
	}
	if p.mu.Lock(); len(p.known) > 0 {
		t.Errorf("supervisors that still wait: %v", p.known)
	}
	p.mu.Unlock()
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		10 * time.Minute: "10m", time.Hour: "1h", 90 * time.Second: "1m30s", 10 * time.Second: "10s", time.Hour + time.Second: "1h0m1s",
	} {
		valuetest.DeepEqual(t, short(d), want, d)
	}
}

// TestRunnerThatWasStopped: a run that ends while its runner is stopped, as by Ctrl-Z, for longer than each deadline is what it was, with
// all of its samples, and none of them has the stop in it.
func TestRunnerThatWasStopped(t *testing.T) {
	const limit = 500 * time.Millisecond
	for seen, tries := 0, 0; seen < 2; tries++ { // which of two things that happened the runner sees first is left to chance
		spec := builtin("ok")
		spec.Deadlines.Measure, spec.Deadlines.Teardown = limit, limit
		stopped := time.Duration(0)
		o := runSpec(t, t.Context(), spec, func(p Progress) {
			if p.Stage == schema.StageMeasure && stopped == 0 {
				began := time.Now()
				untilOver(t)
				for len(survivors("")) > 0 { // the worker, of whatever mark: however long the machine takes, it is not late by itself
					time.Sleep(time.Millisecond)
				}
				time.Sleep(2 * time.Second) // longer than both, and than a runner may be late
				stopped = time.Since(began)
			}
		})
		check(t, o, schema.StatusOK, "", "")
		m := metric(t, o, "latency")
		if len(m.Ticks) != 40 || tries == 100 {
			t.Fatalf("%d samples, stopped for %v", len(m.Ticks), stopped)
		}
		if stopped > 0 { // else the run was over before the runner saw it measure
			seen++
		}
	}
}

// TestLateTimers: a timer that fires while the runner is stopped ends no phase before the runner has read what happened meanwhile.
func TestLateTimers(t *testing.T) {
	for p := phaseRunning; p <= phaseDraining; p++ {
		r := &run{phase: p, handled: 1, timer: time.NewTimer(time.Hour)}
		r.setTimer(-2 * time.Second)
		r.onDeadline()
		if r.phase != p || r.cause != nil || r.over {
			t.Errorf("phase %d ends, in phase %d, over %v", p, r.phase, r.over)
		}
		if p >= phaseTakeover {
			if r.onDeadline(); !r.over {
				t.Errorf("phase %d does not end later", p)
			}
		}
	}
}

// untilOver waits until the worker has come to a result.
func untilOver(t *testing.T) {
	t.Helper()
	for {
		files, err := filepath.Glob(filepath.Join(os.TempDir(), "neurolens-run-*", samplesFile))
		if err != nil || len(files) != 1 {
			t.Fatalf("the files of samples are %q: %v", files, err)
		}
		header := valuetest.Must(os.ReadFile(files[0]))
		const state = 56 // where PROTOCOL.md has it
		if binary.LittleEndian.Uint16(header[state:]) != 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// loopRows is how many iterations one pass of a loop has.
const loopRows = 100_000

// mapped returns a column of a file of samples, as the worker has it.
func mapped(t testing.TB) []int64 {
	dir := t.TempDir()
	r := valuetest.Must(createSamples(filepath.Join(dir, samplesFile), shape{columns: 1, capacity: loopRows}))
	t.Cleanup(func() { _ = r.close() })
	m := valuetest.Must(mapSamples(filepath.Join(dir, samplesFile)))
	return m.column(columnLatency)
}

func nothing() {}

func BenchmarkWorkerLoopMapped(b *testing.B) { benchmarkLoop(b, mapped(b)) }

func BenchmarkWorkerLoopSlice(b *testing.B) { benchmarkLoop(b, make([]int64, loopRows)) }

func benchmarkLoop(b *testing.B, rows []int64) {
	for b.Loop() {
		measure(nothing, rows, math.MaxInt64, new(int64))
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/loopRows, "ns/iteration")
}

// BenchmarkWorkerLoopRatio runs both loops in turns and reports the ratio of their medians.
func BenchmarkWorkerLoopRatio(b *testing.B) {
	columns := [][]int64{mapped(b), make([]int64, loopRows)}
	var took [2][]int64
	pass := make([]int64, 1)
	for b.Loop() {
		for i, rows := range columns {
			measure(func() { measure(nothing, rows, math.MaxInt64, new(int64)) }, pass, math.MaxInt64, new(int64))
			took[i] = append(took[i], pass[0])
		}
	}
	b.ReportMetric(float64(median(took[0]))/float64(median(took[1])), "mapped/slice")
}

func median(values []int64) int64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// programsOfComparison returns the programs that hyperfine measures too: one that does nothing, one that waits, and a start of Python with
// modules that takes up to 20 MB.
func programsOfComparison(b *testing.B) map[string][]string {
	return map[string][]string{
		"true": {valuetest.Program(b, "true")}, "sleep": {valuetest.Program(b, "sleep"), "0.01"},
		"python": {valuetest.Program(b, "python3"), "-c", "import json, decimal"},
	}
}

// BenchmarkCommandAgainstHyperfine runs NEUROLENS_COMPARE_RUNS (100) processes of a program a side, four times in turns,
// and reports the ratio of the medians.
func BenchmarkCommandAgainstHyperfine(b *testing.B) {
	hyperfine := valuetest.Program(b, "hyperfine")
	runs := 100
	if n, err := strconv.Atoi(os.Getenv("NEUROLENS_COMPARE_RUNS")); err == nil {
		runs = n
	}
	for name, program := range programsOfComparison(b) {
		b.Run(name, func(b *testing.B) { againstHyperfine(b, hyperfine, program, runs) })
	}
}

func againstHyperfine(b *testing.B, hyperfine string, program []string, runs int) {
	var ours, theirs []int64
	for b.Loop() {
		for range 4 {
			spec := commandSpec(program...)
			spec.Warmup, spec.Iterations = 3, runs
			ours = append(ours, metric(b, runSpec(b, b.Context(), spec, nil), "latency").Ticks...)
			theirs = append(theirs, hyperfineTimes(b, hyperfine, program, runs)...)
		}
	}
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "ours/hyperfine")
	b.ReportMetric(float64(slices.Min(ours))/float64(slices.Min(theirs)), "min-ours/hyperfine")
	b.ReportMetric(float64(median(ours)), "ns/process")
}

// hyperfineTimes returns the times of processes in ns as hyperfine measures them.
func hyperfineTimes(b *testing.B, hyperfine string, program []string, runs int) (times []int64) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "times.json")
	valuetest.Run(b, exec.Command(hyperfine, "-N", "--warmup", "3", "--runs", strconv.Itoa(runs), "--export-json", file, "'"+strings.Join(program, "' '")+"'"))
	text := valuetest.Must(os.ReadFile(file))
	var doc struct {
		Results []struct{ Times []float64 }
	}
	valuetest.OK(b, json.Unmarshal(text, &doc))
	for _, seconds := range doc.Results[0].Times {
		times = append(times, int64(seconds*1e9))
	}
	return times
}
