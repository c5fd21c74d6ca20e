package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
)

// madeExplanation is an explanation of the second of three points, with rows of rank, kind, name, base, head, change, low,
// high, unit, scale, share and verdict.
func madeExplanation(verdict compare.Verdict, rows ...[]any) query.Explanation {
	var x query.Explanation
	c := &x.Comparison
	c.Base = query.CompareSide{Filter: "session=last~1", Runs: 15, Sessions: []string{"A"}, Commits: []string{strings.Repeat("9f3c1d2", 5)}}
	c.Head = query.CompareSide{Filter: "session=last", Runs: 15, Sessions: []string{"A"}, Commits: []string{strings.Repeat("4be77a1", 5)}}
	c.Metrics = []string{"latency"}
	for _, v := range []compare.Verdict{compare.Unchanged, verdict, compare.Unchanged} {
		c.Points = append(c.Points, query.ComparedPoint{Metric: "latency", Verdict: v, Change: .147, Ratio: true, SessionSD: math.NaN()})
	}
	point := []any{"matmul", int64(16), "lab3", "latency", "ns", "ratio", 4.02e6, 4.61e6, .147, .121, .172, string(verdict), nil}
	for _, name := range []string{
		"benchmark", "batch_size", "machine", "metric", "unit", "scale", "base", "head", "change", "low", "high", "verdict", "flags",
	} {
		c.Columns = append(c.Columns, query.Column{Name: name})
	}
	c.Rows = [][]any{point}
	for _, name := range []string{"rank", "kind", "name", "base", "head", "change", "low", "high", "unit", "scale", "share", "verdict"} {
		x.Columns = append(x.Columns, query.Column{Name: name})
	}
	x.Rows = append([][]any{{int64(0), "point", "062a", "4020000", "4610000", .147, .121, .172, "ns", "ratio", nil, string(verdict)}}, rows...)
	return x
}

func explanationText(x query.Explanation, all bool) string {
	a := &app{now: func() time.Time { return time.Date(2026, 10, 1, 0, 0, 0, 0, time.Local) }, width: 80}
	var b bytes.Buffer
	explainWriter{compareWriter{app: a, c: &x.Comparison}, &x, all}.view().render(&b, 80, false)
	return b.String()
}

func TestExplainView(t *testing.T) {
	x := madeExplanation(compare.Regressed,
		[]any{int64(1), "metric", "clock_sm", "1980", "1683", -.15, -.152, -.148, "MHz", "ratio", nil, "regressed"},
		[]any{int64(2), "op", "MatMul_0 (MatMul)", "700000", "1200000", 5e5, nil, nil, "ns", "difference", .847, nil},
		[]any{int64(3), "code", "git_commit", strings.Repeat("9f3c1d2abc", 4), strings.Repeat("4be77a1abc", 4), nil, nil, nil, nil, nil, nil, nil},
		[]any{int64(4), "configuration", "applied.threads", nil, "2", nil, nil, nil, nil, nil, nil, nil},
		[]any{int64(5), "environment", "env.sched.the_name_of_something", strings.Repeat("long ", 30), "x, y", nil, nil, nil, nil, nil, nil, nil},
		[]any{int64(6), "warning", "throttled", "0 of 5", "5 of 5", nil, nil, nil, "runs", nil, nil, nil},
		[]any{int64(7), "metric", "temperature", "60", "71.5", 11.5, 11., 12., "Cel", "difference", nil, "regressed"},
		[]any{nil, "op", "Add", "200", "201", 1., nil, nil, "ns", "difference", .01, nil},
		[]any{nil, "metric", "cpu_user", "200", "201", .005, -.01, .01, "ns", "ratio", nil, "unchanged"},
		[]any{nil, "stage", "setup", "200", "300", .5, -.01, nil, "ns", "ratio", nil, "inconclusive"},
	)
	x.Tested = 4
	want := `base  session=last~1  9f3c1d2  15 runs
head  session=last  4be77a1  15 runs
COUNTS

matmul · bs=16 · lab3 · latency
4.02 ms → 4.61 ms  +14.7 %  (+12.1 +17.2)  REGRESSED
of 3 points the one that regressed most

#  WHAT           NAME                        BASE         HEAD     CHANGE  PART
1  metric         clock_sm                1.98 GHz     1.68 GHz    −15.0 %
2  op             MatMul_0 (MatM…           700 µs      1.20 ms    +500 µs  85 %
3  code           git_commit               9f3c1d2      4be77a1
4  configuration  applied.threads                –            2
5  environment    sched.the_name…  long long long…         x, y
6  warning        throttled            0 of 5 runs  5 of 5 runs
7  metric         temperature             60.0 Cel     71.5 Cel  +11.5 Cel

unchanged  cpu_user
not settled  setup +50.0 %
1 op with a difference below 2 % of what all take

7 differences here; that they came together makes none of them the cause
metrics and stages: false discovery rate 5 % (Benjamini-Hochberg) over 4 tests

next  git log --oneline 9f3c1d2..4be77a1
`
	want = strings.Replace(want, "COUNTS", compareWriter{c: &x.Comparison}.counts()[0], 1)
	got := explanationText(x, false)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for line := range strings.SplitSeq(got, "\n") {
		if ansi.StringWidth(line) > 80 {
			t.Errorf("wider than 80: %s", line)
		}
	}
}

