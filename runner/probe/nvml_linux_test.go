package probe

import (
	"context"
	"maps"
	"path/filepath"
	"testing"
	"time"
)

// fakeDriver compiles the library of testdata.
func fakeDriver(t *testing.T, flags ...string) string {
	t.Helper()
	need(t, "gcc")
	path := filepath.Join(t.TempDir(), "libfakenvml.so")
	run(t, ".", "gcc", append(flags, "-shared", "-fPIC", "-o", path, "testdata/fakenvml.c")...)
	return path
}

func TestDriverSaysWhatThereIs(t *testing.T) {
	devices := askChild(t.Context(), role, fakeDriver(t))
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
			prefix + "persistence":        "true",
			prefix + "compute_mode":       "exclusive_process",
			prefix + "mig":                "false",
		})
	}
	for name, value := range want {
		if devices.Facts[name] != value {
			t.Errorf("%s = %q, want %q", name, devices.Facts[name], value)
		}
	}
	if len(devices.Facts) != len(want) {
		t.Errorf("%d facts, want %d: %v", len(devices.Facts), len(want), devices.Facts)
	}
	for _, name := range []string{"gpu.0.ecc", "gpu.1.vbios", "gpu.0.power_limit_default"} {
		if devices.Missing[name] != unsupported {
			t.Errorf("%s: reason %q, want %s", name, devices.Missing[name], unsupported)
		}
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
		{"-DLOST", "gpu.1", unsupported},
		{"-DBROKEN", "gpu", unsupported}, // ends the child
		{"-DINIT=9", "gpu", absent},
		{"-DINIT=4", "gpu", permission},
		{"-DINIT=999", "gpu", unsupported},
	} {
		devices := askChild(t.Context(), role, fakeDriver(t, c.flag))
		if devices.Missing[c.name] != c.why {
			t.Errorf("%s: %s is missing for %q, want %s; facts %v", c.flag, c.name, devices.Missing[c.name], c.why, devices.Facts)
		}
		if c.name != "gpu" && devices.Facts["gpu.0.name"] == "" {
			t.Errorf("%s: the rest is missing too: %v", c.flag, devices)
		}
	}
}

func TestDriverThatHangs(t *testing.T) {
	library := fakeDriver(t, "-DHANG")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if devices := askChild(ctx, role, library); devices.Missing["gpu"] != timeout {
		t.Errorf("got %v, want %s", devices, timeout)
	}
}
