package task

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// roleProgram makes the test binary a worker that is another program, and the settings say what it does.
const roleProgram = "__program"

// playProgram returns the role: a worker written from PROTOCOL.md, with the codec of this package for the file of samples.
func playProgram(dir string) int {
	j, err := loadJob(dir)
	if err != nil {
		return 1
	}
	var do string
	if err := json.Unmarshal(j.Settings, &do); err != nil {
		return 1
	}
	dumps := make(chan os.Signal, 1)
	signal.Notify(dumps, syscall.SIGUSR1)
	go func() {
		<-dumps
		_ = os.WriteFile(filepath.Join(dir, stackFile), []byte("in the middle of hanging\n"), 0o600)
	}()
	writeEvents(fmt.Sprintf(`{"event":"hello","proto":1,"at":1,"dumps":%t}`+"\n", do != "mute"))
	writeEvents(`{"event":"stage","stage":"setup","at":2}` + "\n")
	if do == "shape" {
		if err := os.Truncate(filepath.Join(dir, samplesFile), 0); err != nil {
			return 1
		}
		r, err := createSamplesAnew(dir, shape{columns: 1, capacity: 9, warmup: 2})
		if err != nil {
			return 1
		}
		_ = r.close()
		writeEvents(`{"event":"shape","warmup":2,"iterations":7}` + "\n")
	}
	m, err := mapSamples(filepath.Join(dir, samplesFile))
	if err != nil {
		return 1
	}
	return programStages(do, m)
}

// createSamplesAnew puts another file of samples in the place of the runner's, in the same inode.
func createSamplesAnew(dir string, s shape) (*sampleReader, error) {
	made, err := createSamples(filepath.Join(dir, "made"), s)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "made"))
	if err != nil {
		return nil, err
	}
	return made, os.WriteFile(filepath.Join(dir, samplesFile), text, 0o600)
}

func programStages(do string, m *sampleMap) int {
	writeEvents(`{"event":"metric","metric":{"name":"latency","clock":"perf_counter"},"iterations_per_sample":[10]}` + "\n")
	rows := m.column(columnLatency)
	measure(nothing, rows[:m.shape.warmup], time.Hour, new(int64))
	if do == "profile" || do == "hang in profile" {
		writeEvents(`{"event":"stage","stage":"profile","at":3}` + "\n")
		if do == "hang in profile" {
			hang()
		}
		writeEvents(`{"event":"op","op":{"name":"a","type":"MatMul","duration_ns":5,"count":2}}` + "\n")
		writeEvents(`{"event":"op","op":{"name":"b"}}` + "\n")
		writeEvents(`{"event":"version","backend_version":"1.2"}` + "\n" + `{"event":"result","at":5}` + "\n")
		return 0
	}
	writeEvents(`{"event":"stage","stage":"measure","at":3}` + "\n")
	switch do {
	case "hang", "mute":
		hang()
	case "oom":
		writeEvents(`{"event":"error","kind":"oom","message":"no memory left"}` + "\n")
		return 1
	case "late shape":
		writeEvents(`{"event":"shape","warmup":1,"iterations":1}` + "\n")
		hang()
	}
	iterate := func() { time.Sleep(time.Millisecond) }
	if do != "forever" {
		iterate = nothing
	}
	measure(iterate, rows[m.shape.warmup:], time.Hour, m.stop())
	writeEvents(`{"event":"metric","metric":{"name":"ttft","tick":1},"ticks":[4,5]}` + "\n")
	writeEvents(`{"event":"metric","metric":{"name":"ttft","tick":1,"warmup":true},"ticks":[3]}` + "\n")
	writeEvents(`{"event":"metric","metric":{"name":"ttft","tick":1},"ticks":[6]}` + "\n")
	writeEvents(`{"event":"metric","metric":{"name":"score","unit":"ratio","better":"higher"},"reals":[0.5]}` + "\n")
	if do == "bad metric" {
		writeEvents(`{"event":"metric","metric":{"name":"score 2","better":"sideways"},"reals":[0.5]}` + "\n")
	}
	writeEvents(`{"event":"fact","key":"python.version","value":"3.11"}` + "\n")
	writeEvents(`{"event":"warning","value":"computed_in_fp32"}` + "\n")
	writeEvents(`{"event":"version","backend_version":"1.2"}` + "\n")
	writeEvents(`{"event":"result","at":5,"applied":{"precision":"fp16"}}` + "\n")
	return 0
}

// program returns a Spec of that worker.
func program(t *testing.T, do string) Spec {
	t.Helper()
	self := valuetest.Must(os.Executable())
	return Spec{
		Launch: Launch{Executor: schema.ExecutorPython, Warmup: 5, Iterations: 40}, Deadlines: patient,
		Program: &Program{
			Path: self, Args: []string{roleProgram}, Settings: json.RawMessage(`"` + do + `"`),
			Files: map[string][]byte{"worker.py": []byte("pass\n")},
		},
	}
}

