package python

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// recordingTorch records what is asked of it.
const recordingTorch = `
import types
calls = []
__version__ = "0"
def manual_seed(n): calls.append("seed %d" % n)
def use_deterministic_algorithms(on): calls.append("deterministic %s" % on)
def rand(): calls.append("rand")
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(deterministic=False, benchmark=True))
cuda = types.SimpleNamespace(is_initialized=lambda: False)
`

// reporting is a benchmark that says what was asked of the fake torch until it drew its first number.
const reporting = `
import sys
class Bench:
    def setup(self): %s
    def benchmark_fn(self): %s
    def applied(self):
        torch = sys.modules["torch"]
        calls = torch.calls[:torch.calls.index("rand")]
        return {"calls": ", ".join(calls[-2:]), "cudnn": "%%s %%s" %% (torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark)}
`

// TestSeedsWhatIsImportedLater: a framework has the seed and deterministic algorithms before the code that imports it draws a number,
// wherever it is imported.
func TestSeedsWhatIsImportedLater(t *testing.T) {
	for name, c := range map[string]struct{ setup, fn, more string }{
		"in setup":        {"import torch; torch.rand()", "pass", ""},
		"in benchmark_fn": {"pass", "import torch; torch.rand()", ""},
		"of a package":    {"import pkg; pkg.draw()", "pass", ""},
		"by importlib":    {"import importlib; importlib.import_module('torch').rand()", "pass", ""},
		"a name of it":    {"from torch import rand; rand()", "pass", ""},
		"looked for before": {
			"import importlib.util as u; u.find_spec('torch').loader.get_source('torch'); import torch; torch.rand(); assert type(torch.__loader__) is type(torch.__spec__.loader) is type(pkg.__loader__)",
			"pass", "import pkg",
		},
		"lazily":             {"import torch; torch.rand()", "pass", lazily},
		"after a failure":    {"import failing; failing.twice()", "pass", ""},
		"replacing itself":   {"import torch; torch.rand()", "pass", "import os; os.environ['REPLACE'] = '1'"},
		"beside one like it": {"import torch; torch.rand()", "pass", likeIt},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specIn(t, Settings{File: "bench.py", Worker: sweep.Worker{Reproducible: true, Seed: new(int64(7))}}, map[string]string{
				"torch.py":        recordingTorch + "import os, sys\nif os.environ.get('FAIL'): raise ImportError('not yet')\nif os.environ.get('REPLACE'): sys.modules[__name__] = types.SimpleNamespace(**globals())\n",
				"pkg/__init__.py": "def draw():\n    from .inner import draw\n    draw()\n",
				"pkg/inner.py":    "import torch\ndef draw(): torch.rand()\n",
				"failing.py": "import os\ndef twice():\n    os.environ['FAIL'] = '1'\n    try: import torch\n    except ImportError: pass\n    else: raise ValueError\n" +
					"    del os.environ['FAIL']\n    import torch\n    torch.rand()\n",
				"bench.py": c.more + fmt.Sprintf(reporting, c.setup, c.fn),
			})
			o := runOK(t, spec)
			if o.Applied["calls"] != "seed 7, deterministic True" || o.Applied["cudnn"] != "True False" || o.Facts["runner.seeded"] != "random torch" ||
				o.Facts["runner.unseeded"] != "" || slices.Contains(o.Warnings, WarnUnseeded) || o.Applied["seed"] != "7" {
				t.Errorf("applied %v, seeded %q, unseeded %q, warnings %v", o.Applied, o.Facts["runner.seeded"], o.Facts["runner.unseeded"], o.Warnings)
			}
		})
	}
}

// lazily puts a torch into sys.modules that is executed when it is used.
const lazily = `
import importlib.util
spec = importlib.util.find_spec("torch")
spec.loader = importlib.util.LazyLoader(spec.loader)
import sys
sys.modules["torch"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
`

// likeIt is a finder of the benchmark that asks all other finders too, as those of tracers do.
const likeIt = `
import sys
class Asking:
    def find_spec(self, name, path=None, target=None):
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec: return spec
sys.meta_path.append(Asking())
sys.meta_path.insert(0, sys.meta_path.pop())
`

