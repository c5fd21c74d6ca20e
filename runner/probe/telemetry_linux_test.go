package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// replayed watches through a library that replays a text, see testdata/fakenvml.c.
func replayed(t testing.TB, text string, flags ...string) *Watcher {
	t.Helper()
	path := filepath.Join(t.TempDir(), "replay.txt")
	valuetest.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return watcher(t, append(flags, "-DREPLAY="+strconv.Quote(path))...)
}

// readTwice returns the readings of a run that takes no time: the first one and the last one.
func readTwice(w *Watcher, devices ...string) Readings {
	w.Begin(1, devices)
	return w.End()
}

const steady = `clock_sm 1980
clock_memory 2619
throttle 4
gpu_utilization 90
memory_utilization 40
power 250000
power_instant 300000
energy 1000 +5000
temperature 55
device_memory_used 123456
instance_memory 77
`

// TestTelemetryOfDriver: each tick reads each quantity once, so that an energy counter that moves by 5 J a call is read in steps of exactly 5 J.
func TestTelemetryOfDriver(t *testing.T) {
	w := replayed(t, steady+"clock_sm.1 1410\nenergy.1 7\n")
	for range 2 { // a process serves several runs
		r := readTwice(w, "gpu-0", "gpu-1")
		for name, want := range map[string]int64{
			"clock_sm": 1980, "clock_memory": 2619, "throttle": 4, "gpu_utilization": 90, "memory_utilization": 40, "power": 300000, "temperature": 55,
			"device_memory_used": 123456, "clock_sm.1": 1410,
		} {
			values := seriesOf(r, name)
			if len(values) < 2 || values[0] != want || values[len(values)-1] != want {
				t.Errorf("%s: %v, want %d", name, values, want)
			}
		}
		energy := seriesOf(r, "energy")
		if len(energy) < 2 {
			t.Fatalf("energy: %v", r)
		}
		for i := 1; i < len(energy); i++ {
			if energy[i]-energy[i-1] != 5000 {
				t.Errorf("energy: %v", energy)
			}
		}
		valuetest.DeepEqual(t, r.Missing["power.1"], unsupported, "power of a GPU that has none")
		valuetest.DeepEqual(t, r.Devices, []string{"GPU-0", "GPU-1"}, "devices")
	}
}

// TestTelemetryOfInstance: an instance of a shared GPU has the clocks of the GPU, memory of its own, and no power of its own.
func TestTelemetryOfInstance(t *testing.T) {
	r := readTwice(replayed(t, steady), "mig-1")
	valuetest.DeepEqual(t, r.Devices, []string{"MIG-1"}, "devices")
	for name, want := range map[string]int64{"clock_sm": 1980, "temperature": 55, "device_memory_used": 77} {
		if values := seriesOf(r, name); len(values) < 2 || values[0] != want {
			t.Errorf("%s: %v, want %d", name, values, want)
		}
	}
	for _, name := range []string{"power", "energy", "gpu_utilization"} {
		valuetest.DeepEqual(t, r.Missing[name], unsupported, name)
	}
}

// TestTelemetryThatFails: what the driver lacks, or loses, has a reason in place of readings, and the rest is read.
func TestTelemetryThatFails(t *testing.T) {
	r := readTwice(replayed(t, steady, "-DNO_FIELDS", "-DNO_ENERGY"), "gpu-0")
	if power := seriesOf(r, "power"); len(power) < 2 || power[0] != 250000 || r.Missing["energy"] != unsupported {
		t.Errorf("an old driver: power %v, missing %v", power, r.Missing)
	}
	r = readTwice(replayed(t, "clock_sm 1980\npower_instant 1 2 lost\n"), "gpu-0")
	if seriesOf(r, "power") != nil || r.Missing["power"] != lost || len(seriesOf(r, "clock_sm")) < 2 {
		t.Errorf("a lost device: %+v", r)
	}
	if r = readTwice(replayed(t, steady), "gpu-7"); seriesOf(r, "clock_sm") != nil || r.Missing["clock_sm"] != unsupported || len(r.Series) == 0 {
		t.Errorf("an unknown device: %+v", r)
	}
	w := replayed(t, "clock_sm 1980\npower_instant 1 2 hang\n")
	w.Begin(100, []string{"gpu-0"})
	w.child.patience = 300 * time.Millisecond
	for range 2 {
		if r = w.End(); r.Missing[MissingTelemetry] != timeout || r.Series != nil {
			t.Errorf("a driver that hangs: %+v", r)
		}
	}
	w = replayed(t, steady)
	w.Begin(0.01, []string{"gpu-0"}) // the first reading is before Begin returns, and the next one 100 s later
	begun := time.Now().UnixNano()
	r = w.End()
	energy := slices.IndexFunc(r.Series, func(s Series) bool { return s.Name == "energy" })
	if energy < 0 || len(r.Series[energy].Values) != 2 || r.Began+r.Series[energy].AtNS[0] > begun {
		t.Errorf("readings of a short run: %+v", r)
	}
	w.Begin(100, []string{"gpu-0"})
	valuetest.OK(t, w.child.cmd.Process.Kill())
	if r = w.End(); r.Missing[MissingTelemetry] != unsupported || r.Series != nil {
		t.Errorf("a process that was killed: %+v", r)
	}
	if w.Begin(100, nil); w.child != nil {
		t.Error("a process that died is started again")
	}
}

// BenchmarkTelemetryShare is the CPU time of the process that reads ten times a second, of one GPU, as a share of one core.
func BenchmarkTelemetryShare(b *testing.B) {
	w := replayed(b, steady)
	const took = 5 * time.Second
	var used time.Duration
	for b.Loop() {
		before := ranFor(b, w.child.cmd.Process.Pid)
		w.Begin(10, []string{"gpu-0"})
		time.Sleep(took)
		if r := w.End(); len(seriesOf(r, "power")) < 2 {
			b.Fatalf("%+v", r)
		}
		used += ranFor(b, w.child.cmd.Process.Pid) - before
	}
	b.ReportMetric(100*float64(used)/float64(took)/float64(b.N), "%")
	b.ReportMetric(0, "ns/op") // it sleeps
}

// ranFor returns how long the threads of a process have run.
func ranFor(b *testing.B, pid int) (total time.Duration) {
	for _, file := range valuetest.Must(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))) {
		text, _, _ := strings.Cut(string(valuetest.Must(os.ReadFile(file))), " ")
		total += time.Duration(valuetest.Must(strconv.Atoi(text)))
	}
	if total == 0 {
		b.Skip("the kernel does not count how long threads run")
	}
	return total
}
