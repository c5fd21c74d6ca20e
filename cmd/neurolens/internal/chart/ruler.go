package chart

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// ruler is a horizontal axis of so many columns, with the texts of its ticks below: as many as there is room for, of categories cut
// to what they have.
func (p textPen) ruler(columns int, s AxisScale, axis Axis) (rule []string, names string) {
	rule = slices.Repeat([]string{p.either("─", "-")}, columns)
	row := slices.Repeat([]string{" "}, columns)
	named := axis.Scale == Categories
	ticks := p.rulerTicks(columns, s, axis)
	texts := make([]string, len(ticks))
	for i, t := range ticks {
		texts[i] = p.text(t.Text)
		if named {
			texts[i] = t.Text
		}
	}
	if named {
		room := columns / max(min(len(ticks), columns/8), 1)
		texts = p.labels(texts, max(room-1, 7))
	}
	for i, t := range ticks {
		p.tick(rule, row, s, Tick{At: t.At, Text: texts[i]})
	}
	return rule, strings.TrimRight(strings.Join(row, ""), " ")
}

// rulerTicks are ticks in the order in which they get room: what values are read against comes first, which is 1 for ratios on a log
// axis, where a tick below it and one above it tell better from worse.
func (p textPen) rulerTicks(columns int, s AxisScale, axis Axis) []Tick {
	const maxRatios = 9
	most, against := max(columns/11, 3), 0.
	ratios := axis.Scale == Log && axis.Unit == "" && s.Low < 1 && s.High > 1
	if ratios {
		most, against = max(most, maxRatios), 1
	}
	ticks := s.Ticks(most)
	if ratios && !slices.ContainsFunc(ticks, func(t Tick) bool { return t.At == against }) {
		ticks = append(ticks, Tick{At: against, Text: "1"})
	}
	if axis.Scale == Categories {
		return ticks
	}
	slices.SortStableFunc(ticks, func(a, b Tick) int {
		switch {
		case a.At == against && b.At != against:
			return -1
		case b.At == against && a.At != against:
			return 1
		}
		return 0
	})
	return ticks
}

// tick marks a value on a ruler, where there is room for its text.
func (p textPen) tick(rule, row []string, s AxisScale, t Tick) {
	share, ok := s.Place(t.At)
	wide := term.Width(t.Text)
	if !ok || share < 0 || share > 1 || wide == 0 || wide > len(row) {
		return
	}
	dots := 1
	if !p.ASCII {
		dots = 2
	}
	column := dotAt(share, len(row)*dots) / dots
	from := min(max(column-wide/2, 0), len(row)-wide)
	for i := max(from-1, 0); i < min(from+wide+1, len(row)); i++ {
		if row[i] != " " {
			return
		}
	}
	rule[column] = p.either("┬", "+")
	row[from] = t.Text
	for i := from + 1; i < from+wide; i++ {
		row[i] = "" // of the text
	}
}
