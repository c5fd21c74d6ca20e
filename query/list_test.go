package query_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestListNewestFirst(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(7)...))
	l := querytest.Pages(t, db, query.ListRequest{Limit: 3}, "repeat_index", "started_at", "p50", "unit", "params", "variant")
	valuetest.Equal(t, len(l.Rows), 3)
	want := []any{int64(6), querytest.Start.Add(6 * time.Second), 100_070.0, "ns", map[string]any{"dim": "64"}, nil}
	valuetest.Equal(t, fmt.Sprintf("%#v", l.Rows[0]), fmt.Sprintf("%#v", want), want)
	columns := []answer.Column{
		{Name: "repeat_index", Type: answer.TypeInteger},
		{Name: "started_at", Type: answer.TypeTime},
		{Name: "p50", Unit: schema.UnitOfRow, Type: answer.TypeReal},
		{Name: "unit", Type: answer.TypeText},
		{Name: "params", Type: answer.TypeMap},
		{Name: "variant", Type: answer.TypeText},
	}
	valuetest.DeepEqual(t, l.Columns, columns, "got columns")
}

func TestListOrderAndBounds(t *testing.T) {
	t.Parallel()
	runs := querytest.ManyRuns(10) // batch_size 1 2 4 8 16 1 2 4 8 16, dim 64 128 256 ...
	runs = append(runs, querytest.NewRun(10, 0, func(r *schema.Run) {
		r.Status, r.BatchSize, r.StartedAt, r.TimeSource = schema.StatusTimeout, nil, time.Time{}, ""
		r.Params, r.SessionID = nil, querytest.SessionID(0)
	}))
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	at := func(n int) time.Time { return querytest.Start.Add(time.Duration(n) * time.Second) }
	for _, c := range []struct {
		req  query.ListRequest
		want []int
	}{
		{query.ListRequest{}, []int{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 10}},
		{query.ListRequest{Limit: 2}, []int{9, 8}},
		{query.ListRequest{Sort: []string{"batch_size", "-p50"}}, []int{5, 0, 6, 1, 7, 2, 8, 3, 9, 4, 10}},
		{query.ListRequest{Sort: []string{"-bs"}, Limit: 3}, []int{9, 4, 8}},
		{query.ListRequest{Sort: []string{"-dim"}, Limit: 4}, []int{8, 5, 2, 7}},
		{query.ListRequest{Sort: []string{"session", "param.dim"}, Limit: 3}, []int{10, 9, 6}},
		{query.ListRequest{Since: at(8)}, []int{9, 8}},
		{query.ListRequest{Since: at(2), Until: at(4)}, []int{3, 2}},
		{query.ListRequest{Until: at(1)}, []int{0}},
		{query.ListRequest{Since: at(3), Filter: "batch_size=16"}, []int{9, 4}},
		{query.ListRequest{Filter: "status=timeout"}, []int{10}},
		{query.ListRequest{Filter: "status!=ok or started_at<2026-11-21T06:45:13Z"}, []int{0, 10}},
		{query.ListRequest{Filter: "started_at=null"}, []int{10}},
		{query.ListRequest{Filter: "p50>=100.1us p50<0.2ms"}, []int{9}},
		{query.ListRequest{Filter: "machine=lab3 tag.who=me env.governor~^perf bs=8"}, []int{8, 3}},
		{query.ListRequest{Filter: "dim=64.0 bs>=2"}, []int{9, 6, 3}},
	} {
		valuetest.DeepEqual(t, querytest.IDs(t, db, c.req), c.want, c.req)
	}
}

func TestListSessionsAndRuns(t *testing.T) {
	t.Parallel()
	// The newest session made the oldest runs: an import.
	runs := querytest.ManyRuns(6)
	for i := range runs {
		runs[i].SessionID = querytest.SessionID(3 - i/2)
	}
	runs = append(runs, querytest.NewRun(6, 1, func(r *schema.Run) { r.SessionID = "" }))
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	for _, c := range []struct {
		filter string
		want   []int
	}{
		{"session=last", []int{1, 0}},
		{"session=last~2", []int{5, 4}},
		{"session=last~3", nil},
		{"session=last,last~1", []int{3, 2, 1, 0}},
		{"session!=last", []int{6, 5, 4, 3, 2}},
		{"session=null", []int{6}},
		{"session=" + querytest.SessionID(2), []int{3, 2}},
		{"session=" + querytest.SessionID(2)[18:], []int{3, 2}},
		{"session_id=" + querytest.SessionID(2), []int{3, 2}},
		{"run=" + runs[4].RunID, []int{4}},
		{"run=" + runs[4].RunID[20:] + "," + runs[1].RunID, []int{4, 1}},
		{"run=zzzzzz", nil},
		{"session=zzzzzz", nil},
	} {
		valuetest.DeepEqual(t, querytest.IDs(t, db, query.ListRequest{Filter: c.filter}), c.want, c.filter)
	}
	// Within bounds that leave the last session out, last is still the last of all.
	if got := querytest.IDs(t, db, query.ListRequest{Filter: "session=last", Since: querytest.Start.Add(2 * time.Second)}); got != nil {
		t.Errorf("got %v, want none", got)
	}
	_, err := db.List(context.Background(), query.ListRequest{Filter: "run=0"})
	querytest.WantInput(t, err, "filter: run=0  (offset 4): 0 is ambiguous, 7 runs have an id that begins or ends with it: ")
	_, err = db.List(context.Background(), query.ListRequest{Filter: "session=01"})
	querytest.WantInput(t, err, "01 is ambiguous, 3 sessions have an id that begins or ends with it: ")
}

