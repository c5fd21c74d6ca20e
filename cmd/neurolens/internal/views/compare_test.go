package views

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// slower returns a row whose head takes 1.2 ms in place of 1.
func slower(metric string, verdict judge.Verdict) compare.Row {
	unknown := math.NaN()
	return compare.Row{
		Point: compare.Point{Metric: metric, Verdict: verdict, Better: "lower", Ratio: true}, Unit: "ns", Scale: schema.ScaleRatio,
		Base: &compare.Measured{Value: new(1e6)}, Head: &compare.Measured{Value: new(1.2e6)},
		Estimates: &compare.Estimates{Change: .2, Low: unknown, High: unknown, Noise: unknown, Margin: unknown, P: unknown, Adjusted: unknown},
	}
}

// comparedText returns the screen of two points, of three.
func comparedText(better string, least judge.Threshold, common ...string) string {
	c := compare.Comparison{Points: []compare.Point{{Verdict: compare.Failed}}} // that has no metric
	for i := range 2 {
		row := slower("latency", judge.Regressed)
		row.Identity = query.Point{Benchmark: "gemm", Precision: "fp16", BatchSize: new(int64(1 + i)), Params: map[string]string{"dim": "64"}}
		c.Rows = append(c.Rows, row)
		c.Points = append(c.Points, compare.Point{Metric: "latency", Verdict: judge.Regressed, Better: "lower", Ratio: true})
	}
	c.Points = append(c.Points, compare.Point{Metric: "latency", Verdict: judge.Unchanged, Better: better, Ratio: true})
	c.Metrics, c.Common = []string{"latency"}, common
	c.Thresholds = judge.Thresholds{"latency": least}
	r := Display{Now: time.Date(2026, 10, 1, 0, 0, 0, 0, time.Local), Width: 80}
	var b bytes.Buffer
	Comparison{Reader: r, C: &c}.View().Render(&b, term.Page{Width: 80})
	return b.String()
}

// TestDifferencesHeading: the heading counts the points that are compared by difference, with their threshold. If the threshold is an
// amount, all points of the metric are compared so, and the heading says nothing.
func TestDifferencesHeading(t *testing.T) {
	t.Parallel()
	c := compare.Comparison{Metrics: []string{"allocs/op", "rmse"}, Points: []compare.Point{
		{Metric: "allocs/op", Ratio: true}, {Metric: "allocs/op"}, {Metric: "rmse"},
	}, Thresholds: judge.Thresholds{"allocs/op": {Value: .02}, "rmse": {Absolute: true}}}
	got := strings.Join(Comparison{C: &c}.differences(), "\n")
	if want := "allocs/op: 1 of 2 points is compared by difference, because of values of 0 or less: a change below 2.0 % of the smaller side counts as none"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.Thresholds["allocs/op"] = judge.Threshold{Value: 1, Absolute: true}
	if got := (Comparison{C: &c}).differences(); got != nil {
		t.Errorf("of an amount: %q", got)
	}
}

// TestHeadline: the first line of a comparison is its answer: how many points changed, and which one most.
func TestHeadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want     string
		verdicts []judge.Verdict
	}{
		{"1 point regressed; b 1.00 ms → 1.20 ms, +20.0 % (+10.0 % to +30.0 %)", []judge.Verdict{judge.Regressed}},
		{"both points regressed; most: b 1.00 ms → 1.20 ms, +20.0 % (+10.0 % to +30.0 %)", []judge.Verdict{judge.Regressed, judge.Regressed}},
		{"1 regressed, 1 missing of 3 points; b 1.00 ms → 1.20 ms, +20.0 % (+10.0 % to +30.0 %)", []judge.Verdict{judge.Unchanged, judge.Regressed, compare.Missing}},
		{"2 points: 1 regressed, 1 improved; most: b 1.00 ms → 1.20 ms, +20.0 % (+10.0 % to +30.0 %)", []judge.Verdict{judge.Regressed, judge.Improved}},
		{"no change in 2 points", []judge.Verdict{judge.Unchanged, judge.Unchanged}},
		{"no change in 1 of 2 points, 1 inconclusive", []judge.Verdict{judge.Unchanged, judge.Inconclusive}},
		{"nothing decided: 1 point inconclusive; b 1.00 ms → 1.20 ms, +20.0 % (+10.0 % to +30.0 %)", []judge.Verdict{judge.Inconclusive}},
		{"no verdict (different machines): 1 point only estimated; b 1.00 ms → 1.20 ms, +20.0 % (+10.0 % to +30.0 %)", []judge.Verdict{judge.Estimate}},
		{"1 added of 2 points, 1 inconclusive", []judge.Verdict{compare.Added, judge.Inconclusive}},
		{"no change in 1 of 2 points, 1 failed", []judge.Verdict{judge.Unchanged, compare.Failed}},
		{"nothing decided: 2 points: 1 estimate, 1 inconclusive; most: b 1.00 ms → 1.20 ms, +20.0 % (+10.0 % to +30.0 %)", []judge.Verdict{judge.Estimate, judge.Inconclusive}},
		{"nothing was compared", nil},
	} {
		all := compare.Comparison{Metrics: []string{"latency"}, Contrast: query.Contrast{Axis: "variant", Value: "a"}}
		low, high := 1e6, 1.2e6
		for _, verdict := range c.verdicts {
			r := compared(verdict, .2, .1, .3)
			if verdict == judge.Estimate {
				r.Reason, all.Head.Machines = judge.Machines, []string{"m"}
			}
			r.Base, r.Head, r.BaseID, r.HeadID = &compare.Measured{Value: &low}, &compare.Measured{Value: &high}, "a", "b"
			all.Rows, all.Points = append(all.Rows, r), append(all.Points, r.Point)
		}
		if got := (Comparison{C: &all}).headline(); got != c.want {
			t.Errorf("%v\ngot  %s\nwant %s", c.verdicts, got, c.want)
		}
		all.Head.Machines = nil
		if got, want := (Comparison{C: &all}).headline(), strings.Replace(c.want, "different machines", "unknown machine", 1); got != want {
			t.Errorf("%v without machines\ngot  %s\nwant %s", c.verdicts, got, want)
		}
	}
}

