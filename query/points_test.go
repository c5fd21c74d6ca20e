package query_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestPoints(t *testing.T) {
	t.Parallel()
	point := func(n int, base int64, batch int64, edit func(*schema.Run)) schema.Run {
		return querytest.NewRun(n, base, func(r *schema.Run) {
			r.BatchSize, r.Params = new(batch), nil
			if edit != nil {
				edit(r)
			}
		})
	}
	failed := func(status schema.Status, text string) func(*schema.Run) {
		return func(r *schema.Run) {
			r.Status, r.Stage, r.ErrorKind, r.Error = status, schema.StageMeasure, "deadline", text
			r.Warnings = []string{"noisy", "drift"}
		}
	}
	db := querytest.Open(t, querytest.NewStore(
		t,
		point(0, 1000, 16, func(r *schema.Run) { r.Warnings = []string{"drift"} }),
		point(1, 5000, 2, nil), point(2, 3000, 16, nil), point(3, 9000, 16, nil), point(4, 4000, 16, nil),
		point(5, 0, 16, failed(schema.StatusTimeout, "took more than 15 s")),
		point(6, 0, 16, failed(schema.StatusTimeout, "took more than 15 s")),
		point(7, 0, 4, failed(schema.StatusUnsupported, "not here")),
		point(8, 1, 2, func(r *schema.Run) { r.Purpose = schema.PurposeProfile }),
		point(9, 1, 2, func(r *schema.Run) { r.SessionID = querytest.SessionID(0) }),
	))
	ctx := context.Background()
	points := valuetest.Must(db.SessionPoints(ctx, querytest.SessionID(1), nil))
	p := answer.TableOf(query.SessionPointFields(), points)
	get := func(row int, name string) string { return fmt.Sprint(p.Rows[row][p.Index(name)]) }
	for _, c := range []struct {
		row        int
		name, want string
	}{
		{0, "batch_size", "16"},
		{0, "runs", "6"},
		{0, "ok_runs", "4"},
		{0, "statuses", "map[ok:4 timeout:2]"},
		{0, "samples_min", "5"},
		{0, "samples_max", "5"},
		{0, "unit", "ns"},
		{0, "metric", "latency"},
		{0, "better", "lower"},
		{0, "median", "3510"},
		{0, "warnings", "[drift noisy]"},
		{0, "failures", "[map[error:took more than 15 s error_kind:deadline runs:2 stage:measure status:timeout]]"},
		{1, "batch_size", "2"},
		{1, "runs", "1"},
		{1, "median", "5010"},
		{1, "warnings", "[]"},
		{1, "failures", "[]"},
		{2, "batch_size", "4"},
		{2, "ok_runs", "0"},
		{2, "median", "<nil>"},
		{2, "unit", "<nil>"},
		{2, "statuses", "map[unsupported:1]"},
	} {
		valuetest.Equal(t, get(c.row, c.name), c.want, "point", c.row, c.name)
	}
	valuetest.Equal(t, len(p.Rows), 3)
	units := map[string]string{"median": schema.UnitOfRow, "p99": schema.UnitOfRow, "spread": "ratio", "rel_error": "ratio"}
	for _, c := range p.Columns {
		valuetest.Equal(t, c.Unit, units[c.Name], "unit of", c.Name)
	}
	var logs []float64
	for _, row := range valuetest.Must(sql.Select(ctx, db, "SELECT log_median FROM runs WHERE point_id = '"+get(0, "point_id")+"' AND purpose = 'measure' AND status = 'ok'")).Rows {
		logs = append(logs, row[0].(float64))
	}
	if want, ok := stat.RunsRelError(logs); len(logs) != 4 || !ok || math.Abs(*points[0].RelError()/want-1) > 1e-9 || points[1].RelError() != nil {
		t.Errorf("relative error %v, want %g", *points[0].RelError(), want)
	}
	// The numbers, again as documented, and again in Go.
	table := valuetest.Must(sql.Select(ctx, db, `SELECT median(p50) AS median, median(p99) AS p99, median(1.4826 * mad / nullif(abs(p50), 0)) AS spread
		FROM runs WHERE point_id = '`+get(0, "point_id")+`' AND purpose = 'measure' AND status = 'ok'`))
	want := []float64{overRuns(func(s schema.Summary) float64 { return *s.P50 }), overRuns(func(s schema.Summary) float64 { return *s.P99 }), overRuns(func(s schema.Summary) float64 { return 1.4826 * *s.MAD / *s.P50 })}
	for i, name := range []string{"median", "p99", "spread"} {
		got := p.Rows[0][p.Index(name)].(float64)
		said, _ := table.Rows[0][i].(float64)
		if name == "spread" { // computed, and given with 12 digits
			said, _ = answer.Computed(said).(float64)
		}
		if got != said || math.Abs(got-want[i]) > 1e-12*got {
			t.Errorf("%s: got %v, by SQL %v, want %v", name, got, said, want[i])
		}
	}
}

