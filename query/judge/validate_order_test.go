package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/runner/sweep"
)

// place is where a run is in its session: of which point and side, and after how many other runs.
type place struct {
	point, repeat int
	head          bool
	at            int
}

// session is the order in which bench launches base and head of so many points, so often, or with rel_error until each point has so many
// runs.
type session struct {
	order            string
	points           int
	repeats, maximum int
}

// sweeps are those of sessions. Reading one takes longer than all the rest.
var sweeps sync.Map

func (s session) places(seed uint64) (all []place) {
	read, ok := sweeps.Load(s)
	if !ok {
		values := make([]string, s.points)
		for i := range values {
			values[i] = fmt.Sprint(i)
		}
		text := fmt.Sprintf("command: ['./{variant}', '{n}']\nvariant: [base, head]\nbaseline: variant=base\ngrid: {n: [%s]}\nrepeats: %d\norder: %s\n",
			strings.Join(values, ", "), s.repeats, s.order)
		if s.maximum > s.repeats {
			text += fmt.Sprintf("rel_error: 1%%\nmax_repeats: %d\n", s.maximum)
		}
		parsed, err := sweep.Read("session.yaml", strings.NewReader(text), sweep.Overrides{})
		if err != nil {
			panic(err)
		}
		read, _ = sweeps.LoadOrStore(s, parsed)
	}
	of := read.(*sweep.Sweep)
	o := sweep.LaunchOptions{Seed: seed}
	launches := of.Launches(o)
	for repeat := s.repeats; repeat < s.maximum; repeat++ {
		launches = append(launches, of.Round(repeat, o, nil)...)
	}
	for i, l := range launches {
		var point int
		_, _ = fmt.Sscan(l.Point.Params["n"], &point)
		all = append(all, place{point, l.Repeat, l.Point.Variant == "head", i})
	}
	return all
}

// headFirst says of each point, and each block of it, whether the head ran first.
func (s session) headFirst(seed uint64) [][]bool {
	of, last := make([][]bool, s.points), place{point: -1}
	for _, l := range s.places(seed) {
		if l.point != last.point || l.repeat != last.repeat {
			of[l.point] = append(of[l.point], l.head)
		}
		last = l
	}
	return of
}

// interleaved returns the order of bench without settings.
func interleaved(points, runs int) session {
	return session{order: sweep.OrderInterleaved, points: points, repeats: runs}
}

// pairs measures a session: run returns the location of a run, given where it is.
func (s session) pairs(seed uint64, run func(place) float64) []judge.Pair {
	pairs, starts := make([]judge.Pair, s.points), make([]judge.Starts, s.points)
	bases, heads := make([]map[int]float64, s.points), make([]map[int]float64, s.points)
	for i := range bases {
		bases[i], heads[i] = map[int]float64{}, map[int]float64{}
	}
	for _, l := range s.places(seed) {
		p, at := &pairs[l.point], &starts[l.point]
		v := run(l)
		if l.head {
			p.Head, at.Head, heads[l.point][l.repeat] = append(p.Head, v), append(at.Head, int64(l.at)), v
		} else {
			p.Base, at.Base, bases[l.point][l.repeat] = append(p.Base, v), append(at.Base, int64(l.at)), v
		}
		p.Sequence = append(p.Sequence, l.head)
	}
	for i := range pairs {
		p := &pairs[i]
		p.Lower, p.Margin, p.Ordered = true, math.Log(1.02), judge.SeparatedInTime(starts[i:i+1])
		if s.order != sweep.OrderInterleaved { // each point is a block, so none has both sides
			continue
		}
		for repeat := range len(p.Head) {
			p.Blocks = append(p.Blocks, heads[i][repeat]-bases[i][repeat])
		}
	}
	return pairs
}

// measured is what was said of sessions in which nothing changed, in percent: how many have a point that is called different, and how many
// intervals contain 0.
type measured struct{ anyFalse, covered float64 }

// measure judges so many sessions.
func (s session) measure(sessions int, rules judge.Rules, run func(random *rand.Rand) func(place) float64) (m measured) {
	for i := range sessions {
		random := rand.New(rand.NewPCG(uint64(i), uint64(s.repeats)))
		pairs := s.pairs(random.Uint64(), run(random))
		wrong := false
		for _, o := range judge.Alone(pairs, rules).Outcomes {
			wrong = wrong || called(o.Verdict) != 0
			const rounding = 1e-12
			if o.Change.Low <= rounding && o.Change.High >= -rounding {
				m.covered += 1 / float64(s.points)
			}
		}
		if wrong {
			m.anyFalse++
		}
	}
	m.anyFalse, m.covered = 100*m.anyFalse/float64(sessions), 100*m.covered/float64(sessions)
	return m
}

// check holds what is promised, within three standard errors of so many sessions.
func (m measured) check(t *testing.T, name string, sessions int) {
	t.Helper()
	slack := func(share float64) float64 { return 300 * math.Sqrt(share*(1-share)/float64(sessions)) }
	if m.anyFalse > 5+slack(.05) {
		t.Errorf("%s: a false change in %.1f %% of the sessions", name, m.anyFalse)
	}
	if m.covered < 93-slack(.93) {
		t.Errorf("%s: %.1f %% of the intervals cover the change", name, m.covered)
	}
}

