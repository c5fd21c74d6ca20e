package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// contrastModel says how the runs of two sides are drawn.
type contrastModel struct {
	sessions, runs int     // of each side; runs of each of these
	apart          bool    // the sides are of different sessions
	between, noise float64 // standard deviations of sessions, and of the runs of one
	block          float64 // and of blocks
	rho            float64 // of neighbours, of the noise and of the wandering facts
	change         float64 // of the head
	facts          int     // of each kind
	cause          func(head bool, session, run int) (value string, slower float64)
}

// draw draws runs with irrelevant facts of each kind (two values, five values, numbers, drifting numbers, facts of
// blocks and facts of sessions), and the cause, if there is one.
func (m contrastModel) draw(seed uint64) judge.Contrasting {
	random := rand.New(rand.NewPCG(11, seed))
	c := judge.Contrasting{Margin: math.Log1p(.02)}
	walk := func(x *float64) float64 {
		*x = m.rho**x + math.Sqrt(1-m.rho*m.rho)*random.NormFloat64()
		return *x
	}
	for session := range m.sessions {
		level := [2]float64{m.between * random.NormFloat64(), m.between * random.NormFloat64()}
		if !m.apart {
			level[1] = level[0]
		}
		ofSession := [2][]string{}
		for k := range ofSession {
			for range m.facts {
				ofSession[k] = append(ofSession[k], strconv.Itoa(random.IntN(2)))
			}
			if k == 1 && !m.apart {
				ofSession[1] = ofSession[0]
			}
		}
		noise, states := random.NormFloat64(), make([]float64, m.facts)
		for i := range states {
			states[i] = random.NormFloat64()
		}
		for block := range m.runs {
			minute := m.block * random.NormFloat64()
			ofBlock := random.NormFloat64()
			for side := range 2 {
				r := judge.ContrastRun{Head: side == 1, Session: fmt.Sprint(session), Block: int64(block), Facts: map[string]string{}}
				if m.apart {
					r.Session += fmt.Sprint(" ", side)
				}
				r.Location = level[side] + minute + m.noise*walk(&noise) + m.change*float64(side)
				for i := range m.facts {
					r.Facts[fmt.Sprint("two.", i)] = strconv.Itoa(random.IntN(2))
					r.Facts[fmt.Sprint("five.", i)] = "v" + strconv.Itoa(random.IntN(5))
					r.Facts[fmt.Sprint("number.", i)] = fmt.Sprint(random.NormFloat64())
					r.Facts[fmt.Sprint("wander.", i)] = fmt.Sprint(walk(&states[i]))
					r.Facts[fmt.Sprint("session.", i)] = ofSession[side][i]
				}
				r.Facts["block"] = fmt.Sprint(block)
				r.Facts["of_block"] = fmt.Sprint(ofBlock)
				if m.cause != nil {
					value, slower := m.cause(r.Head, session, block)
					r.Facts["cause"] = value
					r.Location += slower
				}
				c.Runs = append(c.Runs, r)
			}
		}
	}
	for name := range c.Runs[0].Facts {
		c.Names = append(c.Names, name)
	}
	slices.Sort(c.Names)
	return c
}

// settled returns the contrasts with a verdict.
func settled(found judge.Contrasted) []judge.Contrast {
	return slices.DeleteFunc(slices.Clone(found.All), func(c judge.Contrast) bool { return c.Verdict == judge.ContrastInconclusive })
}

// TestContrastsNoCause: if nothing makes runs slow, a contrast is found in at most 5 % of cases, also if sessions and
// blocks differ, and if consecutive runs are correlated.
func TestContrastsNoCause(t *testing.T) {
	t.Parallel()
	each, facts := 5, 1
	if torture() {
		each, facts = 200, 4
	}
	all, cases := 0, 0
	for name, m := range map[string]contrastModel{
		"a session of two sides":         {sessions: 1, runs: 10, noise: .02},
		"blocks differ":                  {sessions: 1, runs: 10, noise: .02, block: .05},
		"30 runs":                        {sessions: 1, runs: 30, noise: .02},
		"two sessions":                   {sessions: 1, apart: true, between: .05, runs: 10, noise: .02},
		"8 sessions of two sides":        {sessions: 8, between: .05, runs: 2, noise: .01},
		"8 sessions a side":              {sessions: 8, apart: true, between: .05, runs: 3, noise: .01},
		"10 sessions a side, of 1 run":   {sessions: 10, apart: true, between: .05, runs: 1, noise: .01},
		"neighbours are alike":           {sessions: 1, runs: 10, noise: .02, rho: .5},
		"neighbours are nearly the same": {sessions: 1, runs: 20, noise: .02, rho: .9},
	} {
		m.facts = facts
		with, tested := 0, 0
		for seed := range each {
			found := judge.Contrasts(m.draw(uint64(seed)))
			tested += found.Tested
			if len(settled(found)) > 0 {
				with++
			}
		}
		t.Logf("%s: %d of %d, of %d facts each", name, with, each, tested/each)
		if most := chanceOf(each); with > most {
			t.Errorf("%s: a contrast in %d of %d cases, want at most %d", name, with, each, most)
		}
		all, cases = all+with, cases+each
	}
	if most := chanceOf(cases); all > most {
		t.Errorf("a contrast in %d of %d cases, want at most %d", all, cases, most)
	}
}