func TestListUnknownNames(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(3)...))
	ctx := context.Background()
	for _, c := range []struct {
		req  query.ListRequest
		want string
	}{
		{query.ListRequest{Filter: "status=ok dmi=64"}, `filter: dmi=64  (offset 10): no column or parameter is called "dmi"; did you mean dim?`},
		{query.ListRequest{Filter: "who=me"}, `no column or parameter is called "who"; did you mean tag.who?`},
		{query.ListRequest{Filter: "bacth_size=64"}, `did you mean batch_size?`},
		{query.ListRequest{Filter: "xyzzy>=64"}, `no column or parameter is called "xyzzy"`},
		{query.ListRequest{Filter: "p50<1.5mss"}, `filter: p50<1.5mss  (offset 4): unit "mss" is not known, and no run has it`},
		{query.ListRequest{Sort: []string{"-dmi"}}, `did you mean dim?`},
		{query.ListRequest{Sort: []string{"params"}}, `sort: "params" cannot be sorted by`},
		{query.ListRequest{Sort: []string{"-"}}, `sort: "-" cannot be sorted by`},
		{query.ListRequest{Filter: "status~(?<x>ok){1001}"}, `filter: `},
	} {
		_, err := db.List(ctx, c.req)
		querytest.WantInput(t, err, c.want)
	}
	_, err := db.Runs(ctx, query.ListRequest{}, "values")
	querytest.WantInput(t, err, `columns: runs has no column "values"`)
	for _, filter := range []string{"dim=4711", "param.xyzzy=1", "suite=nope", "not xyzzy=1 status=error"} {
		l, err := db.List(ctx, query.ListRequest{Filter: filter})
		if filter == "not xyzzy=1 status=error" {
			querytest.WantInput(t, err, "xyzzy")
			continue
		}
		valuetest.DeepEqual(t, []any{err, l.Total, len(l.Runs)}, []any{nil, 0, 0}, filter)
	}
}

func TestCustomUnit(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.NewRun(0, 0, func(r *schema.Run) {
		r.Metrics = []schema.Metric{{Name: "tokens", Unit: "tok/J", Reals: []float64{5}, Summary: schema.Summary{P50: new(5.0)}}}
		r.Primary = "tokens"
	})))
	for filter, want := range map[string][]int{"p50>=5tok/J": {0}, "p50<5tok/J": nil, "p50>=5ns": nil} {
		valuetest.DeepEqual(t, querytest.IDs(t, db, query.ListRequest{Filter: filter}), want, filter)
	}
}

// TestWideIntegers: a column of integers is compared with all digits.
func TestWideIntegers(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.NewRun(0, 1000, func(r *schema.Run) { r.SeqLen = new(int64(1<<53 + 1)) })))
	for filter, want := range map[string][]int{
		"seq=9007199254740993": {0}, "seq=9007199254740992": nil, "seq>9007199254740992": {0}, "seq<1e300": {0}, "seq>99999999999999999999": nil,
	} {
		valuetest.DeepEqual(t, querytest.IDs(t, db, query.ListRequest{Filter: filter}), want, filter)
	}
}

func TestEmptyStore(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t))
	ctx := context.Background()
	l := valuetest.Must(db.List(ctx, query.ListRequest{Filter: "dim=64 session=last", Sort: []string{"-p99"}}))
	valuetest.Equal(t, l.Total, 0, "List")
	valuetest.Equal(t, len(l.Runs), 0, "List")
	if p := querytest.Pages(t, db, query.ListRequest{}); len(p.Rows) != 0 || len(p.Columns) != len(schema.Runs.Columns) {
		t.Errorf("Pages: %d rows of %d columns", len(p.Rows), len(p.Columns))
	}
	for table, want := range map[string]int{"runs": 84, "samples": 30, "samples_long": 6, "ops": 10} {
		r := valuetest.Must(sql.Select(ctx, db, "SELECT * FROM "+table))
		valuetest.Equal(t, len(r.Rows), 0, table)
		valuetest.Equal(t, len(r.Columns), want, table)
	}
	valuetest.DeepEqual(t, valuetest.Must(db.SessionPoints(ctx, querytest.SessionID(1), nil)), nil, "SessionPoints")
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.ManyRuns(3)...))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	valuetest.ErrorIs(t, valuetest.Error(db.List(ctx, query.ListRequest{Filter: "status=ok"})), context.Canceled, "List")
	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := sql.Select(ctx, db, "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE hash(a.range, b.range) = 1")
	valuetest.ErrorIs(t, err, context.DeadlineExceeded, "SQL")
}

