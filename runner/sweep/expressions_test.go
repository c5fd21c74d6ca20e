package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestResults: expressions compute in base units, and give stored ones.
func TestResults(t *testing.T) {
	src := "command: [a, '{n}', '{accuracy}']\nparams: {n: 4, accuracy: 1}\n" +
		"metrics: {loss: {regex: 'x(.)'}}\n" +
		"derived:\n" +
		"  speed: {expr: n / time, unit: tok/s, better: higher}\n" +
		"  time: {expr: cpu_user + cpu_system, unit: s, better: lower}\n" +
		"  throughput: {expr: 1 / latency}\n" +
		"  used: {expr: energy / latency, unit: W}\n" +
		"check: ['loss < 0.5 and param.accuracy == 1', metric.accuracy >= 0.8, metric.own > 1]\n"
	p := &parse(t, src, Overrides{}).Points[0]
	metrics := map[string]Measured{
		"cpu_user": {1_008_000, "ns"}, "cpu_system": {1_053_000, "ns"}, "latency": {4e6, "ns"}, "energy": {2000, "mJ"}, "loss": {0.25, ""},
		"accuracy": {0.9, "ratio"}, "own": {3, ""},
	}
	var got []string
	for _, r := range p.Derived {
		value, err := r.Eval(p, metrics)
		got = append(got, fmt.Sprint(r.Name, " ", value, " ", r.Unit, " ", r.Better, " ", err))
		metrics[r.Name] = Measured{value.(float64), r.Unit}
	}
	equal(t, got, []string{
		"time 2.061e+06 ns lower <nil>", "speed 1940.80543425522 tok/s higher <nil>", "throughput 250 1/s higher <nil>", "used 500000 mW  <nil>",
	})
	for _, c := range p.Checks {
		holds, err := c.Eval(p, metrics)
		equal(t, []any{holds, err}, []any{true, error(nil)})
	}
	equal(t, p.Checks[1].Metrics(), []string{"accuracy"})
	_, err := p.Checks[1].Eval(p, nil)
	equal(t, fmt.Sprint(err), "the run has no metric.accuracy")
	equal(t, p.Settings()["check"], `["loss < 0.5 and param.accuracy == 1","metric.accuracy >= 0.8","metric.own > 1"]`)
}

func TestErrorsOfResults(t *testing.T) {
	check := refuses(t, "command: [a]\nmetrics: {loss: {regex: 'x(.)'}}\n")
	check("check: []", "3: check: want 1 to 100 conditions, got 0")
	check("check: los < 1", "3: check: 1:1: unknown name los: did you mean loss?")
	check("check: loss", "3: check: 1:1: want true or false, got a number")
	check("check: [[loss < 1]]", "3: check: want an expression, got a list")
	check("derived: {}", "3: derived: want 1 to 100 metrics, got 0")
	check("derived: {a: 1}", "3: derived.a: want a map, got 1")
	check("derived: {a: {unit: s}}", "3: derived.a: want {expr: EXPRESSION, unit: UNIT}: expr is missing")
	check("derived: {a: {expr: loss}}", "3: derived.a: want a unit: s, B, J, B/s, ratio, or a count such as tok/s")
	check("derived: {a: {expr: loss, unit: ms}}", "3: derived.a.unit: want a unit without a prefix, such as s, B, J, ratio, got ms: expressions compute in units without a prefix, and tables add one")
	check("derived: {bandwidth: {expr: loss, unit: s}}", "3: derived.bandwidth.unit: bandwidth is in B/s, not in s")
	check("derived: {bandwidth: {expr: loss, better: lower}}", "3: derived.bandwidth.better: for bandwidth, higher is better")
	check("derived: {a: {expr: loss, unit: s, better: up}}", `3: derived.a.better: want one of lower higher, got "up"`)
	check("derived: {latency: {expr: loss}}", "3: derived.latency: NeuroLens measures a metric with this name: choose another name")
	check("derived: {a: {expr: b, unit: s}, b: {expr: a, unit: s}}", "3: derived: a depends on itself")
	check("derived: {a: {expr: loss > 1, unit: s}}", "3: derived.a.expr: 1:1: want a number, got true or false")
	check("derived: {a: {expr: max(1, 2), unit: s}}", "3: derived.a: unknown key 2): quote the expression, because YAML ends it at the comma")
	check("primary: 1", "3: primary: want text, got 1: quote it")
}

