package formats

import (
	"cmp"
	"fmt"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// add adds a value that was checked.
func (v *mappedValues) add(m mappedMetric, text string) {
	if text == "" {
		return
	}
	number := foreign.Number(text)
	if m.As == "" || m.As == "sample" {
		v.samples = append(v.samples, number)
		return
	}
	v.gathered = true
	if m.As == "n" {
		v.summary.N = number.Int64()
		return
	}
	s := &v.summary
	*map[string]**float64{
		"mean": &s.Mean, "median": &s.P50, "stddev": &s.StdDev, "min": &s.Min, "max": &s.Max,
		"p25": &s.P25, "p75": &s.P75, "p90": &s.P90, "p95": &s.P95, "p99": &s.P99,
	}[m.As] = number.Finite(v.unit())
}

// unit is the one of the values.
func (v *mappedValues) unit() string {
	unit, _ := v.stored()
	return unit
}

// given is the unit of the column.
func (v *mappedValues) given() string { return cmp.Or(v.Unit, v.unit()) }

// flush yields the current run.
func (t *mappedTable) flush() error {
	p := t.pending
	t.pending = nil
	if p == nil {
		return nil
	}
	for _, name := range p.order {
		if err := p.values[name].addTo(&p.run, t.Level); err != nil {
			t.out.Refuse(p.where, err)
			return nil
		}
	}
	if len(p.run.Metrics) == 0 && !p.failed() {
		if p.lacks { // which was said
			return nil
		}
		t.out.Refuse(p.where, fmt.Errorf("no value, and no status that explains it"))
		return nil
	}
	for _, name := range []string{schema.PrimaryMetric, t.Primary} {
		if p.run.Metric(name) != nil {
			p.run.Primary = name
		}
	}
	return t.out.Run(p.where, p.run)
}

// addTo adds the metric to a run. If it has both samples and aggregates, the samples count.
func (v *mappedValues) addTo(r *schema.Run, level schema.Level) error {
	var m schema.Metric
	switch {
	case len(v.samples) > 0:
		s, err := foreign.SeriesOf(v.samples, v.unit())
		if err != nil {
			return fmt.Errorf("metric %s: %w", v.Metric, err)
		}
		m = s.Metric(v.Metric, level)
	case v.gathered:
		m = foreign.Aggregate(v.Metric, v.unit(), v.summary)
	default:
		return nil
	}
	if v.Better != "" {
		m.Better = v.Better
	}
	foreign.Add(r, m, v.given())
	return nil
}
