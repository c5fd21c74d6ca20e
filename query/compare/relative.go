package compare

import (
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/judge"
)

// Shared is the common change of all points of a comparison. A common change is more likely caused by the machine than by the code.
type Shared struct {
	Change   float64 // head / base - 1
	Points   int     // number of points that it is estimated from
	Controls bool    // these points are the controls of the sweep
}

// relative judges the points whose sides are from different sessions a second time, as a separate family, relative to the common change
// of all points (judge.Common): the common change of each session is subtracted from the sides and from the history. There is no
// relative verdict for controls, for metrics that are compared by difference, and if there are too few points.
func (m *comparison) relative(families []family) map[string]Shared {
	all := map[string]Shared{}
	var pairs [][]judge.Pair
	var of [][]*pairing
	for _, f := range families {
		points := relatable(f.points)
		if len(points) == 0 {
			continue
		}
		r := relating{points: points}
		if shared, ok := r.factors(); ok {
			all[f.metric] = shared
			pairs, of = append(pairs, r.pairs()), append(of, r.judged())
		}
	}
	for i, j := range judge.Judge(pairs, m.req.Rules) {
		for k, p := range of[i] {
			p.relative = &j.Outcomes[k]
		}
	}
	return all
}

// relatable returns the points from which a common change can be estimated: the same point on both sides, from different sessions.
func relatable(points []*pairing) (some []*pairing) {
	for _, p := range points {
		barred := p.reason != "" && p.reason != judge.Machines && p.verdict == judge.Estimate
		if p.hasBothSides() && p.confounded && !p.byDifference() && p.base.PointID == p.head.PointID && !barred {
			some = append(some, p)
		}
	}
	return some
}

// relating removes the common change from the points of one metric.
type relating struct {
	points []*pairing
	head   float64            // common change from base to head, as a logarithm
	past   map[string]float64 // common change from the base to each earlier session; NaN: unknown
}

// factors estimates the common change, for each earlier session from the points that have this session in their history; ok is false if
// there are too few points.
func (r *relating) factors() (shared Shared, ok bool) {
	sessions := map[string]int{}
	for _, p := range r.points {
		for _, s := range p.earlier {
			if _, there := sessions[s.ID]; !there {
				sessions[s.ID] = len(sessions)
			}
		}
	}
	levels, controls := make([][]float64, len(r.points)), make([]bool, len(r.points))
	width := 2 + len(sessions)
	all := make([]float64, width*len(r.points))
	for i, p := range r.points {
		row := all[i*width : (i+1)*width]
		for k := range row {
			row[k] = math.NaN()
		}
		row[0], row[1] = p.base.level(), p.head.level()
		for _, s := range p.earlier {
			row[2+sessions[s.ID]] = logOf(s.Location)
		}
		levels[i], controls[i] = row, p.control
	}
	factors := judge.Common(levels, controls, judge.MinCommon)
	if slices.Contains(controls, true) {
		if all := judge.Common(levels, nil, judge.MinCommon); countKnown(factors) < min(judge.MinHistory, countKnown(all)) {
			factors, controls = all, nil // the controls are too new: too few earlier sessions have them
		}
	}
	r.head, r.past = factors[1], map[string]float64{}
	for id, k := range sessions {
		r.past[id] = factors[2+k]
	}
	shared = Shared{Change: math.Expm1(r.head), Points: len(r.points)}
	if others := len(r.judged()); controls != nil && others < len(r.points) {
		shared.Points, shared.Controls = len(r.points)-others, true
	}
	return shared, !math.IsNaN(r.head)
}

// logOf returns the logarithm of a value; NaN if it has none.
func logOf(value float64) float64 {
	if value <= 0 {
		return math.NaN()
	}
	return math.Log(value)
}

// countKnown counts the earlier sessions whose common change is known.
func countKnown(factors []float64) (n int) {
	for _, f := range factors[2:] {
		if !math.IsNaN(f) {
			n++
		}
	}
	return n
}

// judged returns the points that are not controls.
func (r *relating) judged() []*pairing {
	return slices.DeleteFunc(slices.Clone(r.points), func(p *pairing) bool { return p.control })
}

// pairs returns the judged points without the common change.
func (r *relating) pairs() []judge.Pair {
	judged := r.judged()
	pairs := make([]judge.Pair, len(judged))
	for i, p := range judged {
		pair := p.toJudge()
		pair.Blocks = nil
		pair.Head = slices.Clone(pair.Head)
		for k := range pair.Head {
			pair.Head[k] -= r.head
		}
		var kept []earlierSession
		for _, s := range p.earlier {
			if !math.IsNaN(logOf(s.Location) - r.past[s.ID]) {
				kept = append(kept, s)
			}
		}
		pair.History = nil
		if p.distance != unknown {
			for _, s := range p.spaced(kept) {
				pair.History = append(pair.History, logOf(s.Location)-r.past[s.ID])
			}
		}
		pairs[i] = pair
	}
	return pairs
}