// sine returns a machine that becomes 5 % slower and faster once in so many runs, and runs that vary by 1 % besides.
func sine(period float64) func(random *rand.Rand) func(place) float64 {
	return func(random *rand.Rand) func(place) float64 {
		phase := 2 * math.Pi * random.Float64()
		return func(l place) float64 {
			return .05*math.Sin(phase+2*math.Pi*float64(l.at)/period) + .01*random.NormFloat64()
		}
	}
}

// periodRuns are the numbers of runs that TestPeriods asks of. periodsAsked are the periods, in runs.
var (
	periodRuns   = []int{5, 6, 10, 20, 30}
	periodsAsked = []float64{2, 2.5, 3, 3.3, 4, 5, 6, 7, 8, 10, 13, 16, 24, 30}
)

// TestPeriods measures what the default rule says where a machine is periodically slower, at any phase. VALIDATION.md has the table, which
// NEUROLENS_LONG=all compares.
func TestPeriods(t *testing.T) {
	t.Parallel()
	runs, points := []int{5, 6}, []int{1, 12}
	sessions := map[int]int{1: 60, 12: 20}
	if torture() {
		runs, points = periodRuns, []int{1, 12, 200}
		sessions = map[int]int{1: 2000, 12: 400, 200: 40}
	}
	table := []string{"| period, runs | points | any false | coverage |", "|---|--:|---|---|"}
	for _, period := range periodsAsked {
		for _, n := range points {
			var anyFalse, covered []string
			for _, r := range runs {
				m := interleaved(n, r).measure(sessions[n], judge.Rules{}, sine(period))
				m.check(t, fmt.Sprintf("period %g, %d points, %d runs", period, n, r), sessions[n])
				anyFalse, covered = append(anyFalse, percent(m.anyFalse)), append(covered, percent(m.covered))
			}
			table = append(table, fmt.Sprintf("| %g | %d | %s | %s |", period, n, strings.Join(anyFalse, " / "), strings.Join(covered, " / ")))
		}
	}
	publish(t, table)
}

// publish writes or compares a table of VALIDATION.md.
func publish(t *testing.T, table []string) {
	t.Helper()
	t.Log("\n" + strings.Join(table, "\n"))
	switch head, _, _ := strings.Cut(table[0], " | "); {
	case !torture():
	case *update:
		writeTable(t, head+" |", table)
	default:
		hasTable(t, table)
	}
}

// TestNoisySide measures what the default rule and a gate say where one side varies much more than the other.
func TestNoisySide(t *testing.T) {
	t.Parallel()
	runs, points := []int{5}, []int{12}
	sessions := map[int]int{12: 100}
	if torture() {
		runs, points = []int{4, 5, 6, 7, 8, 10}, []int{1, 12, 200}
		sessions = map[int]int{1: 2000, 12: 1000, 200: 100}
	}
	table := []string{"| noisy side | points | any false | any false, `--gate` | coverage |", "|---|--:|---|---|---|"}
	for _, noisy := range []string{"head", "base"} {
		for _, n := range points {
			var anyFalse, gated, covered []string
			for _, r := range runs {
				draw := func(random *rand.Rand) func(place) float64 {
					return func(l place) float64 {
						if l.head == (noisy == "head") {
							return .06 * random.NormFloat64()
						}
						return .005 * random.NormFloat64()
					}
				}
				name := fmt.Sprintf("noisy %s, %d points, %d runs", noisy, n, r)
				m := interleaved(n, r).measure(sessions[n], judge.Rules{}, draw)
				gate := interleaved(n, r).measure(sessions[n], judge.Rules{Gate: true}, draw)
				m.check(t, name, sessions[n])
				gate.check(t, name+", gate", sessions[n])
				anyFalse, gated, covered = append(anyFalse, percent(m.anyFalse)), append(gated, percent(gate.anyFalse)), append(covered, percent(m.covered))
			}
			table = append(table, fmt.Sprintf("| %s | %d | %s | %s | %s |", noisy, n, strings.Join(anyFalse, " / "), strings.Join(gated, " / "), strings.Join(covered, " / ")))
		}
	}
	publish(t, table)
}

// TestSlowing: two copies of one program that becomes slower with each start have no verdict, whatever the order and the number of repeats.
func TestSlowing(t *testing.T) {
	t.Parallel()
	each := 5
	if torture() {
		each = 100
	}
	for _, order := range []string{sweep.OrderInterleaved, "random", "sequential"} {
		for _, points := range []int{1, 3, 12} {
			for _, repeats := range [][2]int{{3, 3}, {5, 5}, {6, 6}, {10, 10}, {5, 12}, {10, 11}, {10, 12}, {10, 13}, {10, 15}, {10, 20}, {10, 30}, {5, 20}, {3, 20}} {
				for _, noise := range []float64{.0005, .01} {
					s := session{order: order, points: points, repeats: repeats[0], maximum: repeats[1]}
					m := s.measure(each, judge.Rules{}, func(random *rand.Rand) func(place) float64 {
						return func(l place) float64 { return .006*float64(l.at) + noise*random.NormFloat64() }
					})
					if m.anyFalse > 0 && (noise < .01 || m.anyFalse > 5+300*math.Sqrt(.05*.95/float64(each))) {
						t.Errorf("%s, %d points, %v repeats, noise %g: a change in %.0f %% of the sessions", order, points, repeats, noise, m.anyFalse)
					}
				}
			}
		}
	}
}
