package judge

import (
	"math"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// times returns n copies of a value.
func times(n int, value float64) []float64 { return slices.Repeat([]float64{value}, n) }

// TestLook: a value far from the others of its side is a jump, by its distance; a value slightly nearer is not; of two
// groups the smaller one is the jump, and of equal ones both.
func TestLook(t *testing.T) {
	t.Parallel()
	const off = 4 * 1.4826 * .01 // of a side whose middle deviates by .01
	for _, c := range []struct {
		what             string
		side             []float64
		up, down, either []float64
	}{
		{"two", []float64{0, 1}, nil, nil, nil},
		{"alike", times(5, 1), nil, nil, nil},
		{"nearly", []float64{-.01, .01, 0, -.01, .99 * off}, nil, nil, nil},
		{"one up", []float64{-.01, .01, 0, -.01, 1.01 * off}, []float64{1.01 * off}, nil, []float64{1.01 * off}},
		{"one down", []float64{-.01, .01, 0, .01, -1.01 * off}, nil, []float64{1.01 * off}, []float64{1.01 * off}},
		{"most", []float64{1, 1, 1, 1, 0}, nil, []float64{1}, []float64{1}},
		{"two groups", []float64{0, .01, .02, 1, 1.01, 1.02}, times(3, 1), times(3, 1), times(3, 1)},
		{"two groups, one smaller", []float64{0, .01, .02, .01, 0, 1, .99}, []float64{.99, .98}, nil, []float64{.99, .98}},
		{"no two groups", []float64{0, .01, .02, .079, .089, .099}, nil, nil, nil},
		{"hardly two groups", []float64{0, .01, .02, .081, .091, .101}, times(3, .081), times(3, .081), times(3, .081)},
	} {
		var f pointOutliers
		side := slices.Clone(c.side)
		f.add(side)
		found := *f.toAdd()
		for _, pair := range [][2][]float64{{found.up, c.up}, {found.down, c.down}, {found.either, c.either}} {
			got, want := slices.Sorted(slices.Values(pair[0])), slices.Sorted(slices.Values(pair[1]))
			if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
				t.Errorf("%s: %+v", c.what, found)
				break
			}
		}
		valuetest.DeepEqual(t, side, c.side, c.what, "the side is in another order")
	}
}

// TestJumpChances: the probability that as many runs jumped, given how often runs of the family do: if all did in few points, if
// jumps are in few points, and for sides of fewer than 5 runs, where smaller jumps count as well.
func TestJumpChances(t *testing.T) {
	t.Parallel()
	const size = 1
	family := func(points int, each float64, jumped ...int) jumps { // of 10 runs a point
		j := jumps{runs: 10 * points, points: points}
		for _, n := range jumped {
			j.up.add(times(n, each))
		}
		return j
	}
	spreadOut := family(20, size, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	share := 10. / 202
	same := func(what string, got, want float64) {
		t.Helper()
		valuetest.Near(t, got, want, 1e-9*want, what)
	}
	same("all of 5", spreadOut.tail(times(5, 1), 0, size), math.Pow(share, 5))
	same("4 of 5", spreadOut.tail([]float64{1, 1, 1, 1, .4}, 0, size), math.Pow(share, 5)+5*math.Pow(share, 4)*(1-share))
	same("down, where none did", spreadOut.tail(times(5, -1), 0, -size), math.Pow(1./202, 5))
	same("sides", spreadOut.sides(times(5, 0), times(5, 1), size), 2*(math.Pow(share, 5)+math.Pow(1./202, 5)))
	same("blocks", spreadOut.blocks(times(5, 1), size), 2*math.Pow(share, 5))
	few := family(9, size, 1, 1)
	same("4 of 5, few points", few.tail([]float64{1, 1, 1, 1, 0}, 0, size), math.Pow(3./92, 5))

	smaller := family(20, .7, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	same("smaller jumps, 5 runs", smaller.tail(times(5, 1), 0, size), math.Pow(1./202, 5))
	same("smaller jumps, 4 runs", smaller.tail(times(4, 1), 0, size), math.Pow(share, 4))

	crowd := family(20, size, 5, 4)
	those := clustered(share, 2./20, 10)
	if points := share / those * (1 - math.Pow(1-those, 10)); those < .4 || those > .5 || math.Abs(points-.1) > 1e-6 {
		t.Errorf("clustered: %g, in %g of the points", those, points)
	}
	same("of few points", crowd.tail(times(5, 1), 0, size), share/those*math.Pow(those, 5))
	valuetest.Near(t, clustered(.05, 1-math.Pow(.95, 10), 10), .05, 1e-6, "of points that are alike")
}

// TestCrowded: jumps are concentrated in fewer points than by chance if the difference is a standard error and half a point.
func TestCrowded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		points, seen, all int
		want              bool
	}{{0, 0, 20, false}, {1, 1, 20, false}, {1, 2, 20, true}, {2, 2, 20, false}, {9, 9, 20, false}, {8, 9, 20, false}, {5, 9, 20, true}, {2, 9, 20, true}} {
		valuetest.Equal(t, crowded(c.points, c.seen, c.all), c.want, c.seen, "jumps in", c.points, c.all, "points")
	}
}
