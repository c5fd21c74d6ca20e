package term

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/answer"
)

func everyType() answer.Table {
	return answer.Table{
		Columns: []answer.Column{
			{Name: "run_id", Type: answer.TypeText},
			{Name: "n", Type: answer.TypeInteger},
			{Name: "p50", Unit: "of the row", Type: answer.TypeReal},
			{Name: "unit", Type: answer.TypeText},
			{Name: "dirty", Type: answer.TypeBoolean},
			{Name: "at_time", Type: answer.TypeTime},
			{Name: "list", Type: answer.TypeList},
			{Name: "params", Type: answer.TypeMap},
			{Name: "setup_ns", Unit: "ns", Type: answer.TypeInteger},
		},
		Rows: [][]any{
			{"a\tb\nc\"<", int64(math.MaxInt64), 1.5e6, "ns", true, time.Date(2026, 11, 21, 6, 45, 12, 345e6, time.UTC), []any{1.5, nil, math.Inf(1)}, map[string]any{"dim": "64"}, int64(0)},
			{"", int64(0), math.NaN(), nil, nil, nil, nil, nil, nil},
		},
	}
}

func printed(t *testing.T, format string, table answer.Table) string {
	t.Helper()
	var out bytes.Buffer
	p := Printer{Out: &out, Page: Page{Width: 200}}
	ok(t, p.Print(format, table, func() View { return TableView(table, p.Page) }))
	return out.String()
}

func TestPlainIsOneLineARow(t *testing.T) {
	got := printed(t, FormatPlain, everyType())
	want := "run_id\tn\tp50\tunit\tdirty\tat_time\tlist\tparams\tsetup_ns\n" +
		`a\tb\nc"<` + "\t9223372036854775807\t1500000\tns\ttrue\t2026-11-21T06:45:12.345Z\t[1.5,null,\"Infinity\"]\t{\"dim\":\"64\"}\t0\n" +
		"\t0\tNaN\t\t\t\t\t\t\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestJSONKeepsOrderNumbersAndNull(t *testing.T) {
	got := printed(t, FormatJSON, everyType())
	var rows []map[string]any
	dec := json.NewDecoder(strings.NewReader(got))
	dec.UseNumber()
	if err := dec.Decode(&rows); err != nil {
		t.Fatalf("%v in\n%s", err, got)
	}
	if rows[0]["n"] != json.Number("9223372036854775807") || rows[0]["run_id"] != "a\tb\nc\"<" || rows[1]["p50"] != "NaN" {
		t.Errorf("rows are %v", rows)
	}
	if v, ok := rows[1]["dirty"]; !ok || v != nil {
		t.Errorf("NULL is %v, %v", v, ok)
	}
	if !strings.Contains(got, `{"run_id": "a\tb\nc\"<", "n": `) {
		t.Errorf("keys are not in column order:\n%s", got)
	}
	lines := strings.Split(strings.TrimSpace(printed(t, FormatJSONL, everyType())), "\n")
	if len(lines) != 2 || !json.Valid([]byte(lines[0])) || !json.Valid([]byte(lines[1])) {
		t.Errorf("JSON lines are\n%s", strings.Join(lines, "\n"))
	}
	if got := printed(t, FormatJSON, answer.Table{}); got != "[]\n" {
		t.Errorf("no rows print as %q", got)
	}
}

// An empty list is one, also where nothing was ever put into it; NULL is not.
func TestEmptyIsNotNULL(t *testing.T) {
	for text, v := range map[string]any{
		"[]": []any(nil), "{}": map[string]any(nil), `[[],{}]`: []any{[]any(nil), map[string]any(nil)}, "": nil,
		`[["NaN"],{"k":"-Infinity"}]`: []any{[]any{math.NaN()}, map[string]any{"k": math.Inf(-1)}},
		`[1.5,"NaN",1e-9]`:            []float64{1.5, math.NaN(), 1e-9}, `[0,-0]`: []float64{0, math.Copysign(0, -1)},
	} {
		if got := ValueString(v); got != text {
			t.Errorf("%#v prints as %s, want %s", v, got, text)
		}
	}
}

func TestCSVReadsBack(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(printed(t, FormatCSV, everyType()))).ReadAll()
	if err != nil || len(records) != 3 || records[1][0] != "a\tb\nc\"<" || records[2][3] != "" {
		t.Errorf("records are %q, %v", records, err)
	}
}

func TestTableShowsUnitsAndUnknown(t *testing.T) {
	got := printed(t, FormatTable, everyType())
	for _, want := range []string{"1.50 ms", "–", "2 rows", "a b c\"<"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if md := printed(t, FormatMD, everyType()); !strings.Contains(md, "| run_id | n |") || !strings.Contains(md, "|---|---:|") {
		t.Errorf("Markdown is\n%s", md)
	}
}

// TestTableRoundsFractions: people do not see the last digits of binary fractions, and programs do.
func TestTableRoundsFractions(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{1859372.4166666667: "1859372.417", 0.1 + 0.2: "0.3", 12345678901234: "12345678901234", 487309.75: "487309.75"} {
		table := answer.Table{Columns: []answer.Column{{Name: "x", Type: answer.TypeReal}}, Rows: [][]any{{value}}}
		if got := strings.Fields(printed(t, FormatTable, table)); got[1] != want {
			t.Errorf("got %s, want %s", got[1], want)
		}
		if got, want := printed(t, FormatPlain, table), ValueString(value); !strings.Contains(got, want) {
			t.Errorf("plain is %q, want %s", got, want)
		}
	}
}

// TestJSONKeysOnce: an object has each key once, whatever the names of the columns.
func TestJSONKeysOnce(t *testing.T) {
	t.Parallel()
	table := answer.Table{Rows: [][]any{{int64(1), int64(2), int64(3), int64(4)}}}
	for _, name := range []string{"a", "a", "a_1", "a"} {
		table.Columns = append(table.Columns, answer.Column{Name: name, Type: answer.TypeInteger})
	}
	want := `{"a": 1, "a_2": 2, "a_1": 3, "a_3": 4}` + "\n"
	if got := printed(t, FormatJSONL, table); got != want {
		t.Errorf("got %swant %s", got, want)
	}
}

// ok ends a test at an error.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