// TestPrimary: a primary metric that probably is a misspelt one of the sweep's is refused; one that a benchmark may tell is not.
func TestPrimary(t *testing.T) {
	t.Parallel()
	const head = "command: [x]\nmetrics: {accuracy: {regex: a}, results: {read: fio, from: x}}\nderived: {speed: {expr: latency, unit: s}}\nprimary: "
	check := refuses(t, head)
	check("acuracy", "4: primary: no metric acuracy is read or derived here: did you mean accuracy? For a metric that the benchmark reports itself, write metric.acuracy")
	check("sped", "4: primary: no metric sped is read or derived here: did you mean speed? For a metric that the benchmark reports itself, write metric.sped")
	check("latenzy", "4: primary: no metric latenzy is read or derived here: did you mean latency? For a metric that the benchmark reports itself, write metric.latenzy")
	for given, want := range map[string]string{
		"accuracy": "accuracy", "speed": "speed", "energy": "energy", "words": "words", "result": "result", "metric.acuracy": "acuracy", "latency": "latency",
	} {
		valuetest.DeepEqual(t, valuetest.Must(readText("sweep.yaml", []byte(head+given), Overrides{})).Points[0].Primary, want, given)
	}
}

// TestMetricNames: what --metric may name.
func TestMetricNames(t *testing.T) {
	t.Parallel()
	const builtin, command = "backend: builtin\nbenchmark: GELU\nderived: {speed: {expr: latency, unit: s}}", "command: [x]\nmetrics: {accuracy: {regex: a}}"
	for _, c := range []struct{ sweep, name, want, err string }{
		{builtin, "speed", "speed", ""},
		{builtin, "throughput", "throughput", ""},
		{builtin, "sped", "", "did you mean speed?"},
		{builtin, "words", "", "no run of the sweep has a metric words"},
		{builtin, "metric.words", "", "no run of the sweep has a metric words"},
		{command, "words", "words", ""},
		{command, "accurac", "", "no metric accurac is read or derived in the sweep: did you mean accuracy?"},
		{command, "metric.accurac", "accurac", ""},
	} {
		s := valuetest.Must(readText("sweep.yaml", []byte(c.sweep), Overrides{}))
		got, err := s.Metric(c.name)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.name, got, err, c.want, c.err)
		}
	}
}

// here returns the facts of a machine without a GPU, with those that a user gives.
func here(t *testing.T, given map[string]string) *expression.Machine {
	t.Helper()
	m := valuetest.Must(expression.NewMachine(given, expression.FactSources{
		Env: func() schema.Env {
			return schema.Env{OS: "linux", Facts: map[string]string{"memory.total": "8589934592"}, Missing: map[string]string{"gpu": "absent"}}
		},
		Version: func(interpreter, module string) string {
			return map[string]string{".venv/python torch": "2.9.1"}[interpreter+" "+module]
		},
	}))
	return m
}

// skipped returns the points that a sweep leaves out, and why: "k=1: reason".
func skipped(s *Sweep, axis string) (all []string) {
	for i := range s.Skipped {
		p := &s.Skipped[i]
		all = append(all, fmt.Sprintf("%s=%s: %s", axis, p.textOf(axis), p.Skip.Reason))
	}
	return all
}

