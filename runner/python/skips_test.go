package python

import (
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// skippedOfPytest is the exception of pytest.skip, without pytest.
const skippedOfPytest = `class Skipped(BaseException):
    def __init__(self, msg): super().__init__(msg); self.msg = msg
Skipped.__module__ = "_pytest.outcomes"
`

// TestSkips: what a benchmark says of a point that cannot run here makes it skipped, without samples; and what it only
// seems to say does not.
func TestSkips(t *testing.T) {
	const class = "class Bench:\n    def benchmark_fn(self): "
	optional := func(s *Settings) { s.Optional = true }
	absent := func(s *Settings) { s.Object = "Other" }
	absentOptional := func(s *Settings) { s.Object, s.Optional = "Other", true }
	for name, c := range map[string]struct {
		text    string
		change  func(*Settings)
		status  schema.Status
		stage   schema.Stage
		kind    string
		samples int
		want    string
	}{
		"SkipTest while imported": {"import unittest\nraise unittest.SkipTest('no GPU\\nhere')\n", nil, schema.StatusSkipped, "setup", "skip", 0, "no GPU here"},
		"SkipTest in setup":       {"import unittest\n" + class + "pass\n    def setup(self): raise unittest.SkipTest('no GPU')\n", nil, schema.StatusSkipped, "setup", "skip", 0, "no GPU"},
		"a class below SkipTest":  {"import unittest\nclass Mine(unittest.SkipTest): pass\nraise Mine('mine')\n", nil, schema.StatusSkipped, "setup", "skip", 0, "mine"},
		"SkipTest in warmup":      {"import unittest\n" + class + "raise unittest.SkipTest\n", nil, schema.StatusSkipped, "warmup", "skip", 0, "the benchmark raised SkipTest"},
		"SkipTest while measured": {misdeed("import unittest\nraise unittest.SkipTest('late')"), nil, schema.StatusSkipped, "measure", "skip", 0, "late"},
		"SkipTest in validate":    {"import unittest\n" + class + "pass\n    def validate_result(self): raise unittest.SkipTest('x')\n", nil, schema.StatusSkipped, "validate", "skip", 0, "x"},
		"pytest.skip":             {skippedOfPytest + class + "pass\n    def setup(self): raise Skipped('needs SM 10')\n", nil, schema.StatusSkipped, "setup", "skip", 0, "needs SM 10"},
		"another Skipped":         {"class Skipped(Exception): pass\n" + class + "pass\n    def setup(self): raise Skipped('x')\n", nil, schema.StatusError, "setup", "setup", 0, "Skipped: x"},
		"not implemented":         {class + "pass\n    def setup(self): raise NotImplementedError('no fp8')\n", nil, schema.StatusSkipped, "setup", "skip", 0, "no fp8"},
		"not implemented at all":  {class + "raise NotImplementedError('later')\n", nil, schema.StatusSkipped, "warmup", "skip", 0, "later"},
		"a function without":      {"def run_benchmark(): raise NotImplementedError\n", nil, schema.StatusSkipped, "warmup", "skip", 0, "the benchmark raised NotImplementedError"},
		"not implemented later":   {misdeed("raise NotImplementedError('x')"), nil, schema.StatusError, "measure", "raise", 15, "NotImplementedError: x"},
		"SKIPPED and exit":        {"import sys\nprint('hello')\nprint('SKIPPED: no Triton\\n')\nsys.exit(3)\n", nil, schema.StatusSkipped, "setup", "skip", 0, "no Triton"},
		"SKIPPED and os._exit":    {"import os\nprint('SKIPPED: no Triton')\nos._exit(0)\n", nil, schema.StatusSkipped, "setup", "skip", 0, "no Triton"},
		"SKIPPED while measured":  {misdeed("print('SKIPPED: out of luck')\nsys.exit()"), nil, schema.StatusSkipped, "measure", "skip", 0, "out of luck"},
		"SKIPPED and more":        {"import sys\nprint('SKIPPED: 1 test')\nprint('going on')\nsys.exit(0)\n", nil, schema.StatusError, "setup", "setup", 0, "SystemExit: 0"},
		"SKIPPED and an error":    {"print('SKIPPED: 1 test')\nraise ValueError('x')\n", nil, schema.StatusError, "setup", "setup", 0, "ValueError: x"},
		"SKIPPED and a bad end":   {"import os\nprint('SKIPPED: 1 test', flush=True)\nos._exit(3)\n", nil, schema.StatusCrashed, "setup", "exit", 0, "exit status 3"},
		"SKIPPED and a result":    {misdeed("print('SKIPPED: one of many')"), nil, schema.StatusOK, "", "", 40, ""},

		"raised while imported":  {"raise RuntimeError('SKIPPED: Triton SM 12.1 not supported')\n", nil, schema.StatusSkipped, "setup", "skip", 0, "Triton SM 12.1 not supported"},
		"raised in __init__":     {class + "pass\n    def __init__(self): raise RuntimeError('HARDWARE/SOFTWARE LIMITATION: no TMA')\n", nil, schema.StatusSkipped, "setup", "skip", 0, "no TMA"},
		"raised in setup":        {class + "pass\n    def setup(self): raise ImportError(' SKIPPED:  no\\n  Triton')\n", nil, schema.StatusSkipped, "setup", "skip", 0, "no Triton"},
		"raised in benchmark_fn": {class + "raise Exception('SKIPPED:')\n", nil, schema.StatusSkipped, "warmup", "skip", 0, "SKIPPED:"},
		"raised while measured":  {misdeed("raise MemoryError('SKIPPED: needs 80 GiB')"), nil, schema.StatusSkipped, "measure", "skip", 0, "needs 80 GiB"},
		"raised in validate":     {class + "pass\n    def validate_result(self): raise RuntimeError('SKIPPED: no reference')\n", nil, schema.StatusSkipped, "validate", "skip", 0, "no reference"},
		"returned by validate":   {class + "pass\n    def validate_result(self): return 'SKIPPED: no reference'\n", nil, schema.StatusSkipped, "validate", "skip", 0, "no reference"},
		"raised in teardown":     {class + "pass\n    def teardown(self): raise RuntimeError('SKIPPED: late')\n", nil, schema.StatusError, "teardown", "raise", 40, "SKIPPED: late"},
		"exit with a text":       {"import sys\nsys.exit('SKIPPED: no GPU')\n", nil, schema.StatusSkipped, "setup", "skip", 0, "no GPU"},
		"a word later":           {"raise RuntimeError('1 test was SKIPPED: x')\n", nil, schema.StatusError, "setup", "setup", 0, "1 test was SKIPPED: x"},
		"in lower case":          {"raise RuntimeError('skipped: x')\n", nil, schema.StatusError, "setup", "setup", 0, "skipped: x"},

		"absent module":          {"import no_such_module\n", nil, schema.StatusError, "setup", "import", 0, "ModuleNotFoundError"},
		"absent module, wanted":  {"import no_such_module\n", optional, schema.StatusSkipped, "setup", "absent", 0, "bench.py: ModuleNotFoundError: No module named 'no_such_module'"},
		"absent name, wanted":    {"from os import no_such_name\n", optional, schema.StatusSkipped, "setup", "absent", 0, "ImportError: cannot import name"},
		"absent class":           {class + "pass\n", absent, schema.StatusError, "setup", "setup", 0, "bench.py has no Other"},
		"absent class, wanted":   {class + "pass\n", absentOptional, schema.StatusSkipped, "setup", "absent", 0, "bench.py has no Other"},
		"an error, wanted":       {"1 / 0\n", optional, schema.StatusError, "setup", "setup", 0, "ZeroDivisionError"},
		"a typing error, wanted": {"def f(:\n", optional, schema.StatusError, "setup", "syntax", 0, "bench.py:1"},
		"import in setup":        {class + "pass\n    def setup(self): import no_such_module\n", optional, schema.StatusError, "setup", "import", 0, "ModuleNotFoundError"},
		"there, wanted":          {class + "pass\n", optional, schema.StatusOK, "", "", 40, ""},
	} {
		t.Run(name, func(t *testing.T) {
			settings := Settings{File: "bench.py"}
			if c.change != nil {
				c.change(&settings)
			}
			spec := specIn(t, settings, map[string]string{"bench.py": c.text})
			o := runSpec(t, spec)
			check(t, o, c.status, c.stage, c.kind, c.want)
			valuetest.DeepEqual(t, samples(o), c.samples)
			if c.status == schema.StatusSkipped && (len(o.Metrics) > 0 || o.Status.Failed()) {
				t.Errorf("%+v", o)
			}
		})
	}
}