// TestUnseeded: what cannot be seeded is a warning with its name. It is no error, and the run does not claim the seed.
func TestUnseeded(t *testing.T) {
	const past = `
import sys, types
class Past:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch":
            import importlib.machinery as m
            return m.ModuleSpec(name, Past)
    @staticmethod
    def load_module(name):
        sys.modules[name] = module = types.ModuleType(name)
        exec(open("torch.py").read(), module.__dict__)
        return module
sys.meta_path.insert(0, Past)
`
	const drawing = "class Bench:\n    def setup(self): %s\n    def benchmark_fn(self): return 1\n"
	for name, c := range map[string]struct{ text, seeded, unseeded string }{
		"without functions":    {fmt.Sprintf(drawing, "import tensorflow"), "random", "tensorflow"},
		"a folder":             {fmt.Sprintf(drawing, "import cupy"), "random", "cupy"},
		"not deterministic":    {"import os; os.environ['NONE'] = '1'\n" + fmt.Sprintf(drawing, "import torch"), "random torch", "deterministic torch"},
		"put there":            {fmt.Sprintf(drawing, "import sys, types; sys.modules['torch'] = types.ModuleType('torch')"), "random", "torch"},
		"past the finder":      {past + fmt.Sprintf(drawing, "import torch"), "random", "torch"},
		"blocked":              {"import sys; sys.modules['torch'] = None\n" + fmt.Sprintf(drawing, "pass"), "random", ""},
		"a fine one":           {fmt.Sprintf(drawing, "import torch"), "random torch", ""},
		"a fine one, reloaded": {fmt.Sprintf(drawing, "import torch, importlib; importlib.reload(torch)"), "random torch", ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specIn(t, Settings{File: "bench.py", Output: &Output{}, Worker: sweep.Worker{Reproducible: true, Seed: new(int64(7))}}, map[string]string{
				"bench.py": c.text, "tensorflow.py": "", "cupy/inner.py": "",
				"torch.py": recordingTorch + "import os\nif os.environ.get('NONE'): del use_deterministic_algorithms\n",
			})
			o := runOK(t, spec)
			warned := slices.Contains(o.Warnings, WarnUnseeded)
			if o.Facts["runner.seeded"] != c.seeded || o.Facts["runner.unseeded"] != c.unseeded || warned != (c.unseeded != "") || (o.Applied["seed"] == "") != warned || (o.Applied["reproducible"] == "") != warned {
				t.Errorf("seeded %q, unseeded %q, warnings %v, applied %v", o.Facts["runner.seeded"], o.Facts["runner.unseeded"], o.Warnings, o.Applied)
			}
		})
	}
}

// TestNoSeedNoHook: without a seed nothing is hooked and nothing more is imported.
func TestNoSeedNoHook(t *testing.T) {
	spec := benchmark(t, `
import sys
class Bench:
    def benchmark_fn(self): pass
    def applied(self): return {"finders": " ".join(type(f).__name__ for f in sys.meta_path), "random": "random" in sys.modules}
`, nil)
	o := runOK(t, spec)
	plain, err := exec.Command(interpreter(t).Path, "-c", "import sys; print(str('random' in sys.modules).lower())").Output() // a .pth file may import it
	if err != nil {
		t.Fatal(err)
	}
	if _, said := o.Facts["runner.seeded"]; said || o.Applied["finders"] == "" || o.Applied["random"] != strings.TrimSpace(string(plain)) || slices.Contains(o.Warnings, WarnUnseeded) {
		t.Errorf("applied %v, facts %v, warnings %v", o.Applied, o.Facts, o.Warnings)
	}
	if want := "Seeding"; o.Applied["finders"][:len(want)] == want {
		t.Errorf("finders %s", o.Applied["finders"])
	}
}

// TestRealFrameworksImportedLater: numpy and torch draw the same again if setup or the measured function imports them.
func TestRealFrameworksImportedLater(t *testing.T) {
	interpreter(t, "numpy")
	numpy := "numpy random"
	for name, c := range map[string]struct{ module, draw, where, seeded, unseeded string }{
		"numpy in setup":        {"numpy", "numpy.random.rand()", "setup", numpy, ""},
		"numpy in benchmark_fn": {"numpy", "numpy.random.rand()", "benchmark_fn", numpy, ""},
		"default_rng seeded":    {"numpy", "numpy.random.default_rng(3).random()", "setup", numpy, ""},
		"RandomState":           {"numpy", "numpy.random.RandomState(3).rand()", "setup", numpy, ""},
		"default_rng unseeded":  {"numpy", "numpy.random.default_rng().random()", "setup", numpy, "numpy.random.default_rng"},
		"torch in setup":        {"torch", "torch.rand(1).item() + torch.are_deterministic_algorithms_enabled()", "setup", "numpy random torch", ""},
		"torch in benchmark_fn": {"torch", "torch.rand(1).item()", "benchmark_fn", "numpy random torch", ""},
	} {
		t.Run(name, func(t *testing.T) {
			interpreter(t, c.module)
			spec := specIn(t, Settings{File: "bench.py", Worker: sweep.Worker{Reproducible: true, Seed: new(int64(7))}}, map[string]string{"bench.py": "import sys\nclass Bench:\n    x = None\n    def benchmark_fn(self): pass\n" +
				"    def " + c.where + "(self):\n        import " + c.module + "\n        self.x = self.x or " + c.draw + "\n    def applied(self): return {'x': self.x}\n"})
			spec.Warmup, spec.Iterations = 1, 2
			first, second := runSpec(t, spec), runSpec(t, spec)
			check(t, first, schema.StatusOK, "", "", "")
			if same := maps.Equal(first.Applied, second.Applied); first.Applied["x"] == "" || same != (c.unseeded == "") {
				t.Errorf("%v, then %v", first.Applied, second.Applied)
			}
			if first.Facts["runner.seeded"] != c.seeded || first.Facts["runner.unseeded"] != c.unseeded {
				t.Errorf("seeded %q, unseeded %q", first.Facts["runner.seeded"], first.Facts["runner.unseeded"])
			}
		})
	}
}
