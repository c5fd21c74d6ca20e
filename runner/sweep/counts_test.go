package sweep

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

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
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s: %s, want %s", test.text, text, test.want)
		}
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
