package report

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// on is a day of November 2026.
func on(d int) *summary.Time {
	return &summary.Time{Time: time.Date(2026, 11, d, 3, 0, 0, 0, time.UTC)}
}

// trended returns a report of three points over sessions, of which the first got slower.
func trended() *summary.Report {
	r := many(3)
	r.Comparisons, r.Pairs = nil, nil
	r.Selection.Sessions, r.Selection.History, r.Selection.HistoryNeeds = 40, 40, 8
	trend := func(i int, verdict judge.Verdict) summary.Trend {
		return summary.Trend{Subject: r.Points[i].Subject, Metric: "latency", Unit: "ns", Better: "lower", Sessions: 40, Verdict: verdict, Level: new(84e3)}
	}
	slower := trend(0, judge.Regressed)
	slower.OldLevel, slower.Scale, slower.Shift, slower.Low, slower.High = new(75e3), "ratio", new(.12), new(.11), new(.13)
	slower.Since, slower.After, slower.By, slower.Places, slower.Base, slower.Head = on(8), on(7), on(8), 1, "aaaaaaaaaa", "bbbbbbbbbb"
	off := trend(2, judge.Unchanged)
	off.Off, off.OffValue, off.OffShift, off.OffScale, off.Missing, off.OffSince, off.OffCommit = 1, new(109.2e3), new(.3), "ratio", 2, on(20), "cccccccccc"
	failing := trend(1, judge.Unchanged)
	failing.Failed = 3
	r.Trends = []summary.Trend{slower, failing, off, trend(2, summary.FewSessions)}
	return r
}

// texts returns the sentences of a report.
func texts(r *summary.Report) (all []string) {
	for _, a := range maker().Document(r).Answer {
		all = append(all, a.Text)
	}
	return all
}

// TestAnswerOverSessions: the first sentence names the benchmark, both values, the date, the commits and how sure it is, in every form.
func TestAnswerOverSessions(t *testing.T) {
	r := trended()
	want := []string{
		"Slower: sweep fp32, since 2026-11-08, commit aaaaaaa..bbbbbbb: latency 75.0 µs → 84.0 µs, +12.0 % (95 % interval +11.0 % to +13.0 %).",
		"Failing: sweep fp16, all runs of the last 3 sessions.",
		"Newest session: sweep bf16, since 2026-11-20, commit ccccccc: latency 84.0 µs → 109 µs, +30.0 %; may be chance; history judges it from 2 more sessions on.",
		"4 series over 40 sessions: 1 regressed, 2 with no change found, 1 with fewer than 8 sessions; 1 fails in its newest sessions; 1 far off in its newest session. Of the series called changed, at most 5 % are expected to be false.",
	}
	if got := texts(r); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	unchanged := *r
	unchanged.Trends = r.Trends[3:]
	if got := strings.Join(texts(&unchanged), " "); strings.Contains(got, "false") {
		t.Errorf("without a change: %s", got)
	}
	d := maker().Document(r)
	if got := d.Answer[0].Command; !strings.Contains(got, "history session=last precision=fp32") {
		t.Errorf("the command is %s", got)
	}
	var md, js bytes.Buffer
	ok(t, d.markdown(&md))
	ok(t, d.json(&js))
	if lines := strings.SplitN(md.String(), "\n", 4); lines[2] != "- **Slower:**"+strings.TrimPrefix(want[0], "Slower:") {
		t.Errorf("the Markdown begins with %q", lines[2])
	}
	if !strings.Contains(js.String(), `"answer": [`+"\n    "+`{"text":"`+want[0]) {
		t.Error("the JSON does not begin with the answer")
	}
	page := maker().htmlPage(d, Pictures{})
	if page.Answer[0].Text != want[0] || page.Answer[0].Tone != "regressed" || page.Sections[0].ID != "trends" {
		t.Errorf("the page begins with %+v and %s", page.Answer[0], page.Sections[0].ID)
	}
}

// TestAnswerFields: each sentence is made of the members beside it, so programs need not read it, and it says nothing about a point that
// these lack.
func TestAnswerFields(t *testing.T) {
	compared := sample()
	compared.Trends = nil
	sides := many(8)
	sides.Comparisons[0].Axis, sides.Comparisons[0].From = "side", summary.FromSelections
	sides.Comparisons[0].Sides = []summary.Period{{Side: "base", Since: on(1), Commits: []string{"aaaaaaaaaa"}}, {Side: "head", Since: on(2), Commits: []string{"bbbbbbbbbb"}}}
	sides.Pairs[0].Verdict = "regressed"
	changes := 0
	for _, r := range []*summary.Report{trended(), compared, sides} {
		for _, a := range maker().Document(r).Answer {
			if a.Base == nil {
				if strings.Contains(a.Text, " → ") {
					t.Errorf("without members: %s", a.Text)
				}
				continue
			}
			changes++
			want := []string{quantity(a.Base, a.Unit, a.Metric) + " → " + quantity(a.Head, a.Unit, a.Metric), views.Change(*a.Size, schema.Scale(a.Scale), string(a.Unit)), string(a.Metric)}
			if a.Low != nil {
				want = append(want, "("+views.Confidence(*a.Confidence)+" interval "+views.Ends(*a.Low, *a.High, schema.Scale(a.Scale), string(a.Unit))+")")
			}
			if len(r.Trends) > 0 {
				want = append(want, "since "+day(a.Since), views.ShortCommit(string(a.BaseCommit)), views.ShortCommit(string(a.HeadCommit)))
			}
			for _, part := range want {
				if !strings.Contains(a.Text, part) {
					t.Errorf("%q is not in %s", part, a.Text)
				}
			}
			if a.PointID == "" || a.Benchmark == "" {
				t.Errorf("no point: %s", a.Text)
			}
			if c := r.Comparisons; len(c) > 0 && len(c[0].Sides) > 0 && (!a.Since.Equal(on(2).Time) || a.BaseCommit != "aaaaaaaaaa" || a.HeadCommit != "bbbbbbbbbb") {
				t.Errorf("between sides: %v, %s, %s", a.Since, a.BaseCommit, a.HeadCommit)
			}
		}
	}
	if changes < 4 {
		t.Errorf("only %d answers have values", changes)
	}
}

