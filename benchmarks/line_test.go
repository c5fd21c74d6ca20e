package benchmarks

import (
	"fmt"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
)

// confidence is that of the interval of a ratio.
const confidence = .95

// line is a row of the table of all benchmarks: what was measured, by turns with something else.
type line struct {
	name       string
	ratios     []float64 // of the times, one per turn
	cpu        float64   // ratio of the processor times; 0: unknown
	ms         float64   // median time; 0: unknown
	peak       int64     // memory in bytes; 0: unknown
	theirPeak  int64     // likewise
	goal       float64   // the most that the ratio may be; 0: none
	goalMemory int64     // the most memory in bytes; 0: none
}

// turns returns a line of two commands that were measured by turns. A turn in which one of them was not measured does not count.
func turns(name string, ours, theirs *series) line {
	l := line{name: name, ms: ours.median(), peak: ours.peak, theirPeak: theirs.peak}
	for i := range min(len(ours.walls), len(theirs.walls)) {
		l.ratios = append(l.ratios, float64(ours.walls[i])/float64(theirs.walls[i]))
	}
	if cpu := theirs.cpu(); cpu > 0 {
		l.cpu = ours.cpu() / cpu
	}
	return l
}

// within returns a line with its goals: the most that the ratio of times and the memory may be; 0 is none.
func (l line) within(ratio float64, megabytes int64) line {
	l.goal, l.goalMemory = ratio, megabytes*1e6
	return l
}

// report makes a sub-benchmark of each line, of which the command table makes a row. The line before them says what the ratios are to, in the
// format of Go benchmarks.
func report(b *testing.B, against string, lines ...line) {
	b.Helper()
	fmt.Printf("against: %s\n", against)
	for _, l := range lines {
		b.Run(l.name, l.metrics)
	}
}

// metrics reports the numbers of a line in place of those of a benchmark: the median of the ratios with its interval, or, of fewer than six,
// with the lowest and the highest. What is unknown is left out.
func (l line) metrics(b *testing.B) {
	b.ReportMetric(0, "ns/op") // leaves out the time of this function
	median := benchmath.AssumeNothing.Summary(benchmath.NewSample(l.ratios, &benchmath.DefaultThresholds), confidence)
	b.ReportMetric(median.Center, "ratio")
	b.ReportMetric(max(median.Lo, slices.Min(l.ratios)), "ratio-low") // of few ratios the interval has no ends
	b.ReportMetric(min(median.Hi, slices.Max(l.ratios)), "ratio-high")
	for unit, value := range map[string]float64{
		"cpu-ratio": l.cpu, "ms": l.ms, "peak-bytes": float64(l.peak), "their-peak-bytes": float64(l.theirPeak),
		"goal": l.goal, "goal-bytes": float64(l.goalMemory),
	} {
		if value > 0 {
			b.ReportMetric(value, unit)
		}
	}
}
