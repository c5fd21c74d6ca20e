package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/expression"
	"github.com/neurolens/neurolens/schema"
)

// here are the facts of a machine without a GPU, with those that a user gives.
func here(t *testing.T, given map[string]string) *expression.Machine {
	t.Helper()
	m, err := expression.NewMachine(given, expression.FactSources{
		Env: func() schema.Env {
			return schema.Env{OS: "linux", Facts: map[string]string{"memory.total": "8589934592"}, Missing: map[string]string{"gpu": "absent"}}
		},
		Version: func(interpreter, module string) string {
			return map[string]string{".venv/python torch": "2.9.1"}[interpreter+" "+module]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// skipped are the points that a sweep leaves out, and why: "k=1: reason".
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
		{"grid: {k: [1, 2]}\nskip_if: {when: not exists(\"skip_test.go\") or k == 2, reason: two}", "k", "k=2: two"},
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
		if got := strings.Join(skipped(s, test.axis), ", "); got != test.want {
			t.Errorf("%s\nskips %s, want %s", src, got, test.want)
		}
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
	m, err := expression.NewMachine(nil, expression.FactSources{Env: func() schema.Env {
		asked = true
		return schema.Env{OS: "linux", Missing: map[string]string{"gpu": "absent"}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	parse(t, "file: x.py\ngrid: {k: [1, 2]}\nskip_if: {when: k > 1 and os != \"plan9\"}\n", Overrides{Facts: m})
	if asked {
		t.Error("the manifest was read for a sweep that needs none of it")
	}
	parse(t, "file: x.py\nskip_if: {when: gpu.count == 7}\n", Overrides{Facts: m})
	if !asked {
		t.Error("the manifest was not read")
	}
}