func TestProgramTells(t *testing.T) {
	o := runOK(t, program(t, "tell"))
	latency := metric(t, o, "latency")
	if latency.Clock != "perf_counter" || len(latency.Ticks) != 40 || len(latency.IterationsPerSample) != 1 {
		t.Errorf("latency: %+v", latency)
	}
	ttft := metric(t, o, "ttft")
	if ttft.Unit != "ns" || ttft.Better != schema.BetterLower || fmt.Sprint(ttft.Ticks, ttft.WarmupTicks) != "[4 5 6] [3]" {
		t.Errorf("ttft: %+v", ttft)
	}
	if score := metric(t, o, "score"); len(score.Reals) != 1 || score.Unit != "ratio" {
		t.Errorf("score: %+v", score)
	}
	if o.BackendVersion != "1.2" || o.Facts["python.version"] != "3.11" || fmt.Sprint(o.Warnings) != "[computed_in_fp32]" {
		t.Errorf("%+v", o)
	}
}

func TestProgramShapesItsOwnRun(t *testing.T) {
	o := runOK(t, program(t, "shape"))
	if m := metric(t, o, "latency"); len(m.Ticks) != 7 || len(m.WarmupTicks) != 2 {
		t.Errorf("%d warm-up rows and %d rows, want 2 and 7", len(m.WarmupTicks), len(m.Ticks))
	}
	o = runSpec(t, t.Context(), program(t, "late shape"), nil)
	check(t, o, schema.StatusError, schema.StageMeasure, "protocol")
}

func TestProgramWritesItsStackBeforeTheKill(t *testing.T) {
	for do, want := range map[string]string{"hang": "in the middle of hanging\n", "mute": ""} {
		spec := program(t, do)
		spec.Deadlines.Measure = 300 * time.Millisecond
		o := runSpec(t, t.Context(), spec, nil)
		check(t, o, schema.StatusTimeout, schema.StageMeasure, "timeout")
		valuetest.DeepEqual(t, o.Facts["runner.stack"], want, do)
	}
}

func TestProgramProfiles(t *testing.T) {
	spec := program(t, "profile")
	spec.Profile, spec.Deadlines.Profile = true, time.Minute
	o := runOK(t, spec)
	if len(o.Ops) != 2 || o.Ops[1].Index != 1 || o.Ops[0].Type != "MatMul" || *o.Ops[0].Count != 2 || o.Stages.Profile == nil {
		t.Errorf("ops %+v, stages %+v", o.Ops, o.Stages)
	}
	for _, m := range o.Metrics {
		if m.Name == "latency" {
			t.Errorf("a profiler's pass has latencies: %+v", m)
		}
	}
}

func TestProgramOutOfMemory(t *testing.T) {
	o := runSpec(t, t.Context(), program(t, "oom"), nil)
	check(t, o, schema.StatusOOM, schema.StageMeasure, "oom")
}

func TestProgramWithABadMetric(t *testing.T) {
	o := runSpec(t, t.Context(), program(t, "bad metric"), nil)
	check(t, o, schema.StatusError, schema.StageMeasure, "protocol")
	if !strings.Contains(o.Error, "score 2") {
		t.Error(o.Error)
	}
	metric(t, o, "score")
}

// TestEnough: the measurement ends well when the runner has enough, in all three loops.
func TestEnough(t *testing.T) {
	forever := program(t, "forever")
	slow := builtin("slow")
	for name, spec := range map[string]Spec{"program": forever, "builtin": slow, "command": commandSpec("sleep", "0.01")} {
		spec.Iterations, spec.Budget = 0, time.Hour
		spec.Enough = func(latencies []int64) bool { return len(latencies) >= 20 }
		o := runOK(t, spec)
		if n := len(metric(t, o, "latency").Ticks); n < 20 || n > 5000 {
			t.Errorf("%s: %d samples, want a few more than 20", name, n)
		}
	}
}

// TestExactIsNotCut: iterations whose number is given are all taken, whatever the runner has seen.
func TestExactIsNotCut(t *testing.T) {
	for name, spec := range map[string]Spec{"builtin": builtin("slow"), "command": commandSpec("sleep", "0.01")} {
		spec.Iterations = 300
		if name == "command" {
			spec.Iterations = 30
		}
		spec.Enough = func([]int64) bool { return true }
		o := runOK(t, spec)
		valuetest.DeepEqual(t, len(metric(t, o, "latency").Ticks), spec.Iterations, name)
	}
}
