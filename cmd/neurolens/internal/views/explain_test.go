package views

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// line returns a row of rank, kind, name, base, head, change, low, high, unit, scale, share and verdict.
func line(cells ...any) compare.ExplainRow {
	text := func(i int) string { s, _ := cells[i].(string); return s }
	number := func(i int) float64 {
		if v, ok := cells[i].(float64); ok {
			return v
		}
		return math.NaN()
	}
	row := compare.ExplainRow{Kind: text(1), Name: text(2), Base: sideOf(text(3), text(9)), Head: sideOf(text(4), text(9)), Unit: text(8), Scale: schema.Scale(text(9)), Verdict: text(11)}
	if rank, ok := cells[0].(int); ok {
		row.Rank = new(int64(rank))
	}
	if cells[5] != nil {
		row.Estimate = &compare.EvidenceEstimate{Change: number(5), Low: number(6), High: number(7)}
	}
	if cells[10] != nil {
		row.Share = new(number(10))
	}
	return row
}

// sideOf returns what a side has, as it is printed: a number where there is a scale.
func sideOf(text, scale string) compare.EvidenceValue {
	var c compare.RunCount
	if _, err := fmt.Sscanf(text, "%d of %d", &c.Runs, &c.Of); err == nil {
		return compare.EvidenceValue{Runs: &c}
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil && scale != "" {
		return compare.EvidenceValue{Number: &number}
	}
	if text == "" {
		return compare.EvidenceValue{}
	}
	return compare.EvidenceValue{Texts: strings.Split(text, ", ")}
}

// madeExplanation returns an explanation of the second of three points, with more rows.
func madeExplanation(verdict judge.Verdict, rows ...compare.ExplainRow) compare.Explanation {
	var x compare.Explanation
	c := &x.Comparison
	c.Base = compare.Side{Filter: "session=last~1", Runs: 15, Sessions: []string{"A"}, Commits: []string{strings.Repeat("9f3c1d2", 5)}}
	c.Head = compare.Side{Filter: "session=last", Runs: 15, Sessions: []string{"A"}, Commits: []string{strings.Repeat("4be77a1", 5)}}
	c.Metrics = []string{"latency"}
	for _, v := range []judge.Verdict{judge.Unchanged, verdict, judge.Unchanged} {
		c.Points = append(c.Points, compare.Point{Metric: "latency", Verdict: v, Change: .147, Ratio: true, SessionSD: math.NaN()})
	}
	c.Rows = []compare.Row{{
		Point:    compare.Point{Metric: "latency", Verdict: verdict},
		Identity: query.Point{Benchmark: "matmul", BatchSize: new(int64(16)), Machine: "lab3"}, Unit: "ns", Scale: schema.ScaleRatio,
		Base: &compare.Measured{Value: new(4.02e6)}, Head: &compare.Measured{Value: new(4.61e6)},
		Estimates: &compare.Estimates{Change: .147, Low: .121, High: .172, Noise: math.NaN(), Adjusted: math.NaN()},
	}}
	x.Rows = append([]compare.ExplainRow{line(0, "point", "062a", "4020000", "4610000", .147, .121, .172, "ns", "ratio", nil, string(verdict))}, rows...)
	return x
}

func explanationText(x compare.Explanation, all bool) string {
	r := Display{Now: time.Date(2026, 10, 1, 0, 0, 0, 0, time.Local), Width: 80}
	var b bytes.Buffer
	NewExplanation(r, &x, all).View().Render(&b, term.Page{Width: 80})
	return b.String()
}

func TestExplainView(t *testing.T) {
	x := madeExplanation(judge.Regressed,
		line(1, "metric", "clock_sm", "1980", "1683", -.15, -.152, -.148, "MHz", "ratio", nil, "regressed"),
		line(2, "op", "MatMul_0 (MatMul)", "700000", "1200000", 5e5, nil, nil, "ns", "difference", .847, nil),
		line(3, "code", "git_commit", strings.Repeat("9f3c1d2abc", 4), strings.Repeat("4be77a1abc", 4), nil, nil, nil, nil, nil, nil, nil),
		line(4, "configuration", "applied.threads", nil, "2", nil, nil, nil, nil, nil, nil, nil),
		line(5, "environment", "env.sched.the_name_of_something", strings.Repeat("long ", 30), "x, y", nil, nil, nil, nil, nil, nil, nil),
		line(6, "warning", "throttled", "0 of 5", "5 of 5", nil, nil, nil, "runs", nil, nil, nil),
		line(7, "metric", "temperature", "60", "71.5", 11.5, 11., 12., "Cel", "difference", nil, "regressed"),
		line(nil, "op", "Add", "200", "201", 1., nil, nil, "ns", "difference", .01, nil),
		line(nil, "metric", "cpu_user", "200", "201", .005, -.01, .01, "ns", "ratio", nil, "unchanged"),
		line(nil, "stage", "setup", "200", "300", .5, -.01, nil, "ns", "ratio", nil, "inconclusive"),
	)
	x.Tested = 4
	want := `base  session=last~1  9f3c1d2  15 runs
head  session=last  4be77a1  15 runs
COUNTS

matmul · bs=16 · lab3 · latency
4.02 ms → 4.61 ms  +14.7 % (+12.1 % to +17.2 %)  REGRESSED
the one of 3 points that regressed most

#  WHAT           NAME                         BASE         HEAD    CHANGE  PART
1  metric         clock_sm                 1.98 GHz     1.68 GHz   −15.0 %
2  op             MatMul_…MatMul)            700 µs      1.20 ms   +500 µs  85 %
3  code           git_commit                9f3c1d2      4be77a1
4  configuration  applied.threads                 –            2
5  environment    sched.t…mething  long long long …         x, y
6  warning        throttled             0 of 5 runs  5 of 5 runs
7  metric         temperature               60.0 °C      71.5 °C  +11.5 °C

unchanged  cpu_user
inconclusive  setup +50.0 %
1 op with a difference below 2 % of the total time

7 differences: correlations, not proven causes
only environment variables of libraries, runtimes and the locale are stored
ops: totals of a profiled run; PART is the share of the change of all ops
metrics and stages: false discovery rate 5 % (Benjamini-Hochberg) over 4 tests

next  git log --oneline 9f3c1d2..4be77a1
`
	want = strings.Replace(want, "COUNTS", Comparison{C: &x.Comparison}.counts()[0], 1)
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

// TestEvidenceCells: a rate has the unit that other tables print, and a negative part the sign that changes have.
func TestEvidenceCells(t *testing.T) {
	rate := line(1, "metric", "throughput", "2000", "1000", -.5, -.6, -.4, "1/s", "ratio", nil, "regressed")
	if got := evidenceCells(&rate)[3].Text; got != "2.00 kitems/s" {
		t.Errorf("base %q", got)
	}
	slower := line(3, "metric", "latency", "100", "400", 3., -.063, 8.14, "ns", "ratio", nil, "inconclusive")
	if got := evidenceCells(&slower)[6].Text; got != "−6.3 +814" {
		t.Errorf("interval %q", got)
	}
	op := line(2, "op", "Add", "200", "100", -100., nil, nil, "ns", "difference", -.28, nil)
	if got := evidenceCells(&op)[7].Text; got != "−28 %" {
		t.Errorf("part %q", got)
	}
}

// madeContrast returns a row of a contrast; sessions are those of its name, and others.
func madeContrast(rank any, name string, verdict judge.ContrastVerdict, within judge.Within, sessions ...int) compare.ExplainRow {
	row := line(rank, "contrast", name, "0 of 10", "4 of 10", .21, .17, .26, "ns", "ratio", .96, string(verdict))
	row.P, row.Adjusted, row.Tested, row.ConfoundedWith = new(.0003), new(.0104), 23, []string{}
	row.Contrast = &compare.ContrastCounts{Within: within, Runs: 4, Others: 6}
	if len(sessions) == 2 {
		row.Contrast.Sessions, row.Contrast.OtherSessions = sessions[0], sessions[1]
	}
	return row
}

// TestExplainViewContrasts: contrasts are rows and sentences, noise is a sentence, and what was looked at is counted.
func TestExplainViewContrasts(t *testing.T) {
	alike := madeContrast(1, "env.thp=always", judge.Explains, judge.WithinHead)
	alike.ConfoundedWith = []string{"os_kernel=6.9", "env.a", "env.b", "env.c", "env.d"}
	unbounded := madeContrast(3, "tag.lane=a", judge.Explains, judge.WithinBase)
	unbounded.Estimate = &compare.EvidenceEstimate{Change: math.NaN(), Low: math.NaN(), High: math.NaN()}
	none := madeContrast(nil, "env.load.1m>=3", judge.ContrastInconclusive, judge.WithinBase)
	x := madeExplanation(judge.Regressed,
		alike,
		madeContrast(2, "env.numa=1", judge.Opposes, judge.WithinHead, 3, 5),
		unbounded,
		madeContrast(nil, "env.core=1", judge.Noisy, judge.WithinSides),
		madeContrast(nil, "block_index<5", judge.Noisy, judge.WithinBase),
		none,
	)
	x.Facts, x.FewRuns = 23, 2
	got := explanationText(x, false)
	contains(t, got,
		"1  contrast  thp=always  0 of 10 runs  4 of 10 runs  +21.0 %", "96 %",
		`within head, the 4 runs with thp=always (with os_kernel=6.9, a, b, 2 more)
differ in latency by +21.0 % (+17.0 % to +26.0 %) from the 6 others, p .010 of
23 facts examined

within head, the 4 runs of 3 sessions with numa=1 differ in latency by +21.0 %
(+17.0 % to +26.0 %) from the 6 runs of the 5 others, p .010 of 23 facts
examined; this works against the difference

within base, the 4 runs with tag.lane=a differ in latency from the 6 others, p
.010 of 23 facts examined

within both sides, the 4 runs with core=1 differ in latency by +21.0 % (+17.0 %
to +26.0 %) from the 6 others, p .010 of 23 facts examined; it splits the runs
of both sides: noise, not the difference

within base, the 4 runs with block_index<5 differ in latency by +21.0 % (+17.0 %
to +26.0 %) from the 6 others, p .010 of 23 facts examined; it is about as
frequent on both sides: noise, not the difference

23 facts differ within a side; 2 more differ, in too few runs or sessions to
judge

3 differences: correlations, not proven causes`,
	)
	for line := range strings.SplitSeq(got, "\n") {
		if ansi.StringWidth(line) > 80 {
			t.Errorf("wider than 80: %s", line)
		}
	}
}

// TestExplainViewContrastUnits: what is no time is not said to take long, and what is compared by its difference has a unit.
func TestExplainViewContrastUnits(t *testing.T) {
	for unit, want := range map[string]string{"1/s": "differ in latency by +21.0 % (+17.0 % to +26.0 %) from the 6 others", "Cel": "differ in latency by +0.210 °C (+0.170 °C to +0.260 °C) from the 6 others"} {
		row := madeContrast(1, "a=b", judge.Explains, judge.WithinHead)
		row.Unit = unit
		if unit == "Cel" {
			row.Scale = schema.ScaleDifference
		}
		x := madeExplanation(judge.Regressed, row)
		x.Facts = 1
		contains(t, strings.ReplaceAll(explanationText(x, false), "\n", " "), want)
	}
}

// TestExplainViewContrastless: of facts that tell nothing it is said how many were looked at.
func TestExplainViewContrastless(t *testing.T) {
	for want, counts := range map[string][2]int{
		"none of the 5 facts that differ within a side separates its slow runs from its fast ones\n":                                                      {5, 0},
		"none of the 5 facts that differ within a side separates its slow runs from its fast ones; 2 more differ, in too few runs or sessions to judge\n": {5, 2},
		"1 fact differs within a side, in too few runs or sessions to judge\n":                                                                            {0, 1},
	} {
		x := madeExplanation(judge.Regressed, madeContrast(nil, "a=b", judge.ContrastInconclusive, judge.WithinHead))
		x.Facts, x.FewRuns = counts[0], counts[1]
		r := Display{Now: time.Now(), Width: 200}
		var b bytes.Buffer
		NewExplanation(r, &x, false).View().Render(&b, term.Page{Width: 200})
		contains(t, b.String(), want)
	}
}

// TestExplainViewMachines: a point of different machines is headed by neither.
func TestExplainViewMachines(t *testing.T) {
	x := madeExplanation(judge.Estimate)
	x.Comparison.Rows[0].Reason = judge.Machines
	contains(t, explanationText(x, false), "\n\nmatmul · bs=16 · latency\n")
}

// TestExplainViewEstimates: where all points are estimates, the screen does not claim that nothing changed.
func TestExplainViewEstimates(t *testing.T) {
	x := madeExplanation(judge.Estimate)
	x.Comparison.Rows[0].Reason = judge.Machines
	for i := range x.Comparison.Points {
		x.Comparison.Points[i].Verdict = judge.Estimate
	}
	contains(t, explanationText(x, false), "none of 3 points has a verdict of a change; this is the largest difference\n")
	x.Comparison.Points = x.Comparison.Points[:1]
	contains(t, explanationText(x, false), "the only point: judged alone, without a correction for other points\n")
}

// TestExplainViewWithout: what stands there where nothing is ranked, no point is to be explained, or there is too much.
func TestExplainViewWithout(t *testing.T) {
	none := madeExplanation(judge.Regressed)
	none.Comparison.Rows = nil
	var many []compare.ExplainRow
	for i := range 25 {
		many = append(many, line(i+1, "environment", fmt.Sprintf("env.f%d", i), "a", nil, nil, nil, nil, nil, nil, nil, nil))
	}
	for name, c := range map[string]struct {
		x     compare.Explanation
		all   bool
		want  string
		lines int
	}{
		"nothing differs": {madeExplanation(judge.Improved), false, "the one of 3 points that improved most\n\nno other known differences\n", 10},
		"nothing changed": {madeExplanation(judge.Unchanged), false, "none of 3 points has a verdict of a change; this is the largest difference\n", 10},
		"missing":         {madeExplanation(compare.Missing), false, "the first of 3 points that is missing\n", 10},
		"nothing worse":   {none, false, "nothing got worse: 3 points: 1 regressed", 2},
		"many":            {madeExplanation(judge.Regressed, many...), false, "20  environment  f19      a     –\n\n… 5 more (--all)\n\n25 differences: correlations, not proven causes", 34},
		"all of many":     {madeExplanation(judge.Regressed, many...), true, "25  environment  f24      a     –\n\n25 differences: correlations, not proven causes", 37},
	} {
		got := explanationText(c.x, c.all)
		if !strings.Contains(got, c.want) || strings.Count(got, "\n") != c.lines {
			t.Errorf("%s: %d lines\n%s", name, strings.Count(got, "\n"), got)
		}
	}
}
