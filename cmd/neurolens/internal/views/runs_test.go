package views

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

// TestRunPages: pages of a listing have the columns of all runs so far, and what all runs so far share stands above them. The count is that
// of all pages.
func TestRunPages(t *testing.T) {
	t.Parallel()
	run := func(batch int64, metric string, params map[string]string) query.ListedRun {
		return query.ListedRun{RunID: "01ABCDEFGH", Point: query.Point{Benchmark: "b", BatchSize: &batch, Params: params}, Status: schema.StatusOK, Metric: metric, Unit: "ns", Median: new(1e6)}
	}
	headers := func(v term.View) (all []string) {
		for _, c := range v.Columns {
			all = append(all, c.Header)
		}
		return all
	}
	pages := RunPages{Listing: Listing{}}
	for _, c := range []struct {
		runs    []query.ListedRun
		above   string
		columns string
		below   string
	}{
		{[]query.ListedRun{run(1, "latency", nil), run(2, "latency", nil)}, "b · latency", "RUN WHEN UTC BS MEDIAN P99 N STATUS", "2 of 5 runs"},
		{[]query.ListedRun{run(2, "latency", nil)}, "b · latency", "RUN WHEN UTC BS MEDIAN P99 N STATUS", "3 of 5 runs"},
		{[]query.ListedRun{run(2, "rows", map[string]string{"n": "1"})}, "b", "RUN WHEN UTC BS n METRIC MEDIAN P99 N STATUS", "4 of 5 runs"},
		{[]query.ListedRun{run(2, "latency", nil)}, "b", "RUN WHEN UTC BS n METRIC MEDIAN P99 N STATUS", "5 runs"},
	} {
		v := pages.Page(query.Listing{Found: query.Found{Total: 5}, Runs: c.runs})
		if got := strings.Join(headers(v), " "); v.Above[0] != c.above || got != c.columns || len(v.Rows) != len(c.runs) || !strings.HasPrefix(v.Below[0], c.below) {
			t.Errorf("%q %q, %d rows, %q, want %+v", v.Above, got, len(v.Rows), v.Below, c)
		}
		for _, row := range v.Rows {
			if len(row) != len(v.Columns) || row[2].Text == term.Unknown {
				t.Errorf("a row is %v", row)
			}
		}
	}
}

// TestWhenGoesBeforeNames: in a narrow terminal the time of a run goes before names are cut. A log has it at any width.
func TestWhenGoesBeforeNames(t *testing.T) {
	t.Parallel()
	list := query.Listing{Found: query.Found{Total: 2}}
	for _, name := range []string{"attention_forward", "attention_backward"} {
		list.Runs = append(list.Runs, query.ListedRun{RunID: "01ABCDEFGH", Point: query.Point{Benchmark: name}, Status: schema.StatusOK, Metric: "latency", Unit: "ns", Median: new(1e6)})
	}
	for _, whole := range []bool{false, true} {
		var b strings.Builder
		Listing{Reader: Display{Width: 40, Whole: whole}}.Runs(list).Render(&b, term.Page{Width: 40, Whole: whole})
		if got := b.String(); strings.Contains(got, "WHEN") != whole || !strings.Contains(got, "backward") {
			t.Errorf("whole: %v\n%s", whole, got)
		}
	}
}
