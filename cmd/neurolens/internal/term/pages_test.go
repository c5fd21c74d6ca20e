package term

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestWideTable: a table of far more columns than there is room for shows the first, whole enough to be read, and counts the
// others; one that fits when its texts are cut shows all.
func TestWideTable(t *testing.T) {
	t.Parallel()
	table := answer.Table{Rows: [][]any{{}}}
	for i := range 84 {
		table.Columns = append(table.Columns, answer.Column{Name: fmt.Sprintf("column_%d", i), Type: answer.TypeText})
		table.Rows[0] = append(table.Rows[0], "value_of_a_column")
	}
	var out strings.Builder
	TableView(table, Page{Width: 80}).Render(&out, Page{Width: 80})
	if want := "79 more columns left out"; !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "value_o") {
		t.Errorf("want %q in\n%s", want, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if ansi.StringWidth(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("%q is wider than 80", line)
		}
	}
	few := answer.Table{Columns: table.Columns[:5], Rows: [][]any{table.Rows[0][:5]}}
	out.Reset()
	TableView(few, Page{Width: 80}).Render(&out, Page{Width: 80})
	if strings.Contains(out.String(), "left out") || !strings.Contains(out.String(), "column_4") {
		t.Errorf("five columns fit:\n%s", out.String())
	}
}

// TestCSVCells: a record is what package encoding/csv writes of the texts of its cells.
func TestCSVCells(t *testing.T) {
	t.Parallel()
	row := []any{
		nil, "", "a", "a,b", `a"b"`, "a\nb", "a\rb", " a", "\u00a0a", `\.`, `\.x`, "\u00e9", "\xff", "=1", "-1", true, int64(-3), 0., math.Copysign(0, -1), 1.5, 1e-9, 1e21,
		math.NaN(), math.Inf(-1), time.UnixMicro(1).UTC(),
		[]any{},
		[]any{"a", nil, 1.5},
		[]float64{},
		[]float64{1.5, 0, math.Copysign(0, -1), -2e22},
		[]float64{1.5, math.NaN(), math.Inf(-1)},
		[]any{`"`},
		map[string]any{"b": int64(1), "a": "x"},
		map[string]any{},
		[]any(nil),
	}
	for _, p := range []Printer{{}, {CSVRaw: true}, {Terminal: true}} {
		var got, want bytes.Buffer
		p.Out = &got
		w := p.Pages(FormatCSV)
		out := csv.NewWriter(&want)
		table := answer.Table{Columns: make([]answer.Column, len(row)), Rows: [][]any{row, {"x"}, {""}}}
		for i := range table.Columns {
			table.Columns[i].Name = "column, " + strconv.Itoa(i)
		}
		texts := func(cells []any) (all []string) {
			for _, v := range cells {
				text := ValueString(v)
				if s, isText := v.(string); isText && !p.CSVRaw {
					text = csvText(s)
				}
				if p.Terminal {
					text = Escaped(text, IsControl)
				}
				all = append(all, text)
			}
			return all
		}
		header := make([]any, len(row))
		for i, name := range names(table) {
			header[i] = name
		}
		for _, cells := range append([][]any{header}, table.Rows...) {
			ok(t, out.Write(texts(cells)))
		}
		out.Flush()
		if err := w.Page(table); err != nil || got.String() != want.String() {
			t.Errorf("%+v, %v:\n%s\nwant\n%s", p, err, got.String(), want.String())
		}
	}
}

// TestTables: the rows of a page are written before the next one is known. The header stands again only where its columns, their widths, or
// the lines above it are other ones.
func TestTables(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	w := Printer{Out: &b, Page: Page{Width: 40}}.Tables()
	view := func(above, below string, texts ...string) View {
		v := View{Above: []string{above}, Columns: []Column{{Header: "N", Right: true}, {Header: "NAME"}}, Below: []string{below}}
		for i, text := range texts {
			v.Rows = append(v.Rows, Cells(strconv.Itoa(i), text))
		}
		return v
	}
	var got []string
	for _, v := range []View{view("of all", "2 rows", "long name", "b"), view("of all", "3 rows", "short"), view("of some", "4 rows", "x"), view("of some", "5 rows", "a much longer name")} {
		b.Reset()
		valuetest.OK(t, w.Page(v))
		got = append(got, b.String())
	}
	b.Reset()
	valuetest.OK(t, w.End())
	got = append(got, b.String())
	want := []string{
		"of all\n\nN  NAME\n0  long name\n1  b\n", "0  short\n", "\nof some\n\nN  NAME\n0  x\n", "0  a much longer name\n", "\n5 rows\n",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	b.Reset()
	v := view("of all", "2 rows", "1", "2")
	v.Columns[1].Right = true
	w = Printer{Out: &b, Page: Page{Width: 40}}.Tables()
	valuetest.OK(t, w.Page(v))
	v.Rows[0][1].Text = "12,345"
	valuetest.OK(t, w.Page(v))
	valuetest.Equal(t, b.String(), "of all\n\nN  NAME\n0     1\n1     2\n\nof all\n\nN    NAME\n0  12,345\n1       2\n", "a wider value")
	b.Reset()
	w = Printer{Out: &b, Page: Page{Width: 40}}.Tables()
	valuetest.OK(t, w.Page(View{Below: []string{"no runs"}}))
	valuetest.OK(t, w.End())
	valuetest.Equal(t, b.String(), "no runs\n", "nothing")
}
