// Package chart draws charts. A Figure is a chart as data: which marks are where, in stored units. Package chartdata makes figures of
// the results of queries, with few enough marks to draw. Renderers compute no statistics, so all of them show the same values:
//
//   - SVG and PNG draw strokes on a canvas of gonum (vg.Canvas). In an SVG every mark is an element with its stored numbers as data
//     attributes and its text as a title, texts stay texts, and colours are variables: it works in light and dark mode, in print, with
//     screen readers, and for programs. svg_layout.go decides where everything is, svg_axis.go maps values to positions, svg_marks.go
//     draws the marks of each style, svg_labels.go draws guides and names, and svg_canvas.go or gonum's vgimg takes the strokes.
//   - Text (text*.go) draws in a terminal: lines, points and intervals in braille, which has eight dots per cell, forests and heat maps as lines of
//     text. Nothing is wider than the page, and no text of a figure can control the terminal. Without UTF-8 everything is ASCII.
//   - VegaLite (vega*.go) writes a specification for Vega-Lite.
//
// AxisScale maps values to positions along an axis and chooses the ticks, so a picture in a file and one in a terminal have the same.
package chart

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// Kind is what a chart shows.
type Kind string

const (
	ECDF    Kind = "ecdf"    // the share of samples up to a value, a line for each run or point
	Runs    Kind = "runs"    // samples in the order in which they were taken
	History Kind = "history" // values over sessions, with the levels between changes
	Forest  Kind = "forest"  // estimates with their intervals, a row for each point
	Scatter Kind = "scatter" // one value against another one
	Heatmap Kind = "heatmap" // a value over two axes of the sweep
	Lines   Kind = "lines"   // a value over one axis of the sweep, a line for each value of another one
	Pareto  Kind = "pareto"  // two metrics, with the points that no other point beats in both

	Telemetry Kind = "telemetry" // readings of a device over the time of a run, a panel for each metric, one above the other
	Flame     Kind = "flame"     // stacks of a profile: a frame lies below the one that called it, as wide as its share of the samples
)

// Figure is a chart. Panels are small multiples: each has the axes of the figure, and marks of its own; a figure with panels has no
// series itself.
type Figure struct {
	Kind   Kind
	Title  string   // what is shown, in a line
	Notes  []string // sentences below: how often was measured, what was left out or put together
	X, Y   Axis
	Values Axis // of the colours of a heat map
	Series []Series
	Guides []Guide
	Panels []Panel
}

// Panel is one of small multiples.
type Panel struct {
	Title  string
	Series []Series
	Guides []Guide
	Linear bool  // its own y axis is linear, where those of other panels are logarithmic
	Y      *Axis // in place of the figure's, whose Own is set: panels of different metrics
}

func (p Panel) title() string { return p.Title }

// Scale is how values are placed along an axis.
type Scale string

const (
	Linear     Scale = ""
	Log        Scale = "log"
	Categories Scale = "categories" // values are places in Axis.Categories, from 0
	Time       Scale = "time"       // values are seconds since 1970 in UTC
)

// Axis is what lies along one side of a figure.
type Axis struct {
	Label      string // in the words of tables, as "batch_size" or "latency"
	Unit       string // the stored unit of the values, as "ns" or "B", or of a rate, as "items/s"; empty: a bare number
	Scale      Scale
	Categories []string
	Measured   []float64 // the only values that have ticks, ascending; none: round values have
	Low, High  float64   // range that the axis shows at least; both 0: the range of the marks
	Own        bool      // each panel has its own range, to show changes, not sizes; it spans at least a tenth of its values
	Whole      bool      // the values are counts, so ticks are integers
	Better     Better
}

// Better says which way values are better.
type Better string

const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// after appends the better direction to a text, if there is one.
func (b Better) after(text string) string {
	if b == "" {
		return text
	}
	return strings.TrimPrefix(text+", "+string(b)+" is better", ", ")
}

