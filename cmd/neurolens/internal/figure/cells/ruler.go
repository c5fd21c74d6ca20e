package cells

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/figure/scale"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
)

// ruler is a horizontal axis of so many columns, with the texts of its ticks below: as many as there is room for, of categories cut
// to what they have.
func (p pen) ruler(columns int, s scale.Scale, named bool) (rule []string, names string) {
	rule = slices.Repeat([]string{p.either("─", "-")}, columns)
	row := slices.Repeat([]string{" "}, columns)
	ticks := s.Ticks(max(columns/11, 3))
	slices.SortStableFunc(ticks, func(a, b scale.Tick) int { // what values are read against comes first
		switch {
		case a.At == 0 && b.At != 0 && !named:
			return -1
		case b.At == 0 && a.At != 0 && !named:
			return 1
		}
		return 0
	})
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
		p.tick(rule, row, s, scale.Tick{At: t.At, Text: texts[i]})
	}
	return rule, strings.TrimRight(strings.Join(row, ""), " ")
}

// tick marks a value on a ruler, where there is room for its text.
func (p pen) tick(rule, row []string, s scale.Scale, t scale.Tick) {
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
