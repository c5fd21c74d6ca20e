package cmdline

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestSweep(t *testing.T) {
	check := func(l line, want string) {
		t.Helper()
		valuetest.DeepEqual(t, string(valuetest.Must(l.sweep())), want, l)
	}
	check(line{texts: []string{"sort  -n 'a b'"}}, `suite: commands
benchmark: commands
variant: sort  -n 'a b'
command: [sort, -n, a b]
`)
	check(line{texts: []string{"true", "sleep {n}", "awk '{print {n}}'"}, axes: map[string]string{"n": "1"}}, `suite: commands
benchmark: commands
variants:
    "true":
        command: ["true"]
    sleep {{n}}:
        command: [sleep, '{n}']
        grid:
            n: [1]
    awk '{{print {{n}}}}':
        command: [awk, '{{print {n}}}']
        grid:
            n: [1]
baseline: variant=true
`)
	check(line{texts: []string{"sh -c 'seq 9 | sort'"}}, `suite: commands
benchmark: commands
variant: sh -c 'seq 9 | sort'
command: [sh, -c, seq 9 | sort]
`)
	check(line{texts: []string{"perf/bench.py:softmax"}}, "suite: bench.py:softmax\nfile: perf/bench.py:softmax\n")
	check(line{texts: []string{"nets/add.onnx"}}, "suite: add.onnx\nbackend: onnxrt\nmodel: nets/add.onnx\n")
	text := shellwords.Join([]string{"echo", "a b", "$HOME", "{n}", ""})
	parts, err := shellwords.Split(text)
	if err != nil || strings.Join(parts, "|") != "echo|a b|$HOME|{n}|" {
		t.Errorf("%q, %v", parts, err)
	}
}

// TestSpelled: each benchmark of a Python file is a text of its own. Those that are found are benchmarks, and the points that
// they are when they are named; those that are named are variants, which are compared.
func TestSpelled(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"two.py": "import missing\ndef bench_a(): pass\ndef bench_b(): pass\n", "one.py": "def bench_a(): pass\n",
		"own.py": "def run_benchmark(): pass\n", "bad1.py": "def softmax(): pass\ndef relu(): pass\n",
	} {
		valuetest.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	points := func(texts ...string) (ids []string, suite string) {
		src := valuetest.Must(line{texts: texts}.sweep())
		s := valuetest.Must(sweep.Read("line", bytes.NewReader(src), sweep.Overrides{}))
		for i := range s.Points {
			ids = append(ids, s.Points[i].Benchmark+" "+s.Points[i].Variant+" "+s.Points[i].File+" "+s.Points[i].Object+" "+s.Points[i].PointID)
		}
		return ids, s.Suite
	}
	a, _ := points("two.py:bench_a")
	b, _ := points("two.py:bench_b")
	both, suite := points("two.py")
	if !slices.Equal(both, append(a, b...)) || suite != "two.py" {
		t.Errorf("the benchmarks of two.py are %q of %s, want %q", both, suite, append(a, b...))
	}
	check := func(want string, texts ...string) {
		t.Helper()
		all, found, err := line{texts: texts}.spelled()
		valuetest.DeepEqual(t, fmt.Sprint(all, found, err), want, texts)
	}
	check("[one.py:bench_a] false <nil>", "one.py")
	check("[own.py] false <nil>", "own.py")
	check("[gone.py] false <nil>", "gone.py")
	check("[two.py:a two.py:b] false <nil>", "two.py:a,b")
	check("[two.py:bench_a two.py:bench_b true] false <nil>", "two.py", "true")
	check("[two.py:{fn}] false <nil>", "two.py:{fn}")
	check("[python3 two.py] false <nil>", "python3 two.py")
	check("[] false bad1.py has no bench_* function and no class with benchmark_fn; it has softmax, relu: choose one with bad1.py:softmax; bad1.py:softmax,relu measures several", "bad1.py")
	check(`[] false "bad1.py:*": a pattern names no function: bad1.py has no bench_* function and no class with benchmark_fn; it has softmax, relu: choose one with bad1.py:softmax; bad1.py:softmax,relu measures several`, "bad1.py:*")
	check(`[] false "two.py:bench_?": a pattern names no function: two.py measures bench_a, bench_b, and two.py:bench_a,bench_b some of them`, "two.py:bench_?")
}

