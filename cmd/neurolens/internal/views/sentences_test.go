package views

import (
	"errors"
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

// compared returns a row of the variant b, or one named after it, with a change and its interval.
func compared(verdict judge.Verdict, change, low, high float64) compare.Row {
	r := compare.Row{
		Identity: query.Point{Benchmark: "commands", Variant: "b"}, Unit: "ns", Scale: schema.ScaleRatio,
		Base: &compare.Measured{Statuses: map[string]any{"ok": int64(4), "error": int64(1)}}, Head: &compare.Measured{Statuses: map[string]any{"ok": int64(6)}}, Estimates: &compare.Estimates{Change: change, Low: low, High: high},
	}
	r.Metric, r.Better, r.Verdict = "latency", "lower", verdict
	return r
}

func TestSentences(t *testing.T) {
	say := func(want string, rows ...compare.Row) {
		t.Helper()
		if got := strings.Join(alongAxis("variant", "a").sentences(rows, JudgedSession{}).Lines, "\n"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	say("b is faster than a: latency −29.6 % (−32.0 % to −27.5 %)", compared(judge.Improved, 1/1.42-1, 1/1.47-1, 1/1.38-1))
	say("b is slower than a: latency +100 % (+50.0 % to +150 %)", compared(judge.Regressed, 1, .5, 1.5))
	say("b is as good as a: +0.4 % (−0.5 % to +1.2 %)", compared(judge.Unchanged, .004, -.005, .012))
	open := compared(judge.Inconclusive, .05, -.02, .12)
	open.MoreRuns = 4
	say("b against a: inconclusive, +5.0 % (−2.0 % to +12.0 %)\ninconclusive: 9 repeats would probably decide it", open)
	paired, pairwise := compared(judge.Improved, -.218, -.25, -.18), compared(judge.Unchanged, .004, -.005, .012)
	paired.Flags, pairwise.Flags = []string{compare.FlagPaired}, []string{compare.FlagPairwise}
	paired.Identity.Params, pairwise.Identity.Params = map[string]string{"n": "1"}, map[string]string{"n": "2"}
	say("n=1: b is faster than a: latency −21.8 % paired (−25.0 % to −18.0 %)\nn=2: b is as good as a: +0.4 % pairwise (−0.5 % to +1.2 %)\n"+
		"paired: the change is the median of the differences within blocks, not the difference of the two medians\n"+
		"pairwise: the change is the median of the differences of all pairs of runs, not the difference of the two medians", paired, pairwise)
	say("b is slower than a: latency +50.0 %", compared(judge.Regressed, .5, math.NaN(), math.NaN()))

	rate := compared(judge.Improved, .25, .2, .3)
	rate.Metric, rate.Better, rate.Unit = "throughput", "higher", "1/s"
	say("b has higher throughput than a: +25.0 % (+20.0 % to +30.0 %)", rate)
	wrong := compared(judge.Improved, -.5, -.6, -.4)
	wrong.Flags = []string{compare.FlagWrong}
	say("b against a: one of them has a wrong result", wrong)
	barred := compared(judge.Estimate, 0, 0, 0) // both were measured, and have no estimate
	barred.Estimates, barred.Base, barred.Reason = nil, &compare.Measured{Runs: 3}, judge.Unchecked
	say("b is not compared with a: a result could not be checked", barred)
	barred.Reason = judge.Units
	say("b is not compared with a: their units differ", barred)
	barred.Reason, barred.Flags = judge.Wrong, wrong.Flags
	say("b against a: one of them has a wrong result", barred)
	failed := compared(compare.Failed, 0, 0, 0)
	failed.Estimates, failed.Base = nil, &compare.Measured{Runs: 3}
	say("b has no result to compare with a", failed)
	failed.Base, failed.Head = nil, &compare.Measured{Runs: 6}
	say("b is not compared: a has no result", failed)
	failed.Head = &compare.Measured{Statuses: map[string]any{"unsupported": int64(6)}}
	say("", failed) // nothing has a result
	alone := compared(judge.Inconclusive, 1.15, math.Inf(-1), math.Inf(1))
	alone.MoreRuns, alone.Reason = 1, judge.FewRuns
	say("b against a: inconclusive, +115 % (too few runs for an interval)\ninconclusive: too few runs; measure at least 6 repeats", alone)
	hopeless := compared(judge.Inconclusive, -.0001, -.4, .4)
	say("b against a: inconclusive, 0.0 % (−40.0 % to +40.0 %)\ninconclusive: more repeats will probably not decide it", hopeless)
	won := alongAxis("variant", "a").sentences([]compare.Row{open, hopeless}, JudgedSession{})
	if want := "inconclusive: 9 repeats would probably decide 1 point; more will probably not decide 1 other point"; won.Repeats != 9 || won.Lines[len(won.Lines)-1] != want {
		t.Errorf("%d repeats: %q, want 9 and %q", won.Repeats, won.Lines[len(won.Lines)-1], want)
	}
	noisy, quiet := open, open
	noisy.MoreRuns, quiet.MoreRuns = 480, 6
	won = alongAxis("variant", "a").sentences([]compare.Row{noisy, open, quiet}, JudgedSession{})
	if want := "inconclusive: 11 repeats would probably decide 2 of 3 points, 485 all of them"; won.Repeats != 11 || won.Lines[len(won.Lines)-1] != want {
		t.Errorf("%d repeats: %q, want 11 and %q", won.Repeats, won.Lines[len(won.Lines)-1], want)
	}

	added := compared(judge.Inconclusive, .9, .6, 1.4)
	added.Reason = judge.Sessions
	say("b against a: inconclusive, +90.0 % (+60.0 % to +140 %)\n"+
		"inconclusive: 1 point and a were measured in different sessions, which may differ without any change; bench with --rerun all measures both in one", added)

	one, two := compared(judge.Improved, -.5, -.6, -.4), compared(judge.Improved, -.5, -.6, -.4)
	one.Identity.Params, two.Identity.Params = map[string]string{"n": "1"}, map[string]string{"n": "2"}
	say("n=1: b is faster than a: latency −50.0 % (−60.0 % to −40.0 %)\nn=2: b is faster than a: latency −50.0 % (−60.0 % to −40.0 %)", one, two)
	say("")

	byDifference := func(verdict judge.Verdict, metric, unit string, change, low, high float64) compare.Row {
		r := compared(verdict, change, low, high)
		r.Scale, r.Metric, r.Unit = schema.ScaleDifference, metric, unit
		return r
	}
	say("b has higher allocs/op than a: +3.00 allocs/op (+3.00 allocs/op to +3.00 allocs/op)", byDifference(judge.Regressed, "allocs/op", "allocs/op", 3, 3, 3))
	say("b has lower allocs/op than a: −3.00 allocs/op (−4.00 allocs/op to −2.00 allocs/op)", byDifference(judge.Improved, "allocs/op", "allocs/op", -3, -4, -2))
	say("b has higher err than a: +1.00", byDifference(judge.Changed, "err", "", 1, math.NaN(), math.NaN()))
	say("b has lower accuracy than a: −2.00 pp (−3.00 pp to −1.00 pp)", byDifference(judge.Regressed, "accuracy", "ratio", -.02, -.03, -.01))
	say("b is as good as a: 0 allocs/op (0 allocs/op to 0 allocs/op)", byDifference(judge.Unchanged, "allocs/op", "allocs/op", 0, 0, 0))
	say("b against a: inconclusive, +1.00 ms of cpu_user (−1.00 ms to +3.00 ms)\ninconclusive: more repeats will probably not decide it",
		byDifference(judge.Inconclusive, "cpu_user", "ns", 1e6, -1e6, 3e6))

	// Changes first, and one line for all points that cannot be compared for the same reason.
	bad := compared(judge.Estimate, 0, 0, 0)
	bad.Identity.Variant, bad.Flags = "c", []string{compare.FlagWrong}
	first, second, same, slow := bad, bad, compared(judge.Unchanged, .004, -.005, .012), compared(judge.Regressed, 1, .5, 1.5)
	for i, r := range []*compare.Row{&first, &second, &same, &slow} {
		r.Identity.Params = map[string]string{"n": strconv.Itoa(i)}
	}
	say("n=3: b is slower than a: latency +100 % (+50.0 % to +150 %)\nc against a: one of them has a wrong result (2 points)\n"+
		"n=2: b is as good as a: +0.4 % (−0.5 % to +1.2 %)", first, second, same, slow)

	levels := compared(judge.Estimate, -.702, math.NaN(), math.NaN())
	levels.Reason = judge.Levels
	say("b against a: estimate (levels), −70.2 %", levels)

	off := compared(judge.Estimate, -.404, math.NaN(), math.NaN())
	off.Reason, off.Clocks = judge.OffClock, &query.Clocks{Base: 1410.2, Head: 1980}
	say("b is not judged against a: the GPU ran at 1,410 against 1,980 MHz", off)
	valuetest.Equal(t, wordOf(&off), "off_clock (1,410 against 1,980 MHz)")

	means := compared(judge.Improved, -.5, -.6, -.4)
	means.Flags = []string{compare.FlagRunMeans}
	say("b is faster than a: latency −50.0 % (−60.0 % to −40.0 %), by the means of the runs: means of iterations against single iterations", means)
}

// TestRepeatsTakeTime: advice on repeats names the time that they take, and never fewer repeats than the sweep asks for. There is none if
// the repeats take hours, or if other work ran on the machine.
func TestRepeatsTakeTime(t *testing.T) {
	t.Parallel()
	open := compared(judge.Inconclusive, .05, -.02, .12) // of 5 runs
	open.Reason, open.MoreRuns = judge.Noise, 7
	few, many, loaded := open, open, open
	few.Reason, few.MoreRuns, many.MoreRuns, loaded.Warnings = judge.FewRuns, 1, 486, []string{"load"}
	for _, c := range []struct {
		rows   []compare.Row
		s      JudgedSession
		want   string
		enough int
	}{
		{[]compare.Row{open}, JudgedSession{Repeats: 10, Elapsed: 40 * time.Second}, "inconclusive: 12 repeats (48 s) would probably decide it", 12},
		{[]compare.Row{few}, JudgedSession{Repeats: 10, Elapsed: 40 * time.Second}, "inconclusive: too few runs; measure at least 10 repeats (40 s)", 10},
		{[]compare.Row{many}, JudgedSession{Repeats: 5, Elapsed: time.Minute}, "inconclusive: it would take about 491 repeats (99 min): measure on a quieter machine, or allow a larger --threshold", 0},
		{[]compare.Row{loaded}, JudgedSession{Repeats: 5, Elapsed: time.Second, hasProcessor: true}, "inconclusive: other work ran on the machine (load): measure when it is quiet, or compare by --metric cpu_user if the programs compute", 0},
		{[]compare.Row{loaded}, JudgedSession{Repeats: 5, Elapsed: time.Second}, "inconclusive: other work ran on the machine (load): measure when it is quiet", 0},
		{[]compare.Row{loaded}, JudgedSession{hasProcessor: true, processor: []string{"by cpu_user: b is faster"}}, "inconclusive: other work ran on the machine (load): measure when it is quiet", 0},
		{[]compare.Row{open, many}, JudgedSession{Repeats: 10, Elapsed: 40 * time.Second}, "inconclusive: 12 repeats (48 s) would probably decide 1 of 2 points, 491 (33 min) all of them", 12},
	} {
		if got, enough := c.s.repeatsFor(c.rows); got != c.want || enough != c.enough {
			t.Errorf("%d: %q, want %d: %q", enough, got, c.enough, c.want)
		}
	}
}

func TestNotCompared(t *testing.T) {
	t.Parallel()
	err := errors.New("compare: no point has n")
	if got, want := notCompared("variant=a", err), "not compared with variant=a: no point has n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Of what is looked at very often an interval is nearly sure, and never quite.
func TestConfidenceIsNeverAll(t *testing.T) {
	t.Parallel()
	c := compare.Comparison{Points: []compare.Point{{Spend: 1e-9, Change: .1}}}
	if got := (Comparison{C: &c}).confidence(); got != ">99.99 %" {
		t.Errorf("the confidence is %s", got)
	}
}

// TestSeveralMetrics: each sentence names its metric, the decided ones come first, and a table has columns for each.
func TestSeveralMetrics(t *testing.T) {
	t.Parallel()
	latency, cpu := compared(judge.Inconclusive, .05, -.02, .12), compared(judge.Improved, -.3, -.4, -.2)
	latency.Reason, latency.MoreRuns, cpu.Metric = judge.Noise, 7, CPUUser
	names, s := alongAxis("variant", "a"), JudgedSession{Metrics: []string{"latency", CPUUser}}
	rows := []compare.Row{latency, cpu}
	valuetest.DeepEqual(t, names.sentences(rows, s).Lines, []string{
		"by cpu_user: b is faster than a: cpu_user −30.0 % (−40.0 % to −20.0 %)",
		"by latency: b against a: inconclusive, +5.0 % (−2.0 % to +12.0 %)",
		"inconclusive: 12 repeats would probably decide it",
	})
	rows[0].HeadID, rows[1].HeadID = "b", "b"
	table := standing(&compare.Comparison{Rows: rows}, s.Metrics)
	valuetest.DeepEqual(t, term.Texts(table.Columns, func(c term.Column) string { return c.Header }),
		[]string{"CHANGE LATENCY", "95 %", "VERDICT", "CHANGE CPU_USER", "95 %", "VERDICT"})
	valuetest.DeepEqual(t, term.Texts(table.Heads["b"], func(c term.Cell) string { return c.Text }),
		[]string{"+5.0 %", "−2.0 +12.0", "inconclusive", "−30.0 %", "−40.0 −20.0", "improved"})
}

// TestSentencesOfSides: after bench --against, the head of each point is compared with its base.
func TestSentencesOfSides(t *testing.T) {
	t.Parallel()
	small, large := compared(judge.Unchanged, .004, -.005, .012), compared(judge.Regressed, 1, .5, 1.5)
	small.Identity.Backend, large.Identity.Backend = "cpu", "cuda"
	got := strings.Join(ofSides().sentences([]compare.Row{large, small}, JudgedSession{}).Lines, "\n")
	want := "cuda: head is slower than base: latency +100 % (+50.0 % to +150 %)\ncpu: head is as good as base: +0.4 % (−0.5 % to +1.2 %)"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	rows := slices.Repeat([]compare.Row{large}, maxSentences+1)
	rows = append(rows, small, small)
	lines := ofSides().sentences(rows, JudgedSession{}).Lines
	if last := lines[maxSentences]; last != "… and 1 regressed, 2 unchanged" {
		t.Errorf("%q", last)
	}
}
