package probe

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// fakeDriver compiles the library of testdata.
func fakeDriver(t testing.TB, flags ...string) string {
	t.Helper()
	valuetest.Program(t, "gcc")
	path := filepath.Join(t.TempDir(), "libfakenvml.so")
	run(t, ".", "gcc", append(flags, "-shared", "-fPIC", "-o", path, "testdata/fakenvml.c")...)
	return path
}

func TestDriverSaysWhatThereIs(t *testing.T) {
	devices := queryChild(t.Context(), role, fakeDriver(t))
	want := map[string]string{"gpu.driver": "580.65.06", "gpu.cuda": "13.2", "gpu.count": "2"}
	for _, prefix := range []string{"gpu.0.", "gpu.1."} {
		maps.Copy(want, map[string]string{
			prefix + "name":               "NVIDIA H100 80GB HBM3",
			prefix + "uuid":               "GPU-" + prefix[4:5],
			prefix + "pci":                "00000000:1B:00.0",
			prefix + "memory":             "85520809984",
			prefix + "compute_capability": "9.0",
			prefix + "power_limit":        "700000",
			prefix + "clock_sm_max":       "1980",
			prefix + "clock_memory_max":   "2619",
			prefix + "memory_bus_width":   "5120",
			prefix + "persistence":        "true",
			prefix + "compute_mode":       "exclusive_process",
			prefix + "mig":                "false",
			prefix + "clock_sm":           "345",
			prefix + "temperature":        "41",
			prefix + "throttle":           "none",
		})
	}
	want["gpu.1.throttle"] = "power_cap hardware_thermal"
	for name, value := range want {
		valuetest.DeepEqual(t, devices.Facts[name], value, name)
	}
	valuetest.DeepEqual(t, len(devices.Facts), len(want), devices.Facts)
	for _, name := range []string{"gpu.0.ecc", "gpu.1.vbios", "gpu.0.power_limit_default", "gpu.0.foreign"} {
		valuetest.DeepEqual(t, devices.Missing[name], unsupported, name)
	}
	env := Read(t.Context(), Options{
		Root: tree(server), Dir: t.TempDir(), GPU: func(context.Context) Devices { return devices },
	})
	if env.GPUName != "NVIDIA H100 80GB HBM3" || env.GPUCount == nil || *env.GPUCount != 2 ||
		env.DriverVersion != "580.65.06" || env.CUDAVersion != "13.2" || env.Machine == "" {
		t.Errorf("columns: %+v", env)
	}
}

func TestDriversThatLackSomething(t *testing.T) {
	for _, c := range []struct {
		flag, name, why string
	}{
		{"-DOLD", "gpu.0.power_limit", unsupported},
		{"-DOLD", "gpu.0.throttle", ""}, // under its older name
		{"-DLOST", "gpu.1", lost},
		{"-DBROKEN", "gpu", unsupported}, // ends the child
		{"-DINIT=9", "gpu", absent},
		{"-DINIT=4", "gpu", permission},
		{"-DINIT=999", "gpu", unsupported},
	} {
		devices := queryChild(t.Context(), role, fakeDriver(t, c.flag))
		valuetest.DeepEqual(t, devices.Missing[c.name], c.why, c.flag, c.name, devices.Facts)
		if c.name != "gpu" && devices.Facts["gpu.0.name"] == "" {
			t.Errorf("%s: the rest is missing too: %v", c.flag, devices)
		}
	}
}

func TestDriverThatHangs(t *testing.T) {
	library := fakeDriver(t, "-DHANG")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if devices := queryChild(ctx, role, library); devices.Missing["gpu"] != timeout {
		t.Errorf("got %v, want %s", devices, timeout)
	}
}

// watcher watches through a library made for the test.
func watcher(t testing.TB, flags ...string) *Watcher {
	t.Helper()
	w := &Watcher{root: tree(server)}
	w.start(watchRole, fakeDriver(t, flags...))
	t.Cleanup(w.Close)
	return w
}

// The fake driver's processes are 1, twice, and one that the test runs below itself.
func TestWatcher(t *testing.T) {
	sleep := exec.Command("sleep", "1000")
	if err := sleep.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { sleep.Process.Kill(); sleep.Wait() })
	w := watcher(t, fmt.Sprintf("-DBUSY=%d", sleep.Process.Pid))
	before := w.Read()
	for name, want := range map[string]string{
		"load.1m": "0.25", "gpu.0.clock_sm": "345", "gpu.0.temperature": "41", "gpu.0.throttle": none,
		"gpu.0.processes": "0", "gpu.0.foreign": none, "gpu.1.processes": "3", "gpu.1.foreign": "1",
		"gpu.1.throttle": "power_cap hardware_thermal", "gpu.0.throttled_power.total": "20001000", "gpu.count": "", "gpu.watch": "",
	} {
		valuetest.DeepEqual(t, before[name], want, name)
	}
	facts := Between(before, w.Read())
	for name := range facts {
		if !IsVolatile(name) {
			t.Errorf("%s is not volatile", name)
		}
	}
	if facts["gpu.0.throttled_power"] != "40000000" || facts["gpu.0.throttled_thermal"] != "0" || facts["gpu.1.foreign"] != "1" {
		t.Errorf("between two readings: %v", facts)
	}
	pid := w.child.cmd.Process.Pid
	w.Close()
	w.Close()
	if err := syscall.Kill(pid, 0); err == nil {
		t.Error("the process that asks the driver is still there")
	}
	if facts := w.Read(); facts["load.1m"] != "0.25" || facts["gpu.0.clock_sm"] != "" {
		t.Errorf("after Close: %v", facts)
	}
}

func TestWatcherOfDriversThatFail(t *testing.T) {
	w := watcher(t, "-DDIE")
	if facts := w.Read(); facts["gpu.1.clock_sm"] != "345" {
		t.Errorf("first reading: %v", facts)
	}
	for range 2 {
		if facts := w.Read(); facts["gpu.watch"] != unsupported || facts["load.1m"] != "0.25" || facts["gpu.0.temperature"] != "" {
			t.Errorf("a driver that ends the process: %v", facts)
		}
	}
	w = watcher(t, "-DSTALL")
	if facts := w.Read(); facts["gpu.watch"] != "" {
		t.Errorf("first reading: %v", facts)
	}
	w.child.patience = 300 * time.Millisecond
	if facts := w.Read(); facts["gpu.watch"] != timeout {
		t.Errorf("a driver that hangs: %v", facts)
	}
	w = watcher(t, "-DINIT=999")
	if facts := w.Read(); facts["gpu.watch"] != "" || facts["gpu.0.clock_sm"] != "" {
		t.Errorf("a driver that does not start: %v", facts)
	}
}

// The process ends with the one that asks, and not at an interrupt from the terminal, which both get.
func TestWatcherSurvivesInterrupts(t *testing.T) {
	w := watcher(t)
	w.Read() // by now it listens
	valuetest.OK(t, w.child.cmd.Process.Signal(syscall.SIGINT))
	if facts := w.Read(); facts["gpu.0.clock_sm"] != "345" {
		t.Errorf("after an interrupt: %v", facts)
	}
}