// Series are marks that belong together: a run, a point, or a value of an axis. Marks lie in drawing order.
type Series struct {
	Name  string // for the legend; empty: not in it
	Style Style
	Tone  Tone
	Marks []Mark
}

// ToneOf returns the tone of a mark of the series.
func (s Series) ToneOf(m Mark) Tone { return cmp.Or(m.Tone, s.Tone) }

// Style is how marks are drawn.
type Style string

const (
	Points    Style = "points"
	Line      Style = "line"      // from mark to mark; a mark without a number ends it, and another one begins
	Steps     Style = "steps"     // as a line that goes along first, then up: an ECDF
	Intervals Style = "intervals" // from Low to High, with a point at the value
	Band      Style = "band"      // the area between Low and High
	Bars      Style = "bars"      // from zero to the value; the bars of several series are side by side
	Cells     Style = "cells"     // of a heat map
	Frames    Style = "frames"    // of a flame graph: from Low to High along x, with its label within
)

// Tone is what a mark says, beside its place. Every tone has a shape or a word of its own, so that nothing depends on colours.
type Tone string

const (
	Plain     Tone = ""          // of a series, by its place
	Neutral   Tone = "neutral"   // not decided, or beside what matters
	Unchanged Tone = "unchanged" // decided: neither worse nor better
	Regressed Tone = "regressed" // worse
	Improved  Tone = "improved"  // better
	Warned    Tone = "warned"
	Failed    Tone = "failed" // no value: a gap that is marked
)

// toneLook is how the marks of a tone look, in each kind of picture, and what a legend says of them.
type toneLook struct {
	tone        Tone
	shape       shape  // in SVG and PNG
	pictured    string // in their legends
	text        rune   // in a terminal
	ascii       rune
	color, word string // in a terminal, and in the rows of forests
	vegaColor   string
	vegaShape   string
}

// toneLooks are the looks in the order of legends.
var toneLooks = []toneLook{
	{Regressed, diamond, "worse", '✗', 'R', term.Red, "regressed", "#D55E00", "triangle-up"},
	{Improved, disc, "better", '✓', 'I', term.Green, "improved", "#0072B2", "triangle-down"},
	{Neutral, ring, "inconclusive", '○', 'o', "", "inconclusive", "#777777", "circle"},
	{Unchanged, square, "unchanged", '=', '=', "", "unchanged", "#777777", "square"},
	{Warned, triangle, "with a warning", '!', '!', "\x1b[38;5;172m", "with a warning", "#E69F00", "diamond"},
	{Failed, cross, "failed: no value", '⊘', 'F', term.Red, "failed: no value", "#D55E00", "cross"},
}

// lookOf returns the look of a tone; that of Plain is empty, because a plain mark looks like its series.
func lookOf(t Tone) toneLook {
	if i := slices.IndexFunc(toneLooks, func(l toneLook) bool { return l.tone == t }); i >= 0 {
		return toneLooks[i]
	}
	return toneLook{}
}

// Mark is a value that is drawn. Numbers are in the unit of their axis, as stored. NaN is not known.
type Mark struct {
	X, Y      float64
	Low, High float64 // ends of an interval: along X in a forest and a flame graph, else along Y; NaN: none
	Value     float64 // of a cell
	Tone      Tone    // in place of the series'
	Count     int     // how many values it combines; 0: one
	Word      string  // the verdict or the state, as tables have it: "inconclusive"; empty: what the tone says
	Run       string  // id of the run it is of; empty: of several
	Point     string  // id of the point it is of; empty: of several. A page shows what is of one run or point together
	Label     string  // a few words or a number, written beside it where there is room: in a forest at the end of its row
	Interval  string  // of a forest, from Low to High in words, behind the label where there is room
	Text      string  // all of it in words, with units: what is read out, and shown when it is pointed at
	Command   string  // shows or reproduces it
}

// Along says how a guide lies.
type Along string

const (
	Vertical   Along = "vertical"   // at At on the x axis, to Until where that is more
	Horizontal Along = "horizontal" // at At on the y axis
	Diagonal   Along = "diagonal"   // y = x
)

