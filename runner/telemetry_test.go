package runner

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// watched is the outcome of a run that measured from 2 s to 6 s after its start: 1,000 iterations in ten samples.
func watched() task.Outcome {
	second := int64(time.Second)
	return task.Outcome{
		Status: schema.StatusOK, StartedAt: time.Unix(1000, 0), Stages: schema.Stages{Setup: &second, Warmup: &second, Measure: new(4 * second)},
		Metrics: []schema.Metric{{
			Name: "latency", Unit: "ns", Tick: 1, Ticks: slices.Repeat([]int64{3e6}, 10), IterationsPerSample: []int64{100},
		}},
		Facts: map[string]string{}, Missing: map[string]string{},
	}
}

// trace returns a series that was read ten times a second, from 0 s to 8 s after the start of a run, by a sampler that began half a second before
// it. value gets the time in tenths of a second.
func trace(name string, tick float64, value func(tenth int64) int64) probe.Series {
	s := probe.Series{Name: name, Tick: tick}
	for tenth := range int64(81) {
		s.AtNS = append(s.AtNS, tenth*1e8+5e8)
		s.Values = append(s.Values, value(tenth))
	}
	return s
}

// readings returns readings of one GPU.
func readings(series ...probe.Series) probe.Readings {
	began := time.Unix(1000, 0).Add(-500 * time.Millisecond)
	return probe.Readings{Began: began.UnixNano(), Series: series, Missing: map[string]string{}, Devices: []string{"GPU-0"}}
}

// measured adds readings to the outcome of watched, and returns its metrics by name.
func measured(o *task.Outcome, r probe.Readings) (metrics map[string]*schema.Metric, facts map[string]string) {
	facts, metrics = addTelemetry(o, r, &sweep.Telemetry{Hz: 10, Energy: true}), map[string]*schema.Metric{}
	run := schema.Run{Metrics: o.Metrics}
	stat.Complete(&run)
	for i := range run.Metrics {
		metrics[run.Metrics[i].Name] = &run.Metrics[i]
	}
	return metrics, facts
}

// TestTelemetry: of a trace whose clock falls from 1,980 to 1,400 MHz in the middle of the stage, while the driver names a cap of its
// power, the run has the medians and shares of the 40 readings within the stage.
func TestTelemetry(t *testing.T) {
	o := watched()
	late := func(before, after int64) func(int64) int64 {
		return func(tenth int64) int64 {
			if tenth < 50 {
				return before
			}
			return after
		}
	}
	power := trace("power", 1, func(tenth int64) int64 { return 1000 * tenth })
	metrics, facts := measured(&o, readings(
		trace("clock_sm", 1, late(1980, 1400)), trace("throttle", 1, late(1, 4)), trace("gpu_utilization", 1e-2, func(tenth int64) int64 { return tenth }),
		power, trace("energy", 1, func(tenth int64) int64 { return 777 + 5000*tenth }),
	))
	for name, want := range map[string]float64{"clock_sm": 1980, "power": 39500, "gpu_utilization": .395, "throttle": 1} {
		if m := metrics[name]; m == nil || *m.Summary.P50 != want || len(m.Ticks) != 40 || m.Level != schema.LevelInterval || m.AtNS[0] != 2e9 || m.AtNS[39] != 59e8 {
			t.Errorf("%s: %+v, want a median of %v", name, m, want)
		}
	}
	if m := metrics["energy"]; m == nil || m.Reals[0] != 40*5000/1000.0 || m.Unit != "mJ" || m.Level != schema.LevelMean || m.IterationsPerSample[0] != 1000 {
		t.Errorf("energy: %+v", m)
	}
	want := map[string]string{
		"telemetry.device": "GPU-0", "energy.method": "counter", "energy.window_ns": "4000000000", "energy.step_ns": "100000000", "throttle.power_cap": "25",
		"throttle.thermal": "0", "throttle.hardware_thermal": "0", "throttle.hardware_slowdown": "0", "throttle.power_brake": "0",
	}
	if !maps.Equal(facts, want) || len(o.Missing) != 0 {
		t.Errorf("facts %v\nwant %v\nmissing %v", facts, want, o.Missing)
	}
	for name := range facts {
		if name != probe.FactTelemetryDevice && !probe.IsVolatile(name) {
			t.Errorf("%s is not volatile", name)
		}
	}
	for i, at := range metrics["latency"].AtNS { // ten samples of 0.3 s, in 4 s
		if want := int64(2e9 + 4e8*float64(i)); at != want {
			t.Errorf("sample %d is at %d, want %d", i, at, want)
		}
	}
}

