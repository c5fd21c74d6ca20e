package views

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// pivotOf returns a pivot over impl with two rows: a value, one that is faster, a failed point, a wrong one, and one that is missing.
func pivotOf(baseline bool) *summary.Pivot {
	point := func(ok, wrong int, ended ...summary.Reason) *summary.Point {
		return &summary.Point{Runs: ok + wrong + len(ended), OKRuns: ok, Wrong: wrong, Ended: ended}
	}
	value := func(ns, factor float64, runs int, ended ...summary.Reason) summary.PivotCell {
		return summary.PivotCell{Point: point(runs, 0, ended...), Median: &ns, Factor: &factor, Runs: runs}
	}
	row := func(batch int64, cells ...summary.PivotCell) summary.PivotRow {
		return summary.PivotRow{
			Subject: summary.Subject{Benchmark: "attention", BatchSize: &batch, Params: map[string]string{"dim": "64"}, Machine: "lab3"},
			Metric:  "latency", Unit: "ns", Better: "lower", Cells: cells,
		}
	}
	timeout := summary.Reason{Status: "timeout", Runs: 1}
	return &summary.Pivot{
		Axis: "param.impl", Values: []string{"naive", "fused", "flash"}, Baseline: baseline, Points: 5, Sessions: 2, Total: 3, Without: 1,
		Statuses: map[string]int{"ok": 11, "timeout": 2, "error": 1},
		Rows: []summary.PivotRow{
			row(1, value(61.9e3, 1, 5), value(41.2e3, .6656, 5, timeout), summary.PivotCell{Point: point(0, 0, timeout)}),
			row(16, value(2e6, 1, 1), summary.PivotCell{Point: point(2, 1)}, summary.PivotCell{}),
		},
	}
}

// TestPivotView: a missing, a failed and a wrong point have words for values and no factor. Where the columns have no room, the factors
// go, then each value has a row.
func TestPivotView(t *testing.T) {
	t.Parallel()
	shown := func(width int, baseline bool, selection string) string {
		var b bytes.Buffer
		Listing{Reader: Display{Width: width}}.Pivot(pivotOf(baseline), selection).Render(&b, term.Page{Width: width})
		return b.String()
	}
	valuetest.Equal(t, shown(80, true, "session=last"), `attention · lab3 · dim=64 · latency, lower is better

BS  impl=naive    impl=fused          impl=flash
 1     61.9 µs       41.2 µs  ×0.666     timeout
16     2.00 ms  wrong result                   –

wrong result  the result is wrong, which never counts as a win

× is relative to impl=naive, the baseline
2 of 3 rows (--limit 0 for all); 5 points, 14 runs: 11 ok, 1 error, 2 timeout; 1
to 5 runs per value
1 of 3 values from fewer than 3 runs: a difference may be chance
1 value of points in which other runs failed
2 sessions combined; session=last shows the newest alone
1 point without impl left out

next  neurolens compare --matrix impl=naive session=last
`, "a grid")
	if got := shown(46, false, ""); !strings.Contains(got, "× left out: the terminal is too narrow\n") || strings.Contains(got, "×0") || !strings.Contains(got, "impl=flash\n") || strings.Contains(got, "next") {
		t.Errorf("without room for factors:\n%s", got)
	}
	if got := shown(36, false, ""); !strings.Contains(got, " 1  fused       41.2 µs  ×0.666\n") || !strings.Contains(got, "one row per value: ") || !strings.Contains(got, "16  flash             –\n") {
		t.Errorf("without room for columns:\n%s", got)
	}
	failed := pivotOf(false)
	failed.Rows[1] = summary.PivotRow{Subject: failed.Rows[1].Subject, Cells: make([]summary.PivotCell, 3)}
	failed.Rows[0].Cells[1].Factor = nil
	var b bytes.Buffer
	Listing{Reader: Display{Width: 80}}.Pivot(failed, "").Render(&b, term.Page{Width: 80})
	if got := b.String(); !strings.Contains(got, " · latency, lower is better\n") || strings.Contains(got, "×") || strings.Contains(got, "METRIC") {
		t.Errorf("a row without a value, and no factor:\n%s", got)
	}
	for factor, want := range map[float64]string{
		.000413: "×0.000413", .9999: "×1.00", 1: "×1.00", 38.61: "×38.6", 1234.5: "×1,235", 0: "×0", 1e-20: "×1.00e-20", 1e20: "×1.00e+20", math.Inf(1): "×+Inf",
	} {
		valuetest.Equal(t, Times(factor), want)
	}
}
