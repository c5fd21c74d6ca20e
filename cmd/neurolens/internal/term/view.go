package term

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Unknown is the text of unknown values.
const Unknown = "–"

// View is a result for people: lines above, a table, lines below, commands to copy, and commands to type next.
type View struct {
	Above    []string
	Columns  []Column
	Rows     [][]Cell
	Below    []string
	Commands []string    // lines that are never broken
	Next     []string    // commands to type next, never broken either; Markdown, which others read, leaves them out
	Compact  func() View // the same in fewer columns, for where this is too wide; may be nil
	Points   []string    // the id of what each row is of, for rows that would look the same; may be nil

	least []int // the widths that the texts of columns have on earlier pages
}

// Column is a column of a view. Where the table is too wide, the column with the largest drop goes first; 0 stays.
type Column struct {
	Header string
	Right  bool // its texts end below one another, as numbers do
	Drop   int
	Whole  bool // the header is not cut while the view has a Compact one
	Fixed  bool // nothing is cut
}

// Cell is a text of a table.
type Cell struct {
	Text   string
	Failed bool // a failure or a regression: red where there is colour
	Won    bool // an improvement: green
}

// Cells returns cells with texts.
func Cells(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, text := range texts {
		cells[i].Text = text
	}
	return cells
}

// Gap separates two columns, and a word from its explanation.
const Gap = "  "

// Colours of what follows, until Plain.
const (
	Red   = "\x1b[31m"
	Green = "\x1b[32m"
	Cyan  = "\x1b[36m"
	Plain = "\x1b[0m"
)

// Page is the medium that a view is printed on.
type Page struct {
	Width int
	Color bool
	Whole bool // no text of a table is cut, unless it is longer than ShortNames allows: a row may be longer than Width
}

// Render writes the view on a page. No row is broken: columns go in their order, then the longest texts are cut, unless
// the page has them whole. Where there is no room for the numbers either, rows stack: a line for each column.
func (v View) Render(w io.Writer, page Page) {
	if v.Compact != nil && !v.Fits(page) {
		v = v.Compact()
	}
	v.renderAbove(w, page)
	if len(v.Rows) > 0 {
		header, rows, stacked := v.table(page)
		if !stacked {
			fmt.Fprintln(w, header)
		}
		for _, row := range rows {
			fmt.Fprintln(w, row)
		}
	}
	v.renderBelow(w, page, len(v.Rows) > 0)
}

// renderAbove writes the lines above, and an empty one if a table follows.
func (v View) renderAbove(w io.Writer, page Page) {
	for _, line := range v.Above {
		for _, part := range Wrapped(line, page.Width) {
			fmt.Fprintln(w, part)
		}
	}
	if len(v.Rows) > 0 && len(v.Above) > 0 {
		fmt.Fprintln(w)
	}
}

// renderBelow writes the lines below, after an empty one if a table was written, and the commands.
func (v View) renderBelow(w io.Writer, page Page, table bool) {
	if table && len(v.Below)+len(v.Next) > 0 {
		fmt.Fprintln(w)
	}
	for _, line := range v.Below {
		for _, part := range Wrapped(line, page.Width) {
			fmt.Fprintln(w, part)
		}
	}
	for _, line := range slices.Concat(v.Commands, v.Next) {
		fmt.Fprintln(w, OneLine(line))
	}
}

// atLeast returns the view with these minimum widths of its columns, if it has as many columns.
func (v View) atLeast(texts []int) View {
	if len(texts) == len(v.Columns) {
		v.least = texts
	}
	return v
}

// withShortNames returns the view with the texts of its table as ShortNames returns them.
func (v View) withShortNames() View {
	rows := make([][]Cell, len(v.Rows))
	for i, row := range v.Rows {
		rows[i] = slices.Clone(row)
	}
	for c, column := range v.Columns {
		if column.Fixed {
			continue
		}
		for i, text := range ShortNames(v.texts(c)) {
			rows[i][c].Text = text
		}
	}
	v.Rows = rows
	return v
}