// TestEnergy: energy has a method, or a reason.
func TestEnergy(t *testing.T) {
	rising := func(tenth int64) int64 { return 5000 * tenth }
	long := func(*task.Outcome) {}
	for what, c := range map[string]struct {
		series []probe.Series
		edit   func(*task.Outcome)
		energy float64 // mJ of an iteration
		fact   string
		why    string
	}{
		"between two readings":                     {[]probe.Series{trace("energy", 1, rising)}, func(o *task.Outcome) { *o.Stages.Measure = 2_550_000_000 }, 127.5, "counter", ""},
		"of the power, which rises by 1 W a tenth": {[]probe.Series{trace("power", 1, func(tenth int64) int64 { return 1000 * tenth })}, long, 160, "integral", ""},
		"a short stage":                            {[]probe.Series{trace("energy", 1, rising)}, func(o *task.Outcome) { *o.Stages.Measure = 1_950_000_000 }, 0, "", probe.WindowTooShort},
		"a short stage, by power":                  {[]probe.Series{trace("power", 1, rising)}, func(o *task.Outcome) { *o.Stages.Measure = 1_950_000_000 }, 0, "", probe.WindowTooShort},
		"a counter of rare steps":                  {[]probe.Series{trace("energy", 1, func(tenth int64) int64 { return tenth / 5 * 5 })}, long, 0, "", probe.WindowTooShort},
		"a counter that was reset":                 {[]probe.Series{trace("energy", 1, func(tenth int64) int64 { return tenth % 50 })}, long, 0, "", whyWentBack},
		"a counter that stands":                    {[]probe.Series{trace("energy", 1, func(int64) int64 { return 9 })}, long, 0, "", whyStoodStill},
		"readings that end early":                  {[]probe.Series{trace("energy", 1, rising)}, func(o *task.Outcome) { *o.Stages.Measure = 7_000_000_000 }, 0, "", probe.WindowTooShort},
		"a run without iterations":                 {[]probe.Series{trace("energy", 1, rising)}, func(o *task.Outcome) { o.Metrics = nil }, 0, "", whyNotMeasured},
		"neither counter nor power":                {nil, long, 0, "", "unsupported"},
	} {
		o, r := watched(), readings(c.series...)
		if c.series == nil {
			r.Missing["energy"], r.Missing["power"] = "unsupported", "unsupported"
		}
		c.edit(&o)
		metrics, facts := measured(&o, r)
		m := metrics["energy"]
		if got := o.Missing["energy"]; got != c.why || facts["energy.method"] != c.fact || (m == nil) != (c.why != "") || m != nil && m.Reals[0] != c.energy {
			t.Errorf("%s: %+v, %v, missing %q", what, m, facts, got)
		}
	}
}

// TestTelemetryOfOthers: the second device has a suffix, the processor its own energy, and a metric of the benchmark stays.
func TestTelemetryOfOthers(t *testing.T) {
	o := watched()
	o.Metrics = append(o.Metrics, schema.Metric{Name: "power", Unit: "mW", Reals: []float64{1}})
	r := readings(
		trace("power", 1, func(int64) int64 { return 5 }), trace("power.1", 1, func(int64) int64 { return 6000 }),
		trace("cpu_energy", 1e-3, func(tenth int64) int64 { return 1_000_000 * tenth }), trace("throttle.1", 1, func(int64) int64 { return 0x20 }),
	)
	r.Devices = append(r.Devices, "GPU-1")
	metrics, facts := measured(&o, r)
	if m := metrics["power"]; len(m.Reals) != 1 {
		t.Errorf("the benchmark's own power: %+v", m)
	}
	if m := metrics["power.1"]; m == nil || *m.Summary.P50 != 6000 || m.Unit != "mW" {
		t.Errorf("power.1: %+v", m)
	}
	if m := metrics["cpu_energy"]; m == nil || m.Reals[0] != 40 || m.Unit != "mJ" {
		t.Errorf("cpu_energy: %+v", m)
	}
	if m := metrics["energy.1"]; m == nil || m.Reals[0] != 24 || facts["energy.method.1"] != "integral" || facts["telemetry.device.1"] != "GPU-1" || facts["throttle.thermal.1"] != "100" {
		t.Errorf("energy.1: %+v, %v", m, facts)
	}
}

// TestTelemetryMissing: what was not read has a reason, and leaves the run as it is.
func TestTelemetryMissing(t *testing.T) {
	o := watched()
	*o.Stages.Measure = 5e8
	metrics, _ := measured(&o, readings(trace("gpu_utilization", 1e-2, func(int64) int64 { return 50 }), trace("clock_sm", 1, func(int64) int64 { return 9 })))
	if o.Missing["gpu_utilization"] != probe.WindowTooShort || metrics["gpu_utilization"] != nil || metrics["clock_sm"] == nil || metrics["latency"].AtNS != nil {
		t.Errorf("half a second: %v, missing %v", metrics, o.Missing)
	}
	o = watched()
	*o.Stages.Measure = 1
	if measured(&o, readings(probe.Series{Name: "clock_sm", Tick: 1, AtNS: []int64{1}, Values: []int64{2}})); o.Missing["clock_sm"] != probe.WindowTooShort {
		t.Errorf("no reading in the stage: missing %v", o.Missing)
	}
	o = watched()
	metrics, facts := measured(&o, probe.Readings{Missing: map[string]string{probe.MissingTelemetry: "timeout"}, Devices: []string{"GPU-0"}})
	if o.Status != schema.StatusOK || len(metrics) != 1 || metrics["latency"].AtNS != nil || fmt.Sprint(facts, o.Missing) != "map[telemetry.device:GPU-0] map[telemetry:timeout]" {
		t.Errorf("a sampler that died: %v, %v, missing %v", metrics, facts, o.Missing)
	}
	o = watched()
	o.Stages.Measure = nil
	if measured(&o, readings()); o.Missing[probe.MissingTelemetry] != whyNotMeasured {
		t.Errorf("a run that failed before: missing %v", o.Missing)
	}
	o = watched()
	r := readings()
	r.Devices = nil
	if measured(&o, r); o.Missing["energy"] != "absent" {
		t.Errorf("no GPU: missing %v", o.Missing)
	}
	o = watched()
	addTelemetry(&o, readings(trace("energy", 1, func(tenth int64) int64 { return tenth })), &sweep.Telemetry{Hz: 10})
	if len(o.Metrics) != 1 || len(o.Missing) != 0 {
		t.Errorf("energy that nobody asked for: %v, missing %v", o.Metrics, o.Missing)
	}
}

