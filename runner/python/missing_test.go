package python

import (
	"os"
	"strings"
	"testing"
)

// TestMissing: what a file needs is seen without running it, and nothing is called missing that may be there.
func TestMissing(t *testing.T) {
	t.Parallel()
	i := interpreter(t)
	const class = "class Bench:\n    def benchmark_fn(self): pass\n"
	files := map[string]string{
		"ok.py":        "import json, os.path\nfrom local import thing\nfrom . import more\n" + class,
		"local.py":     "raise RuntimeError('nobody runs this')\n",
		"module.py":    "import json\nimport nosuchmodule.part as n\n" + class,
		"try.py":       "try:\n    import nosuchmodule\nexcept ImportError:\n    nosuchmodule = None\n" + class,
		"path.py":      "import sys\nsys.path.append('lib')\nimport nosuchmodule\n" + class,
		"syntax.py":    "x = (\n",
		"none.py":      "x = 1\n",
		"star.py":      "from local import *\n",
		"made.py":      "globals()['Bench'] = type('Bench', (), {})\n",
		"if.py":        "if True:\n    class Bench: pass\nelse:\n    from x import y as Other\n",
		"functions.py": "def softmax():\n    def inner(): pass\ndef relu(): pass\ndef _own(): pass\n",
		"several.py":   "def bench_a(): pass\nif True:\n    def bench_b(): pass\n",
		"one.py":       "def bench_a(): pass\ndef other(): pass\n",
		"usual.py":     "def bench_a(): pass\ndef bench_b(): pass\ndef solve(): pass\n",
		"assigned.py":  "Bench, other = make()\nfor loop in (): pass\n",
		"function.py":  "def outer():\n    Bench = 1\n",
	}
	dir := folder(t, files)
	for _, c := range []struct{ file, object, want string }{
		{"ok.py", "Bench", ""},
		{"ok.py", "thing", ""},
		{"ok.py", "Nope", "ok.py has no Nope: it has Bench"},
		{"ok.py", "", ""},
		{"module.py", "", "module.py:2: imports nosuchmodule, which " + i.Path + " does not have: " + i.Path + " -m pip install nosuchmodule"},
		{"try.py", "Bench", ""},
		{"path.py", "Bench", ""},
		{"syntax.py", "", "syntax.py:1: '(' was never closed"},
		{"none.py", "", "none.py has no bench_* function and no class with benchmark_fn; it has no function either"},
		{"functions.py", "", "functions.py has no bench_* function and no class with benchmark_fn; it has softmax, relu: choose one with file: functions.py:softmax"},
		{"several.py", "", "several.py has the benchmarks bench_a, bench_b: choose one with file: several.py:bench_a"},
		{"one.py", "", ""},
		{"usual.py", "", ""},
		{"assigned.py", "", ""},
		{"star.py", "", ""},
		{"none.py", "Bench", "none.py has no Bench"},
		{"star.py", "Bench", ""},
		{"made.py", "Bench", ""},
		{"if.py", "Bench", ""},
		{"if.py", "Other", ""},
		{"assigned.py", "other", ""},
		{"assigned.py", "loop", ""},
		{"function.py", "Bench", "function.py has no Bench: it has outer"},
	} {
		texts, err := i.Missing(t.Context(), dir, os.Environ(), []Need{{File: c.file, Object: c.object}})
		if err != nil {
			t.Fatal(err)
		}
		if texts[0] != c.want && !(c.file == "syntax.py" && strings.HasPrefix(texts[0], "syntax.py:")) {
			t.Errorf("%s:%s: got %q, want %q", c.file, c.object, texts[0], c.want)
		}
	}
	texts, err := i.Missing(t.Context(), "", append(os.Environ(), "PYTHONPATH="+dir),
		[]Need{{Module: "nosuchmodule", Package: "package"}, {Module: "local", Package: "x"}})
	if want := "nosuchmodule is not installed for " + i.Path + ": " + i.Path + " -m pip install package"; err != nil || texts[0] != want || texts[1] != "" {
		t.Errorf("%v, %q, want %q", err, texts, want)
	}
}
