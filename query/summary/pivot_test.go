package summary_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// pivotText returns a pivot: the values of its axis, and of each row the medians with the factors.
func pivotText(p summary.Pivot) string {
	all := []string{strings.Join(p.Values, " ")}
	for _, row := range p.Rows {
		text := row.Metric + ":"
		for _, c := range row.Cells {
			text += fmt.Sprintf(" %s/%s", number(c.Median), number(c.Factor))
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// TestPivot: rows are all axes but one, columns its values: the baseline, then the others as they were measured. Factors are relative to
// the baseline of the sweep, or else to the first value; a missing, a failed and a wrong point have none.
func TestPivot(t *testing.T) {
	t.Parallel()
	var m made
	on := func(impl string, batch int64, baseline string, more ...func(*schema.Run)) func(*schema.Run) {
		return variant("s", "a", "", append(more, func(r *schema.Run) {
			r.Params, r.BatchSize = map[string]string{"impl": impl}, new(batch)
			r.Env.Facts = map[string]string{schema.FactBaseline: baseline}
		})...)
	}
	wrong := func(r *schema.Run) {
		r.Status, r.Stage, r.ErrorKind = schema.StatusError, schema.StageValidate, schema.WrongResults[0]
	}
	failed := func(r *schema.Run) { r.Status, r.Metrics, r.Primary = schema.StatusTimeout, nil, "" }
	m.add(on("slow", 10, "impl=naive", failed), 1, 1)
	for _, batch := range []int64{10, 2} {
		m.add(on("new", batch, "impl=naive"), 100, 100, 100)
		m.add(on("naive", batch, "impl=naive"), 200, 200, 200)
	}
	m.add(on("off", 2, "impl=naive", wrong), 1)
	db := querytest.Open(t, querytest.NewStore(t, m.runs...))
	read := func(req summary.PivotRequest) summary.Pivot {
		return valuetest.Must(summary.ReadPivot(context.Background(), db, req))
	}
	p := read(summary.PivotRequest{Axis: "impl"})
	valuetest.Equal(t, pivotText(p), "naive slow new off, latency: 200/1 -/- 100/0.5 -/-, latency: 200/1 -/- 100/0.5 -/-", "by a parameter")
	if !p.Baseline || p.Points != 6 || p.Without != 0 || p.Statuses["ok"] != 12 || p.Statuses["timeout"] != 2 || *p.Rows[0].BatchSize != 2 {
		t.Errorf("%+v", p)
	}
	if slow, off := p.Rows[1].Cells[1].Point, p.Rows[0].Cells[3].Point; slow == nil || slow.OKRuns != 0 || off == nil || off.Wrong != 1 || p.Rows[0].Cells[1].Point != nil {
		t.Errorf("a failed, a wrong and a missing point are %+v, %+v, %+v", slow, off, p.Rows[0].Cells[1].Point)
	}
	p = read(summary.PivotRequest{Axis: "bs", Filter: "impl=new,naive"})
	valuetest.Equal(t, pivotText(p), "2 10, latency: 200/1 200/1, latency: 100/1 100/1", "by a column, in the order of numbers")
	p = read(summary.PivotRequest{Axis: "impl", Filter: "impl=slow,new"})
	if p.Baseline || p.Reference != 1 || p.Rows[1].Cells[1].Factor == nil {
		t.Errorf("the first value failed: %+v", p)
	}
	p = read(summary.PivotRequest{Axis: "bs", Filter: "impl=new,naive"})
	table := p.Table()
	var names []string
	for _, c := range table.Columns {
		names = append(names, c.Name)
	}
	valuetest.Equal(t, strings.Join(names, " "), "benchmark variant backend model precision seq_len params machine side metric unit better "+
		"batch_size=2 batch_size=2.factor batch_size=2.ok_runs batch_size=2.runs batch_size=10 batch_size=10.factor batch_size=10.ok_runs batch_size=10.runs", "columns")
	for _, axis := range []string{"p99", "tag.x", "nothing", "variant"} {
		if _, err := summary.ReadPivot(context.Background(), db, summary.PivotRequest{Axis: axis}); !errors.Is(err, answer.ErrInput) {
			t.Errorf("%s: %v", axis, err)
		}
	}
	if _, err := summary.ReadPivot(context.Background(), db, summary.PivotRequest{Axis: "impl", Metric: "rows"}); !errors.Is(err, query.ErrInput) {
		t.Errorf("a metric that no run has: %v", err)
	}
}

// TestPivotKeepsMetricsApart: values of different metrics are in rows of their own, and a ratio needs values above zero.
func TestPivotKeepsMetricsApart(t *testing.T) {
	t.Parallel()
	var m made
	metric := func(name string, impl string) func(*schema.Run) {
		return variant("s", "a", "", func(r *schema.Run) {
			r.Params = map[string]string{"impl": impl}
			r.Metrics[0].Name, r.Primary = name, name
		})
	}
	m.add(metric("latency", "a"), 100)
	m.add(metric("rows", "b"), 5)
	m.add(metric("rows", "c"), 0)
	db := querytest.Open(t, querytest.NewStore(t, m.runs...))
	p := valuetest.Must(summary.ReadPivot(context.Background(), db, summary.PivotRequest{Axis: "impl"}))
	valuetest.Equal(t, pivotText(p), "a b c, latency: 100/1 -/- -/-, rows: -/- 5/- 0/-", "two metrics")
}