func TestSkipIf(t *testing.T) {
	for _, test := range []struct{ src, axis, want string }{
		{"grid: {k: [1, 2, 3]}\nskip_if: {when: k > 1, reason: large}", "k", "k=2: large, k=3: large"},
		{"grid: {k: [1, 2, 3]}\nskip_if: [{when: k == 3, reason: three}, {when: k > 1, reason: large}]", "k", "k=2: large, k=3: three"},
		{"grid: {k: [1, 2]}\nskip_if: [{when: k > 1}]", "k", "k=2: k > 1"},
		{"grid: {k: [1, 2]}\nskip_if: []", "k", ""},
		{"grid: {k: [1, 2]}\nskip_if: {when: false}", "k", ""},
		{"grid: {k: [a, b]}\nskip_if: {when: k == \"b\", reason: b}", "k", "k=b: b"},
		{"grid: {k: ['1', '2']}\nskip_if: {when: k == \"2\", reason: text}", "k", "k=2: text"},
		{"grid: {k: [1, x]}\nskip_if: {when: k == 1, reason: number}", "k", "k=1: number"},
		{"grid: {k: ['1', x, 2]}\nskip_if: {when: k == \"1\", reason: text}", "k", "k=1: text"},
		{"grid: {k: [true, false]}\nskip_if: {when: not k, reason: no}", "k", "k=false: no"},
		{"grid: {k: [[1, 2], [3]]}\nskip_if: {when: 'k == \"[3]\"', reason: list}", "k", "k=[3]: list"},
		{"grid: {kv-heads: [1, 8]}\nskip_if: {when: 'param[\"kv-heads\"] > 4', reason: many}", "kv-heads", "kv-heads=8: many"},
		{"grid: {memory: [a, b]}\nskip_if: {when: param.memory == \"a\" and (fact.memory ?? 1) > 0, reason: axis}", "memory", "memory=a: axis"},
		{"grid: {bs: [1, 64], seq: 128}\nskip_if: {when: batch_size * seq_len > 8000, reason: large}", "batch_size", "batch_size=64: large"},
		{"grid: {k: [1, 2]}\nseed: 7\nskip_if: {when: seed == 7 and k == 1, reason: seed}", "k", "k=1: seed"},
		{"command: [x, '{k}']\ngrid: {k: [1, 2]}\nseed: 7\nskip_if: {when: seed == 7 and k == 1, reason: seed}", "k", "k=1: seed"},
		{"grid: {k: [1, 2]}\nskip_if: {when: (seed ?? 3) == 3 and k == 1, reason: no seed}", "k", "k=1: no seed"},
		{"grid: {precision: [float32, fp16]}\nskip_if: {when: precision == \"fp32\", reason: canonical}", "precision", "precision=fp32: canonical"},
		{"grid: {k: [1, 2]}\nskip_if: {when: benchmark == \"x.py\" and k == 1, reason: program}", "k", "k=1: program"},
		{"grid: {backend: [cpu, cuda]}\nskip_if: {when: backend == \"cuda\" and gpu.count == 0, reason: no GPU}", "backend", "backend=cuda: no GPU"},
		{"grid: {k: [1, 2]}\nskip_if: {when: k > 1 and gpu.memory == nil, reason: no GPU}", "k", "k=2: no GPU"},
		{"grid: {k: [1, 2]}\nskip_if: {when: not exists(\"expressions_test.go\") or k == 2, reason: two}", "k", "k=2: two"},
		{"python: '{p}'\ngrid: {p: [.venv/python, other]}\nskip_if: {when: 'version(\"torch\") == nil', reason: no torch}", "p", "p=other: no torch"},
		{"grid: {k: [1, 2, 3]}\nexclude: [{k: 2}]\nskip_if: {when: k > 1, reason: large}", "k", "k=3: large"},
		{"grid: {k: [1, 2]}\ninclude: [{k: 9}]\nskip_if: {when: k > 1, reason: large}", "k", "k=2: large, k=9: large"},
		{"benchmarks: {a: {grid: {k: [1, 2]}}, b: }\nskip_if: {when: (k ?? 0) == 2, reason: two}", "benchmark", "benchmark=a: two"},
		{"variants: {a: {skip_if: {when: true, reason: own}}, b: }\nskip_if: {when: false}", "variant", "variant=a: own"},
	} {
		src := test.src
		if !strings.HasPrefix(src, "command:") {
			src = "file: x.py\n" + src
		}
		s, err := readText("sweep.yaml", []byte(src), Overrides{Facts: here(t, nil)})
		if err != nil {
			t.Errorf("%v, in\n%s", err, src)
			continue
		}
		checkSchema(t, src, Overrides{})
		valuetest.DeepEqual(t, strings.Join(skipped(s, test.axis), ", "), test.want, src)
		for i := range s.Points {
			if s.Points[i].Skip != nil {
				t.Errorf("%s\na point that runs is skipped", src)
			}
		}
	}
}