// TestFarOff: the table says of a series whose newest session is far off what the first paragraph says, and what to do next judges it.
func TestFarOff(t *testing.T) {
	r := trended()
	r.Trends = r.Trends[2:]
	r.Trends[0].OffBase, r.Trends[0].OffHead = "01KBJ0Q6M800000000000BASES", "01KBJ0Q6M800000000000HEADS"
	r.Findings = []summary.Finding{{Rule: summary.RuleFarOff, Points: 1, Numbers: []summary.Number{{Name: "series", Value: new(2.)}}}}
	d := maker().Document(r)
	row := func() string {
		table := trendsTable(d, namerOf(d.Points), 9)
		return strings.Join(term.Texts(table.Rows[0].Cells, func(c Cell) string { return c.Text }), " ")
	}
	if got, want := row(), "bf16 newest session far off 84.0 µs 109 µs +30.0 % – 2026-11-20 – ccccccc"; got != want {
		t.Errorf("the row is %s, want %s", got, want)
	}
	if page := maker().htmlPage(d, Pictures{}); page.Answer[0].Tone != chart.Warned || page.Tallies[0] != (Tally{"1", "far off in its newest session", chart.Warned}) {
		t.Errorf("the page begins with %+v and %+v", page.Answer[0], page.Tallies)
	}
	const judges = "neurolens compare --gate session=000BASES session=000HEADS --store 'my store'"
	if got := d.Recommendations; len(got) != 1 || got[0].Command != judges || d.Answer[0].Command != judges {
		t.Errorf("%+v, %+v", got, d.Answer[0])
	}
	valuetest.Equal(t, d.Answer[0].Verdict, summary.Text(summary.RuleFarOff), "the trend, about its last change, says unchanged")
	d.Trends[0].Verdict, d.Trends[0].Shift, d.Trends[0].Scale = judge.Improved, new(-.1), "ratio"
	if got := row(); !strings.Contains(got, "improved, newest +30.0 % – 84.0 µs −10.0 %") {
		t.Errorf("after a change the row is %s", got)
	}
}

// TestBisecting: a regression between two commits is searched for, with the sweep that measured it.
func TestBisecting(t *testing.T) {
	r := trended()
	r.Findings = []summary.Finding{{Rule: summary.RuleLevelRegressed, Points: 1, Numbers: []summary.Number{{Name: "series", Value: new(4.)}}}}
	for _, c := range []struct {
		sweep, base summary.Text
		ramp        int
		bisected    summary.Text
		want        string
	}{
		{"my sweep.yaml", "aaaaaaaaaa", 0, "", "neurolens bisect aaaaaaa bbbbbbb 'my sweep.yaml' --store 'my store'"},
		{"my sweep.yaml", "aaaaaaaaaa", 0, schema.BisectUndecided, "neurolens bisect aaaaaaa bbbbbbb 'my sweep.yaml' --store 'my store'"},
		{"my sweep.yaml", "aaaaaaaaaa", 0, schema.BisectNothing, ""},
		{"my sweep.yaml", "aaaaaaaaaa", 0, "cccccccccc", "git show ccccccc"},
		{"", "aaaaaaaaaa", 0, "", "neurolens bisect aaaaaaa bbbbbbb SWEEP.yaml --store 'my store'"},
		{"my sweep.yaml", "bbbbbbbbbb", 0, "", ""},
		{"my sweep.yaml", "", 0, "", ""},
		{"my sweep.yaml", "aaaaaaaaaa", 20, "", ""},
	} {
		r.Trends[0].Sweep, r.Trends[0].Base, r.Trends[0].Ramp, r.Trends[0].Bisected = c.sweep, c.base, c.ramp, c.bisected
		all := maker().Document(r).Recommendations
		if got := all[len(all)-1].Command; got != c.want && (c.want != "" || len(all) != 1) {
			t.Errorf("%+v: %+v", c, all)
		}
	}
}

// TestOnlyCommit: where the base is the only parent of the head, there is no commit to search for, and git is asked about no other commit.
func TestOnlyCommit(t *testing.T) {
	r := trended()
	r.Findings = []summary.Finding{{Rule: summary.RuleLevelRegressed, Points: 1, Numbers: []summary.Number{{Name: "series", Value: new(4.)}}}}
	r.Trends[0].Base, r.Trends[0].Head = "aaaaaaaaaa", "bbbbbbbbbb"
	for parent, want := range map[string]string{"aaaaaaaaaa": "git show bbbbbbb", "cccccccccc": "neurolens bisect aaaaaaa bbbbbbb SWEEP.yaml --store 'my store'", "": "neurolens bisect aaaaaaa bbbbbbb SWEEP.yaml --store 'my store'"} {
		m := maker()
		m.Reader.Parent = func(commit string) string {
			if commit != "bbbbbbbbbb" {
				t.Errorf("git is asked about %s", commit)
			}
			return parent
		}
		all := m.Document(r).Recommendations
		if got := all[len(all)-1].Command; got != want || len(all) != 2 {
			t.Errorf("parent %q: %+v", parent, all)
		}
	}
}

