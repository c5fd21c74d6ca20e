package compare

import (
	"context"
	"maps"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// family is all points of one metric. The metric is empty if no run of the points is ok.
type family struct {
	metric string
	points []*pairing
}

// families reads all points, grouped by metric: in the requested order, otherwise ascending. It is an error if no run has any of the
// requested metrics.
func (m *comparing) families(ctx context.Context) ([]family, error) {
	var all []family
	for _, metric := range m.metrics() {
		matched, err := m.metric(ctx, metric)
		if err != nil {
			return nil, err
		}
		if slices.Contains(m.absent.Metrics, metric) {
			all = append(all, family{metric: metric})
			continue
		}
		all = append(all, byMetric(matched)...)
	}
	if len(m.absent.Metrics) > 0 {
		var err error
		if m.absent.Others, err = m.RecentMetrics(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// byMetric groups points by metric, ascending.
func byMetric(points []*pairing) []family {
	own := map[string][]*pairing{}
	for _, p := range points {
		own[p.name] = append(own[p.name], p)
	}
	var all []family
	for _, metric := range slices.Sorted(maps.Keys(own)) {
		all = append(all, family{metric, own[metric]})
	}
	return all
}

// judge judges the points of each metric. It is an error if a threshold has another unit than its metric, or if no point has its
// metric.
func (m *comparing) judge(families []family) error {
	if err := m.checkThresholds(families); err != nil {
		return err
	}
	judgeLooks(families, m.req.Rules)
	return nil
}

// checkThresholds rejects thresholds that would silently be ignored.
func (m *comparing) checkThresholds(families []family) error {
	var names []string
	for _, f := range families {
		names = append(names, f.metric)
		for _, p := range f.points {
			t := p.thresholds[f.metric]
			if unit := p.kind().Unit; t.Unit != "" && unit != "" && t.Unit != unit {
				return answer.InputError("compare: the threshold for %s is in %s, but the metric is measured in %s", answer.Brief(f.metric), t.Unit, unit)
			}
		}
	}
	for _, metric := range slices.Sorted(maps.Keys(m.req.Thresholds)) {
		if metric == "" || slices.Contains(names, metric) {
			continue
		}
		hint := ""
		if near := schema.Nearest(metric, names); near != "" {
			hint = "; did you mean " + near + "?"
		}
		return answer.InputError("compare: threshold for %s: no point has this metric%s", answer.Brief(metric), hint)
	}
	return nil
}