// TestPointsFailures: the reasons of failed runs are counted, the most frequent first.
func TestPointsFailures(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for i, f := range []struct {
		status schema.Status
		stage  schema.Stage
		text   string
	}{
		{schema.StatusTimeout, "", "z"},
		{schema.StatusError, schema.StageSetup, "b"},
		{schema.StatusCrashed, "", ""},
		{schema.StatusError, schema.StageSetup, "a"},
		{schema.StatusTimeout, "", "z"},
		{schema.StatusError, schema.StageMeasure, "a"},
		{schema.StatusTimeout, "", "y"},
		{schema.StatusError, schema.StageSetup, "b"},
		{schema.StatusTimeout, "", "z"},
	} {
		runs = append(runs, querytest.NewRun(i, 0, func(r *schema.Run) {
			r.BatchSize, r.Params, r.Status, r.Stage, r.Error = nil, nil, f.status, f.stage, f.text
		}))
	}
	points := valuetest.Must(querytest.Open(t, querytest.NewStore(t, runs...)).SessionPoints(context.Background(), querytest.SessionID(1), nil))
	valuetest.Equal(t, len(points), 1)
	var got []string
	for _, f := range points[0].Failures {
		got = append(got, fmt.Sprintf("%d %s %s %s", f.Runs, f.Status, f.Stage, f.Error))
	}
	want := []string{"3 timeout  z", "2 error setup b", "1 crashed  ", "1 error measure a", "1 error setup a", "1 timeout  y"}
	valuetest.DeepEqual(t, got, want)
}

// overRuns returns the median over the four ok runs of the test's first point.
func overRuns(number func(schema.Summary) float64) float64 {
	var all []float64
	for _, base := range []float64{1000, 3000, 9000, 4000} {
		all = append(all, number(stat.Summarize([]float64{base, base + 10, base + 20, base + 1000, base + 5})))
	}
	slices.Sort(all)
	return stat.Quantile(all, 0.5)
}

// TestPointsOfDifferentUnits: numbers of different units have no median.
func TestPointsOfDifferentUnits(t *testing.T) {
	t.Parallel()
	same := func(r *schema.Run) { r.BatchSize, r.Params = nil, nil }
	db := querytest.Open(t, querytest.NewStore(t, querytest.NewRun(0, 1000, same), querytest.NewRun(1, 0, func(r *schema.Run) {
		same(r)
		m := schema.Metric{Name: "throughput", Unit: "1/s", Reals: []float64{1, 2}}
		m.Summary = stat.Summarize(m.Reals)
		r.Metrics, r.Primary = []schema.Metric{m}, m.Name
	})))
	points := valuetest.Must(db.SessionPoints(context.Background(), querytest.SessionID(1), nil))
	valuetest.Equal(t, len(points), 1, points)
	if p := points[0]; p.OKRuns != 2 || p.Metric != "" || p.Unit != "" || p.Median != nil || p.P99 != nil || p.Spread != nil {
		t.Errorf("%+v", p)
	}
}

// TestNegativeSpread: values below zero have a spread like others.
func TestNegativeSpread(t *testing.T) {
	t.Parallel()
	n := 0
	db := querytest.Open(t, querytest.LiveStore(t, querytest.RunsOf(&n, 1, nil, -100, -110)...))
	points, err := db.SessionPoints(context.Background(), querytest.SessionID(1), nil)
	if err != nil || len(points) != 1 || points[0].Spread == nil || *points[0].Spread <= 0 {
		t.Errorf("%+v, %v", points, err)
	}
	for filter, want := range map[string]int{"spread>0": 2, "spread<0": 0} {
		valuetest.Equal(t, valuetest.Must(db.List(context.Background(), query.ListRequest{Filter: filter})).Total, want, filter)
	}
}

