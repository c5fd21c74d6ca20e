package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// metricPrefix goes before a metric that only a benchmark knows, as in an expression.
const metricPrefix = "metric."

// measured are the metrics that runs have in any case, as far as the system tells them.
var measured = []string{schema.PrimaryMetric, "cpu_user", "cpu_system", "peak_memory"}

// readPrimary reads which metric a point is about.
func (s *settings) readPrimary(d *document) error {
	f := d.keys["primary"]
	if !f.given() {
		return nil
	}
	err := s.read("primary", f)
	s.point.Primary = strings.TrimPrefix(s.point.Primary, metricPrefix)
	return err
}

// checkPrimary refuses a metric that probably is a misspelt one of those that the sweep makes.
func (p *program) checkPrimary(d *document) error {
	f := d.keys["primary"]
	if !f.given() {
		return nil
	}
	own := slices.Clone(measured)
	for _, m := range p.metrics {
		if !m.at.given() {
			own = append(own, m.rule.Name)
		}
	}
	for _, r := range p.derived {
		own = append(own, r.Name)
	}
	if near := nearMetric(f.Value, own); near != "" {
		return f.errorf("no metric %s is read or derived here: did you mean %s? For a metric that the benchmark reports itself, write %s%s", shorten(f.Value), near, metricPrefix, shorten(f.Value))
	}
	return nil
}

// nearMetric is the metric, of those that are named, that another name probably means; empty where it is known, or probably
// means none of them.
func nearMetric(name string, own []string) string {
	if _, known := schema.KindOfMetric(name); known || slices.Contains(own, name) || strings.HasPrefix(name, metricPrefix) {
		return ""
	}
	return schema.Nearest(name, own)
}

// Metric is the metric that a name of the command line means. metric.NAME means any metric, also one that only the benchmark knows.
// It is an error if no run of the sweep can have the metric, or if the name is probably a misspelt metric of the sweep.
func (s *Sweep) Metric(name string) (string, error) {
	own, tells := slices.Clone(measured), false
	for _, p := range s.Planned() {
		tells = tells || p.Executor == schema.ExecutorCommand || p.Executor == schema.ExecutorPython
		for _, rule := range p.Metrics {
			if rule.Read == "" && !slices.Contains(own, rule.Name) {
				own = append(own, rule.Name)
			}
		}
		for _, r := range p.Derived {
			if !slices.Contains(own, r.Name) {
				own = append(own, r.Name)
			}
		}
	}
	if near := nearMetric(name, own); near != "" {
		return "", fmt.Errorf("no metric %s is read or derived in the sweep: did you mean %s?", shorten(name), near)
	}
	metric := strings.TrimPrefix(name, metricPrefix)
	if _, known := schema.KindOfMetric(metric); !known && !tells && !slices.Contains(own, metric) {
		return "", fmt.Errorf("no run of the sweep has a metric %s", shorten(metric))
	}
	return metric, nil
}
