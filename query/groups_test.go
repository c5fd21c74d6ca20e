package query_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// groups asks for groups, and gives the named columns of each row as a line of text.
func groups(t testing.TB, db *query.DB, req query.GroupRequest, columns ...string) (query.Grouping, []string) {
	t.Helper()
	g, err := db.Groups(context.Background(), req)
	valuetest.OK(t, err, req)
	table := answer.TableOf(g.Fields(), g.Groups)
	var lines []string
	for _, row := range table.Rows {
		var line []string
		for _, name := range columns {
			i := table.Index(name)
			if i < 0 {
				t.Fatalf("no column %s", name)
			}
			line = append(line, fmt.Sprint(row[i]))
		}
		lines = append(lines, strings.Join(line, " "))
	}
	return g, lines
}

func wantLines(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// groupRun returns a run of a precision and dim whose samples are all of one value.
func groupRun(n int, value int64, precision, dim string, edit func(*schema.Run)) schema.Run {
	return querytest.NewRun(n, value, func(r *schema.Run) {
		r.Precision, r.Params, r.BatchSize = precision, map[string]string{"dim": dim}, new(int64(1))
		m := schema.Metric{Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 1, Ticks: []int64{value, value, value + 8}}
		m.Summary = stat.Summarize(m.Values())
		r.Metrics, r.Primary = []schema.Metric{m}, "latency"
		if edit != nil {
			edit(r)
		}
	})
}

// rate makes a run's metric one of another direction.
func rate(better schema.Better) func(*schema.Run) {
	return func(r *schema.Run) {
		m := schema.Metric{Name: "throughput", Unit: "1/s", Better: better, Reals: []float64{float64(*r.RepeatIndex), float64(*r.RepeatIndex)}}
		m.Summary = stat.Summarize(m.Reals)
		r.Metrics, r.Primary = []schema.Metric{m}, m.Name
	}
}

// groupStore has three points in fp32, two in fp64, one of them failed, and one in bf16 that is unsupported.
func groupStore(t testing.TB) *query.DB {
	return querytest.Open(t, querytest.NewStore(
		t,
		groupRun(0, 300, "fp32", "64", nil), groupRun(1, 100, "fp32", "128", nil), groupRun(2, 900, "fp32", "1024", nil),
		groupRun(3, 320, "fp32", "64", nil), groupRun(4, 500, "fp32", "128", nil), groupRun(5, 310, "fp32", "64", nil),
		groupRun(6, 0, "fp32", "128", querytest.Ended(schema.StatusTimeout)),
		groupRun(7, 700, "fp64", "64", nil), groupRun(8, 0, "fp64", "128", querytest.Ended(schema.StatusOOM)), groupRun(9, 0, "fp64", "128", querytest.Ended(schema.StatusOOM)),
		groupRun(10, 0, "bf16", "64", querytest.Ended(schema.StatusUnsupported)),
		groupRun(11, 1, "fp64", "64", func(r *schema.Run) { r.Purpose = schema.PurposeProfile }),
	))
}

func TestGroups(t *testing.T) {
	t.Parallel()
	db := groupStore(t)
	g, got := groups(t, db, query.GroupRequest{By: []string{"precision"}},
		"precision", "points", "runs", "ok_runs", "failed_runs", "statuses", "metric", "unit", "better", "reason", "median", "lowest", "highest")
	wantLines(t, "by precision", got,
		"bf16 1 1 0 0 map[unsupported:1] <nil> <nil> <nil> no_value <nil> <nil> <nil>",
		"fp32 3 7 6 1 map[ok:6 timeout:1] latency ns lower <nil> 310 300 900", // points: 310, median of 100 and 500, 900
		"fp64 2 4 1 2 map[ok:2 oom:2] latency ns lower <nil> 700 700 700")
	if total := fmt.Sprint(len(g.Keys), g.Total, g.Points, g.Runs, g.Statuses); total != "1 3 6 12 map[ok:8 oom:2 timeout:1 unsupported:1]" {
		t.Errorf("in all: got %s", total)
	}
	units := map[string]string{"median": schema.UnitOfRow, "lowest": schema.UnitOfRow, "highest": schema.UnitOfRow, "spread": "ratio"}
	for _, c := range answer.TableOf(g.Fields(), nil).Columns {
		valuetest.Equal(t, c.Unit, units[c.Name], "unit of", c.Name)
	}
	// A point's numbers are those of SessionPoints.
	points := valuetest.Must(db.SessionPoints(context.Background(), querytest.SessionID(1), nil))
	numbers := func(id string, runs int, median, p99, spread *float64, params map[string]string) string {
		return fmt.Sprint(id, runs, answer.Value(median), answer.Value(p99), answer.Value(spread), params)
	}
	var want, best []string
	for _, p := range points {
		if p.Median != nil {
			want = append(want, numbers(p.PointID, p.OKRuns, p.Median, p.P99, p.Spread, p.Params))
		}
	}
	byPoint, _ := groups(t, db, query.GroupRequest{By: []string{"point_id"}, Best: true})
	for _, group := range byPoint.Groups {
		if p := group.Best; p != nil {
			best = append(best, numbers(p.PointID, p.Runs, group.Median, p.P99, group.Spread, p.Params))
		}
	}
	slices.Sort(want)
	slices.Sort(best)
	wantLines(t, "the best of each point", best, want...)
	valuetest.Equal(t, len(best), 4)
}

// TestGroupsBestBisected: runs of bisect, of old commits, are left out of a group that has others with a value, and counted.
func TestGroupsBestBisected(t *testing.T) {
	t.Parallel()
	bisected := func(r *schema.Run) { r.Warnings, r.Side = []string{"load", schema.WarnBisect}, "head" }
	failed := func(r *schema.Run) { r.Status, r.Metrics, r.Primary = schema.StatusError, nil, "" }
	db := querytest.Open(t, querytest.NewStore(
		t, groupRun(0, 300, "fp32", "64", nil), groupRun(1, 100, "fp32", "64", bisected), groupRun(2, 50, "fp32", "128", bisected),
		groupRun(3, 70, "fp64", "64", failed), groupRun(4, 60, "fp64", "64", bisected),
	))
	found, got := groups(t, db, query.GroupRequest{By: []string{"precision"}, Best: true}, "precision", "params", "median", "points", "runs")
	wantLines(t, "the best", got, "fp32 map[dim:64] 300 1 1", "fp64 map[dim:64] 60 1 2")
	valuetest.Equal(t, [3]int{found.Bisected, found.Runs, found.Points}, [3]int{2, 3, 2})
	found, _ = groups(t, db, query.GroupRequest{By: []string{"precision"}}, "runs")
	valuetest.Equal(t, [2]int{found.Bisected, found.Runs}, [2]int{0, 5}, "without a choice")
}

func TestGroupsBest(t *testing.T) {
	t.Parallel()
	db := groupStore(t)
	_, got := groups(t, db, query.GroupRequest{By: []string{"precision"}, Best: true},
		"precision", "points", "ok_runs", "reason", "params", "best_runs", "samples_min", "median", "batch_size")
	wantLines(t, "best by precision", got,
		"bf16 1 0 no_value <nil> <nil> <nil> <nil> <nil>",
		"fp32 3 6 <nil> map[dim:128] 2 3 300 1",
		"fp64 2 1 <nil> map[dim:64] 1 3 700 1")
	unchecked := func(r *schema.Run) { r.Warnings = []string{schema.WarnUnchecked} }
	fast := querytest.Open(t, querytest.NewStore(
		t, groupRun(0, 300, "fp32", "64", nil), groupRun(1, 100, "fp32", "128", unchecked), groupRun(2, 50, "fp64", "64", unchecked),
	))
	_, checked := groups(t, fast, query.GroupRequest{By: []string{"precision"}, Best: true}, "precision", "reason", "params", "median")
	wantLines(t, "what could not be checked wins nowhere", checked, "fp32 <nil> map[dim:64] 300", "fp64 unchecked <nil> <nil>")
	wrong := func(r *schema.Run) {
		r.Status, r.Stage, r.ErrorKind = schema.StatusError, schema.StageValidate, schema.KindOutput
	}
	other := func(r *schema.Run) { wrong(r); r.ErrorKind = "metric" }
	fast = querytest.Open(t, querytest.NewStore(
		t, groupRun(0, 300, "fp32", "64", nil), groupRun(1, 30, "fp32", "128", nil), groupRun(2, 30, "fp32", "128", wrong), groupRun(3, 200, "fp32", "256", nil),
		groupRun(4, 200, "fp32", "256", other), groupRun(5, 50, "fp64", "64", wrong), groupRun(6, 40, "fp64", "64", nil),
	))
	_, right := groups(t, fast, query.GroupRequest{By: []string{"precision"}, Best: true}, "precision", "reason", "params", "median", "failed_runs", "wrong_runs")
	wantLines(t, "a point with a wrong result wins nowhere", right, "fp32 <nil> map[dim:256] 200 2 1", "fp64 unchecked <nil> <nil> 1 1")
	failing := func(r *schema.Run) { r.Warnings = []string{"16 of 24 requests failed"} }
	allowed := func(r *schema.Run) { r.Warnings = []string{"16 of 24 requests failed, as allow_failed: 70% allows"} }
	fast = querytest.Open(t, querytest.NewStore(
		t, groupRun(0, 300, "fp32", "64", nil), groupRun(1, 100, "fp32", "128", failing), groupRun(2, 100, "fp32", "128", nil), groupRun(3, 200, "fp32", "256", allowed),
		groupRun(4, 50, "fp64", "64", failing), groupRun(5, 50, "bf16", "64", failing), groupRun(6, 50, "bf16", "128", unchecked),
	))
	_, served := groups(t, fast, query.GroupRequest{By: []string{"precision"}, Best: true}, "precision", "reason", "params", "median")
	wantLines(t, "a server that fails requests wins nowhere", served, "bf16 failed_requests <nil> <nil>", "fp32 <nil> map[dim:256] 200", "fp64 failed_requests <nil> <nil>")
	_, got = groups(t, db, query.GroupRequest{Best: true}, "points", "runs", "params", "precision", "median")
	wantLines(t, "best of all", got, "6 12 map[dim:128] fp32 300")
	_, got = groups(t, db, query.GroupRequest{By: []string{"dim"}, Best: true}, "dim", "median")
	wantLines(t, "a parameter is ordered as a number", got, "64 310", "128 300", "1024 900")
	// Of equal medians the better p99 wins, of points equal in that too the smaller id.
	for _, steady := range []string{"1", "2", "3"} {
		var runs []schema.Run
		for i, dim := range []string{"1", "2", "3"} {
			runs = append(runs, groupRun(i, 100, "fp32", dim, func(r *schema.Run) {
				if dim == steady {
					r.Metrics[0].Ticks = []int64{100, 100, 102}
					r.Metrics[0].Summary = stat.Summarize(r.Metrics[0].Values())
				}
			}))
		}
		_, got = groups(t, querytest.Open(t, querytest.NewStore(t, runs...)), query.GroupRequest{Best: true}, "params")
		wantLines(t, "of equal medians", got, "map[dim:"+steady+"]")
	}
	tie := querytest.Open(t, querytest.NewStore(t, groupRun(0, 100, "fp32", "1", nil), groupRun(1, 100, "fp32", "2", nil)))
	_, all := groups(t, tie, query.GroupRequest{By: []string{"point_id"}, Best: true}, "point_id")
	_, got = groups(t, tie, query.GroupRequest{Best: true}, "point_id")
	wantLines(t, "of equal points", got, slices.Min(all))
}

// TestGroupsDirection: the metric determines what is better.
func TestGroupsDirection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what          string
		first, second func(*schema.Run)
		want, median  string // of the best; of all
	}{
		{"higher is better", rate(schema.BetterHigher), rate(schema.BetterHigher), "<nil> map[dim:2] 8 higher", "<nil> 7.5"},
		{"lower is better", rate(schema.BetterLower), rate(schema.BetterLower), "<nil> map[dim:1] 7 lower", "<nil> 7.5"},
		{"no direction", rate(""), rate(""), "no_direction <nil> <nil> <nil>", "<nil> 7.5"},
		{"one direction is not known", rate(schema.BetterLower), rate(""), "no_direction <nil> <nil> <nil>", "<nil> 7.5"},
		{"both directions", rate(schema.BetterLower), rate(schema.BetterHigher), "no_direction <nil> <nil> <nil>", "<nil> 7.5"},
		{"two metrics", rate(schema.BetterHigher), nil, "mixed <nil> <nil> <nil>", "mixed <nil>"},
		{"a failed run has no metric", rate(schema.BetterHigher), querytest.Ended(schema.StatusError), "<nil> map[dim:1] 7 higher", "<nil> 7"},
	} {
		db := querytest.Open(t, querytest.NewStore(t, groupRun(7, 700, "fp32", "1", c.first), groupRun(8, 800, "fp32", "2", c.second)))
		_, got := groups(t, db, query.GroupRequest{By: []string{"precision"}, Best: true}, "reason", "params", "median", "better")
		wantLines(t, c.what, got, c.want)
		_, got = groups(t, db, query.GroupRequest{By: []string{"precision"}}, "reason", "median")
		wantLines(t, c.what+", all points", got, c.median)
	}
	// Two metrics of one point.
	db := querytest.Open(t, querytest.NewStore(t, groupRun(7, 700, "fp32", "1", rate(schema.BetterHigher)), groupRun(8, 800, "fp32", "1", nil), groupRun(9, 900, "fp32", "2", nil)))
	_, got := groups(t, db, query.GroupRequest{Best: true}, "reason", "median", "metric")
	wantLines(t, "two metrics of a point", got, "mixed <nil> <nil>")
	_, got = groups(t, db, query.GroupRequest{By: []string{"metric"}, Best: true}, "metric", "median", "params", "unit")
	wantLines(t, "by metric", got, "latency 800 map[dim:1] ns", "throughput 7 map[dim:1] 1/s")
}