// chanceOf returns 5 % of so many cases and 3 standard errors.
func chanceOf(cases int) int {
	n := float64(cases)
	return int(judge.Level*n + 3*math.Sqrt(judge.Level*(1-judge.Level)*n))
}

// causes are models with one, and what is to be found of it.
var causes = map[string]struct {
	model  contrastModel
	within judge.Within
	with   int // runs that are slow
}{
	"half of the head's runs": {contrastModel{sessions: 1, runs: 10, cause: func(head bool, _, run int) (string, float64) {
		return slowIf(head && run%2 == 0)
	}}, judge.WithinHead, 5},
	"a third of the head's 18": {contrastModel{sessions: 1, runs: 18, cause: func(head bool, _, run int) (string, float64) {
		return slowIf(head && run%3 == 0)
	}}, judge.WithinHead, 6},
	"more often on the head": {contrastModel{sessions: 1, runs: 12, cause: func(head bool, _, run int) (string, float64) {
		return slowIf(head && run%2 == 0 || run%6 == 1)
	}}, judge.WithinSides, 10},
	"two sessions": {contrastModel{sessions: 1, apart: true, between: .1, runs: 12, cause: func(head bool, _, run int) (string, float64) {
		return slowIf(head && run%2 == 0)
	}}, judge.WithinHead, 6},
	"within sessions": {contrastModel{sessions: 4, apart: true, between: 1, runs: 4, cause: func(head bool, session, run int) (string, float64) {
		return slowIf(head && run < 1+session%3)
	}}, judge.WithinHead, 7},
	"sessions of the head": {contrastModel{sessions: 10, apart: true, between: .02, runs: 2, cause: func(head bool, session, _ int) (string, float64) {
		return slowIf(head && session%2 == 0)
	}}, judge.WithinHead, 10},
}

func slowIf(slow bool) (value string, slower float64) {
	if slow {
		return "always", .2
	}
	return "never", 0
}

// caused returns runs of a model with a cause.
func caused(m contrastModel, seed uint64) judge.Contrasting {
	m.facts, m.noise, m.change = 1, .01, .1
	return m.draw(seed)
}

// partOf returns the part of the difference between the sides that a cause of such an effect makes.
func partOf(c judge.Contrasting, effect float64) float64 {
	var locations, slow, runs [2]float64
	for _, r := range c.Runs {
		k := 0
		if r.Head {
			k = 1
		}
		runs[k]++
		locations[k] += r.Location
		if r.Facts["cause"] == "always" {
			slow[k]++
		}
	}
	return effect * (slow[1]/runs[1] - slow[0]/runs[0]) / (locations[1]/runs[1] - locations[0]/runs[0])
}

// TestContrastsCause: what makes runs of a side slow is found first, with its effect and its share of the difference.
func TestContrastsCause(t *testing.T) {
	t.Parallel()
	for name, cause := range causes {
		c := caused(cause.model, 1)
		found := judge.Contrasts(c)
		first := found.All[0]
		if first.Fact != "cause" || first.Value != "always" || first.Operator != "=" || first.Within != cause.within || first.Verdict != judge.Explains {
			t.Errorf("%s: first is %+v", name, first)
			continue
		}
		total := 0
		for _, r := range c.Runs {
			if cause.within == judge.WithinSides || r.Head {
				total++
			}
		}
		if first.With != cause.with || first.Others != total-cause.with || (first.WithSessions > 0) != (name == "sessions of the head") {
			t.Errorf("%s: %d runs with, %d without, in %d sessions", name, first.With, first.Others, first.WithSessions)
		}
		// 95 % of such intervals have the effect.
		if e := first.Effect; e.Low > .2+.01 || e.High < .2-.01 || math.Abs(e.Value-.2) > .03 {
			t.Errorf("%s: effect %+v", name, e)
		}
		valuetest.Near(t, first.Part/partOf(c, .2), 1, .2, name, "part", first.Part)
	}
}