// table returns the header and the rows of the table; stacked: the lines of its rows one below the other.
func (v View) table(page Page) (header string, rows []string, stacked bool) {
	if page.Whole {
		v = v.withShortNames()
	}
	t := v.distinct(page)
	if !page.Whole && !t.readable(page.Width) {
		return "", v.stack(page), true
	}
	header = strings.TrimRight(strings.Join(t.header, Gap), " ")
	for n, line := range t.rows {
		for i, c := range t.shown {
			line[i] = t.view.Rows[n][c].colored(line[i], page)
		}
		rows = append(rows, strings.TrimRight(strings.Join(line, Gap), " "))
	}
	return header, rows, false
}

// readable reports whether a page has room for the columns side by side: for the numbers, which are not cut, and on a narrow page for
// enough of each name.
func (t laid) readable(width int) bool {
	const narrow, enough = 60, 8 // columns of the terminal
	total := -len(Gap)
	for i, c := range t.shown {
		room := ansi.StringWidth(t.header[i])
		total += room + len(Gap)
		if width < narrow && room < min(enough, widest(t.view.texts(c))) {
			return false
		}
	}
	return total <= width
}

// stack returns the rows one below the other, with a line for each column.
func (v View) stack(page Page) (lines []string) {
	v = v.distinct(Page{Width: page.Width, Whole: true}).view
	headers := 0
	for _, c := range v.Columns {
		headers = max(headers, ansi.StringWidth(OneLine(c.Header)))
	}
	for n, row := range v.Rows {
		if n > 0 {
			lines = append(lines, "")
		}
		for c, cell := range row {
			if cell.Text == "" {
				continue
			}
			for _, line := range Wrapped(Pad(OneLine(v.Columns[c].Header), headers, false)+Gap+cell.Text, page.Width) {
				lines = append(lines, cell.colored(line, page))
			}
		}
	}
	return lines
}

// colored returns a text in the colour of a cell.
func (c Cell) colored(text string, page Page) string {
	switch {
	case c.Failed && page.Color:
		return Red + text + Plain
	case c.Won && page.Color:
		return Green + text + Plain
	}
	return text
}

// Leading returns a view with the first columns alone, where not all can be read in a terminal of so many columns, and how many
// are left out.
func (v View) Leading(width int) (first View, left int) {
	const readable = 12 // columns of the terminal, of a text that is cut
	_, _, widths := v.measure()
	n, total := 0, -len(Gap)
	for ; n < len(widths); n++ {
		own := min(widths[n], readable)
		if v.Columns[n].Right { // which is not cut
			own = widths[n]
		}
		if total += len(Gap) + own; total > width && n > 0 {
			break
		}
	}
	if n == len(v.Columns) {
		return v, 0
	}
	first = View{Columns: v.Columns[:n], Above: v.Above, Below: slices.Clone(v.Below), Commands: v.Commands, Next: v.Next}
	for _, row := range v.Rows {
		first.Rows = append(first.Rows, row[:n])
	}
	return first, len(v.Columns) - n
}