// TestErrorsOfSkipIf: each error has the line of the expression, and what is not known is never taken for false.
func TestErrorsOfSkipIf(t *testing.T) {
	check := refuses(t, "file: x.py\ngrid: {k: [1, 2], name: [a, b]}\nskip_if:\n")
	check("  3", "3: skip_if: want a map, got 3")
	check("  - gpu.count == 0", `4: skip_if: want a map, got "gpu.count == 0"`)
	check("  - {reason: none}", "4: skip_if: want {when: EXPRESSION, reason: TEXT}: when is missing")
	check("  - {when: true, why: x}", "4: skip_if: unknown key why: want one of reason when")
	check("  - {when: max(k, 1) > 1}", "4: skip_if: unknown key 1) > 1: quote the expression, because YAML ends it at the comma")
	check("  - {when: [1]}", "4: skip_if.when: want an expression, got a list")
	check("  - {when: }", "4: skip_if.when: want an expression, got nothing")
	check("  - {when: ''}", "4: skip_if.when: is empty")
	check("  - {when: true, reason: 7}", "4: skip_if.reason: want text, got 7: quote it")
	check("  - {when: true, reason: 'k is {k}'}", "4: skip_if.reason: {k} is not filled in here: use it in benchmark, model, backend, variant, command, file, env or cwd")
	check("  - {when: k}", "4: skip_if.when: 1:1: want true or false, got a number")
	check("  - {when: 3}", "4: skip_if.when: 1:1: want true or false, got a number")
	check("  - {when: k == \"1\"}", "4: skip_if.when: 1:3: invalid operation: == (mismatched kinds number and text)")
	check("  - {when: k > 1}\n  - {when: gpu.cuont == 0}", "5: skip_if.when: 1:1: unknown name gpu.cuont: did you mean gpu.count?")
	check("  - when: >-\n      k > 1 and\n      nmae == 'a'", "4: skip_if.when: 1:11: unknown name nmae: did you mean name?")
	check("  - {when: k > 1 and gpu.memory < 8e9}",
		"4: skip_if.when: gpu.memory is not known here (unsupported): write (gpu.memory ?? VALUE) for a default, or give --fact gpu.memory=VALUE")
	check("  - {when: seq_len > 3}", "4: skip_if.when: seq_len is NULL: write (... ?? VALUE) for a default")
	check("  - {when: 'version(\"torch\") < \"2\"'}", `4: skip_if.when: version("torch") is NULL: write (... ?? VALUE) for a default`)
	check("  - {when: 1 / (k - 1) > 2}", "4: skip_if.when: 1 / 0 is NULL: write (... ?? VALUE) for a default")
	check("  - {when: precision == \"float16\"}", `4: skip_if.when: 1:14: precision is stored as "fp16", not as "float16"`)
	check("  - {when: '\"half\" != precision'}", `4: skip_if.when: 1:1: precision is stored as "fp16", not as "half"`)
	check("  - {when: '(precision ?? \"\") in [\"fp16\", \"bfloat16\"]'}", `4: skip_if.when: 1:31: precision is stored as "bf16", not as "bfloat16"`)
	check("  - {when: k > 2}\nvariants: {a: {skip_if: {when: kk > 2}}, b: }", "5: skip_if.when: 1:1: unknown name kk: did you mean k? (variant a)")
}

// TestSkipOverrides: --fact has the last word over the machine, and what it says goes with the sweep.
func TestSkipOverrides(t *testing.T) {
	src := "file: x.py\ngrid: {backend: [cpu, cuda]}\nskip_if: {when: backend == \"cuda\" and gpu.count == 0, reason: no GPU}\n"
	s := parse(t, src, Overrides{Facts: here(t, map[string]string{"gpu.count": "2"})})
	if len(s.Skipped) != 0 || len(s.Points) != 2 || s.Facts["gpu.count"] != "2" {
		t.Errorf("%d skipped, %d points, %v", len(s.Skipped), len(s.Points), s.Facts)
	}
	s = parse(t, src, Overrides{Facts: here(t, nil), Params: map[string]string{"backend": "cuda"}})
	if len(s.Skipped) != 1 || len(s.Points) != 0 || s.Facts != nil {
		t.Errorf("%d skipped, %d points, %v", len(s.Skipped), len(s.Points), s.Facts)
	}
}

