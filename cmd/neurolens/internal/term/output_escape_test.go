package term

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/query/answer"
)

func nastyTable() answer.Table {
	t := answer.Table{Columns: []answer.Column{{Name: "a\nb\tc\x1b[1m", Type: answer.TypeText}, {Name: "=1+1", Type: answer.TypeText}}}
	for _, text := range programtest.Nasty() {
		t.Rows = append(t.Rows, []any{text, map[string]any{text: text}})
	}
	return t
}

// TestNothingSteers prints texts that would steer a terminal in every format to one: none does.
func TestNothingSteers(t *testing.T) {
	t.Parallel()
	for _, format := range Formats {
		var out bytes.Buffer
		p := Printer{Out: &out, Terminal: true, Page: Page{Width: 80}}
		table := nastyTable()
		ok(t, p.Print(format, table, func() View { return TableView(table, p.Page) }))
		for _, r := range out.String() {
			if IsControl(r) && r != '\n' && (r != '\t' || format != FormatPlain) {
				t.Errorf("%s: %q is printed as it is", format, r)
				break
			}
		}
		if format == FormatPlain && strings.Count(out.String(), "\n") != len(programtest.Nasty())+1 {
			t.Errorf("plain has other lines than rows:\n%s", out.String())
		}
	}
}

// TestPipesKeep: JSON gives back the very texts, and CSV on a pipe too, but for those that are formulas.
func TestPipesKeep(t *testing.T) {
	t.Parallel()
	for _, raw := range []bool{false, true} {
		var out bytes.Buffer
		p := Printer{Out: &out, CSVRaw: raw}
		ok(t, p.Print(FormatCSV, nastyTable(), nil))
		records, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(records) != len(programtest.Nasty())+1 {
			t.Fatalf("%d records: %v", len(records), err)
		}
		for i, text := range programtest.Nasty() {
			want := strings.ReplaceAll(text, "\r", "\n") // as encoding/csv reads it
			if strings.Contains(text, "\r") {
				continue
			}
			if formula := i >= 8 && i <= 12 || text == "@name"; formula && !raw {
				want = "'" + text
			}
			if got := records[i+1][0]; got != want {
				t.Errorf("%q became %q, want %q", text, got, want)
			}
		}
	}
	var out bytes.Buffer
	p := Printer{Out: &out}
	ok(t, p.Print(FormatJSON, nastyTable(), nil))
	var objects []map[string]any
	ok(t, json.Unmarshal(out.Bytes(), &objects))
	for i, text := range programtest.Nasty() {
		if got := objects[i]["a\nb\tc\x1b[1m"]; got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