// TestGroupsKeys: every kind of filter key can group; NULL is a group; machines and sides are always kept apart.
func TestGroupsKeys(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(
		t,
		groupRun(0, 100, "fp32", "64", func(r *schema.Run) { r.Env.Machine = "lab1" }),
		groupRun(1, 500, "fp32", "64", func(r *schema.Run) { r.Side, r.BatchSize = "head", nil }),
		groupRun(2, 400, "fp32", "64", func(r *schema.Run) { r.Side, r.BatchSize = "base", nil }),
		groupRun(3, 300, "fp32", "64", func(r *schema.Run) { r.Tags = nil }),
		groupRun(4, 250, "", "", func(r *schema.Run) {
			r.Params = map[string]string{"median": "x", "mode": "é'\"", "dim": "no number", "failed_runs": "2"}
		}),
	))
	for _, c := range []struct {
		by   []string
		want string // names of the key columns, rows of keys
	}{
		{[]string{"precision"}, "precision: fp32, <nil>"},
		{[]string{"bs"}, "batch_size: 1, <nil>"},
		{[]string{"tag.who"}, "tag.who: me, <nil>"},
		{[]string{"env.governor"}, "env.governor: performance"},
		{[]string{"dim"}, "dim: 64, no number"},
		{[]string{"param.dim", "batch_size"}, "param.dim batch_size: 64 1, 64 <nil>, no number 1"},
		{[]string{"param.median"}, "param.median: x, <nil>"},
		{[]string{"failed_runs"}, "param.failed_runs: 2, <nil>"}, // a column of groups has this name
		{[]string{"mode"}, "mode: é'\", <nil>"},
		{[]string{"session"}, "session_id: " + querytest.SessionID(1)},
		{[]string{"side", "machine"}, "side machine: base lab3, head lab3, <nil> lab1, <nil> lab3"},
		{[]string{"memory_bytes"}, "memory_bytes: 17179869184"},
		{[]string{"status"}, "status: ok"},
		{nil, ": "},
	} {
		for _, best := range []bool{false, true} {
			g, got := groups(t, db, query.GroupRequest{By: c.by, Best: best})
			var names []string
			for _, key := range g.Keys {
				names = append(names, key.Name)
			}
			for i, group := range g.Groups {
				var values []string
				for _, v := range group.Keys {
					values = append(values, fmt.Sprint(v))
				}
				got[i] = strings.Join(values, " ")
			}
			valuetest.Equal(t, strings.Join(names, " ")+": "+strings.Join(got, ", "), c.want, "by", c.by)
			seen := map[string]bool{}
			for _, column := range answer.TableOf(g.Fields(), nil).Columns {
				if seen[column.Name] {
					t.Errorf("by %q: two columns are named %s", c.by, column.Name)
				}
				seen[column.Name] = true
			}
		}
	}
	_, got := groups(t, db, query.GroupRequest{Filter: "bs=1 dim=64", Best: true}, "points", "machine", "median", "best_runs")
	wantLines(t, "a point on two machines", got, "1 lab1 100 1")
	_, got = groups(t, db, query.GroupRequest{Filter: "bs=null", Best: true}, "points", "side", "median", "best_runs")
	wantLines(t, "a point on two sides, of which base is faster", got, "1 head 500 1")
	_, got = groups(t, db, query.GroupRequest{Filter: "bs=null side=base", Best: true}, "points", "side", "median", "best_runs")
	wantLines(t, "a point on one side", got, "1 base 400 1")
	for _, c := range []struct {
		by   []string
		want bool
	}{{nil, true}, {[]string{"precision"}, true}, {[]string{"bs", "side"}, false}} {
		g, _ := groups(t, db, query.GroupRequest{By: c.by})
		valuetest.Equal(t, g.SidesTogether, c.want, "sides together by", c.by)
	}
}

