package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
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
	a := &app{stdout: &out, width: 200, getenv: func(string) string { return "" }, now: time.Now}
	if err := a.print(format, table, func() term.View { return a.tableView(table) }); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestPlainIsOneLineARow(t *testing.T) {
	got := printed(t, formatPlain, everyType())
	want := "run_id\tn\tp50\tunit\tdirty\tat_time\tlist\tparams\tsetup_ns\n" +
		`a\tb\nc"<` + "\t9223372036854775807\t1500000\tns\ttrue\t2026-11-21T06:45:12.345Z\t[1.5,null,\"Infinity\"]\t{\"dim\":\"64\"}\t0\n" +
		"\t0\tNaN\t\t\t\t\t\t\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestJSONKeepsOrderNumbersAndNull(t *testing.T) {
	got := printed(t, formatJSON, everyType())
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
	lines := strings.Split(strings.TrimSpace(printed(t, formatJSONL, everyType())), "\n")
	if len(lines) != 2 || !json.Valid([]byte(lines[0])) || !json.Valid([]byte(lines[1])) {
		t.Errorf("JSON lines are\n%s", strings.Join(lines, "\n"))
	}
	if got := printed(t, formatJSON, answer.Table{}); got != "[]\n" {
		t.Errorf("no rows print as %q", got)
	}
}

// An empty list is one, also where nothing was ever put into it; NULL is not.
func TestEmptyIsNotNULL(t *testing.T) {
	for text, v := range map[string]any{
		"[]": []any(nil), "{}": map[string]any(nil), `[[],{}]`: []any{[]any(nil), map[string]any(nil)}, "": nil,
		`[["NaN"],{"k":"-Infinity"}]`: []any{[]any{math.NaN()}, map[string]any{"k": math.Inf(-1)}},
	} {
		if got := machineText(v); got != text {
			t.Errorf("%#v prints as %s, want %s", v, got, text)
		}
	}
}

func TestCSVReadsBack(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(printed(t, formatCSV, everyType()))).ReadAll()
	if err != nil || len(records) != 3 || records[1][0] != "a\tb\nc\"<" || records[2][3] != "" {
		t.Errorf("records are %q, %v", records, err)
	}
}

func TestTableShowsUnitsAndUnknown(t *testing.T) {
	got := printed(t, formatTable, everyType())
	for _, want := range []string{"1.50 ms", "–", "2 rows", "a b c\"<"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if md := printed(t, formatMD, everyType()); !strings.Contains(md, "| run_id | n |") || !strings.Contains(md, "|---|---:|") {
		t.Errorf("Markdown is\n%s", md)
	}
}

// TestMergedAxes: where the axes have no room, a row still names its point.
func TestMergedAxes(t *testing.T) {
	got := mergedAxes([]axis{{"batch_size", []string{"1", ""}}, {"precision", []string{"fp32", "fp64"}}, {"status", []string{"x", "y"}}})
	if len(got) != 1 || got[0].values[0] != "bs=1 fp32 status=x" || got[0].values[1] != "fp64 status=y" {
		t.Errorf("merged to %v", got)
	}
	if c := axisColumn(axis{"status", []string{"x"}}); c.Header != "status" {
		t.Errorf("a parameter's column is called %s", c.Header)
	}
}

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"7d": now.AddDate(0, 0, -7), "90s": now.Add(-90 * time.Second), "1.5h": now.Add(-90 * time.Minute), "2w": now.AddDate(0, 0, -14),
		"2026-11-01T10:00:00Z": time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC),
		"2026-11-01":           time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local),
	} {
		if got, err := parseSince(s, now); err != nil || !got.Equal(want) {
			t.Errorf("%s is %v, %v; want %v", s, got, err, want)
		}
	}
	for _, bad := range []string{"", "d", "7", "7y", "-1d", "1e99d", "nand", "yesterday"} {
		if got, err := parseSince(bad, now); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{"fp32": "fp32", "a b": `"a b"`, `x"y\`: `"x\"y\\"`, "": `""`} {
		if got := quoted(in); got != want {
			t.Errorf("%q quotes as %s, want %s", in, got, want)
		}
	}
}

// TestEmptyIsNotUnknown: a text without characters is a value.
func TestEmptyIsNotUnknown(t *testing.T) {
	table := answer.Table{Columns: []answer.Column{{Name: "params"}}, Rows: [][]any{
		{map[string]any{"weird": ""}}, {map[string]any{"weird": "x"}}, {map[string]any{}},
	}}
	constants, varying := axes(table, nil)
	if len(constants) != 0 || len(varying) != 1 {
		t.Fatalf("axes are %v, %v", constants, varying)
	}
	for i, want := range []string{`""`, "x", term.Unknown} {
		if got := axisCell(varying[0], i).Text; got != want {
			t.Errorf("row %d is %s, want %s", i, got, want)
		}
	}
	if constants, _ := axes(answer.Table{Columns: table.Columns, Rows: table.Rows[:1]}, nil); !slices.Equal(constants, []string{`weird=""`}) {
		t.Errorf("constants are %v", constants)
	}
	d := describe(parsed(t, "command: ['true', '{weird}']\ngrid: {weird: [x, '']}\n"))
	if got := d.names[d.sweep.Points[1].PointID]; got != `weird=""` {
		t.Errorf("the point is called %s", got)
	}
}

// TestRunsAreTold: what runs are for and of which side is said where it is not the same, or not to measure.
func TestRunsAreTold(t *testing.T) {
	table := answer.Table{
		Columns: []answer.Column{{Name: "side"}, {Name: "purpose"}},
		Rows:    [][]any{{"base", "measure"}, {"head", "measure"}, {nil, "profile"}},
	}
	_, varying := axes(table, runColumns)
	var headers []string
	for _, x := range varying {
		headers = append(headers, axisColumn(x).Header)
	}
	if !slices.Equal(headers, []string{"SIDE", "PURPOSE"}) {
		t.Errorf("columns are %v", headers)
	}
	if got := mergedAxes(varying)[0].values; !slices.Equal(got, []string{"base", "head", "profile"}) {
		t.Errorf("merged they are %v", got)
	}
	for row, want := range map[int]string{0: "base", 2: "profile"} {
		constants, _ := axes(answer.Table{Columns: table.Columns, Rows: table.Rows[row : row+1]}, runColumns)
		if !slices.Equal(constants, []string{want}) {
			t.Errorf("a run alone is %v, want %s", constants, want)
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
	if got := printed(t, formatJSONL, table); got != want {
		t.Errorf("got %swant %s", got, want)
	}
}