// TestHeadlineOfSettings: of two settings of one session the first line says what bench says: which is slower than which.
func TestHeadlineOfSettings(t *testing.T) {
	t.Parallel()
	const slower, open = "n=2 is slower than n=1: latency +20.0 % (+10.0 % to +30.0 %)", "n=2 against n=1: inconclusive, +20.0 % (+10.0 % to +30.0 %)"
	for _, c := range []struct {
		want     string
		verdicts []judge.Verdict
	}{
		{slower, []judge.Verdict{judge.Regressed}},
		{"n=2 is as good as n=1: +20.0 % (+10.0 % to +30.0 %)", []judge.Verdict{judge.Unchanged}},
		{open, []judge.Verdict{judge.Inconclusive}},
		{"both points slower than n=1; most: n=2 m=0 1.00 ms → 1.20 ms, +20.0 % (+10.0 % to +30.0 %)", []judge.Verdict{judge.Regressed, judge.Regressed}},
		{"2 slower, 1 faster of 4 points, 1 inconclusive; most: n=2 m=0 1.00 ms → 1.20 ms, +20.0 % (+10.0 % to +30.0 %)", []judge.Verdict{judge.Regressed, judge.Regressed, judge.Improved, judge.Inconclusive}},
		{"no change in 2 points", []judge.Verdict{judge.Unchanged, judge.Unchanged}},
		{"nothing decided: both points inconclusive; most: n=2 m=0 1.00 ms → 1.20 ms, +20.0 % (+10.0 % to +30.0 %)", []judge.Verdict{judge.Inconclusive, judge.Inconclusive}},
	} {
		all := compare.Comparison{Metrics: []string{"latency"}}
		all.Base.Sessions, all.Head.Sessions = []string{"s"}, []string{"s"}
		for i, verdict := range c.verdicts {
			r := compared(verdict, .2, .1, .3)
			r.Base.Value, r.Head.Value = new(1e6), new(1.2e6)
			r.Unit, r.Better, r.BaseID, r.HeadID = "ns", "lower", fmt.Sprint("a", i), fmt.Sprint("b", i)
			r.Identity.Params = map[string]string{"n": "2", "m": strconv.Itoa(i)}
			all.Rows, all.Points = append(all.Rows, r), append(all.Points, r.Point)
		}
		sides := all
		all.Contrast = query.Contrast{Axis: "n", Value: "1"}
		sides.Differs = []query.FactDifference{{Kind: query.ConfigurationFact, Name: "param.n", Base: []string{"1"}, Head: []string{"2"}}}
		if got := (Comparison{C: &all}).headline(); got != c.want {
			t.Errorf("values of an axis, %v\ngot  %s\nwant %s", c.verdicts, got, c.want)
		}
		if got, want := (Comparison{C: &sides}).headline(), strings.Replace(c.want, "most: n=2 ", "most: ", 1); got != want {
			t.Errorf("two filters, %v\ngot  %s\nwant %s", c.verdicts, got, want)
		}
		all.Head.Sessions = []string{"another"}
		if got := (Comparison{C: &all}).headline(); strings.Contains(got, "slower") || strings.Contains(got, "against") {
			t.Errorf("of two sessions: %s", got)
		}
	}
	all := compare.Comparison{Metrics: []string{"accuracy"}, Contrast: query.Contrast{Axis: "n", Value: "1"}}
	all.Base.Sessions, all.Head.Sessions = []string{"s"}, []string{"s"}
	for range 2 {
		r := compared(judge.Regressed, -.2, -.3, -.1)
		r.Base.Value, r.Head.Value = new(.5), new(.4)
		r.Metric, r.Unit, r.Better, r.Identity.Params = "accuracy", "ratio", "higher", map[string]string{"n": "2"}
		all.Rows, all.Points = append(all.Rows, r), append(all.Points, r.Point)
	}
	valuetest.Equal(t, (Comparison{C: &all}).headline(), "both points worse than n=1; most: n=2 50.0 % → 40.0 %, −20.0 % (−30.0 % to −10.0 %)")
}