// TestGroupsCombined: a median over runs of several sessions is told from one of a session, or of one that continues another.
func TestGroupsCombined(t *testing.T) {
	t.Parallel()
	second, other := querytest.SessionID(2), querytest.SessionID(3)
	db := querytest.Open(t, querytest.NewStore(
		t,
		groupRun(0, 100, "fp32", "64", nil),
		groupRun(1, 900, "fp32", "64", func(r *schema.Run) { r.SessionID = second }),
		groupRun(2, 100, "fp64", "64", nil),
		groupRun(3, 100, "fp64", "64", func(r *schema.Run) { r.SessionID, r.Resumes = other, querytest.SessionID(1) }),
		groupRun(4, 100, "bf16", "64", nil),
		groupRun(5, 0, "bf16", "64", func(r *schema.Run) {
			r.SessionID, r.Status, r.Metrics, r.Primary = second, schema.StatusError, nil, ""
		}),
	))
	for _, c := range []struct {
		filter string
		by     []string
		want   int
	}{
		{"", nil, 2},
		{"", []string{"precision"}, 2},
		{"", []string{"session"}, 0},
		{"session=" + second, nil, 0},
		{"precision=fp64", nil, 1},
		{"precision=bf16", nil, 0},
	} {
		for _, best := range []bool{false, true} {
			g, _ := groups(t, db, query.GroupRequest{Filter: c.filter, By: c.by, Best: best})
			valuetest.Equal(t, g.Combined, c.want, "sessions combined by", c.by, "of", c.filter, "best", best)
		}
	}
}

