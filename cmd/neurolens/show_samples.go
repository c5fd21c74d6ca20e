package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	lines := make([]string, bins)
	for i, n := range counts {
		from := schema.ForPeople(low+(high-low)*float64(i)/bins, unit)
		blocks := (n*width + largest - 1) / largest // a bin with a sample has a bar
		lines[i] = fmt.Sprintf("%s  %s %d", pad(from, 9, true), strings.Repeat("█", blocks), n)
	}
	return lines
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
