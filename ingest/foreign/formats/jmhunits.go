package formats

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// quantity is what a JMH score measures, by its unit.
type quantity struct {
	metric string
	stored string  // unit
	as     string  // unit with the same power of ten, by which the digits are read
	factor float64 // for what no power of ten gives; 0 for none
	better schema.Better
}

// jmhTimes are the units of time as JMH writes them, with the unit that has as many 1/s as one per such a time.
var jmhTimes = map[string]struct {
	unit  string
	per   string
	perBy float64
}{
	"ns":  {"ns", "s", 0},
	"us":  {"us", "ms", 0},
	"ms":  {"ms", "us", 0},
	"s":   {"s", "", 0},
	"min": {"min", "", 1. / 60},
	"hr":  {"h", "", 1. / 3600},
}

// quantity gives the quantity of a metric; the name is empty for the primary one. The unit decides, not the mode, because
// files have thrpt for s/op.
func (m *jmhMetric) quantity(name string) quantity {
	metric := foreign.MetricName(strings.TrimLeft(name, "·"))
	named := func(usual string) string {
		if name == "" {
			return usual
		}
		return metric
	}
	if t, ok := jmhTimes[strings.TrimSuffix(m.Unit, "/op")]; ok {
		return quantity{named("latency"), "ns", t.unit, 0, schema.BetterLower}
	}
	if per, ok := strings.CutPrefix(m.Unit, "ops/"); ok {
		if t, ok := jmhTimes[per]; ok {
			return quantity{named("throughput"), "1/s", t.per, t.perBy, schema.BetterHigher}
		}
	}
	switch {
	case m.Unit == "B/op":
		return quantity{named("memory"), "B", "B", 0, schema.BetterLower}
	case m.Unit == "MB/sec" && strings.HasPrefix(metric, "gc."): // of 1024 * 1024 bytes
		return quantity{metric, "B/s", "MiB", 0, schema.BetterLower}
	case m.Unit == "insns/clk":
		return quantity{named("score"), m.Unit, "", 0, schema.BetterHigher}
	case m.Unit == "#/op", m.Unit == "clks/insn", strings.HasPrefix(metric, "gc."):
		return quantity{named("score"), m.Unit, "", 0, schema.BetterLower}
	}
	stored, _, _ := schema.StoredUnit(m.Unit)
	return quantity{named("score"), stored, m.Unit, 0, ""}
}

// series reads scores.
func (q quantity) series(numbers []foreign.Number) (foreign.Series, error) {
	s, err := foreign.SeriesOf(numbers, q.as)
	if err != nil {
		return foreign.Series{}, err
	}
	if q.factor != 0 {
		m := s.Metric(q.metric, "")
		s.Reals, s.Ticks = append([]float64{}, m.Values()...), nil
		for i := range s.Reals {
			s.Reals[i] *= q.factor
		}
	}
	s.Unit = q.stored
	return s, nil
}

// maxSamples limits the number of samples that a histogram can stand for.
const maxSamples = 4 << 20

// samples are the scores of a fork. A metric that has none there has no values.
func (m *jmhMetric) samples(name string, fork int) (schema.Metric, error) {
	var numbers []foreign.Number
	if fork < len(m.RawData) {
		numbers = m.RawData[fork]
	}
	if fork < len(m.Histogram) {
		for _, iteration := range m.Histogram[fork] {
			for _, bin := range iteration {
				count := bin[1].Int64()
				if count == nil || *count < 0 || *count > int64(maxSamples-len(numbers)) {
					return schema.Metric{}, fmt.Errorf("a value occurs %q times: want a count, and at most %d samples", bin[1], maxSamples)
				}
				for range *count {
					numbers = append(numbers, bin[0])
				}
			}
		}
	}
	q := m.quantity(name)
	s, err := q.series(numbers)
	if err != nil {
		return schema.Metric{}, err
	}
	metric := s.Metric(q.metric, schema.LevelIteration)
	metric.Better = q.better
	return metric, nil
}