// TestHeadlineRepeats: without a verdict the first line says in how many points the repeats differ, which these are and by how much, and at last
// why there is no verdict. The rows have what the repeats say in place of a verdict, and those that are alike are counted as unchanged ones are.
// A common change that is smaller than the threshold has no column. Too few repeats say nothing. Hardware that differs is of two machines.
func TestHeadlineRepeats(t *testing.T) {
	t.Parallel()
	all := compare.Comparison{Metrics: []string{"latency"}, Contrast: query.Contrast{Axis: "variant", Value: "a"}}
	low, high := 1e6, 1.2e6
	for _, result := range []string{compare.RepeatsDiffer, compare.RepeatsAlike, string(judge.FewRuns)} {
		r := compared(judge.Estimate, .2, .1, .3)
		r.Reason, r.Repeats = judge.Machines, &compare.Repeats{Result: result, Adjusted: .01}
		r.Base, r.Head, r.BaseID, r.HeadID = &compare.Measured{Value: &low}, &compare.Measured{Value: &high}, "a", "b"
		all.Rows, all.Points = append(all.Rows, r), append(all.Points, r.Point)
	}
	all.Others = slices.Clone(all.Rows[:1])
	all.Others[0].Metric = "B/op"
	w := Comparison{C: &all}
	all.Shared = map[string]compare.Shared{"latency": {Change: .019}}
	const differ = "the repeats differ in 1 of 3 points, 1 undecided: b +20.0 % (+10.0 % to +30.0 %, P=.010); "
	valuetest.Equal(t, w.headline(), differ+"B/op: 1 differs; no verdict (unknown machine)")
	valuetest.Equal(t, w.counts()[0], "3 points: 1 differ, 1 alike, 1 few_runs")
	valuetest.Equal(t, w.withoutMachine(), "95 % and P hold for one machine in one state")
	shows := func(all bool, want ...string) {
		t.Helper()
		w.Selection.All = all
		var b bytes.Buffer
		w.View().Render(&b, term.Page{Width: 100})
		for _, text := range want {
			if !strings.Contains(b.String(), text) {
				t.Errorf("no %q in\n%s", text, &b)
			}
		}
		if strings.Contains(b.String(), "RELATIVE") || strings.Contains(b.String(), "estimate") {
			t.Errorf("RELATIVE or estimate in\n%s", &b)
		}
	}
	shows(false, "  REPEATS\n", " +10.0 +30.0  .010  ", "\n… and 1 alike (--all)\n")
	shows(true, "\nalike     the interval lies within the threshold\n")
	all.Shared = map[string]compare.Shared{"latency": {Change: -.02}}
	valuetest.Equal(t, w.relative(), true)
	all.Differs = []query.FactDifference{{Kind: query.EnvironmentFact, Name: "os"}, {Kind: query.HardwareFact, Name: "cpu_model"}}
	valuetest.Equal(t, w.headline(), differ+"B/op: 1 differs; no verdict (different cpu_model)")
	valuetest.Equal(t, w.decidesImported("", 7, ""), "to decide it: bench both in turns on one machine")
	all.Differs, all.Others = nil, nil
	all.Points = append(all.Points, compared(compare.Added, 0, 0, 0).Point)
	valuetest.Equal(t, w.headline(), differ+"1 added; no verdict (unknown machine)")
	valuetest.Equal(t, w.counts()[0], "4 points: 1 added, 1 differ, 1 alike, 1 few_runs")
	all.Points = append(all.Points[:3], compared(judge.Unchanged, 0, 0, 0).Point)
	valuetest.Equal(t, w.headline(), "no change in 1 of 4 points, 3 estimate; the repeats differ in 1 of 3 points, 1 undecided")
	all.Points = all.Points[:3]
	for i := range all.Points {
		all.Points[i].Repeats = &compare.Repeats{Result: string(judge.FewRuns), Adjusted: math.NaN()}
	}
	valuetest.Equal(t, w.headline(), "all 3 points only estimated, from fewer than 3 repeats; most: b 1.00 ms → 1.20 ms, +20.0 % (+10.0 % to +30.0 %); no verdict (unknown machine)")
	valuetest.Equal(t, w.withoutMachine(), "estimates, no verdict")
}

// TestRepeatsDiffer: undecided repeats are not called equal.
func TestRepeatsDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		differ, alike, all int
		want               string
	}{
		{1, 0, 1, "the repeats differ"},
		{0, 1, 1, "the repeats do not differ"},
		{0, 0, 1, "the repeats do not tell whether they differ"},
		{2, 0, 2, "the repeats differ in both points"},
		{0, 2, 2, "the repeats differ in none of 2 points"},
		{0, 1, 3, "the repeats differ in none of 3 points, 2 undecided"},
		{1, 2, 3, "the repeats differ in 1 of 3 points"},
	} {
		valuetest.Equal(t, RepeatsDiffer(c.differ, c.alike, c.all, "point"), c.want)
	}
}