// TestSkipLaunches: a point that is skipped is launched once a side, before all others, and takes part in no block.
func TestSkipLaunches(t *testing.T) {
	src := "command: [x, '{k}', '{v}']\ngrid: {k: [1, 2, 3], v: [a, b]}\nbaseline: v=a\nrepeats: 3\ncalibrate: true\n"
	for _, order := range []string{"interleaved", "random", "sequential"} {
		for sides := 1; sides <= 2; sides++ {
			o := LaunchOptions{Sides: sides, Seed: 1}
			without := parse(t, src+"order: "+order+"\nexclude: [{k: 2}, {k: 3, v: b}]\n", Overrides{}).Launches(o)
			with := parse(t, src+"order: "+order+"\nskip_if: {when: k == 2 or k == 3 and v == \"b\"}\n", Overrides{}).Launches(o)
			n := len(with) - len(without)
			if n != 3*sides {
				t.Fatalf("%s: %d launches are skipped, want %d", order, n, 3*sides)
			}
			blocks := map[int]bool{}
			for i, l := range without {
				got := with[n+i]
				blocks[l.Block] = true
				if got.Point.PointID != l.Point.PointID || got.Block != l.Block || got.Position != l.Position || got.Side != l.Side || got.Repeat != l.Repeat {
					t.Errorf("%s: launch %d is %+v, want %+v", order, i, got, l)
				}
			}
			for i, l := range with[:n] {
				if l.Point.Skip == nil || l.Repeat != 0 || l.Side != i%sides || l.Position != i%sides || blocks[l.Block] {
					t.Errorf("%s: skip %d is %+v", order, i, l)
				}
			}
		}
	}
}

// TestSkipOnly: a sweep of some points has the skips of these alone.
func TestSkipOnly(t *testing.T) {
	s := parse(t, "file: x.py\ngrid: {k: [1, 2, 3, 4]}\nskip_if: {when: k > 2}\n", Overrides{}).Only(func(p *Point) bool { return p.Params["k"] != "3" })
	var kept []string
	for _, p := range s.Planned() {
		kept = append(kept, p.Params["k"])
	}
	if !slices.Equal(kept, []string{"1", "2", "4"}) || len(s.Skipped) != 1 {
		t.Errorf("kept %v, %d skipped", kept, len(s.Skipped))
	}
}

// TestLazyFacts: a sweep asks for the facts that it names, and for no other.
func TestLazyFacts(t *testing.T) {
	asked := false
	m := valuetest.Must(expression.NewMachine(nil, expression.FactSources{Env: func() schema.Env {
		asked = true
		return schema.Env{OS: "linux", Missing: map[string]string{"gpu": "absent"}}
	}}))
	parse(t, "file: x.py\ngrid: {k: [1, 2]}\nskip_if: {when: k > 1 and os != \"plan9\"}\n", Overrides{Facts: m})
	if asked {
		t.Error("the manifest was read for a sweep that needs none of it")
	}
	parse(t, "file: x.py\nskip_if: {when: gpu.count == 7}\n", Overrides{Facts: m})
	if !asked {
		t.Error("the manifest was not read")
	}
}

// TestWork: work is worked out at each point; what needs something that is NULL there is NULL.
func TestWork(t *testing.T) {
	beginning := "file: x.py\ngrid: {batch_size: [2, 4]}\nwork: "
	for _, test := range []struct{ work, first, second string }{
		{"{items: 1}", `{"items":1}`, `{"items":1}`},
		{"{items: batch_size}", `{"items":2}`, `{"items":4}`},
		{"{bytes: 2 * 4 * batch_size * 1e6, flops: batch_size ** 3}", `{"bytes":16000000,"flops":8}`, `{"bytes":32000000,"flops":64}`},
		{"{bytes: batch_size / 3}", `{"bytes":1}`, `{"bytes":1}`},
		{"{items: 0}", `{"items":0}`, `{"items":0}`},
		{"{items: seq_len, flops: batch_size}", `{"flops":2}`, `{"flops":4}`},
		{"{items: gpu.memory / 2}", "{}", "{}"},
		{"{items: 1 / (batch_size - 2)}", "{}", `{"items":0.5}`},
		{"{}", "{}", "{}"},
	} {
		s := parse(t, beginning+test.work+"\n", Overrides{Facts: here(t, nil)})
		if first, second := s.Points[0].Settings()["work"], s.Points[1].Settings()["work"]; first != test.first || second != test.second {
			t.Errorf("%s: %s and %s, want %s and %s", test.work, first, second, test.first, test.second)
		}
	}
	if s := parse(t, "file: x.py\n", Overrides{}); s.Points[0].Work != nil || s.Points[0].Settings()["work"] != "" {
		t.Error("a sweep without work has some")
	}
	s := parse(t, "file: x.py\ngrid: {k: [0, 1]}\nskip_if: {when: k == 0}\nwork: {items: 1 - 2 * (1 - k)}\n", Overrides{})
	if len(s.Points) != 1 || s.Skipped[0].Work != nil {
		t.Error("the work of a point that is skipped was worked out")
	}
}