// TestExplainViewMachines: a point of different machines is headed by neither.
func TestExplainViewMachines(t *testing.T) {
	x := madeExplanation(compare.Estimate)
	x.Comparison.Columns = append(x.Comparison.Columns, query.Column{Name: "reason"})
	x.Comparison.Rows[0] = append(x.Comparison.Rows[0], string(compare.Machines))
	if got := explanationText(x, false); !strings.Contains(got, "\n\nmatmul · bs=16 · latency\n") {
		t.Error(got)
	}
}

// TestExplainViewWithout: what stands there where nothing is ranked, no point is to be explained, or there is too much.
func TestExplainViewWithout(t *testing.T) {
	none := madeExplanation(compare.Regressed)
	none.Comparison.Rows = nil
	var many [][]any
	for i := range 25 {
		many = append(many, []any{int64(i + 1), "environment", fmt.Sprintf("env.f%d", i), "a", nil, nil, nil, nil, nil, nil, nil, nil})
	}
	for name, c := range map[string]struct {
		x     query.Explanation
		all   bool
		want  string
		lines int
	}{
		"nothing differs": {madeExplanation(compare.Improved), false, "of 3 points the one that improved most\n\nnothing else that is known differs\n", 9},
		"nothing changed": {madeExplanation(compare.Unchanged), false, "compare calls none of 3 points changed; this is the largest difference\n", 9},
		"missing":         {madeExplanation(query.Missing), false, "of 3 points the first that is missing\n", 9},
		"nothing worse":   {none, false, "nothing got worse: 3 points: 1 regressed", 2},
		"many":            {madeExplanation(compare.Regressed, many...), false, "20  environment  f19      a     –\n\n… 5 more (--all)\n\n25 differences here", 33},
		"all of many":     {madeExplanation(compare.Regressed, many...), true, "25  environment  f24      a     –\n\n25 differences here", 36},
	} {
		got := explanationText(c.x, c.all)
		if !strings.Contains(got, c.want) || strings.Count(got, "\n") != c.lines {
			t.Errorf("%s: %d lines\n%s", name, strings.Count(got, "\n"), got)
		}
	}
}

func TestSilentDifference(t *testing.T) {
	for name, want := range map[string]bool{
		"env.runner.iterations": false, "env.runner.stderr_tail": true, "env.runner.config_sha256": true, "host_id": true, "env.gpu.0.temperature": true,
		"env.git.tree": true, "git_commit": false, "gpu_name": false, "env.gpu.0.vbios": false, "applied.threads": false,
	} {
		if got := silentDifference(query.Difference{Name: name}); got != want {
			t.Errorf("%s: silent %v, want %v", name, got, want)
		}
	}
}