// TestEarlierChanges: the sentence about a series with several changes has the levels before the first and after the last one, and when they were.
// Where the last change may be chance, the sentence is about the changes before it.
func TestEarlierChanges(t *testing.T) {
	at := func(day int) *summary.Time {
		return &summary.Time{Time: time.Date(2026, 10, day, 0, 0, 0, 0, time.UTC)}
	}
	for _, c := range []struct {
		verdict judge.Verdict
		earlier int
		want    string
	}{
		{judge.Regressed, 0, "(95 % interval +11.0 % to +13.0 %)."},
		{judge.Regressed, 1, " In all, latency 70.0 µs → 84.0 µs, +20.0 % in 2 changes: 2026-10-01, 2026-11-08."},
		{judge.Regressed, 5, " In all, latency 70.0 µs → 84.0 µs, +20.0 % in 6 changes: 2026-10-01 to 2026-11-08."},
		{judge.Inconclusive, 1, " Before that, latency 70.0 µs → 75.0 µs, +7.1 % in 1 change: 2026-10-01."},
	} {
		r := trended()
		r.Trends[0].Verdict = c.verdict
		for i := range c.earlier {
			r.Trends[0].Earlier = append(r.Trends[0].Earlier, summary.Step{Verdict: judge.Regressed, Since: at(1 + i), OldLevel: new(70e3), Level: new(75e3)})
		}
		if got := texts(r)[0]; !strings.HasSuffix(got, c.want) {
			t.Errorf("%s after %d: %s", c.verdict, c.earlier, got)
		}
	}
}

// TestMayBeChance: the first paragraph names the largest change that may be chance where nothing regressed, and what decides it.
func TestMayBeChance(t *testing.T) {
	r := trended()
	slow := r.Trends[0]
	slow.Verdict, slow.Sessions = judge.Inconclusive, 14
	r.Trends = []summary.Trend{slow, slow, r.Trends[2]}
	want := "May be chance: sweep fp32, since 2026-11-08, commit aaaaaaa..bbbbbbb: latency 75.0 µs → 84.0 µs, +12.0 % (95 % interval +11.0 % to +13.0 %); more sessions decide"
	if got := texts(r); len(got) != 3 || got[0] != want+" (a slow change needs 15 in all)." {
		t.Errorf("got %q", got)
	}
	r.Selection.HistoryNeeds = 41 // fewer than it takes to find a step among these series
	if got := texts(r); !strings.HasSuffix(got[len(got)-1], ". 40 sessions cannot decide among 3 series; from 41 on they can.") {
		t.Errorf("got %q", got)
	}
	r.Trends[0].Sessions = 15
	if got := texts(r); got[0] != want+"." {
		t.Errorf("got %q", got[0])
	}
	r.Trends[0].Missing = 3
	if got := texts(r); !strings.HasSuffix(got[0], "; about 3 more sessions decide.") {
		t.Errorf("got %q", got[0])
	}
}

