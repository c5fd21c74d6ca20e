package layout

import (
	"math"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// timeOf is the metric that a layout takes for the time of a run: the latency, else the primary metric where it is a time. It is nil
// where the run is not ok: a failed run has no time that counts.
func timeOf(r *schema.Run) *schema.Metric {
	if r.Status != schema.StatusOK {
		return nil
	}
	for _, name := range []string{schema.PrimaryMetric, r.Primary} {
		if m := r.Metric(name); m != nil && m.Unit == "ns" && m.Summary.Mean != nil {
			return m
		}
	}
	return nil
}

// metricOf is a metric of an ok run in a unit; nil where it has none such.
func metricOf(r *schema.Run, name, unit string) *schema.Metric {
	if m := r.Metric(name); m != nil && r.Status == schema.StatusOK && m.Unit == unit {
		return m
	}
	return nil
}

// middle is the median of a metric or, where only a mean is known, that.
func middle(m *schema.Metric) *float64 {
	switch {
	case m == nil:
		return nil
	case m.Summary.P50 != nil:
		return m.Summary.P50
	}
	return m.Summary.Mean
}

// nameOf is the name of a metric that may not be there.
func nameOf(m *schema.Metric) string {
	if m == nil {
		return ""
	}
	return m.Name
}

// meanOf is the mean of a metric.
func meanOf(m *schema.Metric) *float64 {
	if m == nil {
		return nil
	}
	return m.Summary.Mean
}

// times are the samples of a metric in ms; nil where it has none, or one that is not finite.
func times(m *schema.Metric) []number {
	if m == nil {
		return nil
	}
	values := m.Values()
	list := make([]number, len(values))
	for i, v := range values {
		if list[i] = in(&v, "ms"); list[i] == "" {
			return nil
		}
	}
	return list
}

// perSecond is how often something that takes so many ns happens in a second.
func perSecond(ns *float64) *float64 {
	if ns == nil || *ns <= 0 {
		return nil
	}
	return new(1e9 / *ns)
}

// mean is that of values; nil of none.
func mean(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return new(sum / float64(len(values)))
}

// geometric is the geometric mean of positive values; nil of none.
func geometric(values []float64) *float64 {
	var logs []float64
	for _, v := range values {
		logs = append(logs, math.Log(v))
	}
	m := mean(logs)
	if m == nil {
		return nil
	}
	return new(math.Exp(*m))
}

// setting is what a run was measured with, by the name of its key: as it was applied, else as it was asked for.
func setting(r *schema.Run, name string) string {
	if text := r.Applied[name]; text != "" {
		return text
	}
	return r.Env.Facts["runner."+name]
}

// optional is a text that is null where it is not known.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// why says in one line why a run is not ok; empty where it is.
func why(r *schema.Run) string {
	switch {
	case r.Status == schema.StatusOK:
		return ""
	case r.Error == "":
		return string(r.Status)
	}
	return r.Error
}

// fileName is a text as a part of the name of a file.
func fileName(text string) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			return c
		}
		return '_'
	}, text)
	if name = strings.TrimLeft(name, "."); name == "" {
		return "_"
	}
	return name[:min(len(name), 100)]
}

// figure prints a value for people, with so many digits behind the point or, where that would be 0, three figures; a dash where there
// is none.
func figure(v *float64, digits int) string {
	switch {
	case v == nil:
		return "-"
	case *v != 0 && math.Abs(*v) < math.Pow(10, -float64(digits)):
		return strconv.FormatFloat(*v, 'g', 3, 64)
	}
	return strconv.FormatFloat(*v, 'f', digits, 64)
}

// scaled is a value in a unit; nil where there is none.
func scaled(v *float64, unit string) *float64 {
	if v == nil {
		return nil
	}
	_, factor, _ := schema.StoredUnit(unit)
	return new(*v / factor)
}

// wrongPoints are the points of which a run had a wrong result, by their ids and sides: however fast others of them were, they are
// in no ranking and in no mean.
func wrongPoints(runs []*schema.Run) map[string]bool {
	wrong := map[string]bool{}
	for _, r := range runs {
		if schema.IsWrong(r.Status, r.Stage, r.ErrorKind) {
			wrong[r.PointID+r.Side] = true
		}
	}
	return wrong
}
