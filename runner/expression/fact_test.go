package expression

import (
	"math"
	"runtime"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// machine has a manifest, which may be asked for as often as reads allows.
func machine(t *testing.T, env schema.Env, given map[string]string, environ ...string) *Machine {
	t.Helper()
	reads := 0
	m := valuetest.Must(NewMachine(given, FactSources{
		Env: func() schema.Env {
			if reads++; reads > 1 {
				t.Error("the manifest was read twice")
			}
			return env
		},
		Environ: environ,
		Version: func(interpreter, module string) string {
			return map[string]string{"torch": interpreter + "2.9.1"}[module]
		},
	}))
	return m
}

// twoGPUs are of different generations.
func twoGPUs() schema.Env {
	return schema.Env{GPUCount: new(int64(2)), Facts: map[string]string{
		"gpu.0.uuid": "GPU-a", "gpu.0.name": "NVIDIA H100", "gpu.0.memory": "85520809984", "gpu.0.compute_capability": "9.0",
		"gpu.0.clock_memory_max": "2619", "gpu.0.memory_bus_width": "5120",
		"gpu.1.uuid": "GPU-b", "gpu.1.name": "NVIDIA A100", "gpu.1.memory": "42949672960", "gpu.1.compute_capability": "8.0",
		"gpu.1.clock_memory_max": "1215", "gpu.1.memory_bus_width": "5120",
		"memory.total": "1000", "cgroup.memory_max": "max", "cpu.threads": "8", "cpu.model": "AMD EPYC", "host.name": "h",
	}, Missing: map[string]string{}}
}

// amd returns a machine with one GPU of AMD's, whose memory has a bus of that width and that clock.
func amd(width, clock string) schema.Env {
	return schema.Env{OS: "linux", GPUCount: new(int64(1)), Facts: map[string]string{
		"gpu.0.name": "AMD INSTINCT MI210", "gpu.0.gfx": "gfx90a", "gpu.0.uuid": "GPU-a", "gpu.0.memory": "68702699520",
		"gpu.0.clock_memory_max": clock, "gpu.0.memory_bus_width": width,
	}}
}

func TestValues(t *testing.T) {
	none := schema.Env{OS: "linux", Facts: map[string]string{}, Missing: map[string]string{"gpu": "absent", "cpu.model": "permission"}}
	limited := twoGPUs()
	limited.Facts["cgroup.memory_max"] = "400"
	partly := twoGPUs()
	delete(partly.Facts, "gpu.1.memory")
	partly.Missing["gpu.1.memory"] = "unsupported"
	for _, test := range []struct {
		env     schema.Env
		environ string
		fact    string
		value   any
		why     string
	}{
		{twoGPUs(), "", "gpu.count", 2.0, ""},
		{twoGPUs(), "", "gpu.memory", 42949672960.0, ""},
		{twoGPUs(), "", "gpu.compute_capability", 8.0, ""},
		{twoGPUs(), "", "gpu.name", "NVIDIA A100, NVIDIA H100", ""},
		{twoGPUs(), "CUDA_VISIBLE_DEVICES=GPU-a", "gpu.count", 1.0, ""},
		{twoGPUs(), "CUDA_VISIBLE_DEVICES=GPU-a", "gpu.memory", 85520809984.0, ""},
		{twoGPUs(), "CUDA_VISIBLE_DEVICES=GPU-a", "gpu.name", "NVIDIA H100", ""},
		{twoGPUs(), "CUDA_VISIBLE_DEVICES=GPU-a", "gpu.peak_bandwidth", 3352320000000.0, ""}, // 3.35 TB/s, as NVIDIA gives it
		{twoGPUs(), "CUDA_VISIBLE_DEVICES=", "gpu.count", 0.0, ""},
		{twoGPUs(), "CUDA_VISIBLE_DEVICES=", "gpu.memory", nil, "absent"},
		{twoGPUs(), "CUDA_VISIBLE_DEVICES=MIG-x", "gpu.count", 1.0, ""},
		{twoGPUs(), "CUDA_VISIBLE_DEVICES=MIG-x", "gpu.memory", nil, "absent"},
		{partly, "", "gpu.memory", nil, "unsupported"},
		{none, "", "gpu.count", 0.0, ""},
		{twoGPUs(), "", "gpu.gfx", nil, "absent"},
		{amd("4096", "1600"), "", "gpu.gfx", "gfx90a", ""},
		{amd("4096", "1600"), "", "gpu.memory", 68702699520.0, ""},
		{amd("4096", "1600"), "", "gpu.compute_capability", nil, "absent"},
		{amd("4096", "1600"), "", "gpu.peak_bandwidth", 1638400000000.0, ""}, // 1.6 TB/s, as AMD gives it for the MI210
		{amd("384", "1249"), "", "gpu.peak_bandwidth", nil, "unsupported"},   // GDDR6
		{amd("4096", "1600"), "HIP_VISIBLE_DEVICES=-1", "gpu.count", 0.0, ""},
		{none, "", "gpu.name", nil, "absent"},
		{none, "", "gpu.peak_bandwidth", nil, "absent"},
		{none, "", "cpu.model", nil, "permission"},
		{none, "", "cpu.count", nil, "absent"},
		{schema.Env{OS: "linux", Missing: map[string]string{"gpu": "timeout"}}, "", "gpu.count", nil, "timeout"},
		{schema.Env{OS: "darwin", Missing: map[string]string{"gpu": "unsupported"}}, "", "gpu.count", 0.0, ""},
		{twoGPUs(), "", "memory", 1000.0, ""},
		{limited, "", "memory", 400.0, ""},
		{twoGPUs(), "", "cpu.count", 8.0, ""},
		{twoGPUs(), "", "cpu.model", "AMD EPYC", ""},
		{twoGPUs(), "", "hostname", "h", ""},
	} {
		m := machine(t, test.env, nil, test.environ)
		if value, why := m.Value(test.fact); value != test.value || why != test.why {
			t.Errorf("%s with %s: %v, %q, want %v, %q", test.fact, test.environ, value, why, test.value, test.why)
		}
	}
}

// TestLazy: what every program knows of itself takes no manifest, and every fact has a value of its kind or a reason.
func TestLazy(t *testing.T) {
	m := valuetest.Must(NewMachine(nil, FactSources{Env: func() schema.Env {
		t.Error("the manifest was read")
		return schema.Env{}
	}}))
	if value, _ := m.Value("os"); value != runtime.GOOS {
		t.Errorf("os is %v", value)
	}
	if value, _ := m.Value("arch"); value != runtime.GOARCH {
		t.Errorf("arch is %v", value)
	}
	m = machine(t, twoGPUs(), nil)
	for _, f := range Facts() {
		value, why := m.Value(f.Name)
		if (value == nil) == (why == "") || value != nil && KindOf(value) != f.Kind {
			t.Errorf("%s is %v (%s), want %s", f.Name, value, why, f.Kind)
		}
	}
}

func TestGiven(t *testing.T) {
	m := machine(t, twoGPUs(), map[string]string{"gpu.memory": "16GiB", "os": "darwin", "gpu.name": "null", "cpu.count": "64", "gpu.peak_bandwidth": "2 TB/s"})
	for fact, want := range map[string]any{"gpu.memory": math.Exp2(34), "os": "darwin", "gpu.name": nil, "cpu.count": 64.0, "gpu.peak_bandwidth": 2e12, "gpu.count": 2.0} {
		if value, _ := m.Value(fact); value != want {
			t.Errorf("%s is %v, want %v", fact, value, want)
		}
	}
	want := map[string]string{"gpu.memory": "17179869184", "os": "darwin", "gpu.name": "null", "cpu.count": "64", "gpu.peak_bandwidth": "2000000000000"}
	valuetest.DeepEqual(t, m.Given(), want, "given")
	for _, test := range [][3]string{
		{"gpu.memroy", "1", "unknown fact gpu.memroy: did you mean gpu.memory?"},
		{"weather", "1", "unknown fact weather: neurolens env --facts lists all"},
		{"gpu.memory", "much", `gpu.memory: "much" is not a number`},
		{"gpu.memory", "16 ms", `gpu.memory: "16 ms": want a value in B, not in ms`},
		{"gpu.memory", "16 GiX", `gpu.memory: "16 GiX": want a value in B, not in GiX`},
		{"cpu.count", "8 B", `cpu.count: "8 B": want a number without a unit`},
	} {
		valuetest.ErrorText(t, valuetest.Error(NewMachine(map[string]string{test[0]: test[1]}, FactSources{})), test[2], test[0], test[1])
	}
}

func TestFunctions(t *testing.T) {
	interpreter, is := "", false
	m := machine(t, twoGPUs(), nil)
	call := func(name, arg string) any {
		for _, f := range m.Functions(func() (string, bool) { return interpreter, is }) {
			if f.Name == name {
				return f.Call([]any{arg})
			}
		}
		t.Fatalf("there is no function %s", name)
		return nil
	}
	if call("exists", "fact_test.go") != true || call("exists", "absent.txt") != false {
		t.Error("exists does not see files of the working directory")
	}
	if call("which", "nonexistent-program-of-nobody") != nil {
		t.Error("which finds what there is not")
	}
	if path, ok := call("which", "sh").(string); !ok || path == "" {
		t.Error("which does not find sh")
	}
	if call("version", "torch") != nil {
		t.Error("a point without an interpreter has modules")
	}
	interpreter, is = "python9:", true
	if got := call("version", "torch"); got != "python9:2.9.1" {
		t.Errorf("version is %v", got)
	}
	if call("version", "jax") != nil {
		t.Error("a module that is not there has a version")
	}
}
