package discover

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// summary returns what was read of a module, in a line.
func summary(source string) string {
	m, err := readModule(source)
	if err != nil {
		return "error: " + err.Error()
	}
	parts := []string{"names " + strings.Join(slices.Sorted(maps.Keys(m.names)), " ")}
	for _, f := range m.functions {
		parts = append(parts, fmt.Sprintf("def %s(%s)", f.name, strings.Join(f.parameters, " ")))
	}
	for _, c := range m.classes {
		parts = append(parts, fmt.Sprintf("class %s(%s) has %s", c.name, strings.Join(c.bases, " "), strings.Join(slices.Sorted(maps.Keys(c.members)), " ")))
	}
	return strings.Join(append(parts, "imports "+strings.Join(m.imports, " ")), ", ")
}

// TestReadModule: names at the top level, parameters, classes and imports, with whatever stands around them.
func TestReadModule(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"", "names , imports "},
		{"import a, b.c as d\nfrom e.f import g as h, i\nfrom . import j\nfrom .k import (l,\n  m,)\nfrom n import *\nfrom __future__ import o\n", "names * a d h i j l m o, imports a b e n"},
		{"try:\n    import a\nexcept ImportError: import b\nelse:\n    pass\nif 1: from c import d\n", "names a b d, imports a b c"},
		{"def f():\n    import a\n    x = 1\n    def g(): import b\n    class C: import c\n", "names f, def f(), imports a b c"},
		{"'''\ndef no(): import no\n'''\n# import no\ndef f(): pass\n", "names f, def f(), imports "},
		{"x = 'import no' \"def no()\" f'{1}' rb\"\\\"\" r'\\\\' + '''\n'\nimport no'''\n", "names x, imports "},
		{"def f(a, b: int = 1, *c, d=lambda x, y=2: x, e=(1, z), **g) -> dict[str, int]: pass\n", "names f, def f(a b c d e g), imports "},
		{"async def f[T: (int, str)](a, /, *, b): pass\n", "names f, def f(a b), imports "},
		{"@wrapped(1)\nclass A[T](b.C, D[int], metaclass=M):\n    x = 1\n    def benchmark_fn(self): pass\n    class B:\n        def no(self): pass\n", "names A, def benchmark_fn(self), class A(b.C D) has B benchmark_fn x, imports "},
		{"a = b = c(d=1)\ne, (f, *g) = 1\nh.i = j[k] = l[m].n = 2\no: int = 3\np: int\nq += 1\nr = lambda x: (y := 1)\n", "names a b e f g o r, imports "},
		{"if True:\n\tdef f(): pass\nfor i in x:\n        g = 1\n", "names f g, def f(), imports "},
		{"x = (1,\n  2,\n# import no\n\n  3)\ny = 1 \\\n  + 2\n", "names x y, imports "},
		{"match x:\n    case 1: import a\n    case [b, *c] if b:\n        import d\nmatch = type = case = 1\nprint(match, type)\ntype X = int\n", "names a case d match type, imports a d"},
		{"f\"{x!r:>{width}} {{no}} {d[\"k\"]} {'''\n'''} {y:%H:%M} \\N{DASH} \\{z}\"\nrf'\\{x}'\nimport a\n", "names a, imports a"},
		{"f'''{\nx # }\n:{1:{2}}}'''\nimport a\n", "names a, imports a"},
		{"\ufeffimport a; import b;\r\nif x: pass; import c\rimport d", "names a b c d, imports a b c d"},
		{"# -*- coding: latin-1 -*-\nx = '\xff'\n", "names x, imports "},
		{"1if x else 0x1for\n1.e5j, .5, 1_0.0E-3, 0b1, 1..real\n5 .real\nimport a\n", "names a, imports a"},
		{"lazy import a\nlazy from b import c\nlazy = 1\n", "names a c lazy, imports a b"},
		{"def f(): # comment\n  # deeper\n\n  pass\n # anywhere\nimport a\n", "names a f, def f(), imports a"},
	} {
		valuetest.DeepEqual(t, summary(c.source), c.want, c.source)
	}
}

