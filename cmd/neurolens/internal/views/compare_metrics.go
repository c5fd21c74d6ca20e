package views

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// directions say of each of several metrics which values are better, and what is no change.
func (w Comparison) directions() []string {
	var lines [][2]string
	for _, metric := range w.C.Metrics {
		if slices.Contains(w.C.Absent.Metrics, metric) {
			continue // a note says so
		}
		text := "better direction unknown: changes have no winner"
		if better := w.better(metric); better != "" {
			text = better + " is better"
		}
		if zone := w.deadZone(metric); zone != "" {
			text += "; a change below " + zone + " counts as none"
		}
		lines = append(lines, [2]string{metric, text})
	}
	return term.Pairs(lines)
}

// better is which values of a metric are, where that is the same for all points. One without a value says nothing about it.
func (w Comparison) better(metric string) string {
	better := map[string]bool{}
	for _, p := range w.C.Points {
		if p.Metric == metric && !p.NoValue {
			better[p.Better] = true
		}
	}
	if len(better) > 1 {
		return ""
	}
	return strings.Join(slices.Collect(maps.Keys(better)), "")
}

// deadZone is the difference of a metric below which there is none, as it was given: an amount is another share of each point.
// It is empty where every difference counts.
func (w Comparison) deadZone(metric string) string {
	switch threshold, same := w.C.Thresholds[metric]; {
	case !same:
		return "the threshold of its benchmark"
	case threshold.Value == 0:
		return ""
	case threshold.Absolute:
		unit := threshold.Unit
		if i := slices.IndexFunc(w.C.Rows, func(r compare.Row) bool { return r.Metric == metric }); i >= 0 {
			unit = cmp.Or(w.C.Rows[i].Unit, unit)
		}
		return strings.TrimPrefix(SignedQuantity(threshold.Value, unit), "+")
	default:
		return Share(threshold.Value)
	}
}

// differences are lines about metrics that are compared by ratio. A line counts the points that are compared by difference instead,
// because of values of 0 or less, and has their threshold.
func (w Comparison) differences() (lines []string) {
	for _, metric := range w.C.Metrics {
		given, same := w.C.Thresholds[metric]
		n, all := 0, 0
		for _, p := range w.C.Points {
			if p.Metric == metric {
				all++
				if !p.Ratio {
					n++
				}
			}
		}
		if n == 0 || same && given.Absolute || schema.ScaleOf(metric) == schema.ScaleDifference {
			continue
		}
		zone := "the threshold"
		if same {
			zone = Share(given.Value)
		}
		line := fmt.Sprintf("%d of %s %s compared by difference, because of values of 0 or less: a change below %s of the smaller side counts as none",
			n, term.Count(all, "point"), term.IsAre(n), zone)
		if len(w.C.Metrics) > 1 {
			line = metric + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// metricCounts say of each of several metrics what became of its points, and their geometric mean.
func (w Comparison) metricCounts() []string {
	if len(w.C.Metrics) < 2 {
		return nil
	}
	var lines [][2]string
	for _, metric := range w.C.Metrics {
		if slices.Contains(w.C.Absent.Metrics, metric) {
			continue
		}
		counts := map[judge.Verdict]int{}
		for _, p := range w.C.Points {
			if p.Metric == metric && !p.Control {
				counts[p.Verdict]++
			}
		}
		text := verdictCounts(counts)
		if mean := w.geometricMean(metric); mean != "" {
			text += "; " + mean
		}
		lines = append(lines, [2]string{metric, text})
	}
	return term.Pairs(lines)
}