func TestErrorsOfWork(t *testing.T) {
	check := refuses(t, "file: x.py\ngrid: {k: [1, 2], v: [a, b]}\nwork: ")
	check("3", "3: work: want a map, got 3")
	check("{item: 3}", "3: work: unknown key item: did you mean items?")
	check("{items: max(k, 2)}", "3: work: unknown key 2): quote the expression, because YAML ends it at the comma")
	check("{items: }", "3: work.items: want an expression, got nothing")
	check("{items: [1]}", "3: work.items: want an expression, got a list")
	check("{items: true}", "3: work.items: 1:1: want a number, got true or false")
	check("{items: v}", "3: work.items: 1:1: want a number, got text")
	check("{items: kk}", "3: work.items: 1:1: unknown name kk: did you mean k?")
	check("{flops: 1 - k}", "3: work.flops: want an amount of at least 0, got -1")
	check("{bytes: 1e19}", "3: work.bytes: 1e+19 bytes are more than 2**63")
}

// TestCountedByExpressions: iterations, warmup and budget may depend on the point. They are settings, and no part of what a
// point is known by; the command line replaces them.
func TestCountedByExpressions(t *testing.T) {
	beginning := "file: x.py\ngrid: {k: [1, 8, 3]}\n"
	for _, test := range []struct {
		text  string
		given map[string]string
		want  string // of each point: warmup, iterations, budget
	}{
		{"iterations: max(10, 100 / k)", nil, "10 100 10s, 10 12 10s, 10 33 10s"},
		{"iterations: '7'", nil, "10 7 10s, 10 7 10s, 10 7 10s"},
		{"warmup: k - 1\nbudget: 0.1 * k", nil, "0 0 100ms, 7 0 800ms, 2 0 300ms"},
		{"budget: 'k > 2 ? 1.5 : 60'", nil, "10 0 1m0s, 10 0 1.5s, 10 0 1.5s"},
		{"budget: 20s", nil, "10 0 20s, 10 0 20s, 10 0 20s"},
		{"iterations: k\nwarmup: k\nbudget: k", map[string]string{"iterations": "5", "warmup": "6", "budget": "7s"}, "6 5 7s, 6 5 7s, 6 5 7s"},
		{"iterations: k", map[string]string{"rel_error": "1%"}, "10 0 10s, 10 0 10s, 10 0 10s"},
		{"warmup: k", map[string]string{"cold_start": "true"}, "0 1 10s, 0 1 10s, 0 1 10s"},
		{"iterations: k\nexclude: [{k: 1}, {k: 3}]", nil, "10 8 10s"},
		{"iterations: 10 / (k - 1)\nskip_if: {when: k == 1}", nil, "10 1 10s, 10 5 10s"},
	} {
		s := parse(t, beginning+test.text+"\n", Overrides{Given: test.given})
		plain := parse(t, beginning, Overrides{})
		var got []string
		for i := range s.Points {
			p := &s.Points[i]
			got = append(got, fmt.Sprint(p.Warmup, p.Iterations, " ", p.Budget))
			if p.Timeouts.Measure < p.Budget+measureRoom && p.Iterations == 0 {
				t.Errorf("%s: the deadline is %v, the budget %v", test.text, p.Timeouts.Measure, p.Budget)
			}
			if len(s.Points) == 3 && p.PointID != plain.Points[i].PointID {
				t.Errorf("%s: another point", test.text)
			}
		}
		valuetest.DeepEqual(t, strings.Join(got, ", "), test.want, test.text)
	}
	s := parse(t, "command: [x, '{k}']\ngrid: {k: [1, 2]}\nwarmup: k\nbudget: k\n", Overrides{})
	for i, p := range s.Points {
		if p.Warmup != i+1 || p.WarmupOnce || p.Budget != time.Duration(i+1)*time.Second || p.Timeouts.Measure != 10*time.Minute {
			t.Errorf("of a command: %d %v %v %v", p.Warmup, p.WarmupOnce, p.Budget, p.Timeouts.Measure)
		}
	}
	s = parse(t, "file: x.py\nvariants: {a: {iterations: seed}, b: {iterations: 4}}\nseed: 9\n", Overrides{})
	if s.Points[0].Iterations != 9 || s.Points[1].Iterations != 4 || s.Points[0].Origins["iterations"] != layerVariant {
		t.Errorf("of variants: %d, %d, %v", s.Points[0].Iterations, s.Points[1].Iterations, s.Points[0].Origins)
	}
}

