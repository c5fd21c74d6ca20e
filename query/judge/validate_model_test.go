package judge_test

import (
	"math"
	"math/rand/v2"
	"slices"
)

// model makes runs of 100 points up. All deviations are of logarithms: .01 is 1 %. A run of a point has a location of its
// own, of which the deviation differs from point to point, and 50 iterations around it; the runs of all points in one
// repeat have something in common.
type model struct {
	runs    int
	common  float64 // deviation of what the points of a repeat have in common
	between float64 // deviation of the runs of a point, in the middle of the points
	spread  float64 // deviation of the logarithm of that from point to point
	within  float64 // deviation of the iterations of a run

	twoModes    bool    // every fifth point: 30 % of its runs are 6 % slower
	session     float64 // deviation of the sessions of a point; the sides are of two of them
	together    bool    // a session is as much slower for one point as for all others
	past        int     // sessions before the head's; the base's is the last of them
	drift       float64 // from the first run to the last
	interleaved bool    // base and head take turns, as bench launches them
}

const (
	modelPoints     = 100
	modelIterations = 50
)

// oneSuite returns a sweep of the kernels of one suite: 1.2 % from run to run in the middle of the points.
func oneSuite(runs int) model {
	return model{runs: runs, common: .005, between: .012, spread: .4, within: .03}
}

// steady returns a sweep whose points all vary by 1 % from run to run.
func steady(runs int) model { return model{runs: runs, between: .01, within: .03} }

func (m model) draw(random *rand.Rand) []point {
	repeats := make([]float64, 2*m.runs)
	for i := range repeats {
		repeats[i] = m.common * random.NormFloat64()
	}
	sessions := m.sessions(random)
	var headFirst [][]bool
	if m.interleaved {
		headFirst = interleaved(modelPoints, m.runs).headFirst(random.Uint64())
	}
	sweep := make([]point, modelPoints)
	for i := range sweep {
		between := m.between * math.Exp(m.spread*random.NormFloat64())
		one := func(level float64) float64 {
			level += between * random.NormFloat64()
			if m.twoModes && i%5 == 0 && random.Float64() < .3 {
				level += .06
			}
			return level
		}
		if !m.together {
			sessions = m.sessions(random)
		}
		var first []bool
		if m.interleaved {
			first = headFirst[i]
		}
		sweep[i] = m.point(random, sessions, repeats, first, one)
	}
	return sweep
}

// run makes the iterations of a run up.
func (m model) run(random *rand.Rand, level float64) run {
	samples := make([]float64, modelIterations)
	for i := range samples {
		samples[i] = math.Exp(level + m.within*random.NormFloat64())
	}
	return newRun(samples)
}

// sessions returns the levels of the past ones, of which the last is the base's, and of the head's.
func (m model) sessions(random *rand.Rand) []float64 {
	levels := make([]float64, m.past+1)
	for i := range levels {
		levels[i] = m.session * random.NormFloat64()
	}
	return levels
}

// point makes the runs of both sides up, from the levels of the sessions, what the repeats have in common and where one
// run around a level is. Of runs in earlier sessions the locations are enough: a median of normal iterations is normal,
// nearly, with π/2 times the variance of their mean.
func (m model) point(random *rand.Rand, sessions, repeats []float64, headFirst []bool, one func(level float64) float64) point {
	p := point{factor: 1, blocked: m.interleaved, ordered: m.drift > 0 && !m.interleaved, confounded: m.session > 0}
	for _, level := range sessions[:max(m.past-1, 0)] {
		session := make([]run, m.runs)
		for k := range session {
			session[k].location = one(level) + m.within*math.Sqrt(math.Pi/2/modelIterations)*random.NormFloat64()
		}
		p.history = append(p.history, middle(session))
	}
	base, head := sessions[max(m.past-1, 0)], sessions[m.past]
	for k := range m.runs {
		first, second := k, m.runs+k
		if m.interleaved {
			if first, second = 2*k, 2*k+1; headFirst[k] {
				first, second = second, first
			}
		}
		p.base = append(p.base, m.run(random, one(base+repeats[first]+m.drifted(first))))
		p.head = append(p.head, m.run(random, one(head+repeats[second]+m.drifted(second))))
	}
	if m.past > 0 {
		p.history = append(p.history, middle(p.base))
	}
	return p
}

// drifted returns how far the machine has drifted when a run is taken.
func (m model) drifted(place int) float64 {
	return m.drift * float64(place) / float64(2*m.runs-1)
}

// middle returns the location of a session: the median of those of its runs.
func middle(runs []run) float64 {
	locations := make([]float64, len(runs))
	for i, r := range runs {
		locations[i] = r.location
	}
	slices.Sort(locations)
	return (locations[(len(runs)-1)/2] + locations[len(runs)/2]) / 2
}
