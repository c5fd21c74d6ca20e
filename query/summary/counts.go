package summary

import (
	"maps"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// known rounds a computed number to 12 significant digits; nil if it is not finite.
func known(v float64) *float64 {
	if v, ok := answer.Computed(v).(float64); ok {
		return &v
	}
	return nil
}

// count sums over the points. Each run is in exactly one entry of points, so nothing is counted twice.
func (r *reading) count() {
	c := Counts{ByStatus: map[string]int{}, Rows: len(r.report.Points)}
	points := map[Text]bool{}
	for i := range r.report.Points {
		p := &r.report.Points[i]
		points[p.PointID] = true
		c.Runs, c.Profiled, c.Wrong, c.Imported, c.MeanOnly = c.Runs+p.Runs, c.Profiled+p.Profiled, c.Wrong+p.Wrong, c.Imported+p.Imported, c.MeanOnly+p.MeanOnly
		addCounts(c.ByStatus, p.ByStatus)
		switch {
		case p.ByStatus[string(schema.StatusOK)] == p.Runs:
			c.OKPoints++
		case p.failed() > 0:
			c.BadPoints++
		default:
			c.OffPoints++
		}
	}
	c.Measured, c.Points = c.Runs-c.Profiled, len(points)
	r.report.Counts = c
}

// failed returns the number of failed runs of a point.
func (p *Point) failed() (n int) {
	for status, runs := range p.ByStatus {
		if schema.Status(status).Failed() {
			n += runs
		}
	}
	return n
}

func addCounts(to, counts map[string]int) {
	for name, n := range counts {
		to[name] += n
	}
}

// groupsOf returns the groups of sorted points.
func groupsOf(points []Point) []Group {
	var groups []Group
	for i := range points {
		p := &points[i]
		if len(groups) == 0 || groups[len(groups)-1].Name != p.Group {
			groups = append(groups, Group{Name: p.Group, ByStatus: map[string]int{}})
		}
		g := &groups[len(groups)-1]
		g.Rows, g.Runs = g.Rows+1, g.Runs+p.Runs
		addCounts(g.ByStatus, p.ByStatus)
	}
	for i, at := 0, 0; i < len(groups); i++ {
		own := points[at : at+groups[i].Rows]
		groups[i].Metrics = metricsOf(own)
		at += len(own)
	}
	return groups
}

// metricsOf returns the metrics of points, primary metrics first.
func metricsOf(points []Point) []string {
	primary, others := map[string]bool{}, map[string]bool{}
	for i := range points {
		p := &points[i]
		for _, v := range p.Metrics {
			if v.Metric == string(p.Metric) {
				primary[v.Metric] = true
			} else {
				others[v.Metric] = true
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(primary), byMetric)
	for _, name := range slices.SortedFunc(maps.Keys(others), byMetric) {
		if !primary[name] {
			names = append(names, name)
		}
	}
	return names
}