func TestErrorsOfCounted(t *testing.T) {
	check := refuses(t, "file: x.py\ngrid: {k: [1, 2], v: [a, b]}\n")
	check("iterations: kk", "3: iterations: neither a number nor an expression: 1:1: unknown name kk: did you mean k?")
	check("iterations: v", "3: iterations: neither a number nor an expression: 1:1: want a number, got text")
	check("iterations: k / 2", "3: iterations: k / 2 is 0.5: want a whole number from 1 to 10000000")
	check("iterations: k * 1e300", "3: iterations: k * 1e300 is 1e+300: want a whole number from 1 to 10000000")
	check("iterations: 2 ** 62 * k", "3: iterations: 2 ** 62 * k is 4611686018427387904: want a whole number from 1 to 10000000")
	check("iterations: 5 / (k - 1)", "3: iterations: 5 / 0 is NULL: write (... ?? VALUE) for a default")
	check("iterations: true", "3: iterations: want a number, got true")
	check("warmup: k - 2", "3: warmup: k - 2 is -1: want a whole number from 0 to 10000000")
	check("budget: k - 1", "3: budget: k - 1 is 0 s: want more than 0s and at most 1000h0m0s")
	check("budget: k * 1e9", "3: budget: k * 1e9 is 1000000000 s: want more than 0s and at most 1000h0m0s")
	check("budget: gpu.memory", "3: budget: gpu.memory is not known here (unsupported): write (gpu.memory ?? VALUE) for a default, or give --fact gpu.memory=VALUE")
	check("budget: 3 * k\ntimeout: 5s", "4: timeout: 5s is not longer than the budget of 6s: raise it, or lower the budget")
	check("rel_error: 1%\niterations: k", "3: rel_error: cannot be combined with iterations (line 4), which is an exact number: use one of them")
}

// checkSweep holds for every sweep that Read accepts.
func checkSweep(t *testing.T, s *Sweep) {
	t.Helper()
	ids := map[string]bool{}
	for i := range s.Points {
		p := &s.Points[i]
		var run schema.Run
		p.Fill(&run)
		valuetest.DeepEqual(t, p.PointID, schema.PointID(&run), "point", i)
		if ids[p.PointID] {
			t.Errorf("point_id %s appears twice", p.PointID)
		}
		ids[p.PointID] = true
		command, file := p.Executor == schema.ExecutorCommand, p.Executor == schema.ExecutorPython
		if p.Benchmark == "" || p.Executor == "" || command != (len(p.Command) > 0) || file != (p.File != "") {
			t.Errorf("point %d cannot be launched: %+v", i, p)
		}
	}
	checkLaunches(t, s, LaunchOptions{})
	checkLaunches(t, s, LaunchOptions{Sides: 2, Seed: 3})
}

// checkLaunches checks that every point is launched as often as it is to be, and that the members of a block are
// neighbours.
func checkLaunches(t *testing.T, s *Sweep, o LaunchOptions) {
	t.Helper()
	type subject struct {
		point   *Point
		side    int
		profile string
	}
	launched := map[subject]int{}
	blocks := map[int]bool{}
	launches := s.Launches(o)
	for i, l := range launches {
		launched[subject{l.Point, l.Side, l.Profile}]++
		switch {
		case l.Position == 0 && blocks[l.Block]:
			t.Errorf("launch %d begins block %d again", i, l.Block)
		case l.Position > 0 && (l.Block != launches[i-1].Block || l.Position != launches[i-1].Position+1):
			t.Errorf("launch %d is at %d:%d after %+v", i, l.Block, l.Position, launches[i-1])
		}
		blocks[l.Block] = true
	}
	for i := range s.Points {
		for side := range o.sides() {
			valuetest.DeepEqual(t, launched[subject{&s.Points[i], side, ""}], s.Points[i].Repeats, "point", i, side)
		}
		for _, tool := range s.Points[i].Profile {
			valuetest.DeepEqual(t, launched[subject{&s.Points[i], 0, tool}], 1, tool, i)
		}
	}
	if s.MaxRepeats < s.Repeats {
		t.Errorf("at most %d repeats of %d", s.MaxRepeats, s.Repeats)
	}
}
