package sweep

import (
	"fmt"
	"strings"
	"testing"
)

// order writes the launches of a sweep as repeat:block:position point.
func order(s *Sweep) []string {
	var all []string
	for _, l := range s.Launches() {
		name := fmt.Sprint(l.Point.Variant, l.Point.Params["k"])
		all = append(all, fmt.Sprintf("%d:%d:%d %s", l.Repeat, l.Block, l.Position, name))
	}
	return all
}

func TestLaunches(t *testing.T) {
	// Two blocks of two: AB BA in repeat 0, BA AB in repeat 1, then the same reversed.
	s := parse(t, tiny+"variant: [A, B]\nrepeats: 4\ngrid: {k: [1, 2]}", Overrides{})
	equal(t, order(s), []string{
		"0:0:0 A1", "0:0:1 B1", "0:1:0 B2", "0:1:1 A2",
		"1:2:0 B1", "1:2:1 A1", "1:3:0 A2", "1:3:1 B2",
		"2:4:0 B1", "2:4:1 A1", "2:5:0 A2", "2:5:1 B2",
		"3:6:0 A1", "3:6:1 B1", "3:7:0 B2", "3:7:1 A2",
	})

	// Nothing is compared: every point is a block of its own, in expansion order.
	s = parse(t, tiny+"repeats: 2\ngrid: {k: [1, 2]}", Overrides{})
	equal(t, order(s), []string{"0:0:0 1", "0:1:0 2", "1:2:0 1", "1:3:0 2"})

	// baseline wins over variant; what moves together with it does not part a block; a point whose partners are
	// excluded stands alone.
	s = parse(t, tiny+`
variant: [A, B]
baseline: k=1
grid: {k: [1, 2], with: [x, y]}
zip: [k, with]
exclude: [{variant: B, k: 2}]`, Overrides{})
	equal(t, order(s), []string{"0:0:0 A1", "0:0:1 A2", "0:1:0 B1"})
}

// Over m repeats each member of a block of m has had each position once; over 2m also in both directions.
func TestPositionsBalance(t *testing.T) {
	for _, m := range []int{2, 3, 4} {
		values := strings.Split("A B C D", " ")[:m]
		src := fmt.Sprintf("%svariant: [%s]\nrepeats: %d\ngrid: {k: [1, 2, 3]}", tiny, strings.Join(values, ", "), 2*m)
		s := parse(t, src, Overrides{})
		count := map[string]int{}
		after := map[string]int{}
		for i, l := range s.Launches() {
			turn := l.Repeat / m
			count[fmt.Sprint(turn, l.Point.PointID, l.Position)]++
			if i > 0 && l.Position > 0 {
				before := s.Launches()[i-1].Point
				after[fmt.Sprint(before.Params["k"], before.Variant, l.Point.Variant)]++
			}
		}
		if want := 2 * m * 3 * m; len(count) != want {
			t.Errorf("m=%d: %d positions taken, want %d", m, len(count), want)
		}
		for pair, n := range after {
			mirror := pair[:1] + pair[2:] + pair[1:2]
			if after[mirror] != n {
				t.Errorf("m=%d: %s follows %d times, its mirror %d times", m, pair, n, after[mirror])
			}
		}
	}
}