// TestSeveralMetrics: metrics follow the columns of runs in the requested order, whichever is primary; missing values are
// NULL. If the median is unknown, the mean is used.
func TestSeveralMetrics(t *testing.T) {
	t.Parallel()
	with := func(metrics ...schema.Metric) func(*schema.Run) {
		return func(r *schema.Run) { r.Metrics, r.Primary = metrics, metrics[0].Name }
	}
	reals := func(name, unit string, values ...float64) schema.Metric {
		return schema.Metric{Name: name, Unit: unit, Reals: values}
	}
	runs := []schema.Run{
		querytest.NewRun(0, 0, with(reals("latency", "ns", 10, 20, 90), reals("accuracy", "ratio", .5))),
		querytest.NewRun(1, 0, with(reals("accuracy", "ratio", 0))),
		querytest.NewRun(2, 0, with(schema.Metric{Name: "latency", Unit: "ns", Summary: schema.Summary{Mean: new(7.)}}, reals("loss", "", 3))),
	}
	for name, db := range map[string]*query.DB{"live": querytest.Open(t, querytest.NewStore(t, runs...)), "sealed": querytest.SealedRuns(t, runs)} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			req := query.ListRequest{Metrics: []string{"accuracy", "latency", "nothing"}}
			var got []string
			err := db.Pages(ctx, req, []string{"metric"}, func(p query.Page) error {
				for _, c := range p.Columns {
					got = append(got, c.Name)
				}
				for _, row := range p.Rows {
					got = append(got, strings.TrimSpace(fmt.Sprintln(row...)))
				}
				if want := (query.Absent{Metrics: []string{"nothing"}, Others: []string{"accuracy", "latency", "loss"}}); !reflect.DeepEqual(p.Absent, want) {
					t.Errorf("%v, want %v", p.Absent, want)
				}
				return nil
			})
			want := []string{
				"metric", "metric.accuracy", "metric.accuracy.unit", "metric.latency", "metric.latency.unit", "metric.nothing", "metric.nothing.unit",
				"latency <nil> <nil> 7 ns <nil> <nil>", "accuracy 0 ratio <nil> <nil> <nil> <nil>", "latency 0.5 ratio 20 ns <nil> <nil>",
			}
			valuetest.DeepEqual(t, []any{err, got}, []any{nil, want})
			list, err := db.List(ctx, req)
			if err != nil || len(list.Runs) != 3 || *list.Runs[2].Metrics[1].Value != 20 || list.Runs[2].Metrics[2].Value != nil || list.Runs[1].Metrics[1].Unit != "" {
				t.Errorf("%+v, %v", list.Runs, err)
			}
		})
	}
}

// TestSortByMetric: runs are sorted by any metric, with the value that filters use; those without it come last.
func TestSortByMetric(t *testing.T) {
	t.Parallel()
	with := func(metrics ...schema.Metric) func(*schema.Run) {
		return func(r *schema.Run) { r.Metrics, r.Primary = metrics, metrics[0].Name }
	}
	latency := func(values ...float64) schema.Metric {
		return schema.Metric{Name: "latency", Unit: "ns", Reals: values}
	}
	accuracy := func(value float64) schema.Metric {
		return schema.Metric{Name: "accuracy", Unit: "ratio", Reals: []float64{value}}
	}
	runs := []schema.Run{
		querytest.NewRun(0, 0, with(latency(10, 20, 90), accuracy(.5))),
		querytest.NewRun(1, 0, with(accuracy(0))),
		querytest.NewRun(2, 0, with(schema.Metric{Name: "latency", Unit: "ns", Summary: schema.Summary{Mean: new(7.)}})),
		querytest.NewRun(3, 0, with(latency(11, 12, 13), accuracy(.25))),
	}
	for name, db := range map[string]*query.DB{"live": querytest.Open(t, querytest.NewStore(t, runs...)), "sealed": querytest.SealedRuns(t, runs)} {
		for _, c := range []struct {
			req  query.ListRequest
			want []int
		}{
			{query.ListRequest{Sort: []string{"metric.accuracy"}}, []int{1, 3, 0, 2}},
			{query.ListRequest{Sort: []string{"-metric.accuracy"}, Limit: 2}, []int{0, 3}},
			{query.ListRequest{Sort: []string{"metric.latency"}}, []int{2, 3, 0, 1}},
			{query.ListRequest{Sort: []string{"-metric.latency.max", "metric.accuracy"}, Filter: "metric.latency<1us"}, []int{0, 3, 2}},
			{query.ListRequest{Sort: []string{"-metric.latency.spread"}, Filter: "metric.accuracy>0"}, []int{0, 3}},
		} {
			valuetest.DeepEqual(t, querytest.IDs(t, db, c.req), c.want, name, c.req)
		}
		_, err := db.List(context.Background(), query.ListRequest{Sort: []string{"metric.acuracy"}})
		querytest.WantInput(t, err, `no run has the metric "acuracy"; did you mean accuracy?`)
	}
}
