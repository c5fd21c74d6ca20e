package compare

import (
	"context"
	"database/sql/driver"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/internal/sides"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// Shared is by how much the points of a comparison moved together: what a machine does to all of them from one session to
// the next, and code to few.
type Shared struct {
	Change   float64 // of the ratio less 1
	Points   int     // that it is of
	Controls bool    // they are the ones that the sweep names as controls
}

// relative judges the points whose sides are of different sessions once more, relative to what all of them share
// (judge.Common), in a family of their own. History and sides are each less what their session did to all points. A point
// has no such judgement where it is a control, or is compared by its difference, or where too few points are there.
func (m *comparing) relative(families []family) map[string]Shared {
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

// relatable are the points of which sessions may tell what they share: on both sides the same ones.
func relatable(points []*pairing) (some []*pairing) {
	for _, p := range points {
		barred := p.reason != "" && p.reason != judge.Machines && p.verdict == judge.Estimate
		if p.whole() && p.confounded && !p.byDifference() && p.base.PointID == p.head.PointID && !barred {
			some = append(some, p)
		}
	}
	return some
}

// nameControls finds which points the head's sweep names as controls. Of very many runs it takes the word of those whose facts
// were read.
func (m *comparing) nameControls(ctx context.Context, families []family, head sides.Facts) error {
	if head["env."+schema.FactControl] == nil {
		return nil
	}
	ids := map[string]bool{}
	columns, err := scan.RunColumns([]string{"point_id", "env", "purpose"})
	if err != nil {
		return err
	}
	rows := m.head.Sel.Src.Scan(scan.WithColumns(columns, m.head.Sel.Columns), m.head.Sel.RestrictedTo(scan.Measured+" AND env['"+schema.FactControl+"'] = 'true'"))
	err = m.Conn.Query(ctx, duck.Statement{SQL: "SELECT DISTINCT point_id FROM " + rows, Args: m.head.Sel.Args}, func(row []driver.Value) error {
		ids[duck.Text(row[0])] = true
		return nil
	})
	for _, f := range families {
		for _, p := range f.points {
			p.control = p.head != nil && ids[p.head.PointID]
		}
	}
	return err
}

// relating takes from the points of one metric what they share.
type relating struct {
	points []*pairing
	head   float64            // by how much the points of the head are slower than those of the base, as a logarithm
	past   map[string]float64 // likewise those of each earlier session; NaN where it is not known
}

// factors finds what the points share; ok is false where too few of them tell it.
func (r *relating) factors() (shared Shared, ok bool) {
	sessions := map[string]int{}
	for _, p := range r.points {
		for _, s := range p.past {
			if _, there := sessions[s.id]; !there {
				sessions[s.id] = len(sessions)
			}
		}
	}
	levels, controls := make([][]float64, len(r.points)), make([]bool, len(r.points))
	for i, p := range r.points {
		row := make([]float64, 2+len(sessions))
		for k := range row {
			row[k] = math.NaN()
		}
		row[0], row[1] = p.base.Level(), p.head.Level()
		for _, s := range p.past {
			row[2+sessions[s.id]] = s.location
		}
		levels[i], controls[i] = row, p.control
	}
	factors := judge.Common(levels, controls, judge.MinCommon)
	if all := judge.Common(levels, nil, judge.MinCommon); sessionsTold(factors) < min(judge.MinHistory, sessionsTold(all)) {
		factors, controls = all, nil // they are too new to know what is left of other sessions without them
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

// sessionsTold counts the earlier sessions of which it is known what all points share.
func sessionsTold(factors []float64) (n int) {
	for _, f := range factors[2:] {
		if !math.IsNaN(f) {
			n++
		}
	}
	return n
}

// judged are the points that are no controls.
func (r *relating) judged() []*pairing {
	return slices.DeleteFunc(slices.Clone(r.points), func(p *pairing) bool { return p.control })
}

// pairs are those points, less what all share.
func (r *relating) pairs() (pairs []judge.Pair) {
	for _, p := range r.judged() {
		pair := *p.pair
		pair.Blocks = nil
		pair.Head = make([]float64, len(p.pair.Head))
		for i, v := range p.pair.Head {
			pair.Head[i] = v - r.head
		}
		var past []pastSession
		for _, s := range p.past {
			if left := s.location - r.past[s.id]; !math.IsNaN(left) {
				past = append(past, pastSession{s.id, s.began, left})
			}
		}
		pair.History = nil
		if p.apart != unknown {
			pair.History = p.apartEnough(past)
		}
		pairs = append(pairs, pair)
	}
	return pairs
}
