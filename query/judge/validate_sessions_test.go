package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
)

// nights draws the levels of so many sessions, one a night, between which nothing was changed.
type nights struct {
	name string
	draw series
}

var everyNight = []nights{
	{"normal, 2 %", gaussian(.02)},
	{"a fifth slower on 15 % of nights", independent(func(random *rand.Rand) float64 {
		v := .01 * random.NormFloat64()
		if random.Float64() < .15 {
			v += math.Log(1.2)
		}
		return v
	})},
	{"Student, 2 degrees of freedom", student(.015)},
	{"neighbours correlated by .9", correlated(.05, .9)},
	{"random walk, 1 % a night", func(random *rand.Rand, sessions int) []float64 {
		all := gaussian(.01)(random, sessions)
		for i := range all[1:] {
			all[i+1] += all[i]
		}
		return all
	}},
	{"drift, 0.5 % a night", func(random *rand.Rand, sessions int) []float64 {
		all := gaussian(.01)(random, sessions)
		for i := range all {
			all[i] += .005 * float64(i)
		}
		return all
	}},
}

// unsteady are machines whose sessions differ more than they did, or that have two levels. The base's session is the last but one.
var unsteady = []nights{
	{"0.5 %, from the base on 4 %", func(random *rand.Rand, sessions int) []float64 {
		all := gaussian(.005)(random, sessions)
		for i := max(sessions-2, 0); i < sessions; i++ {
			all[i] *= 8
		}
		return all
	}},
	{"15 % more with each night", func(random *rand.Rand, sessions int) []float64 {
		all := gaussian(.005)(random, sessions)
		for i := range all {
			all[i] *= math.Pow(1.15, float64(i))
		}
		return all
	}},
	{"two levels, either on each night", independent(func(random *rand.Rand) float64 {
		return .1*float64(random.IntN(2)) + .002*random.NormFloat64()
	})},
	{"two levels, another on 10 % of nights", levels(.1)},
	{"two levels, another on 20 % of nights", levels(.2)},
}

// levels returns a machine that has two levels, and changes between them with a probability each night.
func levels(change float64) series {
	return func(random *rand.Rand, sessions int) []float64 {
		all, slow := gaussian(.002)(random, sessions), false
		for i := range all {
			if slow = slow != (random.Float64() < change); slow {
				all[i] += .1
			}
		}
		return all
	}
}

// TestUnsteadyNights measures what is said of two sessions of machines whose sessions differ more than they did, or jump between levels.
// A single point whose spread grows, or all points alike, cannot be told from a change: those cells have no promise.
func TestUnsteadyNights(t *testing.T) {
	t.Parallel()
	sweeps, known := 100, []int{20}
	if torture() {
		sweeps, known = 1000, []int{7, 8, 12, 20, 40}
	}
	table := []string{"| unsteady nights | points | any false | +10 % found | +50 % |", "|---|--:|---|---|---|"}
	for i, n := range unsteady {
		for _, points := range []int{-12, 1, 12} {
			b := between{nights: n, apart: 1, points: max(points, -points), alike: points < 0}
			promised := i > 1 || points == 12
			cells := b.cells(t, sweeps, known, promised)
			name := b.pointsText()
			table = append(table, fmt.Sprintf("| %s | %s | %s | %s | %s |", n.name, name, cells[0], cells[1], cells[2]))
		}
	}
	publish(t, table)
}

// between is a comparison of two nights so far apart, before which so many as far apart are known, the base's among them.
type between struct {
	nights
	apart, known, points int
	alike                bool // a night is as slow for all points
}

// pointsText describes the points of a comparison in a table.
func (b *between) pointsText() string {
	if b.alike {
		return fmt.Sprint(b.points, " alike")
	}
	return fmt.Sprint(b.points)
}

const nightRuns = 5