// TestPointsWithoutMetric: ok runs that lack the metric have no number, and do not take it from the others.
func TestPointsWithoutMetric(t *testing.T) {
	t.Parallel()
	n := 0
	runs := querytest.RunsOf(&n, 1, nil, 100, 110, 120, 130, 140)
	for i := range 2 {
		runs[i].Metrics, runs[i].Primary = nil, ""
	}
	db := querytest.Open(t, querytest.LiveStore(t, runs...))
	points := valuetest.Must(db.SessionPoints(context.Background(), querytest.SessionID(1), nil))
	valuetest.Equal(t, len(points), 1, points)
	if p := points[0]; p.Median == nil || *p.Median != 130 || p.Metric != "latency" || p.Unit != "ns" || p.OKRuns != 5 || p.ValuedRuns != 3 {
		t.Errorf("%+v", p)
	}
	if _, err := db.AddMetrics(context.Background(), points, querytest.SessionID(1), nil, []string{"latency"}); err != nil || points[0].Metrics[0].Runs != 3 {
		t.Errorf("%+v, %v", points[0].Metrics, err)
	}
	for _, metric := range []string{"", "latency"} {
		groups := valuetest.Must(db.Groups(context.Background(), query.GroupRequest{By: []string{"suite"}, Metric: metric}))
		valuetest.Equal(t, len(groups.Groups), 1, groups)
		if g := groups.Groups[0]; g.Reason != "" || g.Median == nil || *g.Median != 130 || g.OKRuns != 5 {
			t.Errorf("metric %q: %+v", metric, g)
		}
		best, err := db.Groups(context.Background(), query.GroupRequest{By: []string{"suite"}, Metric: metric, Best: true})
		if err != nil || best.Groups[0].Best == nil || best.Groups[0].Best.Runs != 3 {
			t.Errorf("metric %q: the best is %+v, %v", metric, best.Groups, err)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	runs := append(querytest.ManyRuns(3), querytest.Everything())
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	ctx := context.Background()
	id := runs[3].RunID
	for _, text := range []string{id, id[18:], strings.ToLower(id[:12])} {
		d, err := db.Show(ctx, text)
		valuetest.OK(t, err, text)
		var metrics []string
		for i := range d.Metrics {
			metrics = append(metrics, d.Metrics[i].Name)
		}
		valuetest.Equal(t, d.Run.RunID, id, text)
		valuetest.DeepEqual(t, metrics, []string{"latency", "loss", "peak_memory"}, text)
		values := d.Metrics[0].Values()
		if len(values) != 1000 || values[0] != float64(runs[3].Metrics[0].Ticks[0]) {
			t.Errorf("%s: %d values, first %v", text, len(values), values[0])
		}
	}
	_, err := db.Show(ctx, "01M")
	querytest.WantInput(t, err, "run: 01M is ambiguous, 4 runs have an id that begins or ends with it: 01M")
	for _, text := range []string{"", "XXXX", "'; --", query.ErrInput.Error()} {
		_, err = db.Show(ctx, text)
		querytest.WantInput(t, err, "run: no run has the id")
	}
}

// TestPercentileOfSomeRuns: if one run of a point has a single sample, and so no percentile, the percentiles of the others are not shown
// as the point's: they could lie below its median.
func TestPercentileOfSomeRuns(t *testing.T) {
	t.Parallel()
	ofTicks := func(ticks ...int64) func(*schema.Run) {
		return func(r *schema.Run) {
			m := schema.Metric{Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 1, Ticks: ticks}
			m.Summary = stat.Summarize(m.Values())
			r.Metrics, r.Primary = []schema.Metric{m}, "latency"
		}
	}
	for _, c := range []struct {
		last []int64
		want *float64
	}{{[]int64{337}, nil}, {[]int64{337, 337}, new(float64(337))}} {
		runs := []schema.Run{querytest.NewRun(0, 0, ofTicks(240, 248)), querytest.NewRun(15, 0, ofTicks(337, 337)), querytest.NewRun(30, 0, ofTicks(c.last...))}
		points := valuetest.Must(querytest.Open(t, querytest.NewStore(t, runs...)).SessionPoints(t.Context(), querytest.SessionID(1), nil))
		valuetest.Equal(t, len(points), 1, points)
		if got := points[0].P99; (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("last run %v: p99 %v, want %v", c.last, got, c.want)
		}
	}
}

// TestOneSample: a single sample has no variation, so a point of such runs has no spread and no percentile, and no filter by
// spread finds it.
func TestOneSample(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, querytest.NewRun(0, 0, func(r *schema.Run) {
		m := schema.Metric{Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 1, Ticks: []int64{7}}
		m.Summary = stat.Summarize(m.Values())
		r.Metrics, r.Primary = []schema.Metric{m}, "latency"
	})))
	points := valuetest.Must(db.SessionPoints(t.Context(), querytest.SessionID(1), nil))
	valuetest.Equal(t, len(points), 1, points)
	if p := points[0]; p.Median == nil || *p.Median != 7 || p.P99 != nil || p.Spread != nil {
		t.Errorf("median %v, p99 %v, spread %v, want 7 and two that are NULL", p.Median, p.P99, p.Spread)
	}
	for _, filter := range []string{"spread<5%", "latency.spread<5%"} {
		page := valuetest.Must(db.List(t.Context(), query.ListRequest{Filter: filter}))
		valuetest.Equal(t, len(page.Runs), 0, filter, "finds", page.Runs)
	}
}