// TestContrastEffect: 95 % of the intervals of effects contain the effect, also if groups are centered first.
func TestContrastEffect(t *testing.T) {
	t.Parallel()
	if !torture() {
		t.Skip("left out: NEUROLENS_LONG is not all")
	}
	for name, cause := range causes {
		covered, n := 0, 300
		for seed := range n {
			for _, one := range judge.Contrasts(caused(cause.model, uint64(seed))).All {
				if one.Fact == "cause" && one.Effect.Low <= .2 && one.Effect.High >= .2 {
					covered++
				}
			}
		}
		if least := n - chanceOf(n); covered < least {
			t.Errorf("%s: %d of %d intervals have the effect, want %d", name, covered, n, least)
		}
	}
}

// contrastOf is that of a fact.
func contrastOf(t *testing.T, found judge.Contrasted, fact string) judge.Contrast {
	t.Helper()
	i := slices.IndexFunc(found.All, func(c judge.Contrast) bool { return c.Fact == fact })
	if i < 0 {
		t.Fatalf("no contrast of %s in %+v", fact, found.All)
	}
	return found.All[i]
}

// TestContrastsNoise: a fact that makes runs of both sides slow and is equally frequent on both does not explain the difference; it does
// if only the runs of one side are slow, and works against the difference if the faster side has it more often.
func TestContrastsNoise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cause func(head bool, session, run int) (string, float64)
		want  judge.ContrastVerdict
		part  float64
	}{
		"as frequent": {func(_ bool, _, run int) (string, float64) { return slowIf(run%3 == 0) }, judge.Noisy, 0},
		"as frequent, slow on the head alone": {func(head bool, _, run int) (string, float64) {
			value, slower := slowIf(run%3 == 0)
			if !head {
				slower = 0
			}
			return value, slower
		}, judge.Explains, .4},
		"against the difference": {func(head bool, _, run int) (string, float64) { return slowIf(!head && run%4 == 0) }, judge.Opposes, -1},
	} {
		one := contrastOf(t, judge.Contrasts(caused(contrastModel{sessions: 1, runs: 24, cause: c.cause}, 2)), "cause")
		if one.Verdict != c.want || math.Abs(one.Part-c.part) > .1 {
			t.Errorf("%s: %s, part %.2f of %+v", name, one.Verdict, one.Part, one)
		}
	}
}

// TestContrastsAlike: facts that split the runs in the same way are one, named after the first; a fact that differs in a single run is not
// one of them.
func TestContrastsAlike(t *testing.T) {
	t.Parallel()
	c := caused(causes["half of the head's runs"].model, 3)
	for i := range c.Runs {
		facts, slow := c.Runs[i].Facts, c.Runs[i].Facts["cause"] == "always"
		facts["kernel"], facts["other"], facts["twice"] = "6.8", "x", fmt.Sprint(2*i)
		facts["once"], facts["down"] = fmt.Sprint(i), fmt.Sprint(-i)
		if slow {
			facts["kernel"], facts["other"] = "6.9", "y"
		}
		if i == 0 {
			facts["other"] = "y"
		}
	}
	c.Names = []string{"kernel", "other", "cause", "once", "twice", "down"}
	found := judge.Contrasts(c)
	valuetest.Equal(t, found.Tested, 3)
	valuetest.Equal(t, len(found.All), 3)
	one := contrastOf(t, found, "kernel")
	valuetest.Equal(t, one.Value, "6.9", one)
	valuetest.Equal(t, fmt.Sprint(one.ConfoundedWith), "[{cause = always 0}]", one)
	valuetest.Equal(t, fmt.Sprint(contrastOf(t, found, "once").ConfoundedWith), "[{twice   0} {down   0}]")
}

