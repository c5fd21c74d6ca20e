package cmdline

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// flags are options of bench with some of their values.
var flags = map[string][]string{
	"suite": {"mine", "7", "a: b"}, "repeats": {"2", "7"}, "warmup": {"0", "3"}, "iterations": {"1", "9"}, "budget": {"2s"}, "order": {"random"},
	"rel_error": {"2%"}, "timeout_multiplier": {"2"}, "setup": {"mkdir -p a", "'a b' {n} {x}"}, "prepare": {"rm {n}"}, "cleanup": {"true", "rm -r {n}"},
	"stdin": {"null", "in-{n}", "{x}"}, "shell": {"true", "bash", "false"}, "output": {"null", "keep", "out-{n}"}, "ignore_exit": {"true", "false", "3", "1,2"},
}

// pythonFlags are options that only Python benchmarks take, with some of their values; cold_start changes how often programs warm up.
var pythonFlags = map[string][]string{
	"python": {"python3"}, "timing": {"perf_counter", "auto"}, "iterations_per_sample": {"auto", "10"}, "seed": {"0", "7"}, "reproducible": {"true"}, "cold_start": {"true"},
	"profile": {"", "torch"}, "counters": {"default", "page_faults"},
}

// otherFlags are options of backends, which no line of a file or a program takes.
var otherFlags = []string{"provider", "device", "max_repeats"}

// TestKeptPython: likewise of a Python benchmark. Each option of bench that goes before a key is among those that are tried.
func TestKeptPython(t *testing.T) {
	t.Chdir(t.TempDir())
	valuetest.OK(t, os.WriteFile("f.py", []byte("def bench_a(): pass\n"), 0o600))
	for _, k := range sweep.Keys() {
		if k.Option == "" || slices.Contains(otherFlags, k.Name) {
			continue
		}
		if flags[k.Name] == nil && pythonFlags[k.Name] == nil {
			t.Errorf("--%s has no values here", k.OptionName())
		}
		for _, value := range pythonFlags[k.Name] {
			o := sweep.Overrides{Given: map[string]string{k.Name: value}}
			sources := valuetest.Must(Open(Args{Args: []string{"f.py:bench_a"}, Dash: -1}, &o))
			src := valuetest.Must(io.ReadAll(sources[0]))
			kept, err := sweep.Kept(src, o)
			if err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
			valuetest.DeepEqual(t, settings(t, kept, sweep.Overrides{}), settings(t, src, o), k.OptionName(), value, kept)
		}
	}
}

// set are values of keys that have no option.
var set = []string{"timeouts.measure=30s", "timeouts.setup=1m", "env.A=7", "env.B=x{n}", "cwd=x", "check=latency < 1", "metrics.m={from: stderr, regex: a}", "thresholds.latency=5%"}

// TestKept: the file that a line is kept in has the points and the settings of the line, whatever its flags.
func TestKept(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lines := [][]string{{"sleep {n}"}, {"sleep {n}", "sleep 0.{n}"}, {"echo {n} {k}", "printf '%s' {n}{k}"}, {"sleep {n}", "sleep 1"}, {"sleep 1", "echo '{n}' {{n}}"}}
	for range 300 {
		o := sweep.Overrides{Given: map[string]string{}, Params: map[string]string{"n": []string{"1", "1,2", "1..9..4", "1..8*2"}[random.IntN(4)]}}
		texts := lines[random.IntN(len(lines))]
		if strings.Contains(texts[0], "{k}") {
			o.Params["k"] = "x,y"
		}
		for _, name := range slices.Sorted(maps.Keys(flags)) {
			values := flags[name]
			if random.IntN(3) == 0 {
				o.Given[name] = values[random.IntN(len(values))]
			}
		}
		if o.Given["rel_error"] != "" {
			delete(o.Given, "iterations")
		}
		if random.IntN(2) == 0 {
			o.Tags = map[string]string{"note": "7"}
		}
		for _, word := range set {
			if random.IntN(4) == 0 {
				o.Set = append(o.Set, word)
			}
		}
		sources := valuetest.Must(Open(Args{Args: texts, Dash: -1}, &o))
		src := valuetest.Must(io.ReadAll(sources[0]))
		kept, err := sweep.Kept(src, o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if want, got := settings(t, src, o), settings(t, kept, sweep.Overrides{}); got != want {
			t.Fatalf("%+v\nkept as\n%s\nis  %s\nwant %s", o, kept, got, want)
		}
	}
}

// settings returns the points of a sweep and how they run.
func settings(t *testing.T, src []byte, o sweep.Overrides) string {
	t.Helper()
	s, err := sweep.Read("line", bytes.NewReader(src), o)
	if err != nil {
		t.Fatalf("%s%+v: %v", src, o, err)
	}
	text := fmt.Sprint(s.Suite, s.Repeats, s.Order, s.RelError, s.MaxRepeats, s.Timeout, s.Tags)
	for i := range s.Points {
		p := &s.Points[i]
		text += fmt.Sprint("\n", p.PointID, p.Variant, p.Command, p.Settings(), p.Timeouts, p.Warmup, p.WarmupOnce, p.Iterations, p.Budget, p.Params, p.Hooks, p.Stdin, p.Stdout, p.KeepOutput, p.Artifacts != nil, p.Start, p.Env, p.Dir, p.Metrics, p.AnyExit, p.Exits, p.Thresholds, p.Python, p.Profile, len(p.Checks))
	}
	return text
}
