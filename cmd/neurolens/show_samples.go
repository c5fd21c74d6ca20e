package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// sampleLines are a histogram in eight lines and the summary of the primary metric.
func sampleLines(t answer.Table, row []any, given string) []string {
	unit := textAt(t, row, "unit")
	var values []float64
	list, _ := at(t, row, "values").([]any)
	for _, v := range list {
		if f, ok := v.(float64); ok && !math.IsNaN(f) && !math.IsInf(f, 0) {
			values = append(values, f)
		}
	}
	lines := histogram(values, unit)
	lines = append(lines, "n "+samplesText(t, row)+term.Gap+strings.Join(statistics(t, row, given), term.Gap))
	return append(lines, "level "+orUnknown(textAt(t, row, "level"))+term.Gap+"clock "+orUnknown(textAt(t, row, "clock"))+term.Gap+
		"spread "+spread(at(t, row, "mad"), at(t, row, "p50")))
}

// statistics are what samples are summed up to. Other tools' files may have a mean alone, which is no median.
func statistics(t answer.Table, row []any, given string) []string {
	unit, metric := textAt(t, row, "unit"), textAt(t, row, "metric")
	names := []struct{ name, column string }{{"min", "min"}, {"median", "p50"}, {"p90", "p90"}, {"p99", "p99"}, {"max", "max"}}
	mean := at(t, row, "p50") == nil && at(t, row, "mean") != nil
	if mean {
		names[1].name, names[1].column = "mean", "mean"
	}
	var words []string
	for _, c := range names {
		if v := at(t, row, c.column); v != nil || !mean {
			words = append(words, c.name+" "+quantityOf(v, unit, metric, given))
		}
	}
	return words
}

// samplesText is how many samples a metric has, or was summed up from.
func samplesText(t answer.Table, row []any) string {
	if n, ok := at(t, row, "n_samples").(int64); ok {
		return term.Thousands(int(n))
	}
	return term.Unknown
}

// bin is a line of a histogram.
type bin struct {
	label string
	n     int
}

// histogram draws eight bars: of equal width in value, from the smallest sample to the largest. Where a few samples are far
// from all others, the first or the last bar counts them.
func histogram(values []float64, unit string) []string {
	const width = 40
	if len(values) < 2 || slices.Min(values) == slices.Max(values) {
		return nil
	}
	bars := binned(values, unit)
	largest, margin := 0, 9
	for _, b := range bars {
		largest, margin = max(largest, b.n), max(margin, ansi.StringWidth(b.label))
	}
	lines := make([]string, len(bars))
	for i, b := range bars {
		blocks := (b.n*width + largest - 1) / largest // a bin with a sample has a bar
		lines[i] = fmt.Sprintf("%s  %s %d", term.Pad(b.label, margin, true), strings.Repeat("█", blocks), b.n)
	}
	return lines
}

// binned counts samples.
func binned(values []float64, unit string) []bin {
	low, high := bulk(values)
	below, above := 0, 0
	for _, v := range values {
		switch {
		case v < low:
			below++
		case v > high:
			above++
		}
	}
	bins := 8
	for _, outside := range []int{below, above} {
		if outside > 0 {
			bins--
		}
	}
	starts := make([]float64, bins, bins+1)
	for i := range starts {
		starts[i] = low + (high-low)*float64(i)/float64(bins)
	}
	labels := distinctLabels(append(starts, high), unit)
	bars := make([]bin, bins)
	for i := range bars {
		bars[i].label = labels[i]
	}
	for _, v := range values {
		if v >= low && v <= high {
			bars[min(int(float64(bins)*((v-low)/(high-low))), bins-1)].n++
		}
	}
	if below > 0 {
		bars = slices.Insert(bars, 0, bin{"< " + labels[0], below})
	}
	if above > 0 {
		bars = append(bars, bin{"> " + labels[bins], above})
	}
	return bars
}

// bulk is from where to where most samples are: all of them, but for a few that are further from the quartiles than three
// times their distance.
func bulk(values []float64) (low, high float64) {
	const few, far = 0.05, 3
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	low, high = sorted[0], sorted[n-1]
	first, third := sorted[n/4], sorted[3*n/4]
	reach := far * (third - first)
	inside := slices.Clone(sorted)
	inside = slices.DeleteFunc(inside, func(v float64) bool { return v < first-reach || v > third+reach })
	if float64(n-len(inside)) > max(1, few*float64(n)) || len(inside) < 2 || inside[0] == inside[len(inside)-1] {
		return low, high
	}
	return inside[0], inside[len(inside)-1]
}

// distinctLabels are ascending values for people. Where three digits do not tell neighbours apart, all are in the unit of
// the largest, with as many digits as do.
func distinctLabels(values []float64, unit string) []string {
	labels := make([]string, len(values))
	for i, v := range values {
		labels[i] = schema.ForPeople(v, unit)
	}
	if !neighboursAlike(labels) {
		return labels
	}
	_, name, _ := strings.Cut(schema.ForPeople(max(-values[0], values[len(values)-1]), unit), " ")
	stored, factor, _ := schema.StoredUnit(name)
	if stored != unit {
		factor = 1
	}
	const most = 17 // decimals: a number has hardly more
	longer := make([]string, len(values))
	for decimals := range most + 1 {
		for i, v := range values {
			longer[i] = strings.TrimSpace(strconv.FormatFloat(v/factor, 'f', decimals, 64) + " " + name)
		}
		if !neighboursAlike(longer) {
			return longer
		}
	}
	return labels
}

// neighboursAlike tells whether a label says the same as the one before it.
func neighboursAlike(labels []string) bool {
	return len(slices.Compact(slices.Clone(labels))) < len(labels)
}

func spread(mad, median any) string {
	m, ok1 := mad.(float64)
	p, ok2 := median.(float64)
	if !ok1 || !ok2 || p == 0 {
		return term.Unknown
	}
	return percent(1.4826 * m / p)
}

func orUnknown(s string) string {
	if s == "" {
		return term.Unknown
	}
	return s
}

// metricLines are a line a metric but the first. given is the unit in which the run's file has a metric.
func metricLines(t answer.Table, given func(metric string) string) []string {
	var rows [][2]string
	for _, row := range t.Rows[1:] {
		metric := textAt(t, row, "metric")
		words := statistics(t, row, given(metric))
		if at(t, row, "p50") != nil {
			text := func(column string) string {
				return quantityOf(at(t, row, column), textAt(t, row, "unit"), metric, given(metric))
			}
			words = []string{text("p50"), "min " + text("min"), "max " + text("max")}
		}
		rows = append(rows, [2]string{metric, strings.Join(append(words, "n "+samplesText(t, row)), term.Gap)})
	}
	return term.Pairs(rows)
}