// FuzzFirst: a text that is measured as the second of two programs is measured as the first, which the other is compared with.
func FuzzFirst(f *testing.F) {
	for _, text := range []string{
		`grep "a: b" x`, `"/bin/echo" x`, "sleep 1 # one", "/bin/echo a:", "!a", "'!a' b", "a\nb", "null", "7", "{a}", "{{a}}", "[", "&a", "*a", "a ", "- b",
		"? a", "@a", "`a`", "|", "%a", "for i in a; do echo \"$i: x\"; done", "#", "a\t#b", "\u00e9\u2028", "\x7f",
	} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, shell bool) {
		if isFile(text) || isFile("true 1") || strings.Contains(text, ".py") {
			return // no program
		}
		read := func(texts ...string) (*sweep.Sweep, error) {
			o := sweep.Overrides{Given: map[string]string{}}
			if shell {
				o.Given["shell"] = "true"
			}
			sources, err := Open(Args{Args: texts, Dash: -1}, &o)
			if err != nil {
				return nil, err
			}
			return sweep.Read("bench", sources[0], o)
		}
		second, err := read("true 1", text)
		if err != nil {
			return
		}
		first, err := read(text, "true 1")
		if err != nil {
			t.Fatalf("%q is measured as the second, and as the first: %v", text, err)
		}
		if a, b := first.Points[0], second.Points[1]; a.PointID != b.PointID || a.Variant != b.Variant {
			t.Errorf("%q is %q as the first, %q as the second", text, a.Variant, b.Variant)
		}
	})
}

// TestSameProgram: rows that would look the same are refused.
func TestSameProgram(t *testing.T) {
	for _, texts := range [][]string{{"true", "true "}, {"sleep 1", "sleep '1'"}} {
		if _, err := (line{texts: texts}).sweep(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q and %q are the same program", texts[0], texts[1])) {
			t.Errorf("%q: %v", texts, err)
		}
	}
	for _, l := range []line{{texts: []string{"true # a", "true # b"}}, {texts: []string{"a | b", "a  | b"}, shell: true}} {
		if _, err := l.sweep(); err != nil {
			t.Errorf("%q: %v", l.texts, err)
		}
	}
}

// TestUnquotedArguments: what stands beside a program and is none is an argument of it, and the error shows how to write that.
func TestUnquotedArguments(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"sort", "python3", "uniq"} {
		valuetest.OK(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700))
	}
	t.Setenv("PATH", bin)
	for line, want := range map[string]string{
		"sort 0.01": "bench -- sort 0.01, or quotes", "sort big.txt": "bench -- sort big.txt,", "sort 1s": "bench -- sort 1s,",
		"python3 p.py": "bench -- python3 p.py,", "sort {n}": "bench -- sort '{n}',",
		"sort uniq": "", "sort {tool}": "", "sort p.py": "", "sort net.onnx": "", "gone big.txt": "",
	} {
		args := strings.Fields(line)
		o := sweep.Overrides{Given: map[string]string{}, Params: map[string]string{"n": "1,2", "tool": "uniq,sort"}}
		valuetest.ErrorText(t, (&Args{Args: args, Dash: -1}).refuseUnquotedArguments(&o), "…"+want+"…", line)
		valuetest.OK(t, (&Args{Args: args, Dash: 0}).refuseUnquotedArguments(&o))
		o.Given["setup"] = "make"
		if err := (&Args{Args: args, Dash: -1}).refuseUnquotedArguments(&o); err != nil && line != "sort 0.01" {
			t.Errorf("%s: what a setup makes is a program: %v", line, err)
		}
	}
}

// TestValueApart: a text behind an option that takes its value behind a = is refused where it was meant to be the value, and is a
// program anywhere else.
func TestValueApart(t *testing.T) {
	for _, c := range []struct{ words, args, want string }{
		{"bench --shell bash a b", "bash a b", "write --shell=bash"},
		{"bench a --shell /bin/zsh b", "a /bin/zsh b", "write --shell=/bin/zsh"},
		{"bench --shell none a", "none a", "remove this option"},
		{"bench --ignore-exit 3 false", "3 false", "write --ignore-exit=3"},
		{"bench -i 1,2 false", "1,2 false", "write --ignore-exit=1,2"},
		{"bench --ignore-exit true false", "true false", "write --ignore-exit=true"},
		{"bench --ignore-exit true", "true", ""},
		{"bench true false --ignore-exit", "true false", ""},
		{"bench bash zsh --shell", "bash zsh", ""},
		{"bench --shell a bash", "a bash", ""},
		{"bench -- --shell bash", "--shell bash", ""},
	} {
		a := Args{Words: strings.Fields(c.words), Args: strings.Fields(c.args)}
		valuetest.ErrorText(t, a.refuseValueApart(), "…"+c.want+"…", c.words)
	}
}

