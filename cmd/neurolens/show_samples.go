package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

// sampleLines are a histogram in eight lines and the summary of the primary metric.
func sampleLines(t query.Table, row []any) []string {
	unit := textAt(t, row, "unit")
	var values []float64
	list, _ := at(t, row, "values").([]any)
	for _, v := range list {
		if f, ok := v.(float64); ok && !math.IsNaN(f) && !math.IsInf(f, 0) {
			values = append(values, f)
		}
	}
	lines := histogram(values, unit)
	var words []string
	for _, c := range []struct{ name, column string }{
		{"min", "min"}, {"median", "p50"}, {"p90", "p90"}, {"p99", "p99"}, {"max", "max"},
	} {
		words = append(words, c.name+" "+quantity(at(t, row, c.column), unit))
	}
	n, _ := at(t, row, "n_samples").(int64)
	lines = append(lines, "n "+thousands(int(n))+gap+strings.Join(words, gap))
	return append(lines, "level "+orUnknown(textAt(t, row, "level"))+gap+"clock "+orUnknown(textAt(t, row, "clock"))+gap+
		"spread "+spread(at(t, row, "mad"), at(t, row, "p50")))
}

// histogram draws eight bars of equal width in value, from the smallest sample to the largest.
func histogram(values []float64, unit string) []string {
	const bins, width = 8, 40
	if len(values) < 2 || slices.Min(values) == slices.Max(values) {
		return nil
	}
	low, high := slices.Min(values), slices.Max(values)
	var counts [bins]int
	for _, v := range values {
		counts[min(int(float64(bins)*((v-low)/(high-low))), bins-1)]++
	}
	largest := slices.Max(counts[:])
	starts := make([]float64, bins)
	for i := range starts {
		starts[i] = low + (high-low)*float64(i)/bins
	}
	labels := distinctLabels(starts, unit)
	margin := 9
	for _, label := range labels {
		margin = max(margin, ansi.StringWidth(label))
	}
	lines := make([]string, bins)
	for i, n := range counts {
		blocks := (n*width + largest - 1) / largest // a bin with a sample has a bar
		lines[i] = fmt.Sprintf("%s  %s %d", pad(labels[i], margin, true), strings.Repeat("█", blocks), n)
	}
	return lines
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
		return unknown
	}
	return percent(1.4826 * m / p)
}

func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

func metricLines(t query.Table) []string {
	var rows [][2]string
	for _, row := range t.Rows[1:] {
		unit := textAt(t, row, "unit")
		n, _ := at(t, row, "n_samples").(int64)
		rows = append(rows, [2]string{
			textAt(t, row, "metric"),
			fmt.Sprintf("%s  min %s  max %s  n %d", quantity(at(t, row, "p50"), unit), quantity(at(t, row, "min"), unit), quantity(at(t, row, "max"), unit), n),
		})
	}
	return pairs(rows)
}