// WithoutUnknown returns the view without the columns of some headers that are unknown in every row.
func (v View) WithoutUnknown(headers ...string) View {
	var kept []int
	for c := range v.Columns {
		known := func(row []Cell) bool { return row[c].Text != Unknown }
		if !slices.Contains(headers, v.Columns[c].Header) || slices.ContainsFunc(v.Rows, known) {
			kept = append(kept, c)
		}
	}
	columns, rows := v.Columns, v.Rows
	v.Columns, v.Rows = nil, nil
	for _, c := range kept {
		v.Columns = append(v.Columns, columns[c])
	}
	for _, row := range rows {
		var cells []Cell
		for _, c := range kept {
			cells = append(cells, row[c])
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

// ShowsLast reports whether a page has room for the last column.
func (v View) ShowsLast(page Page) bool {
	shown, _, _ := v.fit(page)
	return slices.Contains(shown, len(v.Columns)-1)
}

// Fits tells whether a page has room for the texts, of which long ones may be cut as far as they still differ. Columns may be left
// out.
func (v View) Fits(page Page) bool {
	_, _, fits := v.fit(page)
	return fits
}

// fit chooses the columns that are shown and how wide each is. Where the page is too narrow, what is wider than a third of it is
// cut to that, as far as its texts still differ. Columns go in their order, then headers that are wider than what is below them are
// cut. Where that is not enough, texts other than numbers are cut, the widest first, and fits is false.
func (v View) fit(page Page) (shown, widths []int, fits bool) {
	width := page.Width
	shown, texts, widths := v.measure()
	var rooms []int
	if sum(widths) > width && !page.Whole {
		rooms = v.narrow(width, texts, widths)
	}
	total := sum(widths)
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
	wide := map[int]int{}
	numbers := func(c int) int { // the width of the widest
		if _, known := wide[c]; !known && v.Columns[c].Right {
			wide[c] = widest(slices.DeleteFunc(v.texts(c), func(text string) bool { return !isNumber(text) }))
		}
		return wide[c]
	}
	shrink(func(c int) int {
		if v.Columns[c].Whole || v.Columns[c].Fixed {
			return 0
		}
		return widths[c] - max(texts[c], least)
	})
	fits = total <= width
	shrink(func(c int) int {
		if v.Columns[c].Fixed || widths[c] <= numbers(c) {
			return 0
		}
		return widths[c] - least
	})
	for c, room := range rooms {
		if more := min(room-widths[c], width-total); more > 0 && slices.Contains(shown, c) {
			widths[c] += more
			total += more
		}
	}
	return shown, widths, fits
}

// isNumber reports whether a text is a number with its unit, or begins with one, as an interval does.
func isNumber(text string) bool {
	const longest = 24 // columns of the terminal; a hash has more
	digits := strings.TrimLeft(text, "+-−×<.")
	return digits != "" && digits[0] >= '0' && digits[0] <= '9' && ansi.StringWidth(text) <= longest
}

// narrow makes the columns narrower whose texts are wider than a third of so many columns of the terminal, or else than half, and
// can be cut to that without two becoming the same: to what tells them apart. A long name would cost columns of values otherwise. It
// gives how wide each may be again where there is room.
func (v View) narrow(width int, texts, widths []int) (rooms []int) {
	const readable = 16 // columns, which a verdict has
	rooms = slices.Clone(widths)
	for c, column := range v.Columns {
		if column.Right || column.Fixed {
			continue
		}
		whole, header := v.texts(c), ansi.StringWidth(OneLine(column.Header))
		least := max(header, readable)
		for _, room := range []int{max(width/3, least), max(width/2, least)} {
			if short := CutApart(whole, room); texts[c] > room && CountDistinct(short) == CountDistinct(whole) {
				rooms[c], texts[c] = min(widths[c], max(width/2, least)), widest(short)
				widths[c] = max(texts[c], header)
				break
			}
		}
	}
	return rooms
}

// sum returns the width of a table of columns of these widths.
func sum(widths []int) int {
	total := -len(Gap)
	for _, w := range widths {
		total += w + len(Gap)
	}
	return total
}

// widest returns the width of the widest text.
func widest(texts []string) int {
	width := 0
	for _, text := range texts {
		width = max(width, ansi.StringWidth(text))
	}
	return width
}

// texts returns the texts of a column, row by row.
func (v View) texts(c int) []string {
	return Texts(v.Rows, func(row []Cell) string { return OneLine(row[c].Text) })
}

// measure gives every column, how wide its texts are, and how wide they are with the header.
func (v View) measure() (columns, texts, widths []int) {
	for i, c := range v.Columns {
		text := widest(v.texts(i))
		if v.least != nil {
			text = max(text, v.least[i])
		}
		columns = append(columns, i)
		texts = append(texts, text)
		widths = append(widths, max(text, ansi.StringWidth(OneLine(c.Header))))
	}
	return columns, texts, widths
}
