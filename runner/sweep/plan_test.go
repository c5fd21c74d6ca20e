package sweep

import (
	"fmt"
	"strings"
	"testing"
)

// grids are sweeps of as many points; %s are the values of their axes. most is how many allocations a point may cost. Without
// any of the language a grid once took 35: three times as many are all that the whole language may.
var grids = map[string]struct {
	limit float64
	text  string
}{
	"plain": {15, "file: x.py\ngrid: {bs: [%s], seq_len: [%s], dim: [%s]}\n"},
	"skip_if": {25, "file: x.py\ngrid: {bs: [%s], seq_len: [%s], dim: [%s]}\n" +
		"skip_if: [{when: batch_size * seq_len * dim > 5e4, reason: large}, {when: 'benchmark contains \"tma\" and (gpu.count ?? 0) < 10'}]\n"},
	"language": {105, `suite: all
benchmarks: {add: , mul: {iterations: 7}}
variants:
  plain: {file: "plain.py:{benchmark}"}
  fused: {file: "fused.py:{benchmark}", warmup: 3, env: {TILE: "{dim}"}}
grid: {bs: [%s], seq_len: [%s], dim: [%s]}
params: {layout: row}
scale: {size: {base: 4096, by: 7, steps: {4: 0.5, 0: 0.1}}}
iterations: "max(10, 1e6 / dim)"
warmup: "dim < 10 ? 10 : 2"
skip_if: {when: batch_size * seq_len * dim > 5e4, reason: large}
work: {items: batch_size, bytes: 8 * batch_size * dim, flops: 2 * batch_size * dim ** 2}
metrics: {loss: {regex: "loss (.*)", optional: true}}
derived: {lost: {expr: loss / batch_size, unit: ratio}}
check: [loss < 3, (loss ?? 0) >= 0]
reference: {variant: plain}
thresholds: {latency: 5%%}
baseline: variant=plain
presets: {more: {warmup: 5}}
`},
}

// gridOf has so many values of each axis; in the sweep language, a fourth of the last, for there are four implementations.
func gridOf(name string, bs, seq, dim int) []byte {
	if name == "language" {
		dim /= 4
	}
	return fmt.Appendf(nil, grids[name].text, numbers(bs), numbers(seq), numbers(dim))
}

func numbers(n int) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprint(i+1))
	}
	return strings.Join(words, ", ")
}

// BenchmarkPlan plans 100,000 points.
func BenchmarkPlan(b *testing.B) {
	for name := range grids {
		src := gridOf(name, 50, 50, 40)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if s, err := readText("sweep.yaml", src, Overrides{}); err != nil || len(s.Planned()) != 100_000 {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestPlanCost: what is written for a sweep costs its plan no more than is allowed, in allocations, which no load on the machine
// changes. BenchmarkPlan has the times.
func TestPlanCost(t *testing.T) {
	const points = 1200
	for name, grid := range grids {
		src := gridOf(name, 10, 10, 12)
		all := testing.AllocsPerRun(3, func() {
			if s, err := readText("sweep.yaml", src, Overrides{}); err != nil || len(s.Planned()) != points {
				t.Fatal(err)
			}
		})
		if all/points > grid.limit {
			t.Errorf("%s: %.1f allocations a point, want at most %.0f", name, all/points, grid.limit)
		}
	}
}
