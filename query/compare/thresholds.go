package compare

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/sides"
	"github.com/neurolens/neurolens/query/threshold"
	"github.com/neurolens/neurolens/schema"
)

// thresholdFact is the prefix of the facts in which runs have the thresholds of their sweep. The name of the metric follows; the value
// is as threshold.Parse reads it.
const thresholdFact = "runner.threshold."

// sweepThresholds makes the thresholds of points from those of the request (given), those of sweeps, and the defaults (usual). Points
// with the same thresholds share one set.
type sweepThresholds struct {
	given, usual threshold.Set
	made         map[string]threshold.Set
}

// of is the set of thresholds of a point whose runs have these facts.
func (s *sweepThresholds) of(said map[string]string) threshold.Set {
	key := fmt.Sprint(said) // prints maps sorted by key
	if set, ok := s.made[key]; ok {
		return set
	}
	sweeps := threshold.Set{}
	for name, text := range said {
		if t, err := threshold.Parse(text); err == nil {
			sweeps[strings.TrimPrefix(name, thresholdFact)] = t
		}
	}
	if s.made == nil {
		s.made = map[string]threshold.Set{}
	}
	s.made[key] = s.given.Over(sweeps.Over(s.usual))
	return s.made[key]
}

// setThresholds sets the thresholds of each point from the request and from the runs of the head.
func (m *comparing) setThresholds(ctx context.Context, families []family, head sides.Facts) error {
	var names []string
	for name := range head {
		if fact, ok := strings.CutPrefix(name, "env."); ok && strings.HasPrefix(fact, thresholdFact) {
			names = append(names, fact)
		}
	}
	slices.Sort(names)
	var said map[string]map[string]string
	if len(names) > 0 {
		var err error
		if said, err = m.head.PointFacts(ctx, m.Reader, names); err != nil {
			return err
		}
	}
	sets := sweepThresholds{given: m.req.Thresholds, usual: m.req.Usual}
	for _, f := range families {
		for _, p := range f.points {
			if p.head == nil {
				p.thresholds = sets.of(nil)
				continue
			}
			p.thresholds = sets.of(said[p.head.PointID])
		}
	}
	return nil
}

// setSessionThresholds is setThresholds for the points of one session whose runs are in memory.
func setSessionThresholds(points []*pairing, runs []schema.Run) {
	said := map[string]sides.Facts{}
	for i := range runs {
		r := &runs[i]
		if r.Side != "head" {
			continue
		}
		if said[r.PointID] == nil {
			said[r.PointID] = sides.Facts{}
		}
		for name, value := range r.Env.Facts {
			if strings.HasPrefix(name, thresholdFact) {
				said[r.PointID].Add(map[string]string{name: value})
			}
		}
	}
	sets := sweepThresholds{}
	for _, p := range points {
		one := map[string]string{}
		for name, values := range said[p.either().PointID] {
			if all := slices.Collect(maps.Keys(values)); len(all) == 1 {
				one[name] = all[0]
			}
		}
		p.thresholds = sets.of(one)
	}
}

// shared is the threshold of the metric if all points have the same one.
func (f *family) shared() (all threshold.Threshold, ok bool) {
	for i, p := range f.points {
		if t := p.thresholds.For(f.metric); i == 0 {
			all = t
		} else if p.head != nil && t != all {
			return threshold.Threshold{}, false
		}
	}
	return all, true
}
