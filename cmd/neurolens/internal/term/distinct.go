package term

import (
	"slices"
	"strconv"
	"strings"
)

// laid is a table as it is printed on a page: padded texts of the columns that are shown.
type laid struct {
	view   View
	shown  []int // columns of the view
	header []string
	rows   [][]string
	lost   bool // names that differ look the same
	marked bool // a column tells every row from the others
}

// lay fits the table of a view into a page.
func (v View) lay(page Page) laid {
	shown, widths, _ := v.fit(page)
	if page.Whole {
		_, _, widths = v.measure()
	}
	t := laid{view: v, shown: shown, rows: make([][]string, len(v.Rows))}
	for _, c := range shown {
		column := v.Columns[c]
		t.header = append(t.header, Pad(Cut(column.Header, widths[c]), widths[c], column.Right))
		short := v.cutColumn(c, widths[c])
		for n, text := range short {
			t.rows[n] = append(t.rows[n], Pad(text, widths[c], column.Right))
		}
		if !column.Right || column.Fixed {
			different := distinct(short)
			t.lost = t.lost || different < distinct(v.texts(c))
			t.marked = t.marked || different == len(v.Rows)
		}
	}
	return t
}

// distinct fits the table into a page so that no two rows look the same that are not: where cuts and columns that were left out
// make them so, a column says which point each is, or else its number.
func (v View) distinct(page Page) laid {
	const enough = 8 // characters of a point's id
	t := v.lay(page)
	if !t.ambiguous() {
		return t
	}
	if len(v.Points) == len(v.Rows) {
		ids := make([]string, len(v.Rows))
		for i, id := range v.Points {
			ids[i] = id[:min(len(id), enough)]
		}
		if marked := v.behind(Column{Header: "POINT", Fixed: true}, ids).lay(page); !marked.ambiguous() {
			return marked
		}
	}
	numbers := make([]string, len(v.Rows))
	for i := range numbers {
		numbers[i] = strconv.Itoa(i + 1)
	}
	return v.behind(Column{Header: "#", Right: true, Fixed: true}, numbers).lay(page)
}

// behind is the view with its columns behind another one.
func (v View) behind(first Column, texts []string) View {
	v.Columns = append([]Column{first}, v.Columns...)
	rows := make([][]Cell, len(v.Rows))
	for i, row := range v.Rows {
		rows[i] = append([]Cell{{Text: texts[i]}}, row...)
	}
	v.Rows = rows
	return v
}

// ambiguous tells whether rows look the same that are not, or points do, although their values differ.
func (t laid) ambiguous() bool {
	if t.lost && !t.marked && len(t.view.Points) == len(t.view.Rows) {
		return true
	}
	first := make(map[string]int, len(t.rows))
	for n, row := range t.rows {
		look := strings.Join(row, Gap)
		other, seen := first[look]
		if seen && t.view.differ(other, n) {
			return true
		}
		first[look] = n
	}
	return false
}

// differ tells whether two rows are not of the same, or do not say the same.
func (v View) differ(a, b int) bool {
	if len(v.Points) == len(v.Rows) && v.Points[a] != v.Points[b] {
		return true
	}
	return !slices.Equal(v.Rows[a], v.Rows[b])
}

// CountDistinct is the number of different texts.
func CountDistinct(texts []string) int {
	seen := map[string]bool{}
	for _, text := range texts {
		seen[text] = true
	}
	return len(seen)
}
