package python

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// A torch without a GPU, and one whose GPU has computed what its benchmark asked of it.
const (
	torchOfCPU = `
__version__ = "9.9"
class version:
    hip = None
class cuda:
    is_available = staticmethod(lambda: False)
    is_initialized = staticmethod(lambda: False)
class backends: pass
def zeros(n, device="cpu"):
    if device != "cpu": raise AssertionError("Torch not compiled with CUDA enabled")
def manual_seed(n): pass
`
	torchOfGPU = `
__version__ = "9.9"
class version:
    hip = None
class cuda:
    bytes = 0
    is_available = staticmethod(lambda: True)
    is_initialized = staticmethod(lambda: cuda.bytes > 0)
    device_count = staticmethod(lambda: 1)
    max_memory_allocated = staticmethod(lambda index=0: cuda.bytes)
    memory_allocated = memory_reserved = max_memory_allocated
    synchronize = staticmethod(lambda: None)
class backends: pass
def zeros(n, device="cpu"):
    if device != "cpu": cuda.bytes += n
def manual_seed(n): pass
`
	jaxOf = `
__version__ = "0.9"
class Device:
    platform = "%s"
    class client:
        platform_version = "PJRT C API\ncuda 12040"
    def memory_stats(self): return {"peak_bytes_in_use": 8}
def devices(): return [Device()]
`
	cupyOf = `
__version__ = "13"
class cuda:
    is_available = staticmethod(lambda: %s)
    class runtime:
        is_hip = %s
class Pool:
    def total_bytes(self): return 512
def get_default_memory_pool(): return Pool()
class random:
    seed = staticmethod(lambda n: None)
`
)

// TestDevices: a backend that names a device is what ran, or the point is unsupported.
func TestDevices(t *testing.T) {
	uses := func(module, call string) string { return "import " + module + "\ndef run_benchmark(): " + call + "\n" }
	falls := "import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\ndef run_benchmark(): torch.zeros(8, device=device)\n"
	hip := "class version:\n    hip = '6.1'\n"
	for name, c := range map[string]struct {
		backend, bench string
		module, text   string
		applied, why   string // of a run that is ok, of one that is not
	}{
		"no framework, cuda":     {"cuda", "def run_benchmark(): pass\n", "", "", "cpu", ""},
		"no framework, mps":      {"MPS", "def run_benchmark(): pass\n", "", "", "cpu", ""},
		"no framework, cpu":      {"cpu", "def run_benchmark(): pass\n", "", "", "cpu", ""},
		"another word":           {"triton", "def run_benchmark(): pass\n", "", "", "", ""},
		"torch without cuda":     {"cuda", uses("torch", "torch.zeros(8)"), "torch.py", torchOfCPU, "", "backend cuda was requested, but no cuda device is available to torch 9.9"},
		"torch that falls back":  {"cuda:1", falls, "torch.py", torchOfCPU, "", "backend cuda:1 was requested, but no cuda device is available to torch 9.9"},
		"torch that raises":      {"cuda", "def run_benchmark():\n    import torch\n    torch.zeros(8, device='cuda')\n", "torch.py", torchOfCPU, "", "backend cuda was requested, but no cuda device is available to torch 9.9"},
		"torch imported late":    {"cuda", "def run_benchmark():\n    import torch\n    torch.zeros(8)\n", "torch.py", torchOfCPU, "cpu", ""},
		"torch of the CPU":       {"cpu", uses("torch", "torch.zeros(8)"), "torch.py", torchOfCPU, "cpu", ""},
		"torch with cuda":        {"CUDA:0", uses("torch", "torch.zeros(8, device='cuda')"), "torch.py", torchOfGPU, "CUDA:0", ""},
		"cuda is there, unused":  {"cuda", uses("torch", "torch.zeros(8)"), "torch.py", torchOfGPU, "cpu", ""},
		"cpu was asked, not ran": {"cpu", falls, "torch.py", torchOfGPU, "cuda", ""},
		"rocm is not cuda":       {"cuda", falls, "torch.py", torchOfGPU + hip, "", "backend cuda was requested, but no cuda device is available to torch 9.9"},
		"rocm":                   {"rocm", falls, "torch.py", torchOfGPU + hip, "rocm", ""},
		"jax of the CPU":         {"cuda", uses("jax", "pass"), "jax.py", fmt.Sprintf(jaxOf, "cpu"), "", "backend cuda was requested, but no cuda device is available to jax 0.9"},
		"jax with cuda":          {"cuda", uses("jax", "pass"), "jax.py", fmt.Sprintf(jaxOf, "gpu"), "cuda", ""},
		"cupy with cuda":         {"cuda", uses("cupy", "pass"), "cupy.py", fmt.Sprintf(cupyOf, "True", "False"), "cuda", ""},
		"cupy without":           {"cuda", uses("cupy", "pass"), "cupy.py", fmt.Sprintf(cupyOf, "False", "False"), "", "backend cuda was requested, but no cuda device is available to cupy 13"},
	} {
		t.Run(name, func(t *testing.T) {
			if short := []string{"no framework, cuda", "torch that falls back", "torch with cuda", "torch of the CPU"}; os.Getenv("NEUROLENS_LONG") == "" && !slices.Contains(short, name) {
				t.Skip("NEUROLENS_LONG is not set")
			}
			spec := specOf(t, Settings{File: "bench.py"}, map[string]string{"backend": c.backend})
			spec.Dir = folder(t, map[string]string{"bench.py": c.bench, "lib/none.py": "", "lib/" + cmp.Or(c.module, "none.py"): c.text})
			spec.Env = append(spec.Env, "PYTHONPATH="+spec.Dir+"/lib")
			o := runSpec(t, spec)
			if c.why != "" {
				check(t, o, schema.StatusUnsupported, o.Stage, "not_applied", c.why)
				return
			}
			check(t, o, schema.StatusOK, "", "", "")
			valuetest.DeepEqual(t, o.Applied["backend"], c.applied, "applied")
		})
	}
}

// TestDeviceOfTorch: the real one, on a machine without a GPU.
func TestDeviceOfTorch(t *testing.T) {
	if os.Getenv("NEUROLENS_LONG") == "" {
		t.Skip("NEUROLENS_LONG is not set")
	}
	interpreter(t, "torch")
	for backend, want := range map[string]schema.Status{"cuda": schema.StatusUnsupported, "cpu": schema.StatusOK} {
		spec := specOf(t, Settings{File: "bench.py"}, map[string]string{"backend": backend})
		spec.Dir = folder(t, map[string]string{"bench.py": "import torch\n" +
			"if torch.cuda.is_available(): raise SystemExit('this machine has a GPU')\n" +
			"x = torch.zeros(8)\ndef run_benchmark(): return x + x\n"})
		if o := runSpec(t, spec); o.Status != want && o.ErrorKind != "raise" {
			t.Errorf("%s: %s, %s", backend, o.Status, o.Error)
		}
	}
}