// TestTelemetryOfSession: runs have readings where the sweep asks for them, and are valid with them.
func TestTelemetryOfSession(t *testing.T) {
	for _, c := range []struct {
		telemetry string
		want      bool
	}{{"{hz: 100}", true}, {"off", false}} {
		var run schema.Run
		_, err := Run(t.Context(), parse(t, "command: [sleep, '0.05']\niterations: 2\nwarmup: 0\nrepeats: 1\ntelemetry: "+c.telemetry+"\n"), Options{Locks: t.TempDir()},
			func(r schema.Run) error { run = r; return r.Validate() })
		valuetest.OK(t, err)
		latency := run.Metric("latency")
		if run.Status != schema.StatusOK || latency == nil || (len(latency.AtNS) == 2) != c.want || (run.Env.Facts["runner.telemetry"] != "") != c.want {
			t.Errorf("telemetry %s: %s %+v", c.telemetry, run.Status, latency)
		}
		_, read := run.Env.Missing["cpu_steal"] // a second is longer than this run
		if valuetest.DeepEqual(t, read || run.Metric("cpu_steal") != nil, c.want, "read, or missing with a reason", run.Env.Missing); run.Env.Missing["telemetry"] != "" {
			t.Errorf("telemetry %s: missing %v", c.telemetry, run.Env.Missing)
		}
	}
}

// TestTelemetryOfDriver: a run has the readings of a driver, and a driver that ends the process that reads leaves the run as it is.
func TestTelemetryOfDriver(t *testing.T) {
	valuetest.Program(t, "gcc")
	for _, c := range []struct {
		power, missing string
	}{{"300000", ""}, {"300000 300000 die", "unsupported"}} {
		dir := t.TempDir()
		replay := filepath.Join(dir, "replay.txt")
		valuetest.OK(t, os.WriteFile(replay, []byte("clock_sm 1980\nthrottle 4\ntemperature 50\npower_instant "+c.power+"\n"), 0o600))
		valuetest.Run(t, exec.Command("gcc", "-shared", "-fPIC", "-DREPLAY="+strconv.Quote(replay), "-o", filepath.Join(dir, "libnvidia-ml.so.1"), "probe/testdata/fakenvml.c"))
		t.Setenv("LD_LIBRARY_PATH", dir)
		var run schema.Run
		_, err := Run(t.Context(), parse(t, "command: [sleep, '0.1']\niterations: 3\nwarmup: 0\nrepeats: 1\ntelemetry: {hz: 50}\n"), Options{Locks: t.TempDir()},
			func(r schema.Run) error { run = r; return r.Validate() })
		valuetest.OK(t, err)
		latency := run.Metric("latency")
		if run.Status != schema.StatusOK || latency == nil || len(latency.Ticks) != 3 || run.Env.Missing["telemetry"] != c.missing {
			t.Fatalf("power %s: %s %s, missing %v", c.power, run.Status, run.Error, run.Env.Missing)
		}
		if c.missing != "" {
			valuetest.DeepEqual(t, run.Metric("power") == nil && latency.AtNS == nil && run.Env.Facts["gpu.watch"] == c.missing, true, "nothing was read", run.Env.Facts)
			continue
		}
		var unread schema.Run
		_, err = Run(t.Context(), parse(t, "command: [sleep, '0.1']\nbackend: cpu\niterations: 3\nwarmup: 0\nrepeats: 1\ntelemetry: {hz: 50}\n"), Options{Locks: t.TempDir()},
			func(r schema.Run) error { unread = r; return r.Validate() })
		valuetest.OK(t, err)
		if unread.Metric("power") != nil || unread.Env.Facts[probe.FactTelemetryDevice] != "" || slices.Contains(unread.Warnings, probe.WarnThrottled) {
			t.Errorf("backend cpu: %v, %v", unread.Env.Facts, unread.Warnings)
		}
		if m := run.Metric("power"); m == nil || *m.Summary.P50 != 300000 || run.Env.Facts["throttle.power_cap"] != "100" || !slices.Contains(run.Warnings, probe.WarnThrottled) {
			t.Errorf("power %+v, %v, %v", m, run.Env.Facts, run.Warnings)
		}
	}
}
