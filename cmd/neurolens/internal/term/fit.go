package term

import (
	"slices"

	"github.com/charmbracelet/x/ansi"
)

// Leading is a view with the first columns alone, where not all can be read in a terminal of so many columns, and how many
// are left out.
func (v View) Leading(width int) (first View, left int) {
	const readable = 12 // columns of the terminal, of a text that is cut
	_, _, widths := v.measure()
	n, total := 0, -len(Gap)
	for ; n < len(widths); n++ {
		if total += len(Gap) + min(widths[n], readable); total > width && n > 0 {
			break
		}
	}
	if n == len(v.Columns) {
		return v, 0
	}
	first = View{Columns: v.Columns[:n], Above: v.Above, Below: slices.Clone(v.Below), Commands: v.Commands}
	for _, row := range v.Rows {
		first.Rows = append(first.Rows, row[:n])
	}
	return first, len(v.Columns) - n
}

// ShowsLast tells whether the last column is shown in a terminal of so many columns.
func (v View) ShowsLast(width int) bool {
	shown, _, _ := v.fit(width)
	return slices.Contains(shown, len(v.Columns)-1)
}

// Fits tells whether no text is cut in a terminal of so many columns, though columns may be left out.
func (v View) Fits(width int) bool {
	_, _, fits := v.fit(width)
	return fits
}

// fit chooses the columns that are shown and how wide each is. Columns go in their order, then headers that are wider
// than what is below them are cut. Where that is not enough, texts are cut, the widest first, and fits is false.
func (v View) fit(width int) (shown, widths []int, fits bool) {
	shown, texts, widths := v.measure()
	total := -len(Gap)
	for _, w := range widths {
		total += w + len(Gap)
	}
	for total > width {
		first := slices.MaxFunc(shown, func(a, b int) int { return v.Columns[a].Drop - v.Columns[b].Drop })
		if v.Columns[first].Drop == 0 {
			break
		}
		shown = slices.DeleteFunc(shown, func(c int) bool { return c == first })
		total -= widths[first] + len(Gap)
	}
	shrink := func(room func(c int) int) {
		for total > width {
			widest := slices.MaxFunc(shown, func(a, b int) int { return room(a) - room(b) })
			if room(widest) <= 0 {
				return
			}
			widths[widest]--
			total--
		}
	}
	const least = 4 // columns, to be read at all
	shrink(func(c int) int {
		if v.Columns[c].Whole || v.Columns[c].Fixed {
			return 0
		}
		return widths[c] - max(texts[c], least)
	})
	fits = total <= width
	shrink(func(c int) int {
		if v.Columns[c].Fixed {
			return 0
		}
		return widths[c] - least
	})
	return shown, widths, fits
}

// measure gives every column, how wide its texts are, and how wide they are with the header.
func (v View) measure() (columns, texts, widths []int) {
	for i, c := range v.Columns {
		text := 0
		for _, row := range v.Rows {
			text = max(text, ansi.StringWidth(OneLine(row[i].Text)))
		}
		columns = append(columns, i)
		texts = append(texts, text)
		widths = append(widths, max(text, ansi.StringWidth(OneLine(c.Header))))
	}
	return columns, texts, widths
}
