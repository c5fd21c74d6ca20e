package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// The thresholds of the QuASIM bench tools: a regression is a p50 that is more than 10 % longer, or an error against the reference that
// has grown by more than this.
const (
	slower = .10
	drift  = 1e-3
)

// errorMetrics are the errors against a reference, and their names in the reports.
var errorMetrics = []string{"rmse", "max_error", "relative_error"}

// judged holds the results of a point that the rules are about.
type judged struct {
	run    *schema.Run // one of them
	p50    *float64    // ms
	runs   []float64   // ms, the p50 of each run
	errors map[string]*float64
}

// judgedPoints returns the time and the errors of each point, as in summary.json.
func judgedPoints(runs []*schema.Run) (order []string, points map[string]*judged) {
	points = map[string]*judged{}
	for _, p := range kernelPoints(runs) {
		j := &judged{run: p.run, p50: milliseconds(middle(p.time)), errors: map[string]*float64{}}
		for _, r := range p.ok {
			if v := milliseconds(middle(timeOf(r))); v != nil {
				j.runs = append(j.runs, *v)
			}
		}
		for _, name := range errorMetrics {
			var values []float64
			for _, r := range p.ok {
				if v := middle(r.Metric(name)); v != nil {
					values = append(values, *v)
				}
			}
			j.errors[name] = median(values)
		}
		order, points[p.id] = append(order, p.id), j
	}
	return order, points
}

// median returns the median of values; nil for none.
func median(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	return new((values[(len(values)-1)/2] + values[len(values)/2]) / 2)
}

// regressions returns regressions.md: the common points, judged by the rules of the original tools, and the points that could not be
// compared. Points match only if all their axes do, not by the name of the kernel alone.
func regressions(base, head []*schema.Run) []byte {
	var p page
	p.line("# Regression Report\n")
	order, now := judgedPoints(head)
	baseOrder, before := judgedPoints(base)
	names := pointNames(now)
	var found, better, spread, apart []string
	for _, id := range order {
		b, h := before[id], now[id]
		switch {
		case b == nil:
			apart = append(apart, "- **"+names[id]+"**: new, the baseline does not have it")
			continue
		case b.p50 != nil && h.p50 == nil && !skippedAll(head, id):
			found = append(found, "- **"+names[id]+"**: no result any more, the baseline took "+figure(b.p50, 3)+" ms")
			continue
		case b.p50 == nil || h.p50 == nil:
			apart = append(apart, "- **"+names[id]+"**: no time on "+missingSide(b.p50, h.p50))
		default:
			by := ""
			if *b.p50 > 0 { // otherwise it has no share
				by = "by " + figure(new(100*math.Abs(*h.p50 / *b.p50 - 1)), 1) + "% "
			}
			text := by + "(" + figure(b.p50, 3) + " ms → " + figure(h.p50, 3) + " ms)"
			longer, shorter := *h.p50 > *b.p50*(1+slower), *h.p50 < *b.p50*(1-slower)
			switch {
			case longer && slices.Min(h.runs) <= slices.Max(b.runs), shorter && slices.Max(h.runs) >= slices.Min(b.runs):
				spread = append(spread, "- **"+names[id]+"**: "+strings.TrimSpace(text))
			case longer:
				found = append(found, "- **"+names[id]+"**: Latency increased "+text)
			case shorter:
				better = append(better, "- **"+names[id]+"**: Latency decreased "+text)
			}
		}
		found = append(found, drifted(names[id], b, h)...)
	}
	baseNames := pointNames(before)
	for _, id := range baseOrder {
		if now[id] == nil {
			apart = append(apart, "- **"+baseNames[id]+"**: missing, only the baseline has it")
		}
	}
	compared := len(baseOrder) - countMissing(apart)
	switch {
	case len(found) > 0:
		p.line("## Detected Regressions\n\n%s", strings.Join(found, "\n"))
	case compared == 0:
		p.line("Nothing was compared.")
	default:
		p.line("No regressions detected. ✅")
	}
	section(&p, "Improvements", better)
	section(&p, "Changes Within The Spread Of The Runs", spread)
	section(&p, "Not Compared", apart)
	p.line("\n%d of %d points of the baseline were compared, by the rules of these tools: p50 by more than 10 %%, an error by more than 0.001."+
		" A p50 counts if no run of one side is among those of the other. `neurolens compare` distinguishes changes from noise.", compared, len(baseOrder))
	return []byte(p.String())
}

// skippedAll reports whether a point was never tried: all its runs are skipped or unsupported.
func skippedAll(runs []*schema.Run, point string) bool {
	return !slices.ContainsFunc(runs, func(r *schema.Run) bool {
		return r.PointID == point && r.Status != schema.StatusSkipped && r.Status != schema.StatusUnsupported
	})
}

func section(p *page, title string, lines []string) {
	if len(lines) > 0 {
		p.line("\n## %s\n\n%s", title, strings.Join(lines, "\n"))
	}
}

func countMissing(lines []string) (n int) {
	for _, line := range lines {
		if !strings.HasSuffix(line, "the baseline does not have it") {
			n++
		}
	}
	return n
}

func missingSide(base, head *float64) string {
	switch {
	case base == nil && head == nil:
		return "either side"
	case head == nil:
		return "the new side"
	}
	return "the baseline"
}

// drifted returns the errors that have grown.
func drifted(name string, base, head *judged) (lines []string) {
	for _, metric := range errorMetrics {
		b, h := base.errors[metric], head.errors[metric]
		if b != nil && h != nil && *h-*b > drift && !math.IsInf(*h-*b, 0) {
			lines = append(lines, "- **"+name+"**: Accuracy drift of "+metric+" by "+string(real(*h-*b))+" ("+string(real(*b))+" → "+string(real(*h))+")")
		}
	}
	return lines
}

// pointNames returns the names of kernels and, for kernels that have several points, their axes.
func pointNames(points map[string]*judged) map[string]string {
	count, names := map[string]int{}, map[string]string{}
	for _, p := range points {
		count[p.run.Benchmark]++
	}
	for id, p := range points {
		names[id] = oneLine(p.run.Benchmark)
		if count[p.run.Benchmark] > 1 {
			names[id] = oneLine(cmp.Or(label(p.run), p.run.Benchmark))
		}
	}
	return names
}
