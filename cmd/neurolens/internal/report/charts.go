package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
)

// chartWidth is how many pixels wide charts are drawn: a screen of 400 pixels shows them whole, with texts of about 10 pixels. A wide screen
// shows two side by side.
const chartWidth = 420

// pen draws the charts of a page, whose title and notes are texts of the page.
func pen() Pen {
	return Pen{Style: themed(chart.Stylesheet()), Draw: func(w io.Writer, f *chart.Figure, name string) error {
		return chart.SVG(w, f, chart.ImageOptions{Embedded: true, Untitled: true, Prefix: name, Width: chartWidth})
	}}
}

// themed adds to the style of charts, which goes by the system, what goes by the switch of the page.
func themed(style string) string {
	const system = "@media screen and (prefers-color-scheme:dark){.nl-fig"
	light, rest, _ := strings.Cut(style, "\n")
	before, after, _ := strings.Cut(rest, system)
	dark, after, _ := strings.Cut(after, "}\n")
	return light + "\n" + before + "@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]) .nl-fig" + dark + "}\n" +
		"@media screen{:root[data-theme=dark] .nl-fig" + dark + "}\n" + after
}

const (
	maxForest  = 30  // rows of a forest: more cannot be read
	maxAlike   = 12  // of these, with one verdict, where there are others
	maxScatter = 200 // marks of a scatter: all of them stand in the table
)

// change returns a pair in words.
func (s *htmlWriter) change(p *summary.Pair) string {
	return fmt.Sprintf("%s: %s, %s", s.names.pair(p), ofPair(p).text(), p.Verdict)
}

// ofPair returns the command that compares a pair alone.
func (s *htmlWriter) ofPair(c *summary.Comparison, p *summary.Pair) string {
	if c.From != summary.FromSelections {
		return s.command("ls", s.d.words(s.names.filter(p.PointID))...)
	}
	return s.command("compare", s.d.compared(c, s.names.filter(cmp.Or(p.BaseID, p.PointID)), s.names.filter(p.PointID))...)
}

// drawn returns a chart of a comparison, with the command that draws it.
func (s *htmlWriter) drawn(f *chart.Figure, c *summary.Comparison) *Chart {
	return &Chart{Figure: f, Command: s.command("plot", append([]string{string(f.Kind)}, s.d.compared(c)...)...)}
}

// addByVerdict adds a mark to the series of its verdict.
func addByVerdict(f *chart.Figure, verdict string, style chart.Style, m chart.Mark) {
	at := slices.IndexFunc(f.Series, func(s chart.Series) bool { return s.Name == verdict })
	if at < 0 {
		at = len(f.Series)
		f.Series = append(f.Series, chart.Series{Name: verdict, Style: style, Tone: toneOf(verdict)})
	}
	f.Series[at].Marks = append(f.Series[at].Marks, m)
}

// forest draws value / baseline of each pair with its interval, in the order of the table, and prints the change beside it.
func (s *htmlWriter) forest(c *summary.Comparison, pairs []*summary.Pair) *Chart {
	drawn := mixed(pairs)
	f := &chart.Figure{Kind: chart.Forest, Title: "Changes from " + c.Name() + ", with " + levelOf(drawn...) + " intervals", X: chart.Axis{Label: "value / " + c.Name(), Better: s.d.direction(c)}}
	var all []float64
	for _, p := range drawn {
		ratio := func(speedup *float64) float64 {
			if speedup == nil {
				return chart.Unknown()
			}
			return ratioOf(*speedup, chart.Better(p.Better))
		}
		k := chart.Mark{
			X: ratio(p.Speedup), Y: float64(len(f.Y.Categories)), Low: ratio(p.Low), High: ratio(p.High), Point: string(p.PointID),
			Word: p.Verdict, Label: ofPair(p).size(), Interval: ofPair(p).interval(views.Ends), Text: s.change(p), Command: s.ofPair(c, p),
		}
		if k.Low > k.High { // the lowest speed-up is the largest change
			k.Low, k.High = k.High, k.Low
		}
		f.Y.Categories = append(f.Y.Categories, s.names.pair(p))
		addByVerdict(f, p.Verdict, chart.Intervals, k)
		for _, v := range []float64{k.X, k.Low, k.High} {
			if !math.IsNaN(v) {
				all = append(all, v)
			}
		}
	}
	if len(f.Series) == 0 {
		return nil
	}
	f.Y.Scale, f.X.Scale = chart.Categories, scaleOf(all, 1)
	s.margin(f, c, drawn)
	if c.All.Differences > 0 {
		f.Notes = append(f.Notes, "Not drawn: "+term.Count(c.All.Differences, "pair")+" compared by difference.")
	}
	if all := len(slices.DeleteFunc(slices.Clone(pairs), withoutSpeedup)); all > len(f.Y.Categories) {
		f.Notes = append(f.Notes, fmt.Sprintf("%s of %s: the largest changes of each verdict.", term.Thousands(len(f.Y.Categories)), term.Count(all, "pair")))
	}
	return s.drawn(f, c)
}

