package compare

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// readThresholds reads the thresholds that the sweep of the head gives to its points.
func (m *comparing) readThresholds(ctx context.Context, head sideFacts) (err error) {
	m.sets = judge.ThresholdCombiner{Given: m.req.Thresholds, Usual: m.req.Usual}
	var names []string
	for name := range head {
		if fact, ok := strings.CutPrefix(name, "env."); ok && strings.HasPrefix(fact, judge.ThresholdFact) {
			names = append(names, fact)
		}
	}
	slices.Sort(names)
	m.said = nil
	if len(names) > 0 {
		m.said, err = m.head.PointFacts(ctx, m.Reader, names)
	}
	return err
}

// setThresholds sets the thresholds of each point from the request and from the runs of the head.
func (m *comparing) setThresholds(points []*pairing) {
	for _, p := range points {
		if p.head == nil {
			p.thresholds = m.sets.Of(nil)
			continue
		}
		p.thresholds = m.sets.Of(m.said[p.head.PointID])
	}
}

// setSessionThresholds is setThresholds for the points of one session whose runs are in memory.
func setSessionThresholds(points []*pairing, runs []schema.Run) {
	said := map[string]sideFacts{}
	for i := range runs {
		r := &runs[i]
		if r.Side != "head" {
			continue
		}
		if said[r.PointID] == nil {
			said[r.PointID] = sideFacts{}
		}
		for name, value := range r.Env.Facts {
			if strings.HasPrefix(name, judge.ThresholdFact) {
				said[r.PointID].Add(map[string]string{name: value})
			}
		}
	}
	sets := judge.ThresholdCombiner{}
	for _, p := range points {
		one := map[string]string{}
		for name, values := range said[p.either().PointID] {
			if all := slices.Collect(maps.Keys(values)); len(all) == 1 {
				one[name] = all[0]
			}
		}
		p.thresholds = sets.Of(one)
	}
}

// shared is the threshold of the metric if all points have the same one.
func (f *family) shared() (all judge.Threshold, ok bool) {
	for i, p := range f.points {
		if t := p.thresholds.For(f.metric); i == 0 {
			all = t
		} else if p.head != nil && t != all {
			return judge.Threshold{}, false
		}
	}
	return all, true
}
