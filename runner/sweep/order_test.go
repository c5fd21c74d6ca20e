package sweep

import (
	"fmt"
	"math"
	"slices"
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
	// Two blocks of two, repeat by repeat: the block, and the positions in it, are in the order in which they run.
	s := parse(t, tiny+"variant: [A, B]\nrepeats: 4\ngrid: {k: [1, 2]}", Overrides{})
	for i, l := range s.Launches(LaunchOptions{Seed: 1}) {
		equal(t, []any{l.Repeat, l.Block, l.Position, l.Point.Params["k"]}, []any{i / 4, i / 2, i % 2, fmt.Sprint(1 + i/2%2)})
	}

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
	equal(t, sorted(order(s)), []string{"0:0:? A1", "0:0:? A2", "0:1:? B1"})
}

// sorted writes the members of each block in one order.
func sorted(launches []string) []string {
	for i, text := range launches {
		var repeat, block, position int
		var name string
		_, _ = fmt.Sscanf(text, "%d:%d:%d %s", &repeat, &block, &position, &name)
		launches[i] = fmt.Sprintf("%d:%d:? %s", repeat, block, name)
	}
	slices.Sort(launches)
	return launches
}

// Over many sessions each member of a block is at each position equally often, in every repeat and whatever the repeat before had. Over 5
// repeats no member is always before another.
func TestDrawn(t *testing.T) {
	const sessions = 1000
	for _, m := range []int{2, 3, 5} {
		at := make([][]int, m*20) // by repeat and position: how often each member is there
		alternating := 0
		for seed := range uint64(sessions) {
			ahead := map[[2]int]int{}
			before := -1
			for repeat := range 20 {
				order := drawOrder(m, seed, 3, repeat)
				for position, member := range order {
					if at[repeat*m+position] == nil {
						at[repeat*m+position] = make([]int, m)
					}
					at[repeat*m+position][member]++
					for _, later := range order[position+1:] {
						if repeat < 5 {
							ahead[[2]int{member, later}]++
						}
					}
				}
				if repeat >= 6 && order[0] != before {
					alternating++
				}
				before = order[0]
			}
			for pair, n := range ahead {
				if n == 5 {
					t.Fatalf("seed %d: of %d members, %d is always before %d", seed, m, pair[0], pair[1])
				}
			}
		}
		share := 1 / float64(m)
		deviation := math.Sqrt(share * (1 - share) / sessions)
		for i, counts := range at {
			for member, n := range counts {
				if got := float64(n) / sessions; math.Abs(got-share) > 5*deviation {
					t.Errorf("of %d members, %d is at position %d of repeat %d in %.3f of the sessions", m, member, i%m, i/m, got)
				}
			}
		}
		if got, want := float64(alternating)/(14*sessions), 1-share; math.Abs(got-want) > .02 {
			t.Errorf("of %d members, another one is first than in the repeat before in %.3f of the cases, want %.3f", m, got, want)
		}
	}
}

// The order depends on the seed, the block and the repeat alone.
func TestDrawnBySeed(t *testing.T) {
	orders := func(seed uint64, block int) (all [][]int) {
		for repeat := range 30 {
			all = append(all, drawOrder(4, seed, block, repeat))
		}
		return all
	}
	equal(t, orders(1, 2), orders(1, 2))
	for _, other := range [][][]int{orders(2, 2), orders(1, 3)} {
		same := 0
		for repeat, order := range orders(1, 2) {
			if slices.Equal(order, other[repeat]) {
				same++
			}
		}
		if same > 10 { // of 30, 1 in 24 by chance, and 6 together
			t.Errorf("%d of 30 repeats have the same order", same)
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

// members writes the launches of blocks of so many, in the order of their names.
func members(launches []Launch, each int) string {
	var blocks []string
	for block := range slices.Chunk(launches, each) {
		names := strings.Fields(sided(block))
		slices.Sort(names)
		blocks = append(blocks, strings.Join(names, "+"))
	}
	return strings.Join(blocks, " ")
}

func TestSides(t *testing.T) {
	ab := LaunchOptions{Sides: 2}
	// Alone, a point and its sides are a block.
	s := parse(t, tiny+"repeats: 4\ngrid: {k: [1, 2]}", Overrides{})
	equal(t, members(s.Launches(ab), 2), strings.TrimSpace(strings.Repeat("1b+1h 2b+2h ", 4)))
	for i, l := range s.Launches(ab) {
		equal(t, []int{l.Repeat, l.Block, l.Position}, []int{i / 4, i / 2, i % 2})
	}
	// The members of a block are its points, and of each its sides.
	s = parse(t, tiny+"repeats: 4\nvariant: [A, B]", Overrides{})
	equal(t, members(s.Launches(ab), 4), strings.TrimSpace(strings.Repeat("Ab+Ah+Bb+Bh ", 4)))
	equal(t, sided(s.Launches(LaunchOptions{Sides: 1})), sided(s.Launches(LaunchOptions{})))
}

func TestSequential(t *testing.T) {
	s := parse(t, tiny+"repeats: 3\nvariant: [A, B]\norder: sequential\nrel_error: 1%", Overrides{})
	equal(t, sided(s.Launches(LaunchOptions{})), "Ab Ab Ab Bb Bb Bb")
	launches := s.Launches(LaunchOptions{Sides: 2})
	equal(t, members(launches, 2), "Ab+Ah Ab+Ah Ab+Ah Bb+Bh Bb+Bh Bb+Bh")
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