// TestRefusedPrograms: a script that cannot be executed is no sweep file, and a program in quotes does not stand behind --.
func TestRefusedPrograms(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a.sh": "echo\n", "b": "#!/bin/sh\n", "plain": "command: [a]\n", "empty": ""} {
		valuetest.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	valuetest.OK(t, os.WriteFile("c.sh", []byte("#!/bin/sh\n"), 0o700))
	for _, c := range []struct {
		args  []string
		dash  int
		shell bool
		want  string
	}{
		{[]string{"./a.sh"}, -1, false, "chmod +x ./a.sh, or neurolens bench -- sh ./a.sh"},
		{[]string{"b"}, -1, false, "chmod +x b, or neurolens bench -- sh b"},
		{[]string{"./c.sh", "./a.sh"}, -1, false, "./a.sh is a script without permission to execute: use chmod +x ./a.sh; if it is an argument of ./c.sh, use neurolens bench -- ./c.sh ./a.sh"},
		{[]string{"sh", "./a.sh"}, -1, false, "for one program with arguments, write neurolens bench -- sh ./a.sh"},
		{[]string{"./c.sh", "./plain"}, -1, false, "for one program with arguments, write neurolens bench -- ./c.sh ./plain"},
		{[]string{"./c.sh", "hello world"}, -1, false, `"hello world" is not a program with arguments: hello is not on PATH: each argument is a program of its own; for one program with arguments, write neurolens bench -- ./c.sh 'hello world'`},
		{[]string{"./c.sh", "hello world"}, -1, true, ""},
		{[]string{"./c.sh", "sh -c x"}, -1, false, ""},
		{[]string{"./c.sh", "./a.sh x"}, -1, false, ""},
		{[]string{"./c.sh", "cd /"}, -1, false, ""},
		{[]string{"./c.sh", "A=1 x"}, -1, false, "an assignment"},
		{[]string{"plain"}, -1, false, ""},
		{[]string{"empty"}, -1, false, ""},
		{[]string{"sleep 0.1 | cat"}, 0, false, "leave out --: neurolens bench --shell 'sleep 0.1 | cat'"},
		{[]string{"sleep 1", "sleep 2"}, 0, false, "leave out --: neurolens bench 'sleep 1' 'sleep 2'"},
		{[]string{"sleep 1"}, 0, true, "leave out --: neurolens bench --shell 'sleep 1'"},
		{[]string{"grep", "a b", "c"}, 0, false, ""},
	} {
		o := sweep.Overrides{Given: map[string]string{}}
		if c.shell {
			o.Given["shell"] = "true"
		}
		sources, err := Open(Args{Args: c.args, Dash: c.dash}, &o)
		for _, s := range sources {
			if s != nil {
				_ = s.Close()
			}
		}
		valuetest.ErrorText(t, err, "…"+c.want+"…", c.args)
	}
}

// TestUnfilled: a name in braces that has no values is worth a word, but where the language of the program has braces.
func TestUnfilled(t *testing.T) {
	for text, want := range map[string]string{
		"sleep {n}": `{n} in "sleep {n}" is taken literally; -P n=1,2 would give it values`, "sleep 0.{n}{k}": `{n} in "sleep 0.{n}{k}" is taken literally; -P n=1,2 would give it values`,
		"sleep {k}": "", "awk '{print}'": "", "sh -c 'echo ${n}'": "", "echo {{n}}": "", "find . -exec rm {} +": "", "echo {a,b}": "",
	} {
		valuetest.DeepEqual(t, (line{texts: []string{"true", text}, axes: map[string]string{"k": "1"}}).unfilled(), want, text)
	}
}

// TestScriptInQuotes: a command in an error can be typed, whatever the name of the file is.
func TestScriptInQuotes(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, want := range map[string]string{
		"a b.sh": "use chmod +x 'a b.sh', or neurolens bench -- sh 'a b.sh'", "caf\xe9.sh": `use chmod +x "$(printf 'caf\351.sh')", or neurolens bench -- sh "$(printf 'caf\351.sh')"`,
	} {
		valuetest.OK(t, os.WriteFile(name, []byte("exit 0\n"), 0o600))
		valuetest.ErrorText(t, refuseScript(name), "…"+want, name)
	}
}
