package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// cell is one of a notebook that was read.
type cell struct {
	Type   string `json:"cell_type"`
	ID     string
	Source []string
}

func cellsOf(t *testing.T, s *subject) []cell {
	t.Helper()
	text := valuetest.Must(s.notebook())
	var f struct {
		Cells    []cell
		Nbformat int
		Minor    int `json:"nbformat_minor"`
	}
	if err := json.Unmarshal(text, &f); err != nil || f.Nbformat != 4 || f.Minor != 5 {
		t.Fatalf("%+v, %v", f, err)
	}
	valuetest.Equal(t, string(valuetest.Must(s.notebook())), string(text), "the second time it is another one")
	return f.Cells
}

// TestCells: a notebook has cells for what there is, and no others.
func TestCells(t *testing.T) {
	for _, c := range []struct {
		s        subject
		headings []string
	}{
		{subject{}, []string{"# Runs of a NeuroLens store", "## What matches", "## Environment"}},
		{subject{plan: chartdata.Plan{Metric: "accuracy"}}, []string{"# Runs of a NeuroLens store", "## What matches", "## Environment"}},
		{
			subject{plan: chartdata.Plan{Metric: "latency", Unit: "ns", Axes: []string{"dim"}, X: "dim", Numbers: true}, sampled: true, sessions: 2},
			[]string{"# Runs of a NeuroLens store", "## What matches", "## A metric over an axis", "## Samples of each point", "## History of a point", "## Environment"},
		},
		{subject{sampled: true, sessions: 2}, []string{"# Runs of a NeuroLens store", "## What matches", "## Environment"}}, // all failed
	} {
		var headings []string
		ids := map[string]bool{}
		for _, cell := range cellsOf(t, &c.s) {
			ids[cell.ID] = true
			if cell.Type == "markdown" && strings.HasPrefix(cell.Source[0], "#") {
				headings = append(headings, strings.TrimSpace(cell.Source[0]))
			}
			if last := cell.Source[len(cell.Source)-1]; strings.HasSuffix(last, "\n") || strings.TrimSpace(cell.Source[0]) == "" {
				t.Errorf("cell %s begins or ends with an empty line: %q", cell.ID, cell.Source)
			}
		}
		valuetest.DeepEqual(t, headings, c.headings, c.s.plan)
		valuetest.Equal(t, len(ids), len(cellsOf(t, &c.s)), c.s.plan)
	}
}

// TestNamesStayText: whatever stores and filters are called, a notebook differs in its literals alone, and these are in one line, have
// no character that is not seen, and mean what they stand for.
func TestNamesStayText(t *testing.T) {
	of := func(name string) *subject {
		return &subject{
			program: name, stores: []string{name, "b"}, filter: []string{name}, sampled: true, sessions: 2,
			plan: chartdata.Plan{Metric: "latency", Unit: name, Axes: []string{name, "b"}, X: name, By: name},
		}
	}
	plain := cellsOf(t, of("NAME"))
	for _, name := range []string{
		`"`, `'''"""\`, "a\nb\r\n%% code\nos.abort()", "\n%% markdown\n", "```\n</script><script>alert(1)</script>", "{{.X}} {x} %s", "$\\frac{1}{2}$",
		"\u202eabc\u2066", "\u2028\u2029", "\x00\x1b[31m\x7f", "\\u0041", "日本 µ 🙂", "",
	} {
		cells := cellsOf(t, of(name))
		for i, cell := range cells {
			want := strings.ReplaceAll(strings.Join(plain[i].Source, ""), `"NAME"`, strconv.Quote(name))
			if got := strings.Join(cell.Source, ""); name != "" && got != want {
				t.Errorf("%q: a cell is\n%s\nwant\n%s", name, got, want)
			}
			for _, line := range cell.Source {
				if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("%q: a line with something that is not seen: %q", name, line)
				}
			}
		}
		valuetest.Equal(t, valuetest.Must(strconv.Unquote(literal(name))), name)
	}
}
