package views

import (
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
)

// TestFilterOf: a point is selected by as few conditions as possible, none of which it shares with all others, and not at all if nothing
// tells it from another one.
func TestFilterOf(t *testing.T) {
	t.Parallel()
	point := func(benchmark, machine string, params ...string) Subject {
		p := query.Point{Benchmark: benchmark, Machine: machine, Params: map[string]string{}}
		for i := 0; i < len(params); i += 2 {
			p.Params[params[i]] = params[i+1]
		}
		return Subject{Point: p}
	}
	grid := []Subject{
		point("a b", "m", "n", "1", "k", "1"), point("a b", "m", "n", "1", "k", "2"), point("a b", "m", "n", "2", "k", "1"), point("a b", "m", "n", "2", "k", "2"),
		point("c", "m", "n", "2", "k", "2"), point("c", "m", "n", "3", "k", "1"), point("c", "m", "k", "1"), point("c", "lab", "k", "1"), point("c", "lab", "k", "1"),
	}
	ids := []string{"0", "1", "2", "3", "4", "5", "6", "7", "7"}
	_, varying := Axes(grid, historyAxes)
	for i, want := range []string{`k=1 n=1`, `k=2 n=1`, `k=1 n=2`, `benchmark="a b" k=2 n=2`, `benchmark=c k=2`, "n=3", "machine=m n=null", "machine=lab", "machine=lab"} {
		got, ok := FilterOf(varying, ids, i)
		if text := strings.Join(got, " "); !ok || text != want {
			t.Errorf("point %d: %q, %v; want %q", i, text, ok, want)
		}
	}
	if got, ok := FilterOf(nil, []string{"0", "0"}, 1); !ok || len(got) != 0 {
		t.Errorf("the only point: %q, %v", got, ok)
	}
	if got, ok := FilterOf(varying, slices.Repeat([]string{"0", "1"}, 5)[:9], 7); ok && len(got) == 0 {
		t.Errorf("one of two points: %q, %v", got, ok)
	}
	if got, ok := FilterOf(varying, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8"}, 7); ok {
		t.Errorf("of equal points: %q", got)
	}
}