// TestAddMetrics: the metrics of a point are those of its ok runs in the session, separately for each side; failed runs do not
// count, and runs that differ in a unit have no number.
func TestAddMetrics(t *testing.T) {
	t.Parallel()
	n := 0
	run := func(session int, side string, status schema.Status, metrics ...schema.Metric) schema.Run {
		n++
		return querytest.NewRun(n, 0, func(r *schema.Run) {
			r.SessionID, r.Side, r.Status, r.BatchSize, r.Params, r.Metrics, r.Primary = querytest.SessionID(session), side, status, new(int64(1)), nil, metrics, metrics[0].Name
			if status != schema.StatusOK {
				r.Stage, r.ErrorKind, r.Error = schema.StageValidate, "check", "wrong"
			}
		})
	}
	reals := func(name, unit string, values ...float64) schema.Metric {
		return schema.Metric{Name: name, Unit: unit, Reals: values}
	}
	db := querytest.Open(t, querytest.NewStore(
		t,
		run(1, "base", schema.StatusOK, reals("latency", "ns", 10), reals("loss", "", 1)),
		run(1, "base", schema.StatusOK, reals("latency", "ns", 20, 30, 90), reals("loss", "", 3)),
		run(1, "base", schema.StatusError, reals("latency", "ns", 1), reals("loss", "", 900)),
		run(1, "head", schema.StatusOK, reals("latency", "ns", 50), reals("size", "B", 7)),
		run(1, "head", schema.StatusOK, reals("latency", "ns", 50), reals("size", "ns", 7)),
		run(2, "head", schema.StatusOK, reals("latency", "ns", 70), reals("only", "", 7)),
	))
	ctx := context.Background()
	points := valuetest.Must(db.SessionPoints(ctx, querytest.SessionID(1), nil))
	metrics := []string{"loss", "latency", "size", "only"}
	absent, err := db.AddMetrics(ctx, points, querytest.SessionID(1), nil, metrics)
	if want := (query.Absent{Metrics: []string{"only"}, Others: []string{"latency", "loss", "size"}}); err != nil || !reflect.DeepEqual(absent, want) {
		t.Errorf("%v, %v, want %v", absent, err, want)
	}
	got := answer.TableOf(query.SessionMetricFields(metrics), points)
	if got.Columns[0].Name != "metric.loss" || got.Columns[1].Name != "metric.loss.unit" {
		t.Errorf("columns %v", got.Columns)
	}
	want := "[[2 <nil> 20 ns <nil> <nil> <nil> <nil>] [<nil> <nil> 50 ns <nil> <nil> <nil> <nil>]]"
	valuetest.Equal(t, fmt.Sprint(got.Rows), want)
	if latency := points[0].Metrics[1]; latency.Mean == nil || math.Abs(*latency.Mean-85./3) > 1e-9 { // of 10, and of the mean of 20, 30 and 90
		t.Errorf("mean %v, want 28.3", latency.Mean)
	}
}
