package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// row is a row of the table.
type row struct {
	what, against    string
	ratio, low, high float64
	cpu              float64 // ratio of processor times; 0: unknown, as all below
	ms               float64
	peak, theirPeak  float64   // bytes
	goal, goalPeak   float64   // the most that ratio and peak may be
	ratios           []float64 // ascending, of a benchmark that was run several times; else empty
}

// What a row says of its goals.
const (
	held   = "held"
	near   = "near" // the goal lies within the noise
	missed = "missed"
)

// verdict tells whether a row holds its goals; empty if it has none.
func (r row) verdict() string {
	switch {
	case r.goal > 0 && r.low > r.goal, r.goalPeak > 0 && r.peak > r.goalPeak:
		return missed
	case r.goal > 0 && r.high > r.goal:
		return near
	case r.goal > 0, r.goalPeak > 0:
		return held
	}
	return ""
}

// rows returns the rows of the results in the output of a suite.
func (s suite) rows(out io.Reader) ([]row, error) {
	var all []row
	results := benchfmt.NewReader(out, "go test")
	for results.Scan() {
		result, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue // another line of the output
		}
		if len(s.figures) == 0 {
			all = append(all, lineOf(result))
			continue
		}
		for _, f := range s.figures {
			if v, ok := result.Value(f.unit); ok {
				all = with(all, row{what: f.of(result), against: f.against, goal: f.goal}, v)
			}
		}
	}
	return all, results.Err()
}

// procs is the end of the name of a benchmark: how many processors it may use.
var procs = regexp.MustCompile(`-\d+$`)

// nameOf returns the name of a benchmark in words.
func nameOf(result *benchfmt.Result) string {
	return strings.ReplaceAll(procs.ReplaceAllString(result.Name.String(), ""), "_", " ")
}

// of returns what a result of a figure measures, with the name of the part of the benchmark.
func (f figure) of(result *benchfmt.Result) string {
	if _, part, ok := strings.Cut(nameOf(result), "/"); ok {
		return f.what + ": " + part
	}
	return f.what
}

// lineOf returns the row of a line that a benchmark of this module reports.
func lineOf(result *benchfmt.Result) row {
	r := row{what: nameOf(result), against: result.GetConfig("against")}
	for unit, into := range map[string]*float64{
		"ratio": &r.ratio, "ratio-low": &r.low, "ratio-high": &r.high, "cpu-ratio": &r.cpu, "ms": &r.ms,
		"peak-bytes": &r.peak, "their-peak-bytes": &r.theirPeak, "goal": &r.goal, "goal-bytes": &r.goalPeak,
	} {
		*into, _ = result.Value(unit)
	}
	return r
}

// with adds a measured ratio to the row of its kind, which is added if it is not there: the median, from the lowest to the highest.
func with(all []row, r row, ratio float64) []row {
	i := slices.IndexFunc(all, func(a row) bool { return a.what == r.what && a.against == r.against })
	if i < 0 {
		i, all = len(all), append(all, r)
	}
	a := &all[i]
	a.ratios = append(a.ratios, ratio)
	slices.Sort(a.ratios)
	a.low, a.ratio, a.high = a.ratios[0], a.ratios[len(a.ratios)/2], a.ratios[len(a.ratios)-1]
	return all
}

// markdown returns the table.
func markdown(rows []row) string {
	cells := [][]string{{"what", "against", "ratio", "from", "to", "CPU", "ms", "MB", "its MB", "goal", ""}}
	for _, r := range rows {
		goal := number(r.goal)
		if r.goalPeak > 0 {
			goal = strings.TrimPrefix(goal+fmt.Sprintf(", %s MB", megabytes(r.goalPeak)), ", ")
		}
		cells = append(cells, []string{
			r.what, r.against, number(r.ratio), number(r.low), number(r.high), number(r.cpu), number(r.ms), megabytes(r.peak), megabytes(r.theirPeak), goal, r.verdict(),
		})
	}
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, text := range row {
			widths[i] = max(widths[i], len(text))
		}
	}
	rule := make([]string, len(widths))
	for i, width := range widths {
		rule[i] = strings.Repeat("-", max(width, 1))
	}
	var text strings.Builder
	for _, row := range slices.Insert(cells, 1, rule) {
		for i, cell := range row {
			fmt.Fprintf(&text, "| %-*s ", widths[i], cell)
		}
		text.WriteString("|\n")
	}
	return text.String()
}

// number returns a value of three digits, or nothing if it is unknown.
func number(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g", v)
}

// megabytes returns a number of bytes in megabytes, or nothing if the number is unknown.
func megabytes(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f", v/1e6)
}