func (b *between) draw(random *rand.Rand, effect float64) (sweep []judge.Pair) {
	levels := func() []float64 {
		all := b.nights.draw(random, b.apart*b.known+1)
		var far []float64
		for i := 0; i < len(all); i += b.apart {
			far = append(far, all[i])
		}
		return far
	}
	night := levels()
	for i := range b.points {
		if i > 0 && !b.alike {
			night = levels()
		}
		p := judge.Pair{Lower: true, Margin: math.Log(1.02), Confounded: true}
		runs := func(level float64) []float64 {
			all := gaussian(.005)(random, nightRuns)
			for k := range all {
				all[k] += level
			}
			return all
		}
		for _, level := range night[:b.known-1] {
			p.History = append(p.History, median(runs(level)))
		}
		p.Base, p.Head = runs(night[b.known-1]), runs(night[b.known]+effect)
		p.History = append(p.History, median(p.Base))
		sweep = append(sweep, p)
	}
	return sweep
}

// shares returns the shares of the sweeps in which a point is called different where nothing changed, and of the points that are
// found where all are slower by 10 and by 50 %.
func (b *between) shares(sweeps int) (anyFalse, tenth, half float64) {
	for sweep := range sweeps {
		ask := func(effect float64) (right, wrong float64) {
			random := rand.New(rand.NewPCG(uint64(sweep), uint64(b.known)))
			for _, o := range judge.Alone(b.draw(random, math.Log1p(effect)), judge.Rules{}).Outcomes {
				switch c := called(o.Verdict); {
				case c == 0:
				case effect > 0 && c > 0:
					right++
				default:
					wrong++
				}
			}
			return right / float64(b.points), wrong
		}
		if _, wrong := ask(0); wrong > 0 {
			anyFalse++
		}
		right, _ := ask(.1)
		tenth += right
		right, _ = ask(.5)
		half += right
	}
	n := float64(sweeps)
	return anyFalse / n, tenth / n, half / n
}

// cells returns the shares in percent, each for all of these numbers of known nights. If promised is set, more false changes than 5 % and
// three standard errors are an error.
func (b between) cells(t *testing.T, sweeps int, known []int, promised bool) (cells [3]string) {
	t.Helper()
	var columns [3][]string
	for _, b.known = range known {
		anyFalse, tenth, half := b.shares(sweeps)
		if limit := .05 + 3*math.Sqrt(.05*.95/float64(sweeps)); promised && anyFalse > limit {
			t.Errorf("%s, %d apart, %d known, %d points: a false change in %.1f %% of the sweeps", b.name, b.apart, b.known, b.points, 100*anyFalse)
		}
		for i, v := range []float64{anyFalse, tenth, half} {
			columns[i] = append(columns[i], percent(100*v))
		}
	}
	for i, column := range columns {
		cells[i] = strings.Join(column, " / ")
	}
	return cells
}

// TestNights measures what the default rule says of two sessions, between which the machine differs by what it differs by
// from night to night. VALIDATION.md has the table, which NEUROLENS_LONG=all compares.
func TestNights(t *testing.T) {
	t.Parallel()
	sweeps, known := 60, []int{7}
	if torture() {
		sweeps, known = 1000, []int{7, 8, 12, 20, 40}
	}
	table := []string{"| nights | apart | points | any false | +10 % found | +50 % |", "|---|--:|--:|---|---|---|"}
	for _, n := range everyNight {
		for _, apart := range []int{1, 15} {
			for _, points := range []int{-12, 1, 12} {
				b := between{nights: n, apart: apart, points: max(points, -points), alike: points < 0}
				cells := b.cells(t, sweeps, known, true)
				name := b.pointsText()
				table = append(table, fmt.Sprintf("| %s | %d | %s | %s | %s | %s |", n.name, apart, name, cells[0], cells[1], cells[2]))
			}
		}
	}
	publish(t, table)
}

// TestManyNights measures what a verdict loses where only the newest 100 earlier sessions count, of more. VALIDATION.md has the table,
// which NEUROLENS_LONG=all compares.
func TestManyNights(t *testing.T) {
	t.Parallel()
	sweeps, known := 20, []int{100}
	if torture() {
		sweeps, known = 1000, []int{40, 100, 400}
	}
	table := []string{"| many nights | points | any false | +10 % found | +50 % |", "|---|--:|---|---|---|"}
	for _, n := range everyNight {
		for _, points := range []int{1, 12} {
			b := between{nights: n, apart: 1, points: points}
			cells := b.cells(t, sweeps, known, true)
			table = append(table, fmt.Sprintf("| %s | %d | %s | %s | %s |", n.name, points, cells[0], cells[1], cells[2]))
		}
	}
	publish(t, table)
}