// TestContrastsTooFew: a fact that changes from session to session is not tested with the runs of these sessions, and nothing is reported
// about a fact of a single run.
func TestContrastsTooFew(t *testing.T) {
	t.Parallel()
	c := caused(contrastModel{sessions: 3, apart: true, runs: 8, cause: func(head bool, session, _ int) (string, float64) {
		return slowIf(head && session > 0)
	}}, 4)
	c.Runs[0].Facts["single"] = "yes"
	c.Runs[len(c.Runs)-1].Facts["constant"] = ""
	c.Names = []string{"cause", "single", "constant"}
	found := judge.Contrasts(c)
	valuetest.DeepEqual(t, []any{found.Tested, found.Untestable, len(found.All)}, []any{0, 2, 2}, found.All)
	for _, one := range found.All {
		valuetest.DeepEqual(t, []any{math.IsNaN(one.P), one.Verdict}, []any{true, judge.ContrastInconclusive}, one)
	}
	valuetest.DeepEqual(t, judge.Contrasts(judge.Contrasting{}).All, nil, "of no runs")
}

// TestContrastsShared: both sides share the effects of a session or a block, so they carry no more information than one of them.
func TestContrastsShared(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]contrastModel{
		"sessions": {sessions: 10, between: .05, runs: 1, cause: func(_ bool, session, _ int) (string, float64) { return slowIf(session%2 == 0) }},
		"blocks":   {sessions: 1, block: .05, runs: 10, cause: func(_ bool, _, run int) (string, float64) { return slowIf(run%2 == 0) }},
	} {
		c := caused(m, 8)
		c.Names = []string{"cause"}
		both := contrastOf(t, judge.Contrasts(c), "cause")
		c.Runs = slices.DeleteFunc(slices.Clone(c.Runs), func(r judge.ContrastRun) bool { return r.Head })
		one := contrastOf(t, judge.Contrasts(c), "cause")
		if both.Within != judge.WithinSides || one.Within != judge.WithinBase || both.With != 10 || one.With != 5 || both.P < one.P/3 {
			t.Errorf("%s: both sides %+v, one %+v", name, both, one)
		}
		if wide, narrow := one.Effect.High-one.Effect.Low, both.Effect.High-both.Effect.Low; name == "sessions" && narrow < .85*wide {
			t.Errorf("the interval is %.3f wide of one side, %.3f of both", wide, narrow)
		}
	}
}

// TestContrastsNumbers: of a number, the half with the slower runs is named; a run without the number does not
// count, and higher may be better.
func TestContrastsNumbers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sign     float64
		higher   bool
		operator string
	}{
		"slow where hot":              {1, false, ">="},
		"slow where the clock is low": {-1, false, "<"},
		"higher is better":            {1, true, "<"},
	} {
		asked := caused(contrastModel{sessions: 2, apart: true, between: .5, runs: 12}, 5)
		asked.Higher = c.higher
		for i := range asked.Runs {
			number := float64(i*37%100) + 1000*asked.Runs[i].Location // sessions differ by far more
			asked.Runs[i].Facts["number"] = fmt.Sprint(c.sign * number)
		}
		delete(asked.Runs[3].Facts, "number")
		asked.Names = append(asked.Names, "number")
		for i := range asked.Runs {
			asked.Runs[i].Location += .01 * float64(i*37%100)
		}
		one := contrastOf(t, judge.Contrasts(asked), "number")
		if one.Operator != c.operator || one.Adjusted >= judge.Level || one.With+one.Others != len(asked.Runs)-1 || one.Within != judge.WithinSides {
			t.Errorf("%s: %+v", name, one)
		}
	}
}

// TestContrastsUnknown: a missing fact is a value too.
func TestContrastsUnknown(t *testing.T) {
	t.Parallel()
	c := caused(causes["half of the head's runs"].model, 6)
	for i := range c.Runs {
		if c.Runs[i].Facts["cause"] == "always" {
			delete(c.Runs[i].Facts, "cause")
		}
	}
	if one := contrastOf(t, judge.Contrasts(c), "cause"); one.Operator != "=" || one.Value != "" || one.Head != [2]int{5, 10} || one.Base != [2]int{0, 10} {
		t.Errorf("got %+v", one)
	}
}

// TestContrastsExact: for a single fact, p is that of Mann and Whitney within the error of the sampled permutations.
func TestContrastsExact(t *testing.T) {
	t.Parallel()
	c := caused(causes["half of the head's runs"].model, 7)
	c.Names = []string{"cause"}
	one := contrastOf(t, judge.Contrasts(c), "cause")
	if want := 2. / 252; math.Abs(one.P-want) > .004 || one.Adjusted < one.P || one.Adjusted > one.P+1e-9 {
		t.Errorf("p %v, adjusted %v, want %v", one.P, one.Adjusted, want)
	}
}
