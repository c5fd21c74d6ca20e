package views

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema"
)

// sampleLines are a histogram in eight lines and the summary of the primary metric. given is the unit in which the run's file
// has it, columns how many a line has.
func sampleLines(m *schema.Metric, given string, columns int) []string {
	values := slices.DeleteFunc(slices.Clone(m.Values()), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	lines := histogram(values, m.Unit, columns-len(term.Gap))
	lines = append(lines, "n "+samplesText(m.Summary.N)+term.Gap+strings.Join(statistics(m, given), term.Gap))
	lines = append(lines, "level "+OrUnknown(string(m.Level))+term.Gap+"clock "+OrUnknown(m.Clock)+term.Gap+
		"spread "+spread(m.Summary.MAD, m.Summary.P50))
	if n := m.IterationsPerSample; len(n) == 1 && n[0] > 1 {
		lines = append(lines, fmt.Sprintf("%s samples of %s iterations each: percentiles are those of means", samplesText(m.Summary.N), term.Thousands(int(n[0]))))
	}
	return lines
}

// statistics are what samples are summed up to. Other tools' files may have a mean alone, which is no median.
func statistics(m *schema.Metric, given string) []string {
	s := &m.Summary
	values := []struct {
		name  string
		value *float64
	}{{"min", s.Min}, {"median", s.P50}, {"p90", s.P90}, {"p99", s.P99}, {"max", s.Max}}
	mean := s.P50 == nil && s.Mean != nil
	if mean {
		values[1].name, values[1].value = "mean", s.Mean
	}
	var words []string
	for _, v := range values {
		if v.value != nil || !mean {
			words = append(words, v.name+" "+QuantityOf(answer.Value(v.value), m.Unit, m.Name, given))
		}
	}
	return words
}

// samplesText is how many samples a metric has, or was summed up from.
func samplesText(n *int64) string {
	if n == nil {
		return term.Unknown
	}
	return term.Thousands(int(*n))
}

// bin is a line of a histogram.
type bin struct {
	label string
	n     int
}

// histogram draws eight bars: of equal width in value, from the smallest sample to the largest. Where a few samples are far
// from all others, the first or the last bar counts them.
func histogram(values []float64, unit string, columns int) []string {
	if len(values) < 2 || slices.Min(values) == slices.Max(values) {
		return nil
	}
	bars := binned(values, unit)
	largest, margin := 0, 9
	for _, b := range bars {
		largest, margin = max(largest, b.n), max(margin, term.Width(b.label))
	}
	const longest = 40
	width := min(max(columns-margin-len("   ")-len(strconv.Itoa(largest)), 1), longest)
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
	const few, far = 0.15, 3
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

// toDeviation makes a standard deviation of the median absolute deviation of normal values.
const toDeviation = 1.4826

func spread(mad, median *float64) string {
	if mad == nil || median == nil || *median == 0 {
		return term.Unknown
	}
	return Percent(spreadRatio(*mad, *median))
}

// spreadRatio is the robust spread of a run, in relation to its median, of which the sign does not count.
func spreadRatio(mad, median float64) float64 { return toDeviation * mad / math.Abs(median) }

// metricLines are a line a metric. given is the unit in which the run's file has a metric.
func metricLines(metrics []schema.Metric, given func(metric string) string) []string {
	var rows [][2]string
	for i := range metrics {
		m := &metrics[i]
		words := statistics(m, given(m.Name))
		if m.Summary.P50 != nil {
			text := func(v *float64) string { return QuantityOf(answer.Value(v), m.Unit, m.Name, given(m.Name)) }
			words = []string{text(m.Summary.P50), "min " + text(m.Summary.Min), "max " + text(m.Summary.Max)}
		}
		rows = append(rows, [2]string{m.Name, strings.Join(append(words, "n "+samplesText(m.Summary.N)), term.Gap)})
	}
	return term.Pairs(rows)
}