// TestBrokenPython: what Python refuses, too, with the line.
func TestBrokenPython(t *testing.T) {
	for source, want := range map[string]string{
		"x = (1\ndef f(): pass\n": "line 1: a bracket is not closed: want a )",
		"x = 1)\n":                "line 1: unmatched )",
		"x = (1]\n":               "line 1: unmatched ]",
		"\nx = 'a\n'":             "line 2: a string is not closed: want a ' before the end of the line",
		"'''a\n\n":                "line 1: a string is not closed: want a '''",
		"f'{x'\n":                 "line 1: a string is not closed: want a ' before the end of the line",
		"f'{x)}'\n":               "line 1: unmatched )",
		"f'{x:y'\n":               "line 1: a field of a string is not closed: want a }",
		"f'''{x":                  "line 1: a field of a string is not closed: want a }",
		"f'{x:\n}'":               "line 1: a string is not closed: want a ' before the end of the line",
		"x = 1 \\ \ny = 2\n":      `line 1: a \ must be at the end of the line`,
		"x = 1 \\\n":              `line 2: the file ends after a \`,
		"x = a ? b\n":             "line 1: '?' is not valid Python",
		"x\x00\n":                 "line 1: a NUL byte: it is not a text file",
		"x = '\xff'\n":            "it is not UTF-8, and declares no other encoding",
		"  x = 1\n":               "line 1: unexpected indentation",
		"if x:\ny = 1\n":          "line 1: want an indented block after this line",
		"def f():\n":              "line 1: want an indented block after this line",
		"if x:\n    y\n  z\n":     "line 3: the indentation does not match any outer block",
		"def f()\n    pass\n":     "line 1: want a : after def",
		"def f:\n    pass\n":      "line 1: want a name and ( after def",
		"def f[T]:\n    pass\n":   "line 1: want parameters in ( and ) after def",
		"class 1:\n    pass\n":    "line 1: want a name after class",
		"else\n":                  "line 1: want a : after else",
		"x:\n    y\n":             "line 1: unexpected colon",
		"import\n":                "line 1: want names of modules after import",
		"from a\n":                "line 1: want a module, import and names after from",
		"from a import\n":         "line 1: want a module, import and names after from",
		"print 'x'\n":             "line 1: two values without an operator between them: print a text",
		"x = 1 2\n":               "line 1: two values without an operator between them: a number a number",
		"import a b\n":            "line 1: two values without an operator between them: a b",
		";\n":                     "line 1: unexpected ;",
		"<<<<<<< HEAD\nx = 1\n":   "line 1: no statement begins with <",
	} {
		valuetest.ErrorText(t, valuetest.Error(readModule(source)), want, source)
	}
	deep := strings.Repeat(`f"{`, 300)
	valuetest.ErrorText(t, valuetest.Error(readModule(deep)), "…strings are nested more than 200 deep…", "texts in texts")
	valuetest.ErrorText(t, valuetest.Error(readModule("f'"+strings.Repeat("{x:", 300))), "…more than 200 deep…", "fields in fields")
	var blocks strings.Builder
	for i := range 1100 {
		blocks.WriteString(strings.Repeat(" ", i) + "if x:\n")
	}
	valuetest.ErrorText(t, valuetest.Error(readModule(blocks.String())), "…more than 1000 deep…", "blocks in blocks")
}

// TestObject: which function or class of a file is its benchmark.
func TestObject(t *testing.T) {
	const class = ":\n    def benchmark_fn(self): pass\n"
	for source, want := range map[string]string{
		"def solve(): pass\ndef run_benchmark(): pass\n": "run_benchmark",
		"def solve(): pass\ndef sum_kernel(): pass\n":    "sum_kernel",
		"from other import run_benchmark\n":              "run_benchmark",
		"from other import f as solve\n":                 "solve",
		"run_benchmark = partial(f, 1)\n":                "run_benchmark",
		"def outer():\n    def run_benchmark(): pass\n":  "error",
		"class A" + class:                                "A",
		"class A(object)" + class:                        "A",
		"class A" + class + "class B(A): pass\n":         "",
		"class A:\n    pass\nclass B(A)" + class:         "B",
		"class A(Imported): pass\n":                      "",
		"class A(ValueError): pass\nclass B" + class:     "",
		"class A(Exception): pass\nclass B" + class:      "B",
		"class A(Protocol)" + class:                      "A",
		"class A(B): pass\nclass B(A): pass\n":           "error",
		"class A(B): pass\nclass B(A)" + class:           "",
		"from other import *\n":                          "",
		"x = 1\n":                                        "error",
		"class A:\n    benchmark_fn = other\n":           "A",
	} {
		m, err := readModule(source)
		if err != nil {
			t.Errorf("%q: %v", source, err)
			continue
		}
		got, err := m.object(usualObjects, "sum")
		if err != nil {
			got = "error"
		}
		valuetest.DeepEqual(t, got, want, source)
	}
}

// ofPython prints what Python itself finds in files, as the reader does.
const ofPython = `
import ast, json, sys, warnings
warnings.simplefilter("ignore")
def read(tree):
    names, functions, classes, imports = set(), [], [], set()
    def target(t):
        if isinstance(t, ast.Name): names.add(t.id)
        elif isinstance(t, (ast.Tuple, ast.List)): [target(e) for e in t.elts]
        elif isinstance(t, ast.Starred): target(t.value)
    def body(statements, top=True):
        for s in statements:
            if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
                a = s.args
                every = getattr(a, "posonlyargs", []) + a.args + [a.vararg] + a.kwonlyargs + [a.kwarg]
                functions.append([s.name] + sorted(p.arg for p in every if p))
            elif isinstance(s, ast.ClassDef):
                if top: body(s.body, False)
            else:
                for part in ("body", "orelse", "finalbody"): body(getattr(s, part, []) or [], top)
                for part in ("handlers", "cases"):
                    for h in getattr(s, part, []) or []: body(h.body, top)
            if not top: continue
            if isinstance(s, ast.ClassDef): classes.append(s.name)
            elif isinstance(s, ast.Assign): [target(t) for t in s.targets]
            elif isinstance(s, ast.AnnAssign) and s.value is not None and s.simple: target(s.target)
            elif isinstance(s, ast.Import): names.update(a.asname or a.name.partition(".")[0] for a in s.names)
            elif isinstance(s, ast.ImportFrom): names.update(a.asname or a.name for a in s.names)
            if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): names.add(s.name)
    body(tree.body)
    for s in ast.walk(tree):
        if isinstance(s, ast.Import): imports.update(a.name.partition(".")[0] for a in s.names)
        elif isinstance(s, ast.ImportFrom) and not s.level and s.module != "__future__": imports.add(s.module.partition(".")[0])
    return {"Names": sorted(names), "Functions": sorted(functions), "Classes": sorted(classes), "Imports": sorted(imports)}
import os, sysconfig
root = sysconfig.get_paths()["stdlib"]
every = sorted(os.path.join(d, f) for d, _, files in os.walk(root) if "site-packages" not in d and "lib2to3" not in d for f in files if f.endswith(".py"))
for path in every[::int(sys.argv[1])]:
    try: out = read(ast.parse(open(path, "rb").read()))
    except (SyntaxError, ValueError, RecursionError): continue
    out["Path"] = path
    print(json.dumps(out))
`

// TestReadsWhatPythonReads: of the files of Python's own library the reader says what Python's parser says.
func TestReadsWhatPythonReads(t *testing.T) {
	every := "100"
	if os.Getenv("NEUROLENS_LONG") != "" {
		every = "1"
	}
	out, err := exec.Command("python3", "-c", ofPython, every).Output()
	valuetest.Have(t, "python", err)
	type said struct {
		Path                    string `json:",omitempty"`
		Names, Classes, Imports []string
		Functions               [][]string
	}
	files := 0
	for line := range strings.Lines(string(out)) {
		var want said
		valuetest.OK(t, json.Unmarshal([]byte(line), &want))
		source := valuetest.Must(os.ReadFile(want.Path))
		m, err := readModule(string(source))
		if err != nil {
			t.Errorf("%s: %v", want.Path, err)
			continue
		}
		got := said{Path: want.Path, Names: slices.Sorted(maps.Keys(m.names)), Imports: m.imports}
		for _, c := range m.classes {
			got.Classes = append(got.Classes, c.name)
		}
		for _, f := range m.functions {
			got.Functions = append(got.Functions, append([]string{f.name}, slices.Sorted(slices.Values(f.parameters))...))
		}
		slices.Sort(got.Classes)
		slices.SortFunc(got.Functions, slices.Compare)
		slices.SortFunc(want.Functions, slices.Compare)
		valuetest.DeepEqual(t, fmt.Sprint(got), fmt.Sprint(want), want.Path)
		files++
	}
	t.Logf("%d files", files)
	if files == 0 {
		t.Error("Python's library has no file")
	}
}

// FuzzReadModule: no text makes the reader fail other than by an error, and what it finds stands in the text.
func FuzzReadModule(f *testing.F) {
	for _, seed := range []string{
		"import a.b as c\nfrom . import (d)\n", "def f(a, *, b=1): pass\nclass C(D): x: int = 1\n", "f'{x!r:{y}} {{'\n", "'''\\", "if x:\n\ty\n        z\n",
		"x = 1 \\\n", "match x:\n  case 1: pass\n", "@d\nasync def f(): await g()\n", "r\"\\\"\"", "1if x else.5", "a = b, (c, *d) = e[f] = 1\n", "def [](:\n", "f'{f\"{1}\"}'", "\ufeff# coding: x\n\xff", "lambda: (yield)\n", "class\n", "def f[(", "async", "async\n", "lazy from", "b'", "f'\\N{",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		m, err := readModule(source)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		for name := range m.names {
			if name == "" || !strings.Contains(source, name) {
				t.Errorf("a name %q that is nowhere", name)
			}
		}
		for _, name := range m.imports {
			if name == "" || !strings.Contains(source, name) {
				t.Errorf("an import %q that is nowhere", name)
			}
		}
		_, _ = m.object(usualObjects, "x")
		for _, c := range append(m.classes, class{name: m.measured("x")}) {
			m.parameters(c.name)
		}
	})
}