// Guide is a line, or an area, that values are read against: no change, the margin within which there is none, a release.
type Guide struct {
	Along     Along
	At, Until float64
	Text      string
	Short     string // in place of the text, where that has no room
	Noted     bool   // a note has the text and the place, so other names come first
}

// Within tells whether a line lies within an area whose text says enough for both.
func (g Guide) Within(all []Guide) bool {
	return g.Until <= g.At && slices.ContainsFunc(all, func(area Guide) bool {
		return area.Along == g.Along && area.At <= g.At && g.At <= area.Until && area.Until > area.At && area.Text != ""
	})
}

// Unknown returns a number that is not known.
func Unknown() float64 { return math.NaN() }

// MaxMarks is how many marks a figure may have, over all series: more are put together before, by whoever makes the figure.
const MaxMarks = 2000

// All iterates over the marks of a panel, each with its series.
func (p Panel) All() iter.Seq2[Series, Mark] {
	return func(yield func(Series, Mark) bool) {
		for _, s := range p.Series {
			for _, m := range s.Marks {
				if !yield(s, m) {
					return
				}
			}
		}
	}
}

// All iterates over the marks of all parts of a figure, each with its series.
func (f *Figure) All() iter.Seq2[Series, Mark] {
	return func(yield func(Series, Mark) bool) {
		for _, p := range f.Parts() {
			for s, m := range p.All() {
				if !yield(s, m) {
					return
				}
			}
		}
	}
}

// Marks returns the number of marks of a figure.
func (f *Figure) Marks() (n int) {
	for range f.All() {
		n++
	}
	return n
}

// YOf returns the y axis of a panel. One of its own is logarithmic only where all of its values have a place on it.
func (f *Figure) YOf(p Panel) Axis {
	a := f.Y
	if p.Y != nil {
		a = *p.Y
	}
	if !a.Own || a.Scale != Log {
		return a
	}
	linear := p.Linear
	for s, m := range p.All() {
		ends := s.Style == Intervals || s.Style == Band
		linear = linear || m.Y <= 0 || ends && (m.Low <= 0 || m.High <= 0)
	}
	if linear {
		a.Scale = Linear
	}
	return a
}

// Words returns what marks of a tone say, each once, in alphabetical order. What one mark says at once stands between commas.
func (f *Figure) Words(t Tone) []string {
	var all []string
	for s, m := range f.All() {
		if m.Word != "" && s.ToneOf(m) == t {
			all = append(all, strings.Split(m.Word, ", ")...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Explained returns what a legend says of a tone: its words, of so many that there is room for them, or else what it means.
func (f *Figure) Explained(t Tone, meaning string) string {
	const most = 4
	words := f.Words(t)
	if len(words) > most {
		words = append(words[:most:most], "…")
	}
	text := strings.Join(words, ", ")
	switch {
	case text == "":
		return meaning
	case t == Warned && f.Kind != History && !f.toned(t) || f.Kind == Runs && t == Warned:
		return meaning + ": " + text
	}
	return text
}

// toned tells whether a whole series has a tone, which its words explain then.
func (f *Figure) toned(t Tone) bool {
	return slices.ContainsFunc(f.Parts(), func(p Panel) bool {
		return slices.ContainsFunc(p.Series, func(s Series) bool { return s.Tone == t })
	})
}

// alongX reports whether the intervals of marks lie along the x axis.
func (f *Figure) alongX() bool { return f.Kind == Forest || f.Kind == Flame }

// slots returns the names of the series of bars, in the order in which these stand side by side.
func (f *Figure) slots() (names []string) {
	for _, part := range f.Parts() {
		for _, s := range part.Series {
			if s.Style == Bars && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// Parts returns the panels, or the figure itself as the only one.
func (f *Figure) Parts() []Panel {
	if len(f.Panels) > 0 {
		return f.Panels
	}
	return []Panel{{Series: f.Series, Guides: f.Guides}}
}