// TestGroupsOfSessions: of groups by session the newest come first, so that a limit keeps these, and those without a start last.
func TestGroupsOfSessions(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for n, id := range []string{querytest.SessionID(1), querytest.SessionID(3), schema.ULIDFrom(time.Time{}, [10]byte{1}).String(), querytest.SessionID(2)} {
		runs = append(runs, groupRun(n, 100, "fp32", "64", func(r *schema.Run) { r.SessionID = id }))
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	_, got := groups(t, db, query.GroupRequest{By: []string{"session"}, Limit: 3}, "session_id")
	wantLines(t, "the newest sessions", got, querytest.SessionID(3), querytest.SessionID(2), querytest.SessionID(1))
	_, got = groups(t, db, query.GroupRequest{By: []string{"session"}, Sort: []string{"session"}, Limit: 1}, "session_id")
	wantLines(t, "the oldest session", got, querytest.SessionID(1))
}

// sharedText returns what all points share, with nothing for a text that they do not.
func sharedText(s query.Shared) string {
	return strings.Join([]string{
		s.Metric, s.Better, s.Machine, s.Side, s.Benchmark, s.Variant, s.Backend, s.Model, s.Precision,
		fmt.Sprint(answer.Value(s.BatchSize)), fmt.Sprint(answer.Value(s.SeqLen)), fmt.Sprint(s.Params),
	}, " ")
}

// TestGroupsSame: the values that all points have in common, including failed ones.
func TestGroupsSame(t *testing.T) {
	t.Parallel()
	db := groupStore(t)
	for filter, want := range map[string]string{
		"":               "latency lower lab3  tiny_linear  builtin builtin:tiny_linear  1 64 map[]",
		"precision=fp64": "latency lower lab3  tiny_linear  builtin builtin:tiny_linear fp64 1 64 map[]",
		"dim=64":         "latency lower lab3  tiny_linear  builtin builtin:tiny_linear  1 64 map[dim:64]",
	} {
		g, _ := groups(t, db, query.GroupRequest{By: []string{"precision"}, Filter: filter})
		valuetest.Equal(t, sharedText(g.Same), want, filter)
	}
	some := querytest.Open(t, querytest.NewStore(t, groupRun(0, 1, "fp32", "64", nil), groupRun(1, 1, "fp32", "64", func(r *schema.Run) {
		r.Params, r.SeqLen = map[string]string{"dim": "64", "tile": "8"}, nil
	})))
	g, got := groups(t, some, query.GroupRequest{By: []string{"tile"}}, "tile")
	wantLines(t, "by what one point has", got, "8", "<nil>")
	if got := sharedText(g.Same); got != "latency lower lab3  tiny_linear  builtin builtin:tiny_linear fp32 1 <nil> map[dim:64]" {
		t.Errorf("one point lacks a parameter, the other a column: got %s", got)
	}
}

// TestGroupsSameMetric: the metric and its direction are those of all groups, also of those beyond the limit.
func TestGroupsSameMetric(t *testing.T) {
	t.Parallel()
	first := groupRun(0, 1, "fp16", "64", nil)
	another := func(name, unit string, better schema.Better) schema.Run {
		return groupRun(1, 1, "fp32", "64", func(r *schema.Run) {
			r.Metrics[0].Name, r.Metrics[0].Unit, r.Metrics[0].Better, r.Primary = name, unit, better, name
		})
	}
	for what, c := range map[string]struct {
		other schema.Run
		want  string
	}{
		"alike":             {another("latency", "ns", schema.BetterLower), "latency lower"},
		"failed":            {groupRun(1, 1, "fp32", "64", querytest.Ended(schema.StatusTimeout)), "latency lower"},
		"another metric":    {another("throughput", "1/s", schema.BetterHigher), " "},
		"another direction": {another("latency", "ns", schema.BetterHigher), "latency "},
		"no direction":      {another("latency", "ns", ""), "latency "},
	} {
		g, _ := groups(t, querytest.Open(t, querytest.NewStore(t, first, c.other)), query.GroupRequest{By: []string{"precision"}, Limit: 1})
		if got := g.Same.Metric + " " + g.Same.Better; got != c.want || len(g.Groups) != 1 {
			t.Errorf("%s: got %s of %d groups, want %s", what, got, len(g.Groups), c.want)
		}
	}
}

func TestGroupsSort(t *testing.T) {
	t.Parallel()
	db := groupStore(t)
	for _, c := range []struct {
		sort []string
		best bool
		want string
	}{
		{nil, true, "bf16 fp32 fp64"},
		{[]string{"-precision"}, true, "fp64 fp32 bf16"},
		{[]string{"-prec"}, false, "fp64 fp32 bf16"},
		{[]string{"-median"}, true, "fp64 fp32 bf16"},
		{[]string{"median"}, false, "fp32 fp64 bf16"},
		{[]string{"-highest"}, false, "fp32 fp64 bf16"},
		{[]string{"runs"}, false, "bf16 fp64 fp32"},
		{[]string{"failed_runs", "-points"}, false, "bf16 fp32 fp64"},
	} {
		g, got := groups(t, db, query.GroupRequest{By: []string{"precision"}, Best: c.best, Sort: c.sort}, "precision")
		valuetest.Equal(t, strings.Join(got, " "), c.want, "sort", c.sort, got)
		limited, got := groups(t, db, query.GroupRequest{By: []string{"precision"}, Best: c.best, Sort: c.sort, Limit: 2}, "precision")
		if !slices.Equal(got, strings.Fields(c.want)[:2]) || limited.Total != 3 || limited.Runs != g.Runs {
			t.Errorf("sort %q, at most 2: got %s of %d groups, %d runs", c.sort, got, limited.Total, limited.Runs)
		}
	}
}

func TestGroupsErrors(t *testing.T) {
	t.Parallel()
	db := groupStore(t)
	ctx := context.Background()
	for _, c := range []struct {
		req  query.GroupRequest
		says string
	}{
		{query.GroupRequest{By: []string{""}}, `by: "" is neither a column nor a parameter`},
		{query.GroupRequest{By: []string{"-dim"}}, `by: "-dim" is neither a column nor a parameter`},
		{query.GroupRequest{By: []string{"baseline"}}, `by: "baseline" is neither a column nor a parameter`},
		{query.GroupRequest{By: []string{"warnings"}}, "by: warnings is a list, and runs cannot be grouped by lists"},
		{query.GroupRequest{By: []string{"tags"}}, "by: tags is a map: name one of its entries, as in tag.name"},
		{query.GroupRequest{By: []string{"p99"}}, "by: p99 is a measured value: want a key that runs share, such as backend"},
		{query.GroupRequest{By: []string{"bs", "batch_size"}}, "by: batch_size is given twice"},
		{query.GroupRequest{By: []string{"dim", "param.dim"}}, "by: param.dim is given twice"},
		{query.GroupRequest{By: []string{"precsion"}}, `by: no column or parameter is called "precsion"; did you mean precision?`},
		{query.GroupRequest{Filter: "batch_size=77", By: []string{"dmi"}}, `by: no column or parameter is called "dmi"; did you mean dim?`},
		{query.GroupRequest{Filter: "dmi=3", By: []string{"dim"}}, `filter: dmi=3  (offset 0): no column or parameter is called "dmi"; did you mean dim?`},
		{query.GroupRequest{By: []string{"dim"}, Sort: []string{"precision"}}, `sort: "precision" is not a column of the groups: want one of dim points runs`},
		{query.GroupRequest{By: []string{"dim"}, Sort: []string{"statuses"}}, `sort: "statuses" is not a column of the groups: want one of dim points runs`},
		{query.GroupRequest{By: []string{"dim"}, Sort: []string{"p99"}}, `sort: "p99" is not a column of the groups: want one of dim points runs`},
	} {
		_, err := db.Groups(ctx, c.req)
		querytest.WantInput(t, err, c.says)
	}
	// Nothing matches, or there is nothing.
	for what, db := range map[string]*query.DB{"no match": db, "no runs": querytest.Open(t, querytest.NewStore(t))} {
		for _, req := range []query.GroupRequest{{Filter: "batch_size=77", By: []string{"dim"}}, {Filter: "batch_size=77", Best: true}, {Since: querytest.Start.Add(time.Hour), By: []string{"dim"}}} {
			g := valuetest.Must(db.Groups(ctx, req))
			valuetest.Equal(t, len(g.Groups), 0, what, req, g)
			valuetest.Equal(t, g.Total, 0, what, req, g)
			valuetest.Equal(t, g.Runs, 0, what, req, g)
		}
	}
	g, _ := groups(t, db, query.GroupRequest{By: []string{"precision"}, Since: querytest.Start.Add(9 * time.Second), Until: querytest.Start.Add(11 * time.Second)})
	valuetest.Equal(t, g.Runs, 2, "between two times")
	valuetest.Equal(t, g.Total, 2, "between two times")
	_, err := db.Groups(ctx, query.GroupRequest{Filter: "dim>=100", By: []string{"dim"}})
	valuetest.NoError(t, err)
	odd := querytest.Open(t, querytest.NewStore(t, groupRun(0, 1, "fp32", "64", nil), groupRun(1, 1, "fp32", "big", nil)))
	if g, _ := groups(t, odd, query.GroupRequest{Filter: "dim>=32", By: []string{"dim"}, Since: querytest.Start.Add(-time.Hour)}); g.Runs != 1 || g.NotNumbers["dim"] != 1 {
		t.Errorf("%d runs match, no numbers: %v", g.Runs, g.NotNumbers)
	}
}

// TestGroupsOfMetric: groups and the best point use the requested metric, in its direction; a failed run, and one
// without the metric, give no number.
func TestGroupsOfMetric(t *testing.T) {
	t.Parallel()
	run := func(i int, status schema.Status, accuracy ...float64) schema.Run {
		return querytest.NewRun(i, 1000, func(r *schema.Run) {
			r.Variant, r.Params, r.BatchSize, r.Status = "v", nil, new(int64(1+i)), status
			if accuracy != nil {
				r.Metrics = append(r.Metrics, schema.Metric{Name: "accuracy", Unit: "ratio", Better: schema.BetterHigher, Reals: accuracy})
			}
			if status != schema.StatusOK {
				r.Stage, r.ErrorKind, r.Error = schema.StageMeasure, "raise", "it failed"
			}
		})
	}
	runs := []schema.Run{run(0, schema.StatusOK, .5, .6, .7), run(1, schema.StatusOK, .9), run(2, schema.StatusError, 1), run(3, schema.StatusOK)}
	for name, db := range map[string]*query.DB{"live": querytest.Open(t, querytest.NewStore(t, runs...)), "sealed": querytest.SealedRuns(t, runs)} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			g, err := db.Groups(ctx, query.GroupRequest{By: []string{"variant"}, Metric: "accuracy"})
			if err != nil || len(g.Groups) != 1 || *g.Groups[0].Lowest != .6 || *g.Groups[0].Highest != .9 || g.Groups[0].OKRuns != 3 || g.Same.Metric != "accuracy" {
				t.Errorf("%+v, %v", g, err)
			}
			g, err = db.Groups(ctx, query.GroupRequest{Best: true, Metric: "accuracy"})
			if err != nil || g.Groups[0].Best == nil || *g.Groups[0].Best.BatchSize != 2 || *g.Groups[0].Median != .9 || g.Groups[0].Better != "higher" {
				t.Errorf("%+v, %v", g, err)
			}
			_, err = db.Groups(ctx, query.GroupRequest{Best: true, Metric: "acuracy"})
			querytest.WantInput(t, err, `ls: no run has the metric "acuracy"; did you mean accuracy?`)
		})
	}
}