// margin draws the line of no change and the threshold around it. If thresholds differ, a note says so instead.
func (s *htmlWriter) margin(f *chart.Figure, c *summary.Comparison, drawn []*summary.Pair) {
	f.Guides = []chart.Guide{{Along: chart.Vertical, At: 1, Until: 1, Text: "no change"}}
	zone := math.NaN()
	for i, p := range drawn {
		own, same := c.Thresholds[string(p.Metric)]
		if !same || i > 0 && own != zone {
			f.Notes = append(f.Notes, "The threshold below which a change counts as none differs from row to row: neurolens compare shows it.")
			return
		}
		zone = own
	}
	if zone > 0 {
		f.Guides = append(f.Guides, chart.Guide{Along: chart.Vertical, At: 1 / (1 + zone), Until: 1 + zone, Text: "below " + views.Share(zone) + " counts as none"})
	}
}

// withoutSpeedup reports whether a pair cannot be in a forest.
func withoutSpeedup(p *summary.Pair) bool { return p.Speedup == nil }

// mixed returns the pairs of a forest, in their order: the first of each verdict, and then as many more as there is room for.
func mixed(pairs []*summary.Pair) []*summary.Pair {
	pairs = slices.DeleteFunc(slices.Clone(pairs), withoutSpeedup)
	if len(pairs) <= maxForest {
		return pairs
	}
	alike, chosen, left := map[string]int{}, map[*summary.Pair]bool{}, maxForest
	for _, most := range []int{maxAlike, len(pairs)} {
		for _, p := range pairs {
			if left > 0 && !chosen[p] && alike[p.Verdict] < most {
				chosen[p], alike[p.Verdict], left = true, alike[p.Verdict]+1, left-1
			}
		}
	}
	return slices.DeleteFunc(pairs, func(p *summary.Pair) bool { return !chosen[p] })
}

// othersOf names what a comparison compares with its baseline.
func othersOf(c *summary.Comparison) string {
	switch {
	case c.From == summary.FromSelections:
		return "the head"
	case len(c.Values) == 1:
		return c.Axis + "=" + string(c.Values[0].Name)
	}
	return "the other values of " + c.Axis
}

// scatter draws the value of each pair against its base.
func (s *htmlWriter) scatter(c *summary.Comparison, pairs []*summary.Pair) *Chart {
	f := &chart.Figure{Kind: chart.Scatter, Title: "Each point against " + c.Name()}
	var all []float64
	drawn, compared, unit, metric, better := 0, 0, summary.Text(""), summary.Text(""), chart.Better("")
	for _, p := range pairs {
		if p.Speedup == nil && p.Difference == nil {
			continue
		}
		if compared++; p.Base == nil || p.Value == nil || drawn >= maxScatter || metric != "" && (p.Unit != unit || p.Metric != metric) {
			continue
		}
		unit, metric, better = p.Unit, p.Metric, chart.Better(p.Better)
		drawn++
		addByVerdict(f, p.Verdict, chart.Points, chart.Mark{
			X: *p.Base, Y: *p.Value, Low: chart.Unknown(), High: chart.Unknown(), Point: string(p.PointID), Word: p.Verdict, Text: s.change(p), Command: s.ofPair(c, p),
		})
		all = append(all, *p.Base, *p.Value)
	}
	if drawn < 2 {
		return nil
	}
	scale := scaleOf(all, 100)
	f.X = chart.Axis{Label: string(metric) + " of " + c.Name(), Unit: string(unit), Scale: scale}
	f.Y = chart.Axis{Label: string(metric) + " of " + othersOf(c), Unit: string(unit), Scale: scale, Better: better}
	f.Guides = []chart.Guide{{Along: chart.Diagonal}}
	f.Notes = append(f.Notes, "On the line: no change.")
	if compared > drawn {
		f.Notes = append(f.Notes, fmt.Sprintf("%s of %s: the largest changes of %s.", term.Thousands(drawn), term.Count(compared, "pair"), metric))
	}
	return s.drawn(f, c)
}

// scaleOf is logarithmic where values are positive and the largest is so many times the smallest.
func scaleOf(values []float64, span float64) chart.Scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	if low > 0 && high/low >= span {
		return chart.Log
	}
	return chart.Linear
}
