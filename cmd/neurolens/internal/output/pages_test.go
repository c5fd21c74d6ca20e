package output

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/answer"
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
	TableView(table, term.Page{Width: 80}).Render(&out, term.Page{Width: 80})
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
	TableView(few, term.Page{Width: 80}).Render(&out, term.Page{Width: 80})
	if strings.Contains(out.String(), "left out") || !strings.Contains(out.String(), "column_4") {
		t.Errorf("five columns fit:\n%s", out.String())
	}
}