// TestSince: a change says its day, the two days that enclose it, or the days from which to which it took.
func TestSince(t *testing.T) {
	r := trended()
	step := r.Trends[0]
	uncertain, slow, unknown := step, step, step
	uncertain.Places, uncertain.After = 3, on(5)
	slow.Ramp, slow.Since, slow.After, slow.By = 16, on(1), on(1), on(20)
	unknown.Base, unknown.Head = "", ""
	for want, trend := range map[string]*summary.Trend{
		"since 2026-11-08, commit aaaaaaa..bbbbbbb":                                           &step,
		"since 2026-11-08 (95 % confidence: 2026-11-05..2026-11-08), commit aaaaaaa..bbbbbbb": &uncertain,
		"since 2026-11-01, slowly until 2026-11-20, commit aaaaaaa..bbbbbbb":                  &slow,
		"since 2026-11-08": &unknown,
	} {
		if got := sinceText(trend); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestAnswerOfSides: what changed between two selections is named with both values; the last sentence has the dates and commits.
func TestAnswerOfSides(t *testing.T) {
	r := many(8)
	c := &r.Comparisons[0]
	c.From, c.Axis, c.Baseline = summary.FromSelections, "side", "base"
	r.Selection.Base, r.Selection.Head = "session=A", "session=B"
	c.Sides = []summary.Period{{Side: "base", Since: on(1), Until: on(1), Commits: []string{"aaaaaaaaaa"}, Runs: 3, Dirty: 3}, {Side: "head", Since: on(2), Until: on(3)}}
	got := texts(r)
	if len(got) != 3 || !strings.HasPrefix(got[0], "Slower: sweep resnet50 int8: latency 101 µs → 101 µs, ") || !strings.HasPrefix(got[1], "Faster: sweep bert-base int8: latency ") ||
		got[2] != "By verdict: 1 regressed, 1 improved, 1 inconclusive, 1 unchanged. Base: 2026-11-01, commit aaaaaaa + uncommitted changes. Head: 2026-11-02 to 2026-11-03." {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	c.Verdicts, c.Reasons = map[string]int{"inconclusive": 4}, map[string]int{"noise": 4}
	for i := range r.Pairs {
		r.Pairs[i].Verdict = "inconclusive"
	}
	if got := texts(r); !strings.HasPrefix(got[0], "Nothing is decided: 4 inconclusive (too much noise). ") {
		t.Error(got)
	}
	r.Pairs[0].Verdict, c.Verdicts = "failed", map[string]int{"failed": 1, "inconclusive": 3}
	if got := texts(r); !strings.HasPrefix(got[0], "By verdict: 1 failed (sweep resnet50 fp16), 3 inconclusive (too much noise). ") {
		t.Error(got)
	}
	r.Pairs[0].Verdict, r.Pairs[1].Repeats, r.Pairs[2].Repeats, c.Verdicts = "inconclusive", "differ", "alike", map[string]int{"inconclusive": 4}
	if got := texts(r); !strings.HasPrefix(got[0], "The repeats differ in 1 of 2 points; most: sweep resnet50 int8: latency ") ||
		!strings.Contains(got[0], "). No verdict (too much noise). Base: ") {
		t.Error(got)
	}
	r.Pairs[1].Repeats, r.Pairs[2].Repeats = "", ""
	c.Verdicts, c.Reasons = map[string]int{"estimate": c.All.Pairs}, map[string]int{"machines": c.All.Pairs}
	if got, want := texts(r), fmt.Sprintf("No verdict: %d points only estimated (different machines). ", c.All.Pairs); !strings.HasPrefix(got[0], want) {
		t.Error(got)
	}
}

// TestAnswerOfSweep: a sweep names the best setting, where, and by how much; without verdicts it names none.
func TestAnswerOfSweep(t *testing.T) {
	r := many(8)
	c := &r.Comparisons[0]
	c.Best = []summary.BestValue{{Value: "fp16", Points: 3, Tied: 1, Most: new(3), Least: new(3)}, {Value: "fp32", Points: 1}}
	c.Undecided, c.Reasons = 2, map[string]int{"few_runs": 2}
	r.Pairs[3].Base, r.Pairs[3].Value, r.Pairs[3].Speedup, r.Pairs[3].Low, r.Pairs[3].High = new(2e6), new(1e6), new(2.), new(1.9), new(2.1)
	r.Pairs[3].Confidence = new(1 - .05/11) // it was looked at up to 11 times
	want := "Best: precision=fp16 at 3 of 6 points, by −50.0 % to −50.0 % against precision=fp32. Most at sweep bert-base: latency 2.00 ms → 1.00 ms, −50.0 % (99.55 % interval −52.4 % to −47.4 %). " +
		"At 1 of these another value may be as good: the intervals overlap. Elsewhere: precision=fp32 at 1, no verdict at 2 (too few runs)."
	const worse = "Slower: precision=int8 against precision=fp32 at sweep resnet50: latency 101 µs → 101 µs, −2.6 % (95 % interval −5.4 % to +0.4 %)."
	if got := texts(r); !slices.Equal(got, []string{want, worse}) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.Best[0].Failed, c.Undecided = 1, 0
	if got := texts(r); !strings.HasSuffix(got[0], " Elsewhere: precision=fp32 at 1, precision=fp16 failed or is unsupported at 1.") {
		t.Error(got)
	}
	c.Best, c.Undecided = []summary.BestValue{{Value: "fp32", Points: 4, Next: new(3)}}, 2
	if got := texts(r); len(got) != 1 || !strings.HasPrefix(got[0], "Best: precision=fp32 at 4 of 6 points: all others are worse there, the closest is ") || !strings.Contains(got[0], ": latency 2.00 ms → 1.00 ms, −50.0 % (") {
		t.Error(got)
	}
	c.Verdicts["failed"]++
	if got := texts(r); !strings.Contains(got[0], " points: all others that ran are worse there, the closest is ") {
		t.Error(got)
	}
	c.Verdicts["failed"]--
	c.Values = []summary.NamedRatios{{Name: "fp16"}}
	if got := texts(r); !strings.HasPrefix(got[0], "Best: precision=fp32 at 4 of 6 points: precision=int8 is worse there, closest at sweep bert-base: latency 2.00 ms → 1.00 ms, −50.0 % (") {
		t.Errorf("with one other value: %s", got)
	}
	c.Undecided, c.Alone = 0, 2
	if got := texts(r); !strings.HasPrefix(got[0], "Best: precision=fp32 at 4 of 6 points: precision=int8 is worse there,") || !strings.HasSuffix(got[0], " Elsewhere: precision=fp16 failed or is unsupported at 2.") {
		t.Errorf("where the other value failed: %s", got)
	}
	c.Best = []summary.BestValue{{Value: "fp16", Points: 4, Failed: 2, Most: new(3), Least: new(3)}}
	if got := texts(r); strings.Count(got[0], "failed or is unsupported at 2") != 1 {
		t.Errorf("where the best value failed: %s", got)
	}
	c.Undecided, c.Alone = 2, 0
	c.Best = []summary.BestValue{{Value: "int8", Points: 2, Most: new(2), Least: new(1), Next: new(0), Near: new(2)}, {Value: "bf16", Points: 1, Most: new(0), Least: new(0)}}
	if got := texts(r)[0]; !strings.Contains(got, ". The next is precision=fp16, closest at sweep bert-base: ") || !strings.HasSuffix(got, " Elsewhere: precision=bf16 at sweep resnet50, no verdict at 2 (too few runs).") {
		t.Error(got)
	}
	c.Best, c.Wins, c.Sets = nil, map[string]int{"fp16": 2, "fp32": 1}, 3
	c.Values = []summary.NamedRatios{{Name: "fp16", Ratios: summary.Ratios{GeometricMean: new(2.), Compared: 2}}}
	if got := texts(r); len(got) != 3 || got[0] != worse || !strings.HasPrefix(got[1], "Faster: precision=int8 against precision=fp32 at sweep bert-base: latency 2.00 ms → 1.00 ms, −50.0 % (") ||
		got[2] != "No precision is called best: 1 regressed, 1 improved, 1 inconclusive (too few runs), 1 unchanged. By estimate precision=fp16 is ahead at 2 of 3 points, −50.0 % in the geometric mean." {
		t.Error(got)
	}
	c.Reasons["noise"] = 1
	if got := texts(r); strings.Contains(got[2], "ahead") {
		t.Errorf("with noise: %s", got[0])
	}
	delete(c.Reasons, "noise")
	c.Wins["fp16"] = 1
	if got := texts(r); strings.Contains(got[2], "ahead") {
		t.Errorf("two that are level: %s", got[2])
	}
	for i := range r.Pairs {
		r.Pairs[i].Verdict = "regressed"
	}
	if got := texts(r); len(got) != maxWorse+1 || !strings.HasSuffix(got[maxWorse-1], "). 1 more regressed.") {
		t.Errorf("of %d that regressed: %q", len(r.Pairs), got)
	}
	c.Undecided, c.Equal = 0, 2
	if got := texts(r); got[0] != "No precision is best: no difference by verdict at both points." {
		t.Error(got)
	}
}

// TestLead: the next point is named with the factor to the best, in words that suit the metric.
func TestLead(t *testing.T) {
	for _, test := range []struct {
		best, next   float64
		unit, better string
		want         string
	}{
		{1e6, 2.1e6, "ns", "lower", ", 2.1 times as fast as the next, b (2.10 ms)"},
		{1e6, 1.004e6, "ns", "lower", ", less than 1 % ahead of the next, b (1.00 ms)"},
		{1e6, 1e6, "ns", "lower", ", as is that of b"},
		{0, 1e6, "ns", "lower", "; the next is b, 1.00 ms"},
		{1300, 1100, "", "higher", ", 1.18 times as much as the next, b (1100)"},
		{1100, 1300, "", "lower", "; the next has 1.18 times as much: b, 1300"},
	} {
		value := func(median float64) *summary.Value {
			return &summary.Value{Median: &median, Unit: summary.Text(test.unit), Better: summary.Text(test.better)}
		}
		if got := lead(value(test.best), value(test.next), "b"); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// TestLeadInterval: the factor between the best point and the next has an interval, or the reason why there is none; only with one above 1 is
// the point more than an estimate.
func TestLeadInterval(t *testing.T) {
	d := &Document{}
	for i, mode := range []string{"a", "b"} {
		for k, n := range []string{"x", "y"} {
			d.Points = append(d.Points, summary.Point{
				Subject: summary.Subject{PointID: summary.Text(mode + n), Benchmark: "f", Params: map[string]string{"mode": mode, "n": n}}, Runs: 6, OKRuns: 6, Metric: "latency",
				Metrics: []summary.Value{{Metric: "latency", Unit: "ns", Better: "lower", Median: new(1e6 * float64(1+k+2*i))}},
			})
		}
	}
	const best, next = "mode=a n=x, latency 1.00 ms, 2 times as fast as the next, mode=a n=y (2.00 ms)", ", allowing for the choice among 4"
	lead := func(low, high float64, scale schema.Scale) summary.Lead {
		return summary.Lead{PointID: "ax", Points: 4, Scale: summary.Text(scale), Low: &low, High: &high}
	}
	for _, c := range []struct {
		lead summary.Lead
		want string
	}{
		{summary.Lead{}, "Lowest median over all axes, by estimate: " + best + "."},
		{lead(1.9, 2.125, schema.ScaleRatio), "Lowest median over all axes: " + best + "; 95 % interval of the factor 1.9 to 2.12" + next + "."},
		{lead(.9, 3, schema.ScaleRatio), "Lowest median over all axes, by estimate: " + best + "; 95 % interval of the factor 0.9 to 3" + next + ": another may be as good."},
		{lead(1e5, 1.5e6, schema.ScaleDifference), "Lowest median over all axes: " + best + "; 95 % interval of the lead 100 µs to 1.50 ms" + next + "."},
		{summary.Lead{PointID: "ax", Runs: 1, Reason: "few_runs"}, "Lowest median over all axes, by estimate: " + best + "; 1 run per point: no interval."},
		{summary.Lead{PointID: "ax", Reason: "order"}, "Lowest median over all axes, by estimate: " + best + "; no interval: one side ran before the other."},
		{summary.Lead{PointID: "by", Reason: "order"}, "Lowest median over all axes, by estimate: " + best + "."},
	} {
		if got, _ := frontRunner(d, &summary.Comparison{Lead: c.lead}, namerOf(d.Points)); got != c.want {
			t.Errorf("%+v\ngot  %s\nwant %s", c.lead, got, c.want)
		}
	}
}

// TestFrontRunnerOfWork: of the amount of work only the largest is ranked, and it stands once.
func TestFrontRunnerOfWork(t *testing.T) {
	d := &Document{}
	for _, batch := range []int64{1, 4, 16} {
		for i, precision := range []summary.Text{"fp32", "fp16"} {
			for k, backend := range []summary.Text{"torch", "onnxrt"} {
				d.Points = append(d.Points, summary.Point{
					Subject: summary.Subject{Benchmark: "b", Precision: precision, Backend: backend, BatchSize: new(batch)}, Runs: 3, OKRuns: 3, Metric: "latency",
					Metrics: []summary.Value{{Metric: "latency", Unit: "ns", Better: "lower", Median: new(1e6 * float64(int(batch)*(4-2*i-k)))}},
				})
			}
		}
	}
	const want = "Lowest median at bs=16, by estimate: onnxrt fp16, latency 16.0 ms, 2 times as fast as the next, torch fp16 (32.0 ms)."
	if got, _ := frontRunner(d, &summary.Comparison{}, namerOf(d.Points)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	d.Points = slices.DeleteFunc(d.Points, func(p summary.Point) bool { return p.Backend == "torch" })
	if got, _ := frontRunner(d, &summary.Comparison{Best: []summary.BestValue{{Value: "fp16"}}}, namerOf(d.Points)); got != "" {
		t.Errorf("of one setting, whose best value another sentence names: %s", got)
	}
}

// TestAnswerOfGuess: a sentence about an axis that nobody named says so, and how to see another one. What the history found stands
// before it.
func TestAnswerOfGuess(t *testing.T) {
	r := many(8)
	r.Comparisons[0].From, r.Comparisons[0].Equal, r.Selection.Sessions = summary.FromGuess, 2, 1
	m := maker()
	m.Others, m.Past, m.Other = true, 3, "s"
	got := m.Document(r).Answer
	if len(got) != 4 || !strings.HasPrefix(got[1].Text, "No precision is best") || got[2].Text != "Nobody named a baseline: precision=fp32 is a guess. Another axis:" ||
		got[2].Command != "neurolens ls --pivot model session=last --store 'my store'" || !strings.HasPrefix(got[3].Text, "Not compared with other sessions: 2 ") {
		t.Errorf("%+v", got)
	}
	if want := "Lowest median over all axes, by estimate: sweep resnet50 fp32, latency 100 µs, less than 1 % ahead of the next, sweep resnet50 fp16 (100 µs)."; got[0].Text != want {
		t.Errorf("got  %s\nwant %s", got[0].Text, want)
	}
	r.Points[0].OKRuns = 4
	r.Pairs[1].Control = true
	want := "Lowest median over all axes, by estimate: sweep resnet50 fp16, latency 100 µs, 1.01 times as fast as the next, sweep bert-base fp32 (101 µs)."
	if text := m.Document(r).Answer[0].Text; text != want {
		t.Errorf("with a failed run and a control: %s", text)
	}
	r.Points[4].Metric = "throughput"
	if text := m.Document(r).Answer[0].Text; !strings.HasPrefix(text, "No precision is best") {
		t.Errorf("of different metrics: %s", text)
	}
	var md bytes.Buffer
	ok(t, m.Document(r).markdown(&md))
	if !strings.Contains(md.String(), "is a guess. Another axis: `neurolens ls --pivot model session=last ") {
		t.Error(md.String())
	}
	past := trended()
	r.Trends, r.Selection.History = past.Trends, 40
	if got := m.Document(r).Answer; len(got) != 6 || got[0].Verdict != "regressed" || !strings.HasPrefix(got[3].Text, "4 series over 40 sessions: ") || !strings.HasPrefix(got[4].Text, "No precision is best") {
		t.Errorf("%+v", got)
	}
}

// TestAnswerOfPaired: a change that the values of the sides contradict says how it was estimated.
func TestAnswerOfPaired(t *testing.T) {
	p := summary.Pair{Metric: "latency", Unit: "ns", Better: "lower", Base: new(80.2e6), Value: new(63.8e6), Speedup: new(1 / .969), Estimator: "paired"}
	valuetest.Equal(t, ofPair(&p).text(), "latency −3.1 % paired, medians 80.2 ms → 63.8 ms")
	p.Low, p.High = new(1/.98), new(1/.96)
	valuetest.Equal(t, ofPair(&p).text(), "latency −3.1 % paired (95 % interval −4.0 % to −2.0 %), medians 80.2 ms → 63.8 ms")
	p.Low, p.High = nil, nil
	p.Estimator = "run_means" // base and value are no medians
	valuetest.Equal(t, ofPair(&p).text(), "latency 80.2 ms → 63.8 ms, −3.1 % in the mean")
}

// TestRate: a rate counts what compare says that it counts.
func TestRate(t *testing.T) {
	valuetest.Equal(t, quantity(new(80.), "1/s", "throughput"), "80.0 items/s")
}

// TestAnswerOfFailed: the first paragraph counts the runs that failed and those with a wrong result, and says why most of them did.
func TestAnswerOfFailed(t *testing.T) {
	r := many(8)
	r.Counts.Runs = 9
	r.Findings = []summary.Finding{{Rule: summary.RuleWrongResult, Runs: 1, Points: 2}, {Rule: summary.RuleFailed, Runs: 3, Points: 1}}
	r.Failures = []summary.Failure{
		{Status: "skipped", Runs: 4, Causes: []summary.Cause{{Error: "no GPU"}}},
		{Status: "error", Runs: 3, Causes: []summary.Cause{{Error: "exit status 4\nwhile it read", Runs: 2, Example: summary.Subject{Benchmark: "k"}}, {Error: "exit status 5"}}},
		{Status: "error", Wrong: true, Runs: 1, Causes: []summary.Cause{{Error: "1 of 8 values differs", Example: summary.Subject{Benchmark: "w"}}}},
	}
	const failed = "Failed: 3 of 9 runs, of 1 point: k, error: exit status 4 (and 1 other error). Wrong result: 1 of 9 runs, of 2 points, such as w, error: 1 of 8 values differs."
	got := texts(r)
	valuetest.Equal(t, strings.Join(got[len(got)-2:], " "), failed)
	r.Counts.ByStatus = map[string]int{"error": 9}
	valuetest.Equal(t, strings.Join(texts(r)[:2], " "), failed, "no run is ok")
	r.Counts.ByStatus, r.Comparisons[0].From = map[string]int{"ok": 5, "error": 4}, summary.FromGuess
	got = texts(r)
	valuetest.Equal(t, len(got) > 2, true, "there is a guess")
	valuetest.Equal(t, strings.Join(got[:2], " "), failed, "before a guess")
	r.Counts.ByStatus, r.Comparisons, r.Pairs, r.Selection.Sessions = map[string]int{"ok": 5, "error": 4}, nil, nil, 1
	var all []string
	for _, a := range (Maker{Others: true, Past: 2, Other: "s"}).Document(r).Answer {
		all = append(all, a.Text)
	}
	valuetest.Equal(t, strings.Join(all, " "), failed+" Not compared with other sessions: 1 other has these points. Against it:")
	past := trended()
	r.Counts.ByStatus, r.Trends, r.Selection = map[string]int{"ok": 5, "error": 4}, past.Trends, past.Selection
	got = texts(r)
	valuetest.Equal(t, strings.Join(got[len(got)-2:], " "), failed, "over sessions")
}

// TestNothingCompared: a report without an answer says why.
func TestNothingCompared(t *testing.T) {
	r := many(2)
	r.Comparisons, r.Pairs = nil, nil
	for want, change := range map[string]func(){
		"Nothing is compared here: one session, and its points ":   func() {},
		"Nothing is compared here: 3 sessions, and a history ":     func() { r.Selection.Sessions = 3 },
		"No history: none of 3 sessions has a start time, so they": func() { r.Selection.Unordered = true },
	} {
		r.Selection.Sessions, r.Selection.Unordered, r.Selection.Since = 1, false, on(1)
		if change(); strings.HasPrefix(want, "No history") {
			r.Selection.Sessions = 3
		}
		if got := texts(r); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("got %q, want %s", got, want)
		}
	}
	r.Selection.Sessions, r.Selection.Unordered, r.Selection.Since = 3, false, nil
	valuetest.Equal(t, texts(r)[0], "No history: none of 3 sessions has a start time, so they have no order. Give it with ingest --at.")
	r.Selection.Sessions, r.Selection.Filter = 1, "suite=a"
	got := Maker{Amount: query.Contrast{Axis: "n", Value: "2 3"}}.Document(r).Answer[0]
	valuetest.Equal(t, got.Text, "No setting is called best: there is no baseline, and n may be the amount of work. If it is not, this compares its values:")
	valuetest.Equal(t, got.Command, "neurolens report suite=a --baseline 'n=2 3'")
	got = Maker{Amount: query.Contrast{Axis: "benchmark", Value: "g.py:one"}}.Document(r).Answer[0]
	valuetest.Equal(t, got.Text+" "+got.Command, "No setting is called best: there is no baseline, and the benchmarks may do different work. If they do the same, this compares them: neurolens report suite=a --baseline benchmark=g.py:one")
}

// TestOneOfSessions: a report of one session names the command that looks at the others, and one point has no setting.
func TestOneOfSessions(t *testing.T) {
	r := many(2)
	r.Comparisons, r.Pairs, r.Selection.Sessions, r.Counts.Points = nil, nil, 1, 1
	for sessions, want := range map[int][2]string{
		0: {"Not compared with other sessions: report --all looks at all of the store, as history does.", "neurolens report --all"},
		3: {"Not compared with other sessions: 2 others have these points. Against the newest of them:", "neurolens compare session=HT34WXYZ "},
		1: {"Nothing is compared here: one point in one session.", "neurolens ls"},
	} {
		m := Maker{Others: true, Past: sessions, Other: "01M8Q0VN5KACAEQTTYHT34WXYZ"}
		got := m.Document(r).Answer
		r.Counts.Points = 2
		if again := m.Document(r).Answer; sessions != 1 && !reflect.DeepEqual(again, got) {
			t.Errorf("of several points without an axis there is no more to say: %+v", again)
		}
		r.Counts.Points = 1
		if len(got) != 1 || got[0].Text != want[0] || !strings.HasPrefix(got[0].Command, want[1]) {
			t.Errorf("%d: %+v", sessions, got)
		}
	}
	later := Maker{Others: true, Past: 2, Other: "01M8Q0VN5KACAEQTTYHT34WXYZ", Later: true}.Document(r).Answer
	if got := later[0].Command; !strings.HasPrefix(got, "neurolens compare ") || !strings.HasSuffix(got, " session=HT34WXYZ") {
		t.Errorf("a later session is the head: %s", got)
	}
	r.Counts.Points = 2
	for axis, more := range map[string]bool{"n": true, "benchmark": false} {
		got := Maker{Others: true, Past: 2, Other: "s", Amount: query.Contrast{Axis: axis, Value: "one"}}.Document(r).Answer
		if said := len(got) > 1; said != more {
			t.Errorf("of several values of %s: %+v", axis, got)
		}
	}
}

// TestPast: what the sessions with the points of one session changed stands first, with commands about all of them, and nothing is called
// best for the lack of a baseline.
func TestPast(t *testing.T) {
	r := trended()
	r.Selection.Sessions, r.Selection.HistoryFilter = 1, "suite=nightly"
	r.Trends[0].Machine = "lab3"
	r.Trends[2].OffBase, r.Trends[2].OffHead = "01M79DJ0W0000000000000000D", "01M79DJ0W0000000000000000E"
	maker := Maker{Others: true}
	for i := range r.Points {
		maker.Series = append(maker.Series, history.SeriesPoint{PointID: string(r.Points[i].PointID), Point: r.Points[i].Subject.Point()})
		maker.Series[i].Machine = "lab3"
	}
	d := maker.Document(r)
	want := []string{"neurolens history precision=fp32", "", "neurolens compare --gate session=0000000D session=0000000E", "neurolens history suite=nightly"}
	if len(d.Answer) != 4 || d.Answer[0].Verdict != "regressed" || !strings.HasPrefix(d.Answer[0].Text, "Slower: sweep fp32, since 2026-11-08, commit aaaaaaa..bbbbbbb: ") {
		t.Fatalf("%+v", d.Answer)
	}
	valuetest.Contains(t, d.Answer[2].Text, "; may be chance; compare --gate may judge it now, history from 2 more sessions on.")
	for i, command := range want {
		if d.Answer[i].Command != command && command != "" {
			t.Errorf("command %d is %s, want %s", i, d.Answer[i].Command, command)
		}
	}
	maker.Series = append(maker.Series, maker.Series[0])
	maker.Series[len(maker.Series)-1].PointID = "another"
	if got := maker.Document(r).Answer[0].Command; got != "neurolens history point_id="+string(r.Trends[0].PointID) {
		t.Errorf("of two points that differ in nothing the command is %s", got)
	}
	r.Trends[0].Verdict = judge.Inconclusive
	if got := maker.Document(r).Answer[0].Command; got != "neurolens history suite=nightly" {
		t.Errorf("of a change that may be chance among all the command is %s", got)
	}
	r.Selection.HistoryFilter = "point_id=" + strings.Repeat("0123456789abcdef,", 40)
	if got := (Maker{Others: true}).Document(r).Answer[3]; got.Command != "" {
		t.Errorf("a first paragraph has the command %s", got.Command)
	}
	for i := range r.Points {
		r.Points[i].OKRuns = 1
	}
	if text := (Maker{}).Document(r).worth(); text != "no point has 3 ok runs: the numbers of this session alone are estimates" {
		t.Error(text)
	}
}

// TestNotInReport: a line about other series that got worse, with the worst series and the command that shows all, stands before the series of
// the report. Runs without a start are counted.
func TestNotInReport(t *testing.T) {
	r := trended()
	worse, failing, off := r.Trends[0], r.Trends[1], r.Trends[2]
	r.Trends, r.Selection.Undated, r.Selection.OtherSeries = r.Trends[3:], 2, 7
	const all = "neurolens report --all"
	for want, others := range map[string][]summary.Trend{
		"Not in this report: 1 regressed, 1 failing, 1 far off in the newest session of 7 other series; most: sweep fp32, since 2026-11-08, commit aaaaaaa..bbbbbbb: latency 75.0 µs → 84.0 µs, +12.0 % (95 % interval +11.0 % to +13.0 %). All of them:": {worse, failing, off},
		"Not in this report: 1 failing, 1 far off in the newest session of 7 other series; sweep fp16 fails. All of them:":                                                                                                                                {failing, off},
	} {
		r.OtherTrends = others
		got := Maker{}.Document(r).Answer
		if got[0].Text != want || got[0].Command != all || !strings.HasSuffix(got[1].Text, ". Left out, in no order: 2 runs have no start time; give it with ingest --at.") {
			t.Errorf("got %+v\nwant %s", got, want)
		}
	}
	r.OtherTrends = []summary.Trend{off}
	valuetest.Contains(t, Maker{}.Document(r).Answer[0].Text, ": latency 84.0 µs → 109 µs, +30.0 %. All of them:")
}

// TestAgainOnlyWhatIsKnown: the sweep is measured again only if it is there, and only it measured.
func TestAgainOnlyWhatIsKnown(t *testing.T) {
	t.Chdir(t.TempDir())
	const again = "bench 'my sweep.yaml' --repeats 6"
	given := func(unswept bool) bool {
		d := document()
		d.Selection.Unswept = unswept
		return slices.ContainsFunc(maker().recommendations(d), func(r Recommendation) bool { return strings.Contains(r.Command, again) })
	}
	if given(false) {
		t.Error("a sweep that is not there is suggested")
	}
	ok(t, os.WriteFile("my sweep.yaml", nil, 0o644))
	if !given(false) || given(true) {
		t.Error("a sweep is not suggested, or although another command measured some runs")
	}
	m := maker()
	m.Enough = "neurolens bench 'my sweep.yaml' -P n=2 --repeats 6"
	valuetest.Equal(t, m.enough(document()), m.Enough, "the points of the report")
}

// TestFilterInNames: points are selected by the values of their axes, and by their ids only where those would select others too.
func TestFilterInNames(t *testing.T) {
	r := many(8) // precisions 4, models 2
	n := namerOf(r.Points)
	ids := func(places ...int) (all []summary.Text) {
		for _, i := range places {
			all = append(all, r.Points[i].PointID)
		}
		return all
	}
	for want, got := range map[string]string{
		"":                                   n.filter(ids(0, 1, 2, 3, 4, 5, 6, 7)...),
		"model=resnet50":                     n.filter(ids(0, 1, 2, 3)...),
		"model=bert-base precision=fp16":     n.filter(ids(5)...),
		"precision=bf16,fp16":                n.filter(ids(1, 2, 5, 6)...),
		"model=resnet50 precision=bf16,fp32": n.filter(ids(0, 2)...),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := n.filter(ids(0, 5)...); !strings.HasPrefix(got, "point_id~^(") {
		t.Errorf("of two points that share nothing: %s", got)
	}
}

// TestHeadings: no name is broken at its hyphens, and none is markup.
func TestHeadings(t *testing.T) {
	if got := title("latency · epyc-2c-24g <b>"); got != "latency · <span class=whole>epyc-2c-24g</span> &lt;b&gt;" {
		t.Error(got)
	}
	if got := sentenceLine("75.0 µs, 5 % of 3 s."); got != "75.0\u00a0µs, 5\u00a0% of 3\u00a0s." {
		t.Errorf("%q", got)
	}
	if several := strings.Repeat("At 2 of these another value may be as good. ", 10) + "End."; sentenceLine(several) != several {
		t.Errorf("%q", sentenceLine(several))
	}
}