// TestIntervalStays: at 80 columns names are cut before the interval of the change is left out, also if a change says how it was estimated. The
// first line has the medians also beside such a change, which does not follow from them.
func TestIntervalStays(t *testing.T) {
	t.Parallel()
	all := compare.Comparison{Metrics: []string{"latency"}}
	low, high := 1e6, 1.2e6
	for _, name := range []string{"example.com/project/package/Encode/64k", "example.com/project/package/Decode/64k"} {
		r := compared(judge.Inconclusive, .2, -.101, .302)
		r.Identity.Benchmark, r.Reason, r.MoreRuns, r.Flags = name, judge.Noise, 21, []string{compare.FlagPaired}
		r.Base, r.Head, r.BaseID, r.HeadID = &compare.Measured{Value: &low, Runs: 6}, &compare.Measured{Value: &high, Runs: 6}, name, name
		all.Rows, all.Points = append(all.Rows, r), append(all.Points, r.Point)
	}
	var b bytes.Buffer
	Comparison{C: &all, Reader: Display{Width: 80}}.View().Render(&b, term.Page{Width: 80})
	for _, want := range []string{"nothing decided: both points inconclusive; most:\nexample.com/project/package/Encode/64k 1.00 ms → 1.20 ms, +20.0 % paired\n(−10.1 % to +30.2 %)\n", "Encode/64k  1.00 ms  1.20 ms  +20.0 % paired  −10.1 +30.2  inconclusive\n", "Decode/64k  1.00 ms"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// The heading is about all points, not about those that are shown.
func TestCompareHeading(t *testing.T) {
	two := judge.Threshold{Value: .02}
	for _, x := range []struct {
		text, heading, below string
	}{
		{comparedText("lower", two, "benchmark", "precision", "param.dim"), "gemm · fp16 · dim=64 · latency, lower is better; a change below 2.0 % counts as none", ""},
		{comparedText("lower", two, "benchmark"), "gemm · latency, lower is better; a change below 2.0 % counts as none", "all points below: fp16 · dim=64"},
		{comparedText("lower", judge.Threshold{Value: 2e4, Absolute: true}, "benchmark", "precision", "param.dim"), "gemm · fp16 · dim=64 · latency, lower is better; a change below 20.0 µs counts as none", ""},
		{comparedText("", judge.Threshold{Value: .05}, "benchmark", "precision", "param.dim"), "gemm · fp16 · dim=64 · latency; a change below 5.0 % counts as none", ""},
		{comparedText("lower", judge.Threshold{Absolute: true}, "benchmark", "precision", "param.dim"), "gemm · fp16 · dim=64 · latency, lower is better", ""},
	} {
		_, heading, _ := strings.Cut(x.text, "\n\n") // after the answer
		heading, _, _ = strings.Cut(heading, "\nbase ")
		if heading = strings.ReplaceAll(heading, "\n", " "); heading != x.heading {
			t.Errorf("the heading is %q, want %q", heading, x.heading)
		}
		if is := strings.Contains(x.text, "points below"); is != (x.below != "") || !strings.Contains(x.text, x.below) {
			t.Errorf("want %q in\n%s", x.below, x.text)
		}
	}
}

// An axis whose values are compared is no constant, however it is called.
func TestMatrixAxisIsNoConstant(t *testing.T) {
	c := compare.Comparison{Common: []string{"param.base", "param.p"}, Rows: []compare.Row{{Identity: query.Point{Params: map[string]string{"base": "b", "p": "1"}}}}}
	for _, axis := range []string{"param.base=a", "base=a"} {
		c.Contrast.Axis = strings.TrimSuffix(axis, "=a")
		w := Comparison{C: &c}
		if got := w.constants(true); !slices.Equal(got, []string{"p=1"}) {
			t.Errorf("--matrix %s: %q", axis, got)
		}
	}
}

// What is printed beside a value is what a filter calls it: where a parameter's name means something else, param.NAME.
func TestAxesAreFilterKeys(t *testing.T) {
	var rows []Subject
	for _, n := range []string{"1", "2"} {
		rows = append(rows, Subject{Point: query.Point{Params: map[string]string{"level": n, "dim": n, "bs": "4", "session": "x", "env.y": "z"}}})
	}
	constants, varying := Axes(rows, nil)
	got := strings.Join(constants, " ")
	for _, x := range varying {
		got += " " + AxisColumn(x).Header
	}
	if want := "param.bs=4 param.env.y=z param.session=x dim param.level"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A table of metrics side by side has each point that is in any of them, and counts the rows that it does not show.
func TestMatrixHasEveryPoint(t *testing.T) {
	c := compare.Comparison{Metrics: []string{"latency", "energy"}}
	for _, metric := range c.Metrics {
		for p := range 25 {
			if id := strconv.Itoa(p); metric == "energy" || p < 19 {
				row := slower(metric, judge.Regressed)
				row.BaseID, row.HeadID, row.Identity = id, id, query.Point{Machine: "lab3", Params: map[string]string{"p": id}}
				c.Rows = append(c.Rows, row)
			}
		}
	}
	c.Contrast.Axis = "variant"
	w := Comparison{C: &c, Selection: Selection{Metrics: c.Metrics}}
	b := w.metricsTable()
	_, rows := b.table(b.varying(b.places()), false)
	if hidden := b.hiddenText(); len(rows) != CompareRows || hidden != "… and 5 more points (--all)" || rows[19][2].Text != term.Unknown || rows[19][5].Text == term.Unknown {
		t.Errorf("%d rows, %q hidden; the last is %v", len(rows), hidden, rows[len(rows)-1])
	}
	w.Selection.All = true
	if b = w.metricsTable(); len(b.pairs) != 25 || b.hiddenText() != "" {
		t.Errorf("%d rows of all, %q hidden", len(b.pairs), b.hiddenText())
	}
}

// A row says how many samples the runs had, and that runs of a point failed whatever its verdict is.
func TestCompareCells(t *testing.T) {
	row := compare.Row{
		Point: compare.Point{Verdict: judge.Unchanged}, Flags: []string{"drift", compare.FlagFailures},
		Base: &compare.Measured{Runs: 5, SamplesMin: new(int64(5)), SamplesMax: new(int64(500))},
		Head: &compare.Measured{Runs: 3, SamplesMin: new(int64(50)), SamplesMax: new(int64(50))},
	}
	if got := runsText(&row); got != "5×5…500 3×50" {
		t.Errorf("runs are %q", got)
	}
	if got := wordOf(&row); got != compare.FlagFailures {
		t.Errorf("the word is %q", got)
	}
	row.Scale, row.Estimates, row.Verdict = schema.ScaleRatio, &compare.Estimates{Change: -.031, Low: -.306, High: .274}, judge.Inconclusive
	row.Flags = []string{compare.FlagPaired}
	if got, word := PointChange(&row), wordOf(&row); got != "−3.1 % paired" || word != "" {
		t.Errorf("the change is %q, the word %q", got, word)
	}
	w := Comparison{C: &compare.Comparison{Rows: []compare.Row{row}}}
	if lines := w.explained(term.View{}, []int{0}); len(lines) == 0 || !strings.HasPrefix(lines[0], "paired  the change is the median of the differences within blocks") {
		t.Errorf("%q", lines)
	}
}

// What would settle points says of how many: those of too few runs have but a least number, and some have none.
func TestMoreRunsText(t *testing.T) {
	noise := func(more int) compare.Point { return compare.Point{Reason: judge.Noise, MoreRuns: more} }
	few := compare.Point{Reason: judge.FewRuns, MoreRuns: 2}
	busy := noise(285)
	busy.Warnings = []string{"drift", "load"}
	byProcessor := busy
	byProcessor.Metric = "cpu_user"
	if word := wordOf(&compare.Row{Point: busy}); word != "noise (load)" {
		t.Errorf("the word is %q", word)
	}
	for want, open := range map[string][]compare.Point{
		"; other work ran on the machine (load): measure when it is quiet, or compare by --metric cpu_user if the programs compute": {busy, noise(8)},
		"; other work ran on the machine (load): measure when it is quiet":                                                          {byProcessor},
		"":                                {noise(0)},
		"; at least 2 more runs per side": {few, few},
		"; 12 more runs per side would probably decide 2 of 4": {noise(900), noise(0), noise(12), noise(8)},
		"; 285 more runs per side would probably decide 1 of 2 (fewer with less other work on the machine, a larger --threshold, or --metric cpu_user for a program that computes)": {noise(285), noise(0)},
		"; at least 2 more runs per side; 1 more run per side would probably decide 1 of 2":                                                                                         {few, noise(1)},
		"; 285 more runs per side would probably decide 1 of 1 (fewer with less other work on the machine, or a larger --threshold)":                                                {{Metric: "cpu_user", Reason: judge.Noise, MoreRuns: 285}},
	} {
		if got := moreRunsText(open, open[0].Metric != CPUUser, 0); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got, want := moreRunsText([]compare.Point{few, noise(12)}, false, 10*time.Second), "; at least 2 more runs per side (about 40 s per point); 12 more runs per side (about 4 min per point) would probably decide 1 of 2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRunTime: the time of a run is the time of a session of this program divided by the number of its runs, and unknown over several sessions.
func TestRunTime(t *testing.T) {
	side := func(runs int, since, until time.Duration, sessions ...string) compare.Side {
		return compare.Side{Runs: runs, Sessions: sessions, Since: since.Microseconds(), Until: until.Microseconds()}
	}
	imported := side(5, time.Hour, time.Hour+40*time.Second, "a")
	imported.Imported = 5
	for _, test := range []struct {
		base, head compare.Side
		want       time.Duration
	}{
		{side(5, time.Hour, time.Hour+80*time.Second, "a"), side(5, time.Hour+10*time.Second, time.Hour+90*time.Second, "a"), 10 * time.Second},
		{side(5, time.Hour, time.Hour+40*time.Second, "a"), side(11, 2*time.Hour, 2*time.Hour+100*time.Second, "b"), 10 * time.Second},
		{side(5, time.Hour, time.Hour+40*time.Second, "a", "b"), side(5, 2*time.Hour, 2*time.Hour+40*time.Second, "c"), 0},
		{imported, side(5, 2*time.Hour, 2*time.Hour+40*time.Second, "b"), 0},
		{side(1, time.Hour, time.Hour, "a"), side(1, 2*time.Hour, 2*time.Hour, "b"), 0},
	} {
		w := Comparison{C: &compare.Comparison{Base: test.base, Head: test.head}}
		if got := w.runTime(); got != test.want {
			t.Errorf("%+v %+v: %v, want %v", test.base, test.head, got, test.want)
		}
	}
}

// TestFewRuns: few_runs with a number asks for the runs of a verdict, of which a gate wants more; without a number it is a flag.
func TestFewRuns(t *testing.T) {
	w := Comparison{C: &compare.Comparison{Rows: []compare.Row{{Flags: []string{"few_runs"}}, {}}}}
	w.C.Rows[0].Verdict = judge.Improved
	w.C.Rows[1].Verdict, w.C.Rows[1].Reason, w.C.Rows[1].MoreRuns = judge.Inconclusive, judge.FewRuns, 2
	const flag, more = "fewer than 5 runs on a side: only a change that clearly exceeds the threshold counts, and none for a gate", "; (+n): measure at least n more per side"
	const reason = "too few runs on a side for a verdict, which takes at least 3 (a gate needs 5)" + more
	for want, places := range map[string][]int{flag: {0}, reason: {1}, reason + "; without (+n): " + flag: {0, 1}} {
		if got := w.explained(term.View{}, places)[0]; got != "few_runs  "+want {
			t.Errorf("%v: %s", places, got)
		}
	}
	w.Gate = "gate: "
	if got := w.explained(term.View{}, []int{1})[0]; got != "few_runs  too few runs on a side for a verdict, which takes at least 5 (3 are enough without a gate)"+more {
		t.Errorf("of a gate: %s", got)
	}
}

// Lines about all points say of how many they hold.
func TestCompareLinesCount(t *testing.T) {
	whole := func(method judge.Method, sd float64) compare.Point {
		blocks := 0
		if method == judge.MethodBlocks {
			blocks = 6
		}
		return compare.Point{Blocks: blocks, Metric: "latency", Ratio: true, Change: .1, Method: method, SessionSD: sd, History: 8, Verdict: judge.Regressed}
	}
	none := math.NaN()
	c := compare.Comparison{Metrics: []string{"latency"}, Points: []compare.Point{whole(judge.MethodBlocks, none), whole(judge.MethodRuns, none)}}
	c.Base = compare.Side{Sessions: []string{"s"}, Machines: []string{"lab3"}, Commits: []string{"abcdefgh"}, Runs: 9000, FactRuns: 2, NoMachine: 2, NoCommit: 3}
	c.Head = compare.Side{Sessions: []string{"s"}, Machines: []string{"lab3"}, Runs: 10, FactRuns: 10}
	w := Comparison{
		Reader: Display{Stores: []string{"my store"}}, C: &c,
		Selection: Selection{Selections: []string{"a", "b c"}, Metrics: []string{"latency"}, Thresholds: []string{"5%"}, Strict: true},
	}
	said := func(lines []string, want string) {
		t.Helper()
		contains(t, strings.Join(lines, "|"), want)
	}
	said(w.sessions(), "one session, interleaved in 1 of 2 points: the runs of each block are compared")
	said(w.differs(), "the same machine lab3 (unknown for 2 runs); no known difference of hardware, versions or settings (12 of 9,010 runs examined)")
	c.Differs = []query.FactDifference{{Name: "env.runner.config_sha256", Base: []string{"a"}, Head: []string{"b"}}}
	said(w.differs(), "; differs: env of the sweep or another unstored setting (12")
	c.Rows = []compare.Row{{HeadID: "1"}}
	said(w.differs(), "; no known difference of hardware, versions or settings (12")
	c.Rows, c.Differs = nil, nil
	said([]string{w.side("base", c.Base)}, "abcdefg (commit unknown for 3 runs)")
	said([]string{w.next()}, "neurolens explain a 'b c' --metric latency --threshold 5% --strict --store 'my store'")
	c.Points[1].Blocks = 6
	said(w.sessions(), "one session, interleaved: in 1 of 2 points, the runs of each block are compared")
	c.Points = c.Points[:1]
	said(w.sessions(), "one session, interleaved: the runs of each block are compared")
	c.Points[0].Method = judge.MethodRuns
	said(w.sessions(), "one session, interleaved: all runs of one side are compared with all runs of the other")

	c.Head.Sessions = []string{"t"}
	c.Points = []compare.Point{whole(judge.MethodRuns, .002), whole(judge.MethodRuns, none)}
	said(w.sessions(), "different sessions (1 of 2 points), 8 earlier ones known: noise between sessions ±0.2 %")
	c.Points[1].Reason = judge.Sessions
	said(w.sessions(), "different sessions, 8 earlier ones known for 1 of 2 points: noise between sessions ±0.2 %")
	c.Points[0].History = compare.MaxHistory
	said(w.sessions(), "different sessions, the newest 100 earlier ones count for 1 of 2 points: noise between sessions ±0.2 %")
	c.Points = c.Points[1:]
	said(w.sessions(), "different sessions: no verdict, as the time or the session of some runs is unknown")
	c.Base.Since, c.Head.Since = 1, 1
	c.Points[0].History, c.Points[0].Gap = 3, (50 * time.Hour).Microseconds()
	said(w.sessions(), "different sessions: no verdict before 7 earlier sessions at least 3 days apart show how much sessions differ (known: 3)|"+
		"to decide it: measure both alternately in one session with bench, which takes two programs, variants of a sweep, or another commit (--against)")
	c.Points[0].History = 1
	said(w.sessions(), "different sessions: no verdict before 7 earlier sessions at least 3 days apart show how much sessions differ (known: 1)|")
	c.Base.Sessions, c.Head.Sessions = []string{"01M0000000000000000000000A", "01M0000000000000000000000B"}, []string{"01M0000000000000000000000B", "01M0000000000000000000000C"}
	said(w.sessions(), "to decide it: measure both alternately")
	c.Points[0].Decides = "01M0000000000000000000000B"
	said(w.sessions(), "to decide it: compare them in one session: add session_id=01M0000000000000000000000B to the filters")
	open := c.Points
	c.Points, c.LeftOut = []compare.Point{whole(judge.MethodRuns, none)}, []string{"01M0000000000000000000000A"}
	c.Points[0].LeftOut = 1
	if got := strings.Join(w.sessions(), "|"); got != "left out: 1 run of session 0000000A, which ran one side only" {
		t.Errorf("got %q", got)
	}
	c.Points[0].Blocks = 6
	said(w.sessions(), "interleaved: all runs of one side are compared with all runs of the other|left out: 1 run of session 0000000A")
	c.Points, c.LeftOut = open, nil
	c.Base.Sessions, c.Head.Sessions = []string{"s"}, []string{"t"}
	c.Base.Imported, c.Head.Imported, c.Points[0].Gap, c.Points[0].History = 1, 1, -1, -1
	said(w.sessions(), "no verdict before 7 earlier sessions show how much sessions differ|to decide it: measure each benchmark more often, both in turns")
	c.Rows = []compare.Row{{Base: &compare.Measured{Runs: 3}, Head: &compare.Measured{Runs: 3}}}
	said(w.sessions(), "no verdict before 7 earlier sessions show how much sessions differ|to decide it: bench both in turns, or ingest 7 more")
	c.Points[0].Gap, c.Points[0].History = (6 * time.Second).Microseconds(), 1
	said(w.sessions(), "no verdict before 7 earlier sessions at least 6 s apart show how much sessions differ (known: 1)|"+
		"to decide it: bench both in turns, or ingest 6 more")
	w.Gate = "gate: "
	said(w.sessions(), "to decide it: measure each benchmark more often, both in turns")
	w.Gate = ""
	c.Rows[0].Repeats = &compare.Repeats{Result: string(judge.Noise)}
	said(w.sessions(), "to decide it: measure each benchmark more often, both in turns")
	c.Rows[0].Repeats = &compare.Repeats{Result: compare.RepeatsAlike}
	files := w
	files.Files = [2]string{"old.txt", "new.txt"}
	said(files.sessions(), "differ (a file has no earlier sessions)|to decide it: bench both in turns, or ingest both and 6 earlier at least 6 s apart")
	c.Base.NoSession = 7
	said(w.sessions(), "the session of 7 of 9,010 runs is unknown, so their points get no verdict|different sessions: no verdict, as the time or the session of some runs is unknown")
	c.Head.Sessions, c.Base.NoSession = c.Base.Sessions, 0
	said(w.sessions(), "one session, but the sides ran far apart in time: no verdict before 7 earlier sessions")
	c.Base.Sessions = []string{"s", "t"}
	c.Head.Sessions = c.Base.Sessions
	said(w.sessions(), "2 sessions, but the sides ran far apart in time or unequally often: no verdict before 7 earlier sessions")
	c.Points[0].Reason = ""
	if got := w.sessions(); got != nil {
		t.Errorf("got %q of sides that ran together", got)
	}
	c.Points[0].Spend = judge.Spend(2, 0)
	said(w.sessions(), "looked at after each session: intervals have, and a change needs, a confidence of 99.17 % instead of 95 %")
	c.Points = append(c.Points, c.Points[0])
	c.Metrics = append(c.Metrics, "energy")
	said(w.counts(), "2 results: 2 regressed")
	said([]string{GateLine(compare.Gate{Points: 2}, Noun(&c), false, 0)}, "no regression in 2 results")
}

// TestCompareFailures: points that failed alike have one line, with what they share, and errors beyond the third are counted.
func TestCompareFailures(t *testing.T) {
	var c compare.Comparison
	fail := func(impl string, size int, failure string) {
		c.Rows = append(c.Rows, compare.Row{
			Point: compare.Point{Verdict: compare.Failed}, Identity: query.Point{Variant: impl, Params: map[string]string{"p": strconv.Itoa(size)}}, Failure: failure,
		})
	}
	for p := range 3 {
		fail("a", p, "killed")
		fail("b", p, "off by "+strconv.Itoa(p))
	}
	fail("a", 3, "out of memory")
	fail("a", 4, "exit status one")
	w := Comparison{C: &c}
	got := strings.Join(w.failures(w.everything()), "|")
	if want := "a  killed (3 points)|b  off by 0 (the first of 3 points)|a p=3  out of memory|… --format json has 1 more error|"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWrongRows: wrong results for one reason are one row, behind what changed. --all has a row for each.
func TestWrongRows(t *testing.T) {
	var c compare.Comparison
	add := func(variant string, size int, verdict judge.Verdict, failure string) {
		row := slower("latency", verdict)
		row.Identity = query.Point{Variant: variant, Params: map[string]string{"size": strconv.Itoa(size)}}
		if failure != "" {
			row.Estimates, row.Head.Value, row.Failure, row.Flags = nil, nil, failure, []string{compare.FlagWrong}
		}
		c.Rows, c.Points = append(c.Rows, row), append(c.Points, row.Point)
	}
	add("slow", 1, judge.Regressed, "")
	for size := range 3 {
		add("wrong", size, compare.Failed, "differs by "+strconv.Itoa(size))
	}
	add("other", 0, compare.Failed, "no rows")
	c.Metrics = []string{"latency"}
	lines := func(all bool) (rows []string) {
		var b bytes.Buffer
		Comparison{Reader: Display{Width: 80}, C: &c, Selection: Selection{All: all}}.View().Render(&b, term.Page{Width: 80})
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "FAILED") || strings.Contains(line, "REGRESSED") {
				rows = append(rows, strings.Join(strings.Fields(line), " "))
			}
		}
		return rows
	}
	valuetest.DeepEqual(t, lines(false), []string{ // the last number is of runs
		"slow 1 1.00 ms 1.20 ms +20.0 % 0 REGRESSED", "wrong 0, 1, 2 – – – – 3 FAILED wrong_result", "other 0 1.00 ms – – 0 FAILED wrong_result",
	})
	valuetest.Equal(t, len(lines(true)), 5, "rows with --all")
	valuetest.Contains(t, string(Comparison{C: &c}.Markdown()), "\n| wrong | 0, 1, 2 | – | – | – | – | 3 FAILED | wrong_result |\n")
}

// A pull request's comment folds what has no change, and does not call it that where nobody knows.
func TestMarkdownCountsWhatItFolds(t *testing.T) {
	c := compare.Comparison{Metrics: []string{"latency"}}
	for p, verdict := range []judge.Verdict{judge.Inconclusive, judge.Unchanged, judge.Inconclusive} {
		row := slower("latency", verdict)
		row.Identity.Params = map[string]string{"p": strconv.Itoa(p)}
		c.Rows = append(c.Rows, row)
		c.Points = append(c.Points, compare.Point{Metric: "latency", Verdict: verdict})
	}
	c.Head.Runs, c.Head.Until = 1, time.Date(2026, 9, 1, 23, 30, 0, 0, time.UTC).UnixMicro()
	var b bytes.Buffer
	b.Write(Comparison{C: &c, Reader: Display{Now: time.UnixMicro(c.Head.Until)}}.Markdown())
	if want := "2026-09-01 23:30 UTC"; !strings.Contains(b.String(), want) {
		t.Errorf("a reader elsewhere wants %q in\n%s", want, b.String())
	}
	if want := "<summary>3 points: 2 inconclusive, 1 unchanged</summary>"; !strings.Contains(b.String(), want) {
		t.Errorf("want %q in\n%s", want, b.String())
	}
	c.Rows, c.Points = c.Rows[:1], c.Points[:1]
	c.Rows[0].Identity.Benchmark, c.Common = "sort", []string{"benchmark"}
	low, high := 1e6, 1.01e6
	c.Rows[0].Base, c.Rows[0].Head = &compare.Measured{Value: &low}, &compare.Measured{Value: &high}
	c.Base = compare.Side{Commits: []string{"aaaaaaaaa"}, Runs: 6}
	c.Head = compare.Side{Commits: []string{"aaaaaaaaa"}, Runs: 6, Dirty: 6}
	want := "sort · p=0 · latency: nothing decided: 1 point inconclusive; 1.00 ms → 1.01 ms, "
	if got := (Comparison{C: &c}).announced(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "; base aaaaaaa, head aaaaaaa + uncommitted changes") {
		t.Errorf("the first sentence is %q", got)
	}
	if got := (Comparison{C: &compare.Comparison{}}).announced(); got != "nothing was compared" {
		t.Errorf("without a point or a metric it is %q", got)
	}
}

// Points that moved alike are said to have; where the sides took turns, not that it may be the machine.
func TestCompareAlike(t *testing.T) {
	t.Parallel()
	const apart, byTurns = 0, 6 // blocks
	points := func(blocks int, changes ...float64) (all []compare.Point) {
		for _, change := range changes {
			all = append(all, compare.Point{Metric: "latency", Ratio: true, Change: change, Blocks: blocks, Verdict: judge.Regressed})
		}
		return all
	}
	alike := []float64{.17, .18, .19, .17, .18, .19, .18, .18}
	few := append(slices.Clone(alike), -.01, .18)
	for name, c := range map[string]struct {
		points []compare.Point
		want   string
	}{
		"all":              {points(apart, alike...), "all 8 points moved by about +19.7 %: the machine, not the code?"},
		"by turns":         {points(byTurns, alike...), "all 8 points moved by about +19.7 %"},
		"most":             {points(apart, few...), "9 of 10 points moved by about +19.7 %: the machine, not the code?"},
		"too few":          {points(apart, alike[1:]...), ""},
		"too little":       {points(apart, .011, .012, .011, .012, .011, .012, .011, .012), ""},
		"by other amounts": {points(apart, .02, .9, .1, .5, .02, .7, .03, .8), ""},
		"both ways":        {points(apart, .18, -.18, .18, .18, .18, .18, .18, .18), ""},
	} {
		w := Comparison{C: &compare.Comparison{Metrics: []string{"latency"}, Points: c.points}}
		if got := strings.Join(w.alike(), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		w.C.Differs = []query.FactDifference{{Name: "batch_size"}}
		if got := w.alike(); got != nil {
			t.Errorf("%s: %q of sides that are other points", name, got)
		}
	}
}

// What is said relative to what all points share stands beside the change, and says to what; nothing is said where nothing is
// known.
func TestCompareRelativeColumn(t *testing.T) {
	c := compare.Comparison{Metrics: []string{"latency"}, Thresholds: judge.Thresholds{"latency": {Value: .02}}}
	add := func(size int64, verdict judge.Verdict, relative *compare.Relative) {
		row := slower("latency", verdict)
		if row.Identity.BatchSize, row.Relative = &size, relative; relative != nil {
			row.RelativeVerdict = relative.Verdict
		}
		c.Rows = append(c.Rows, row)
		c.Points = append(c.Points, compare.Point{Metric: "latency", Verdict: verdict, RelativeVerdict: row.RelativeVerdict, Ratio: true, Change: .18})
	}
	add(1, judge.Inconclusive, &compare.Relative{Change: .06, Verdict: judge.Regressed})
	add(2, judge.Unchanged, &compare.Relative{Change: -.05, Verdict: judge.Improved}) // is shown, though nothing is said of the change itself
	add(3, judge.Inconclusive, &compare.Relative{Change: .001, Verdict: judge.Inconclusive})
	add(4, judge.Unchanged, &compare.Relative{Change: .0, Verdict: judge.Unchanged})
	add(5, judge.Inconclusive, nil)
	screen := func() string {
		r := Display{Now: time.Date(2026, 10, 1, 0, 0, 0, 0, time.Local), Width: 80}
		var b bytes.Buffer
		Comparison{Reader: r, C: &c}.View().Render(&b, term.Page{Width: 80})
		return b.String()
	}
	if text := screen(); strings.Contains(text, "RELATIVE") {
		t.Errorf("relative to nothing:\n%s", text)
	}
	c.Shared = map[string]compare.Shared{"latency": {Change: .13, Points: 3, Controls: true}}
	text := screen()
	contains(t, text,
		"RELATIVE is the change relative to +13.0 %, the median of 3 controls\n",
		" 1  1.00 ms  1.20 ms  +20.0 %  +6.0 % REGRESSED ",
		" 2  1.00 ms  1.20 ms  +20.0 %  −5.0 % improved ",
		" 3  1.00 ms  1.20 ms  +20.0 %  +0.1 % ",
		" 5  1.00 ms  1.20 ms  +20.0 %  – ",
		"\nrelative: 1 regressed, 1 improved, 1 inconclusive, 1 unchanged\n",
	)
	c.Points[1].Control, c.Points[1].Verdict = true, judge.Improved
	contains(t, screen(), "\n4 points: 0 regressed, 0 improved, 1 unchanged, 3 inconclusive\n1 control: 1 improved: controls should not change, so the conditions")
	if strings.Contains(text, "\n 4 ") {
		t.Errorf("an unchanged row is shown:\n%s", text)
	}
}

// TestCompareNextIsNoControl: nobody asks why a control changed, which nothing touches.
func TestCompareNextIsNoControl(t *testing.T) {
	t.Parallel()
	for _, control := range []bool{true, false} {
		c := compare.Comparison{Points: []compare.Point{{Verdict: judge.Regressed, Control: control}}}
		w := Comparison{C: &c, Selection: Selection{Selections: []string{"side=base", "side=head"}}}
		if got := w.next(); control != (got == "") {
			t.Errorf("control %v: %q", control, got)
		}
	}
}

// TestDirectionOfPointsWithoutValues: a point without values, such as one that only a side has and that was skipped there, does not make it
// unknown which values of a metric are better; one with a value of which that is not known does.
func TestDirectionOfPointsWithoutValues(t *testing.T) {
	known := compare.Point{Metric: "accuracy", Better: "higher", BaseOK: true}
	for _, c := range []struct {
		other compare.Point
		want  string
	}{
		{compare.Point{Metric: "accuracy", Verdict: compare.Unsupported, NoValue: true}, "higher"},
		{compare.Point{Metric: "accuracy", Verdict: compare.Missing, NoValue: true}, "higher"},
		{compare.Point{Metric: "accuracy", Verdict: compare.Added, NoValue: true}, "higher"},
		{compare.Point{Metric: "accuracy", Verdict: compare.Failed, BaseOK: true}, ""},
		{compare.Point{Metric: "accuracy", Verdict: compare.Fixed}, ""},
	} {
		if got := (Comparison{C: &compare.Comparison{Points: []compare.Point{known, c.other}}}).better("accuracy"); got != c.want {
			t.Errorf("better is %q, want %q", got, c.want)
		}
	}
}

// TestCompareSideNamesChanges: two sides of one commit are told apart where one of them has changes that no commit has.
func TestCompareSideNamesChanges(t *testing.T) {
	t.Parallel()
	w := Comparison{}
	for dirty, want := range map[int]string{
		0: "head  side=head  4bc7cc6  12 runs",
		3: "head  side=head  4bc7cc6 (3 runs with uncommitted changes)  12 runs",
		// As bench says it.
		12: "head  side=head  4bc7cc6 + uncommitted changes  12 runs",
	} {
		side := compare.Side{Filter: "side=head", Runs: 12, Dirty: dirty, Commits: []string{"4bc7cc6" + strings.Repeat("0", 33)}}
		if got := w.side("head", side); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// contains checks that a text has some parts.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// TestNextHistory: two sessions that are too alike for a verdict have the history as the next command, if there are enough for one.
func TestNextHistory(t *testing.T) {
	t.Parallel()
	alike := compare.Point{Verdict: judge.Inconclusive, Confounded: true, SessionSD: .02}
	for want, c := range map[string]struct {
		base string
		with compare.Point
	}{
		"neurolens history --metric latency --store 'my store'": {"session=last~1", alike},
		"": {"session=last~1", compare.Point{Verdict: judge.Inconclusive, Confounded: true, SessionSD: math.NaN()}},
	} {
		w := Comparison{C: &compare.Comparison{Points: []compare.Point{c.with}}, Reader: Display{Stores: []string{"my store"}}}
		w.Selection = Selection{Selections: []string{c.base, "session=last"}, Metrics: []string{"latency"}}
		valuetest.Equal(t, w.next(), want)
		w.Selection.Selections[0] = "variant=a"
		valuetest.Equal(t, w.next(), "", "no session")
	}
}
