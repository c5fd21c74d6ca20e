package chart

import (
	"cmp"
	"fmt"
	"math"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// row is a row of the data of a specification: a mark, or a guide. Numbers are in stored units; one that is not known is absent.
type row struct {
	Part    string   `json:"part"` // mark, or how a guide lies
	Panel   string   `json:"panel,omitempty"`
	Series  string   `json:"series,omitempty"`
	Group   string   `json:"group,omitempty"` // what its colour and shape say: its series, or else its state
	Style   string   `json:"style,omitempty"`
	Place   int      `json:"place"` // of a mark in its series
	X       *float64 `json:"x,omitempty"`
	Y       *float64 `json:"y,omitempty"`
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	Value   *float64 `json:"value,omitempty"`
	Until   *float64 `json:"until,omitempty"`
	XName   string   `json:"x_name,omitempty"`
	YName   string   `json:"y_name,omitempty"`
	Tone    string   `json:"tone,omitempty"`
	Word    string   `json:"word,omitempty"`
	Count   int      `json:"count,omitempty"`
	Run     string   `json:"run,omitempty"`
	Point   string   `json:"point,omitempty"`
	Label   string   `json:"label,omitempty"`
	Text    string   `json:"text,omitempty"`
	Command string   `json:"command,omitempty"`
}

// vegaRowsOf returns the marks and guides of a figure.
func vegaRowsOf(f *Figure) []row {
	xs, ys := distinctNames(f.X.Categories), distinctNames(f.Y.Categories)
	titles := panelTitles(f)
	rows := []row{}
	for i, part := range f.Parts() {
		panel := ""
		if len(titles) > 0 {
			panel = titles[i]
		}
		for _, s := range part.Series {
			for place, m := range s.Marks {
				r := markRow(s, m)
				r.Panel, r.Place, r.XName, r.YName = panel, place, nameAt(xs, m.X), nameAt(ys, m.Y)
				rows = append(rows, r)
			}
		}
		for _, g := range part.Guides {
			r := row{Part: string(g.Along), Panel: panel, Text: g.Text}
			switch g.Along {
			case Vertical:
				r.X = vegaNumber(g.At)
			case Horizontal:
				r.Y = vegaNumber(g.At)
			}
			if g.Within(part.Guides) { // the text of the area says it
				r.Text = ""
			}
			if r.Until = vegaNumber(g.Until); g.Until <= g.At || g.Along == Diagonal {
				r.Until = nil
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// panelTitles returns the titles of the panels, made distinct.
func panelTitles(f *Figure) []string { return distinctNames(term.Texts(f.Panels, Panel.title)) }

func markRow(s Series, m Mark) row {
	tone := s.ToneOf(m)
	r := row{
		Part: "mark", Series: s.Name, Group: cmp.Or(s.Name, m.Word, string(tone)), Style: string(s.Style), X: vegaNumber(m.X), Y: vegaNumber(m.Y), Low: vegaNumber(m.Low), High: vegaNumber(m.High),
		Tone: string(tone), Word: m.Word, Count: m.Count, Run: m.Run, Point: m.Point, Label: m.Label, Text: m.Text, Command: m.Command,
	}
	switch s.Style { // a field that the style does not have is 0 in a mark
	case Cells:
		r.Value, r.Low, r.High = vegaNumber(m.Value), nil, nil
	case Intervals, Band, Frames:
	case Bars, Line:
		if !hasInterval(s.Style, m) {
			r.Low, r.High = nil, nil
		}
	default:
		r.Low, r.High = nil, nil
	}
	return r
}

// vegaNumber returns a number that JSON can represent, or nil.
func vegaNumber(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// nameAt returns the category of a value.
func nameAt(names []string, v float64) string {
	if i := int(math.Round(v)); v >= -.5 && v < float64(len(names)) && i < len(names) {
		return names[max(i, 0)]
	}
	return ""
}

// distinctNames makes names distinct, because Vega-Lite puts equal ones into one place.
func distinctNames(names []string) []string {
	seen := map[string]bool{}
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = name
		for n := 2; seen[all[i]] || all[i] == ""; n++ {
			all[i] = fmt.Sprintf("%s (%d)", name, n)
		}
		seen[all[i]] = true
	}
	return all
}
