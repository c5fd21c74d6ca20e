package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
)

// together is a sweep of which all points are slower or faster in a session by as much, beside what each does on its own.
type together struct {
	shared   nights
	own      float64 // deviation from session to session, of each point on its own
	points   int
	known    int // sessions before the head's, the base's among them
	controls int // of the points
}

const (
	oneIn    = 10  // points is changed: the last one, the tenth before it ...
	slowerBy = .05 // by so much
)

func (m *together) changed(point int) bool { return (m.points-1-point)%oneIn == 0 }

// draw returns a comparison of the last two sessions, of the points themselves and relative to what they share.
func (m *together) draw(random *rand.Rand, effect float64) (absolute, relative []judge.Pair) {
	head := m.known
	shared := m.shared.draw(random, m.known+1)
	levels, runs, controls := make([][]float64, m.points), make([][][]float64, m.points), make([]bool, m.points)
	for i := range levels {
		controls[i] = i < m.controls
		for s, own := range gaussian(m.own)(random, m.known+1) {
			if s == head && m.changed(i) {
				own += effect
			}
			all := normal(random, nightRuns, shared[s]+own, .005)
			runs[i], levels[i] = append(runs[i], all), append(levels[i], median(all))
		}
	}
	pair := func(i int, factors []float64) judge.Pair {
		p := judge.Pair{Lower: true, Margin: math.Log(1.02), Confounded: true}
		less := func(values []float64, factor float64) (all []float64) {
			for _, v := range values {
				all = append(all, v-factor)
			}
			return all
		}
		p.Base, p.Head = less(runs[i][head-1], factors[head-1]), less(runs[i][head], factors[head])
		for s := range head {
			p.History = append(p.History, levels[i][s]-factors[s])
		}
		return p
	}
	factors, nothing := judge.Common(levels, controls, judge.MinCommon), make([]float64, m.known+1)
	for i := range m.points {
		if !controls[i] {
			absolute, relative = append(absolute, pair(i, nothing)), append(relative, pair(i, factors))
		}
	}
	return absolute, relative
}

// tally counts the verdicts of pairs, the first of which is point number first.
func (m *together) tally(pairs []judge.Pair, effect float64) (found, wrong float64) {
	changed := 0.
	for i, o := range judge.Alone(pairs, judge.Rules{}).Outcomes {
		there := effect > 0 && m.changed(i+m.controls)
		if there {
			changed++
		}
		switch c := called(o.Verdict); {
		case c == 0:
		case there && c > 0:
			found++
		default:
			wrong++
		}
	}
	return found / max(changed, 1), wrong
}

// TestTogether measures what is found across sessions if all points are slow together: of the points themselves, and
// relative to what they share. VALIDATION.md has the table, which is compared with NEUROLENS_LONG=all.
func TestTogether(t *testing.T) {
	t.Parallel()
	sweeps, sizes, known := 60, []int{12}, []int{10}
	if torture() {
		sweeps, sizes, known = 400, []int{12, 200}, []int{7, 10, 20}
	}
	table := []string{"| all points share | own | points | any false | any false, relative | +5 % found | +5 % found, relative | others called, relative |", "|---|--:|--:|---|---|---|---|---|"}
	for _, n := range []nights{{"normal, 5 %", gaussian(.05)}, everyNight[1], everyNight[4]} {
		for _, own := range []float64{.003, .01} {
			for _, points := range sizes {
				for _, controls := range []int{0, 3} {
					sweeps := sweeps
					if points > 12 {
						sweeps /= 4
					}
					if controls > 0 && points > 12 {
						continue // as with 12
					}
					var columns [5][]string
					for _, k := range known {
						m := together{shared: n, own: own, points: points, known: k, controls: controls}
						for i, v := range m.shares(sweeps) {
							columns[i] = append(columns[i], percent(100*v))
							if limit := .05 + 3*math.Sqrt(.05*.95/float64(sweeps)); v > limit && (i < 2 || i == 4) {
								t.Errorf("%+v: %.1f %% of sweeps have a false change (column %d)", m, 100*v, i)
							}
						}
					}
					name := fmt.Sprint(points)
					if controls > 0 {
						name += fmt.Sprintf(", %d controls", controls)
					}
					line := fmt.Sprintf("| %s | %s | %s |", n.name, percent(100*own)+" %", name)
					for _, c := range columns {
						line += " " + strings.Join(c, " / ") + " |"
					}
					table = append(table, line)
				}
			}
		}
	}
	t.Log("\n" + strings.Join(table, "\n"))
	switch {
	case !torture():
	case *update:
		writeTable(t, "| all points share |", table)
	default:
		hasTable(t, table)
	}
}

// shares are: sweeps with a false change, of the points and relative; changed points that are found; and
// sweeps in which another point is called changed relative to the changed ones.
func (m *together) shares(sweeps int) (shares [5]float64) {
	for seed := range sweeps {
		draw := func(effect float64) (absolute, relative []judge.Pair) {
			return m.draw(rand.New(rand.NewPCG(uint64(seed), uint64(m.known))), effect)
		}
		count := func(column int, wrong float64) {
			if wrong > 0 {
				shares[column]++
			}
		}
		absolute, relative := draw(0)
		_, wrong := m.tally(absolute, 0)
		count(0, wrong)
		_, wrong = m.tally(relative, 0)
		count(1, wrong)
		absolute, relative = draw(math.Log1p(slowerBy))
		found, _ := m.tally(absolute, slowerBy)
		shares[2] += found
		found, wrong = m.tally(relative, slowerBy)
		shares[3] += found
		count(4, wrong)
	}
	for i := range shares {
		shares[i] /= float64(sweeps)
	}
	return shares
}

// TestCommon: what points share is estimated whichever sessions each of them has; with too few points it is unknown; two
// controls are enough, and the other points do not matter then.
func TestCommon(t *testing.T) {
	nan := math.NaN()
	shared := []float64{0, .2, -.1, .05}
	rows := func(n int, change float64) (levels [][]float64) {
		for i := range n {
			row := make([]float64, len(shared))
			for s := range row {
				row[s] = float64(i) + shared[s]
			}
			if i/2%3 == 1 { // what code did to a third of them
				row[1] += change
			}
			row[2+i%2] = nan
			levels = append(levels, row)
		}
		return levels
	}
	for _, c := range []struct {
		levels   [][]float64
		controls []bool
		want     []float64
	}{
		{rows(16, 0), nil, shared},
		{rows(16, .3), nil, shared},
		{rows(4, 0), nil, []float64{nan, nan, nan, nan}},
		{rows(8, 0), nil, []float64{0, .2, nan, nan}},
		{rows(8, .3), []bool{true, true, false, false, false, false, false, false}, shared},
		{nil, nil, nil},
	} {
		got := judge.Common(c.levels, c.controls, judge.MinCommon)
		for s, want := range c.want {
			if math.Abs(got[s]-want) > 1e-9 || math.IsNaN(got[s]) != math.IsNaN(want) {
				t.Errorf("%d points, controls %v: %.3f, want %.3f", len(c.levels), c.controls, got, c.want)
				break
			}
		}
	}
}
