package sweep

import (
	"fmt"
	"strings"
	"testing"
)

// order writes the launches of a sweep as repeat:block:position point.
func order(s *Sweep) []string {
	var all []string
	for _, l := range s.Launches(LaunchOptions{}) {
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
		for i, l := range s.Launches(LaunchOptions{}) {
			turn := l.Repeat / m
			count[fmt.Sprint(turn, l.Point.PointID, l.Position)]++
			if i > 0 && l.Position > 0 {
				before := s.Launches(LaunchOptions{})[i-1].Point
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

// sided writes launches as point and side.
func sided(launches []Launch) string {
	var names []string
	for _, l := range launches {
		names = append(names, l.Point.Variant+l.Point.Params["k"]+string("bh"[l.Side]))
	}
	return strings.Join(names, " ")
}

func TestSides(t *testing.T) {
	ab := LaunchOptions{Sides: 2}
	// Alone, a point and its sides are a block: base and head, then head and base.
	s := parse(t, tiny+"repeats: 4\ngrid: {k: [1, 2]}", Overrides{})
	equal(t, sided(s.Launches(ab)), "1b 1h 2h 2b 1h 1b 2b 2h 1h 1b 2b 2h 1b 1h 2h 2b")
	for i, l := range s.Launches(ab) {
		equal(t, []int{l.Repeat, l.Block, l.Position}, []int{i / 4, i / 2, i % 2})
	}
	// The members of a block are its points, and of each its sides.
	s = parse(t, tiny+"repeats: 4\nvariant: [A, B]", Overrides{})
	equal(t, sided(s.Launches(ab)), "Ab Ah Bb Bh Ah Bb Bh Ab Bb Bh Ab Ah Bh Ab Ah Bb")
	equal(t, sided(s.Launches(LaunchOptions{Sides: 1})), sided(s.Launches(LaunchOptions{})))
}

func TestSequential(t *testing.T) {
	s := parse(t, tiny+"repeats: 3\nvariant: [A, B]\norder: sequential\nrel_error: 1%", Overrides{})
	equal(t, sided(s.Launches(LaunchOptions{})), "Ab Ab Ab Bb Bb Bb")
	launches := s.Launches(LaunchOptions{Sides: 2})
	equal(t, sided(launches), "Ab Ah Ah Ab Ah Ab Bh Bb Bb Bh Bb Bh")
	for i, l := range launches {
		equal(t, []int{l.Repeat, l.Block, l.Position}, []int{i / 2 % 3, i / 2, i % 2})
	}
	equal(t, sided(s.Round(3, LaunchOptions{}, nil)), "Ab Bb")
}

func TestRandom(t *testing.T) {
	s := parse(t, tiny+"repeats: 40\nvariant: [A, B]\ngrid: {k: [1, 2, 3]}\norder: random", Overrides{})
	launches := s.Launches(LaunchOptions{Seed: 1})
	equal(t, sided(launches), sided(s.Launches(LaunchOptions{Seed: 1})))
	if sided(launches) == sided(s.Launches(LaunchOptions{Seed: 2})) {
		t.Error("the seed changes nothing")
	}
	orders := map[string]int{}
	for i := 0; i < len(launches); i += 6 {
		orders[sided(launches[i:i+6])]++
		for j, l := range launches[i : i+6] {
			equal(t, []int{l.Repeat, l.Block, l.Position}, []int{i / 6, (i + j) / 2, j % 2})
			equal(t, l.Point.Params["k"], launches[i+j-j%2].Point.Params["k"]) // blocks stay together
		}
	}
	if len(orders) < 20 { // of 3! x 2^3 = 48; 40 draws give 27 of them on average
		t.Errorf("%d orders in 40 repeats", len(orders))
	}
	checkSweep(t, s)
}

// A further round runs whole blocks, in the places that they have in a repeat of all.
func TestRound(t *testing.T) {
	for _, order := range keyOf("order").Value.Words {
		s := parse(t, tiny+"repeats: 2\nrel_error: 1%\nvariant: [A, B]\ngrid: {k: [1, 2, 3]}\norder: "+order, Overrides{})
		o := LaunchOptions{Sides: 2, Seed: 5}
		last := s.Launches(o)
		all := s.Round(2, o, nil)
		equal(t, len(all), 12)
		equal(t, all[0].Block, last[len(last)-1].Block+1)
		wanted := func(p *Point) bool { return p.Params["k"] == "2" && p.Variant == "B" }
		var want []Launch
		for _, l := range all {
			if l.Point.Params["k"] == "2" && (order != orderSequential || l.Point.Variant == "B") {
				want = append(want, l)
			}
		}
		equal(t, s.Round(2, o, wanted), want)
		equal(t, s.Round(2, o, func(*Point) bool { return false }), []Launch(nil))
	}
}

func TestProfilePasses(t *testing.T) {
	for _, order := range keyOf("order").Value.Words {
		s := parse(t, net+"repeats: 2\nrel_error: 1%\nmax_repeats: 3\nprofile: [torch, ort]\nvariant: [A, B]\norder: "+order,
			Overrides{})
		o := LaunchOptions{Sides: 2}
		launches := s.Launches(o)
		equal(t, len(launches), 4*2*2+4*2)
		last := s.Round(2, o, nil)
		block := last[len(last)-1].Block // of the last repeat that there may be
		var got []string
		for i, l := range launches[16:] {
			equal(t, []int{l.Repeat, l.Block, l.Position, l.Side}, []int{0, block + 1 + i/2, i % 2, i % 2})
			got = append(got, l.Point.Backend+l.Point.Variant+l.Profile)
		}
		equal(t, got, []string{
			"onnxrtAort", "onnxrtAort", "onnxrtBort", "onnxrtBort", "torchAtorch", "torchAtorch", "torchBtorch", "torchBtorch",
		})
	}
}
