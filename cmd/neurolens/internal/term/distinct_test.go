package term

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestNoTwoRowsLookTheSame: whatever the texts are and however narrow the page is, rows that differ look different, and those that
// say the same of two points too.
func TestNoTwoRowsLookTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"test_matmul", "[float32-", "1024]", "/", "ä", "x", "  ", "batch=16"}
	for range 500 {
		v := View{Columns: make([]Column, 1+random.IntN(5))}
		for i := range v.Columns {
			v.Columns[i] = Column{Header: strings.Repeat("H", random.IntN(9)), Right: random.IntN(2) == 0, Drop: random.IntN(3)}
		}
		for range 2 + random.IntN(8) {
			row := make([]Cell, len(v.Columns))
			for i := range row {
				for range random.IntN(12) {
					row[i].Text += words[random.IntN(len(words))]
				}
			}
			v.Rows = append(v.Rows, row, slices.Clone(row))
			v.Rows[len(v.Rows)-1][0].Text += "x"
		}
		if random.IntN(2) == 0 {
			for range v.Rows {
				v.Points = append(v.Points, fmt.Sprintf("%08x%08x", random.IntN(3), random.Uint32()))
			}
		}
		page := Page{Width: 20 + random.IntN(100), Whole: random.IntN(4) == 0}
		var b bytes.Buffer
		v.Render(&b, page)
		if _, _, stacked := v.table(page); stacked { // nothing is cut: see TestRowsStack
			continue
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")[1:]
		if len(lines) != len(v.Rows) {
			t.Fatalf("%d rows of %d:\n%s", len(lines), len(v.Rows), b.String())
		}
		for i := range lines {
			for k := range i {
				if lines[i] == lines[k] && v.differ(i, k) {
					t.Fatalf("rows %d and %d of a page %d wide look the same:\n%s", k, i, page.Width, b.String())
				}
			}
		}
	}
}

// TestPointOfARow: rows that look the same say which points they are, and rows of one point, or that can be told apart, do not.
func TestPointOfARow(t *testing.T) {
	v := View{
		Columns: []Column{{Header: "NAME"}, {Header: "MEDIAN", Right: true}},
		Rows:    [][]Cell{{{Text: "sort"}, {Text: "1.00 ms"}}, {{Text: "sort"}, {Text: "1.00 ms"}}},
	}
	for points, want := range map[string]string{
		"0123456789 fedcba9876": "POINT     NAME   MEDIAN\n01234567  sort  1.00 ms\nfedcba98  sort  1.00 ms\n",
		"0123456789 0123456789": "NAME   MEDIAN\nsort  1.00 ms\nsort  1.00 ms\n",
		"012345678a 012345678b": "#  NAME   MEDIAN\n1  sort  1.00 ms\n2  sort  1.00 ms\n",
	} {
		v.Points = strings.Fields(points)
		var b bytes.Buffer
		v.Render(&b, Page{Width: 80})
		if b.String() != want {
			t.Errorf("%s:\n%swant\n%s", points, b.String(), want)
		}
	}
}

// TestPointsAreToldApart: names of points that look the same when cut are marked, although their values differ.
func TestPointsAreToldApart(t *testing.T) {
	long := strings.Repeat("x", 30)
	v := View{
		Columns: []Column{{Header: "BENCHMARK"}, {Header: "MEDIAN", Right: true}}, Points: []string{"aaaaaaaa1111", "bbbbbbbb2222"},
		Rows: [][]Cell{{{Text: long + "a" + long}, {Text: "1.00 ms"}}, {{Text: long + "b" + long}, {Text: "2.00 ms"}}},
	}
	var b bytes.Buffer
	v.Render(&b, Page{Width: 40})
	if !strings.Contains(b.String(), "aaaaaaaa  ") || !strings.Contains(b.String(), "bbbbbbbb  ") {
		t.Errorf("the points look the same:\n%s", b.String())
	}
}

// TestRowsStack: where a page is too narrow for the numbers, or for names that can be read, rows have a line for each column. Nothing is
// cut.
func TestRowsStack(t *testing.T) {
	v := View{
		Columns: []Column{{Header: "BENCHMARK"}, {Header: "BASE", Right: true}, {Header: "HEAD", Right: true}, {Header: "CHANGE", Right: true, Drop: 1}, {Header: "VERDICT"}},
		Rows: [][]Cell{
			Cells("codec/Decode size=64k", "15.0 µs", "17.1 µs", "+14.0 %", "regressed"),
			Cells("codec/Encode size=64k", "15.1 µs", "15.1 µs", "+0.1 %", ""),
		},
		Points: []string{"aaaaaaaa1111", "bbbbbbbb2222"},
	}
	shown := func(width int) string {
		var b bytes.Buffer
		v.Render(&b, Page{Width: width})
		return b.String()
	}
	if got := shown(46); !strings.Contains(got, "BASE     HEAD  VERDICT\n") || strings.Contains(got, "POINT") {
		t.Errorf("columns go first:\n%s", got)
	}
	const want = `BENCHMARK  codec/Decode size=64k
BASE       15.0 µs
HEAD       17.1 µs
CHANGE     +14.0 %
VERDICT    regressed

BENCHMARK  codec/Encode size=64k
BASE       15.1 µs
HEAD       15.1 µs
CHANGE     +0.1 %
`
	for _, width := range []int{34, 28} {
		if got := shown(width); width == 34 && got != want || strings.Contains(got, "…") {
			t.Errorf("%d columns:\n%swant\n%s", width, got, want)
		}
	}
	v.Rows[1] = v.Rows[0]
	if got := shown(34); !strings.Contains(got, "POINT      aaaaaaaa\n") || !strings.Contains(got, "POINT      bbbbbbbb\n") {
		t.Errorf("points that look the same:\n%s", got)
	}
}
