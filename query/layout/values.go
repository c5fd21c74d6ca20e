package layout

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// timeOf returns the metric that a layout uses as the time of a run: the latency, otherwise the primary metric if it is a time. It returns
// nil if the run is not ok, because the time of a failed run does not count.
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

// metricOf returns a metric of an ok run in a unit, or nil if it has none in that unit.
func metricOf(r *schema.Run, name, unit string) *schema.Metric {
	if m := r.Metric(name); m != nil && r.Status == schema.StatusOK && m.Unit == unit {
		return m
	}
	return nil
}

// middle returns the median of a metric, or its mean if only that is known.
func middle(m *schema.Metric) *float64 {
	switch {
	case m == nil:
		return nil
	case m.Summary.P50 != nil:
		return m.Summary.P50
	}
	return m.Summary.Mean
}

// meanOf returns the mean of a metric, or its median if only that is known.
func meanOf(m *schema.Metric) *float64 {
	switch {
	case m == nil:
		return nil
	case m.Summary.Mean != nil:
		return m.Summary.Mean
	}
	return m.Summary.P50
}

// times returns the samples of a metric in ms, or nil if there are none or one is not finite.
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

// meanRate returns the rate that belongs to the mean time of the samples that it was computed from: their harmonic mean. Without samples
// it is the mean of the rate.
func meanRate(m *schema.Metric) *float64 {
	if m == nil {
		return nil
	}
	if rate := harmonic(m.Values()); rate != nil {
		return rate
	}
	return meanOf(m)
}

// harmonic returns the harmonic mean of positive values; nil for none, or if one is not positive.
func harmonic(values []float64) *float64 {
	if len(values) == 0 || !(slices.Min(values) > 0) {
		return nil
	}
	sum := 0.0
	for _, v := range values {
		sum += 1 / v
	}
	if sum == 0 || math.IsInf(sum, 0) {
		return nil
	}
	return new(float64(len(values)) / sum)
}

// perSecond returns how often something that takes ns nanoseconds happens per second.
func perSecond(ns *float64) *float64 {
	if ns == nil || *ns <= 0 {
		return nil
	}
	return new(1e9 / *ns)
}

// mean returns the mean of values; nil for none.
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

// geometric returns the geometric mean of positive values; nil for none.
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

// setting returns a setting of the run by key: the applied value, otherwise the requested one.
func setting(r *schema.Run, name string) string {
	if text := r.Applied[name]; text != "" {
		return text
	}
	return r.Env.Facts["runner."+name]
}

// why returns in one line why a run is not ok; empty if it is.
func why(r *schema.Run) string {
	switch {
	case r.Status == schema.StatusOK:
		return ""
	case r.Error == "":
		return string(r.Status)
	}
	return r.Error
}

// outcome returns the status of a run and why it is not ok. A run in which more requests failed than are allowed counts as an error.
func outcome(r *schema.Run) (schema.Status, string) {
	if at := slices.IndexFunc(r.Warnings, failedRequests); r.Status == schema.StatusOK && at >= 0 {
		return schema.StatusError, r.Warnings[at]
	}
	return r.Status, why(r)
}

func failedRequests(warning string) bool {
	_, is := schema.FailedRequests(warning)
	return is
}

// fileName makes a text usable as a part of a file name.
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

// figure formats a value with a number of decimals or, where that would give 0, with three significant digits; a dash for
// no value.
func figure(v *float64, digits int) string {
	switch {
	case v == nil:
		return "-"
	case *v != 0 && math.Abs(*v) < math.Pow(10, -float64(digits)):
		return strconv.FormatFloat(*v, 'g', 3, 64)
	}
	return strconv.FormatFloat(*v, 'f', digits, 64)
}

// scaled converts a value to a unit; nil for nil.
func scaled(v *float64, unit string) *float64 {
	if v == nil {
		return nil
	}
	_, factor, _ := schema.StoredUnit(unit)
	return new(*v / factor)
}

// wrongPoints are the points that have a run with a wrong result, or in which more requests failed than are allowed, by id and side. They are
// excluded from all rankings and means, however fast their other runs were.
func wrongPoints(runs []*schema.Run) map[string]bool {
	wrong := map[string]bool{}
	for _, r := range runs {
		if slices.ContainsFunc(r.Warnings, failedRequests) || schema.IsWrong(r.Status, r.Stage, r.ErrorKind) {
			wrong[r.PointID+r.Side] = true
		}
	}
	return wrong
}
