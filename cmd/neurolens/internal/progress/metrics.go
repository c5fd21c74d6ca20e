package progress

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// metricsText is what a run has of metrics, each with its name: latency 412 µs  accuracy 97.9 %  medians of 3.
func metricsText(r *schema.Run, metrics []string) string {
	var parts []string
	samples, same := int64(0), true
	for _, metric := range metrics {
		value, n := term.Unknown, int64(0)
		if m := r.Metric(metric); m != nil {
			s := summaryOf(m)
			value = views.QuantityOf(answer.Value(cmp.Or(s.P50, s.Mean)), m.Unit, m.Name, "")
			if s.N != nil {
				n = *s.N
			}
		}
		parts = append(parts, metric+" "+value)
		if n > 0 {
			same = same && (samples == 0 || n == samples)
			samples = n
		}
	}
	switch {
	case samples == 0:
	case !same:
		parts = append(parts, "medians")
	case len(metrics) == 1:
		parts = append(parts, fmt.Sprintf("median of %d", samples))
	default:
		parts = append(parts, fmt.Sprintf("medians of %d", samples))
	}
	return strings.Join(parts, term.Gap)
}

// summaryOf sums a metric up: by its samples, or as it was told where there are none.
func summaryOf(m *schema.Metric) schema.Summary {
	if values := m.Values(); len(values) > 0 {
		return stat.Summarize(values)
	}
	return m.Summary
}

// metricMember is what a run has of metrics, as a member of an object.
func metricMember(r *schema.Run, metrics []string) member {
	all := map[string]any{}
	for _, metric := range metrics {
		own := map[string]any{"unit": nil, "median": nil, "n_samples": nil}
		if m := r.Metric(metric); m != nil {
			s := summaryOf(m)
			own["unit"], own["median"], own["n_samples"] = answer.Text(m.Unit), answer.Statistic(s.P50), answer.Integer(s.N)
		}
		all[metric] = own
	}
	return member{"metrics", all}
}
