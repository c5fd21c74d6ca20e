package views

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/schema"
)

// madeHistory returns a history of points of some batch sizes, each with 12 sessions, of which the seventh changed by a shift.
func madeHistory(shifts ...float64) history.History {
	h := history.History{Known: len(shifts), Sessions: 12, Longest: 12, Needs: history.MinSessions}
	day := time.Date(2026, 9, 1, 12, 0, 0, 0, time.Local)
	for n, shift := range shifts {
		s := history.Series{First: len(h.Rows), Sessions: 12}
		for k := range 12 {
			location := 4e6 + float64(k%2)*1e4
			if k >= 6 {
				location *= 1 + shift
			}
			s.Locations = append(s.Locations, location)
			row := history.Row{
				PointID: fmt.Sprintf("%032x", n), Point: query.Point{Benchmark: "matmul", BatchSize: new(int64(1 << n)), Params: map[string]string{"tile": "32"}, Machine: "lab3"},
				Metric: "latency", Unit: "ns", Scale: schema.ScaleRatio, SessionID: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
				StartedAt: new(day.AddDate(0, 0, k)), Location: location,
			}
			if k == 6 && shift != 0 {
				row.ChangePoint, row.Shift, row.ShiftLow, row.Verdict = true, new(shift), new(shift-.01), judge.Regressed
				if shift < 0 {
					row.Verdict = judge.Improved
				}
				s.Changes = append(s.Changes, history.Change{
					OldLevel: 4.005e6, NewLevel: 4.005e6 * (1 + shift),
					Row: len(h.Rows), Base: "81cc0fe7777", Head: "9a01b3d7777", After: new(day.AddDate(0, 0, k-1)), By: row.StartedAt, Places: 1,
					Differs: []query.FactDifference{
						{Kind: query.EnvironmentFact, Name: "driver_version", Base: []string{"570.86"}, Head: []string{"575.51"}},
						{Kind: query.EnvironmentFact, Name: "env.load.1m", Base: []string{"0.1"}, Head: []string{"0.2"}},
					},
				})
			}
			h.Rows = append(h.Rows, row)
		}
		s.End = len(h.Rows)
		h.Series = append(h.Series, s)
		h.Points = append(h.Points, history.SeriesPoint{PointID: h.Rows[s.First].PointID, Point: h.Rows[s.First].Point, Metric: "latency"})
	}
	return h
}

// departed returns a history in which the newest sessions of some series are far off their level.
func departed(h history.History, sessions int, series ...int) history.History {
	h.Series = slices.Clone(h.Series)
	for _, i := range series {
		row := h.Rows[h.Series[i].First]
		row.Location, row.Shift, row.Verdict, row.SessionID = 5.2065e6, new(.3), judge.Regressed, "01M00000000000000000000002"
		h.Series[i].Departure = &history.Departure{Row: row, Sessions: sessions, Since: h.Rows[len(h.Rows)-1].StartedAt, Base: "81cc0fe7777", Head: "9a01b3d7777", Before: "01M00000000000000000000001", Level: 4.005e6, Missing: 3 - sessions}
		h.Departures = append(h.Departures, h.Series[i].Departure)
	}
	return h
}

// failing returns a history of which each series failed in 12 sessions after its last value.
func failing(h history.History) history.History {
	for i := range h.Series {
		h.Series[i].Failed = 12
	}
	return h
}

func historyText(h history.History, req history.Request, width int, color bool) string {
	r := Display{Now: time.Date(2026, 10, 1, 0, 0, 0, 0, time.Local), Width: width}
	var b bytes.Buffer
	History{Reader: r, H: &h, Req: req, Facts: query.FactWriter{Volatile: probe.IsVolatile}}.View().Render(&b, term.Page{Width: width, Color: color})
	return b.String()
}

func TestHistoryView(t *testing.T) {
	offset := Display{Now: time.Date(2026, 10, 1, 0, 0, 0, 0, time.Local)}.Offset()
	for _, c := range []struct {
		name string
		h    history.History
		req  history.Request
		want string
	}{
		{"one series", madeHistory(.118), history.Request{}, `regressed since 2026-09-07 (81cc0fe..9a01b3d): 4.00 ms → 4.48 ms, +11.8 %

latency of matmul bs=1 tile=32 on lab3 · 12 sessions since 2026-09-01

  4.00 ms  ▁▁▁▁▁▁██████  4.48 ms

CHANGED        FROM       TO       BY     95 %  VERDICT    COMMITS
2026-09-07  4.00 ms  4.48 ms  +11.8 %  +10.8 –  regressed  81cc0fe..9a01b3d

also changed
  2026-09-07  driver_version 570.86 → 575.51

neurolens bisect 81cc0fe 9a01b3d SWEEP.yaml finds the commit (your sweep file)

next  neurolens plot history
`},
		{"several", madeHistory(0, .05, -.3, 1.5), history.Request{}, `2 of 4 series regressed; the worst since 2026-09-07 (81cc0fe..9a01b3d): bs=8,
4.00 ms → 10.0 ms, +150 %

latency · matmul · lab3 · tile=32

BS  SESSIONS  TREND            LAST   CHANGE  VERDICT    SINCE OFFSET
 8        12  ▁▁▁▁▁▁██████  10.0 ms   +150 %  regressed  2026-09-07 12:00
 2        12  ▃▃▃▃▃▃▆▆▆▆▆▆  4.21 ms   +5.0 %  regressed  2026-09-07 12:00
 4        12  ██████▁▁▁▁▁▁  2.81 ms  −30.0 %  improved   2026-09-07 12:00
 1        12  ▄▅▄▅▄▅▄▅▄▅▄▅  4.01 ms        –

4 series over 12 sessions: 2 regressed, 1 improved, 1 with no change found
of the series called changed, at most 5 % are expected to be false
neurolens bisect 81cc0fe 9a01b3d SWEEP.yaml finds the commit (your sweep file)

next  neurolens plot history batch_size=8
`},
		{"nothing since", history.History{Known: 3}, history.Request{Regressions: true, Since: time.Date(2026, 9, 30, 8, 0, 0, 0, time.Local)}, "no regression found since 2026-09-30 08:00 in 3 series\n"},
		{"nothing", history.History{}, history.Request{}, "no run matches\n"},
	} {
		want := strings.ReplaceAll(c.want, "OFFSET", offset)
		if got := historyText(c.h, c.req, 80, false); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// TestHistoryOnlyCommit: where the base is the only parent of the head, there is nothing to search for.
func TestHistoryOnlyCommit(t *testing.T) {
	for parent, want := range map[string]string{
		"81cc0fe": "\nnext  neurolens plot history\n      git show 9a01b3d\n", "9999999": "\nneurolens bisect 81cc0fe 9a01b3d SWEEP.yaml finds the commit (your sweep file)\n", "": " finds the commit (your sweep file)\n",
	} {
		h := madeHistory(.118)
		whole := func(string) string { return strings.Replace(h.Series[0].Changes[0].Base, "81cc0fe", parent, 1) }
		if parent == "" {
			whole = func(string) string { return "" }
		}
		var b bytes.Buffer
		History{Reader: Display{Width: 80, Parent: whole}, H: &h}.View().Render(&b, term.Page{Width: 80})
		contains(t, b.String(), want)
	}
}

// TestHistoryFits: no line is wider than the terminal, what got worse is red, and the point and verdict stay.
func TestHistoryFits(t *testing.T) {
	for name, c := range map[string]struct {
		h   history.History
		req history.Request
		red int
	}{
		"one": {madeHistory(.118), history.Request{}, 1}, "several": {madeHistory(slices.Repeat([]float64{.2, -.1, 0}, 9)...), history.Request{}, 9},
		"regressions": {madeHistory(.118, .3), history.Request{Regressions: true}, 2},
		"failing":     {failing(madeHistory(.118, .3, 0)), history.Request{}, 3},
	} {
		for width := 40; width <= 160; width += 5 {
			text := historyText(c.h, c.req, width, true)
			for line := range strings.SplitSeq(text, "\n") {
				if ansi.StringWidth(line) > width && !strings.HasPrefix(line, "next") {
					t.Errorf("%s at %d columns: %q", name, width, line)
				}
			}
			if n := strings.Count(text, term.Red); n != c.red {
				t.Errorf("%s at %d columns: %d are red\n%s", name, width, n, text)
			}
			if width >= 60 && !strings.Contains(text, "regress") {
				t.Errorf("%s at %d columns: no verdict\n%s", name, width, text)
			}
			if wide := strings.Contains(text, "ALSO CHANGED"); name == "one" && (wide != (width >= 110) || !strings.Contains(text, "575.51")) {
				t.Errorf("%s at %d columns: what else changed is not there\n%s", name, width, text)
			}
		}
	}
	contains(t, historyText(madeHistory(slices.Repeat([]float64{.2}, 27)...), history.Request{}, 80, false), "… 7 more")
}

// TestHistoryRegressionsNames: what series share stands above, and their names are what differs, as in a history of several.
func TestHistoryRegressionsNames(t *testing.T) {
	text := historyText(madeHistory(.118, .3), history.Request{Regressions: true}, 80, false)
	contains(t, text, "latency · matmul · lab3 · tile=32\n\n")
	contains(t, text, "  bs=2  ")
	if strings.Contains(text, "latency of") {
		t.Errorf("the series are whole:\n%s", text)
	}
}

// TestHistoryHeading: the heading says what all series have in common, also those that are not shown; what those shown have
// in common has a line of its own.
func TestHistoryHeading(t *testing.T) {
	h := madeHistory(append(slices.Repeat([]float64{.2}, historyRows), 0)...)
	last := &h.Rows[h.Series[historyRows].First]
	last.Metric, last.Params = "throughput", map[string]string{"tile": "64"}
	want := "\n\nmatmul · lab3\nall series below: latency · tile=32\n\n"
	if text := historyText(h, history.Request{}, 80, false); !strings.Contains(text, want) {
		t.Errorf("got\n%s\nwant %q", text, want)
	}
	h.Series = h.Series[:historyRows]
	if text := historyText(h, history.Request{}, 80, false); !strings.Contains(text, "\n\nlatency · matmul · lab3 · tile=32\n\n") {
		t.Errorf("all are shown:\n%s", text)
	}
}

// TestHistoryCounts: no change found is no promise that there is none, series that can tell nothing are counted by
// themselves, and a series with two changes counts by the later one.
func TestHistoryCounts(t *testing.T) {
	byCommit := madeHistory(0)
	byCommit.Series[0].ByCommit = true
	contains(t, historyText(byCommit, history.Request{}, 80, false), "no change found in 12 values\n", "12 values since 2026-09-01, one for\neach commit of a session\n")
	contains(t, historyText(madeHistory(0), history.Request{}, 80, false), "no change found in 12 sessions\n\n")
	h := madeHistory(.2, 0, 0)
	h.Series[2].Sessions = history.MinSessions - 1
	twice := &h.Series[0]
	later := &h.Rows[twice.First+9]
	later.Shift, later.Verdict = new(-.09), judge.Improved
	twice.Changes = append(twice.Changes, history.Change{Row: twice.First + 9})
	want := "3 series over 12 sessions: 1 improved, 1 with no change found\n1 with fewer than 8 sessions, too few to find a step\n"
	contains(t, historyText(h, history.Request{}, 200, false), want)
	short := madeHistory(0, 0)
	short.Series[0].Sessions, short.Series[1].Sessions, short.Few, short.Longest, short.Needs = 5, 5, 2, 5, 9
	const cannot = "5 sessions cannot decide among 2 series; from 9 on they can\n"
	text := historyText(short, history.Request{}, 200, false)
	contains(t, text, "\n2 series over 12 sessions: 2 too short\n")
	if !strings.HasPrefix(text, cannot) || strings.Contains(text, "no regression") {
		t.Errorf("of short series: got\n%s", text)
	}
	short.Series, short.Rows = nil, nil
	if text := historyText(short, history.Request{Regressions: true}, 200, false); text != cannot {
		t.Errorf("without a regression: got\n%s", text)
	}
	want = "3 series over 12 sessions: 1 improved, 2 with no change found\n"
	h.Needs = 0 // Otava's rule has no least number
	contains(t, historyText(h, history.Request{Method: history.Otava}, 200, false), want)
}

// TestHistoryOutcome: the first line says how many series regressed, and of the worst since when and from what to what. Series that are too
// short for a verdict are not counted as having none.
func TestHistoryOutcome(t *testing.T) {
	t.Parallel()
	short := madeHistory(0, 0, 0)
	short.Series[0].Sessions = 5
	none := madeHistory(0, 0)
	for i := range none.Series {
		none.Series[i].Sessions = 5
	}
	none.Longest = 5
	better := departed(madeHistory(.3, 0), 1, 1)
	better.Departures[0].Row.Verdict = judge.Improved
	sure := madeHistory(.3, 0)
	sure.Rows[sure.Series[0].Changes[0].Row].ShiftHigh = new(.31)
	for _, c := range []struct {
		h    history.History
		want string
	}{
		{sure, "1 of 2 series regressed since 2026-09-07 (81cc0fe..9a01b3d): bs=1, 4.00 ms →\n5.21 ms, +30.0 % (+29.0 % to +31.0 %)\n\n"},
		{madeHistory(.3, 0), "1 of 2 series regressed since 2026-09-07 (81cc0fe..9a01b3d): bs=1, 4.00 ms →\n5.21 ms, +30.0 %\n\n"},
		{madeHistory(-.3, 0), "no regression found in 2 series\n\n"},
		{short, "no regression found in 2 series\n\n"},
		{none, "5 sessions cannot decide among 2 series; from 8 on they can\n\nlatency · matmul"},
		{departed(madeHistory(0, 0), 1, 1), "newest session 2026-09-12 (81cc0fe..9a01b3d): bs=2, 4.00 ms → 5.21 ms, +30.0 %;\nmay be chance; compare --gate may judge it now, history from 2 more sessions on\nno regression found in 2 series\n\n"},
		{departed(none, 2, 0, 1), "newest 2 sessions, since 2026-09-12 (81cc0fe..9a01b3d): 2 series far off their\nlevel, the worst bs=1, 4.00 ms → 5.21 ms, +30.0 %; may be chance"},
		{departed(madeHistory(.3, 0), 1, 1), "newest session 2026-09-12 (81cc0fe..9a01b3d): bs=2, 4.00 ms → 5.21 ms, +30.0 %;\n"},
		{better, "1 of 2 series regressed since 2026-09-07 (81cc0fe..9a01b3d): bs=1, 4.00 ms →\n5.21 ms, +30.0 %\nnewest session 2026-09-12 "},
		{unsettled(madeHistory(.3, 0), 0), "inconclusive: bs=1, 4.00 ms → 5.21 ms, +30.0 % since 2026-09-07\n(81cc0fe..9a01b3d); may be chance among 2 series; about 4 more sessions decide\n(a slow change needs 15 in all)\n\n"},
		{unsettled(unsettled(madeHistory(.3, .4), 0), 1), "2 series inconclusive, most of all bs=2, "},
		{failing(madeHistory(0, 0)), "2 of 2 series failing: bs=1 for 12 sessions, and 1 more\n\n"},
	} {
		if got := historyText(c.h, history.Request{}, 80, false); !strings.HasPrefix(got, c.want) {
			t.Errorf("want %q, got\n%s", c.want, got)
		}
	}
}

// TestHistoryFailing: a series whose runs fail comes first and says so in red, and one that has no value since is counted.
func TestHistoryFailing(t *testing.T) {
	h := madeHistory(.2, 0, .3)
	h.Series[0].Failed, h.Series[1].Failed, h.Discontinued = 1, 8, 2
	text := historyText(h, history.Request{}, 100, false)
	contains(t, text, "regressed, failing for 1 session ", "–  failing for 8 sessions", "\n2 series failing since the last value\n", "\n2 series with an older last value, failing since\n", "next  neurolens plot history")
	if strings.Index(text, "failing for 8") > strings.Index(text, "+30.0 %  ") {
		t.Errorf("what fails is not first:\n%s", text)
	}
	if n := strings.Count(historyText(h, history.Request{}, 100, true), term.Red); n != 3 {
		t.Errorf("%d are red", n)
	}
	one := madeHistory(0)
	one.Series[0].Failed = 8
	contains(t, historyText(one, history.Request{}, 80, false), "\nfailing for 8 sessions: the last value is from 2026-09-12\n")
	text = historyText(departed(madeHistory(0, 0), 1, 1), history.Request{}, 100, false)
	contains(t, text, "–  newest +30.0 %", "\nnext  neurolens compare --gate session=00000001 session=00000002\n")
	better := departed(madeHistory(.3, 0), 1, 1)
	better.Departures[0].Row.Verdict = judge.Improved
	contains(t, historyText(better, history.Request{}, 100, false), "next  neurolens plot history batch_size=1")
	contains(t, historyText(departed(madeHistory(0), 1, 0), history.Request{}, 100, false), "newest session 2026-09-12 (81cc0fe..9a01b3d): 4.00 ms → 5.21 ms, +30.0 %; may be chance;")
	quiet := departed(madeHistory(0, 0), 1, 1)
	quiet.Series, quiet.Failing = nil, 1
	contains(t, historyText(quiet, history.Request{Regressions: true}, 100, false), "newest session 2026-09-12 ", "\nno regression found in 2 series\n1 series failing", "\nnext  neurolens compare --gate session=00000001 session=00000002")
	loud := departed(madeHistory(.3, 0), 1, 1)
	loud.Failing = 1
	contains(t, historyText(loud, history.Request{Regressions: true}, 100, false), "\n1 series failing since the last value\n", "\nnewest session 2026-09-12 (81cc0fe..9a01b3d): bs=2, ")
	gate := History{H: &quiet, Req: history.Request{Newest: 14}}
	contains(t, gate.GateLine(0), "gate: 0 sessions: nothing to decide: no series has 8 sessions; 1 series far off in its newest session, as happened before (exit 0)")
	quiet.Gate, quiet.Departures[0].Rare, quiet.Departures[0].Sweep = history.Gate{Series: 9, Inconclusive: 1, Departed: 1}, true, "nightly sweep.yaml"
	contains(t, gate.GateLine(3), ": 1 series inconclusive: far off in its newest session; neurolens compare --gate session=00000001 session=00000002 may judge it now (exit 3)")
	quiet.Departures[0].Before, quiet.Gate.Inconclusive = "", 3
	contains(t, gate.GateLine(3), ": 3 series inconclusive; ", "1 of them far off in its newest session; neurolens bench 'nightly sweep.yaml' measures it again (exit 3)")
	quiet.Departures[0].Sweep = ""
	contains(t, gate.GateLine(3), "; measure it again (exit 3)")
	if text := historyText(history.History{Failed: 16}, history.Request{}, 80, false); text != "16 runs failed, and none is ok\n" {
		t.Errorf("got %q", text)
	}
}

// TestHistoryGateLine: the last line of a gate says what it decided and, where that differs from the rows above it, why.
func TestHistoryGateLine(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		gate    history.Gate
		longest int
	}{
		"no regression found in 6 series; 2 regressed before these sessions":                                                 {history.Gate{Series: 6, Earlier: 2}, 40},
		"no step for the worse is visible in 2 series; a gate calls none before 17 sessions":                                 {history.Gate{Series: 2}, 16},
		"no regression found in 2 series":                                                                                    {history.Gate{Series: 2}, 17},
		"1 series inconclusive: 1 regressed at a single look, but a gate that looks every night needs about 3 more sessions": {history.Gate{Series: 1, Inconclusive: 1, Once: 1, Missing: 3}, 14},
		"1 series inconclusive: 1 regressed at a single look, but a gate that looks every night needs about 12 more sessions, and --newest 17 so that it still counts the change": {
			history.Gate{Series: 1, Inconclusive: 1, Once: 1, Missing: 12, Newest: 17}, 18,
		},
		"2 series inconclusive: 1 regressed at a single look, but a gate that looks every night needs more than 30 more sessions": {history.Gate{Series: 2, Inconclusive: 2, Once: 1}, 14},
		"1 series inconclusive; a gate calls no step before 17 sessions":                                                          {history.Gate{Series: 1, Inconclusive: 1}, 14},
		"1 series inconclusive": {history.Gate{Series: 1, Inconclusive: 1}, 20},
		"2 series regressed, 1 of them by a change that may be chance among 600 series: a gate judges each by itself; 1 regressed before these sessions": {history.Gate{Series: 9, Regressed: 2, Alone: 1, Earlier: 1}, 30},
	} {
		h := history.History{Gate: c.gate, Longest: c.longest, Known: 600}
		for sessions, newest := range map[int]string{12: "12 sessions: ", 14: "newest 14 sessions: "} {
			h.Matching = sessions
			if got := (History{H: &h, Req: history.Request{Newest: 14}}).GateLine(0); got != "gate: "+newest+want+" (exit 0)" {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
}

// unsettled makes the change of a series one that may be chance.
func unsettled(h history.History, series int) history.History {
	row := &h.Rows[h.Series[series].Changes[0].Row]
	row.Verdict, row.ChangePoint = judge.Inconclusive, false
	row.ShiftLow = nil
	h.Inconclusive++
	c := h.Series[series].Changes[0]
	if h.Undecided == nil || *h.Undecided.At.Shift < *row.Shift {
		h.Undecided = &history.Undecided{Change: c, At: *row, Missing: 4, Better: *row.Shift < 0}
	}
	return h
}

// TestHistoryInconclusive: a step that may be chance is shown with its size and counted. A single session far off is no change.
func TestHistoryInconclusive(t *testing.T) {
	h := unsettled(madeHistory(.149, 0, .3, -.2), 0)
	h.Series[1].Spikes = []int{h.Series[1].First + 3}
	text := historyText(h, history.Request{}, 120, false)
	contains(t, text,
		" +14.9 %  inconclusive  2026-09-07 12:00\n", "–  spike\n",
		"\n4 series over 12 sessions: 1 regressed, 1 improved, 1 inconclusive, 1 with no change found\n",
		"\n1 series with a session far off the level (a spike, not a change)\n",
		"\ninconclusive: it may be chance, and more sessions decide\n",
	)
	if regressed, open := strings.Index(text, "+30.0 %"), strings.Index(text, "+14.9 %"); regressed > open {
		t.Errorf("what is unsettled comes first:\n%s", text)
	}

	text = historyText(unsettled(madeHistory(.149), 0), history.Request{}, 160, false)
	if want := "inconclusive: 4.00 ms → 4.60 ms, +14.9 % since 2026-09-07 (81cc0fe..9a01b3d); may be chance; about 4 more sessions decide (a slow change needs 15 in all)\n"; !strings.HasPrefix(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	one := madeHistory(0)
	spike := &one.Rows[3]
	spike.Shift, spike.Verdict = new(.31), history.Spike
	one.Series[0].Spikes = []int{3, 3, 3, 3}
	text = historyText(one, history.Request{}, 200, false)
	if want := "\n4 sessions far off the level (spikes, not changes): 2026-09-04 (+31.0 %), 2026-09-04 (+31.0 %), 2026-09-04 (+31.0 %), …\n"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	hidden := unsettled(madeHistory(.149, 0, 0), 0)
	hidden.Series, hidden.Rows, hidden.Undecided.Missing, hidden.Needs = nil, nil, 0, 13
	text = historyText(hidden, history.Request{Regressions: true}, 200, false)
	if want := "12 sessions cannot decide among 3 series; from 13 on they can\n" +
		"inconclusive: bs=1, 4.00 ms → 4.60 ms, +14.9 % since 2026-09-07 (81cc0fe..9a01b3d); may be chance among 3 series; more than 30 more sessions decide (a slow change needs 15 in all)\n" +
		"\nnext  neurolens plot history\n"; text != want { // the only one of them alone would be called changed
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	hidden.Undecided.Better = true
	if text := historyText(hidden, history.Request{Regressions: true}, 200, false); strings.Contains(text, "inconclusive") || !strings.Contains(text, "\nno step is visible\n") {
		t.Errorf("of an improvement: got\n%s", text)
	}
	h = madeHistory(.2)
	last := &h.Rows[h.Series[0].First+9]
	last.Shift, last.Verdict = new(.05), judge.Inconclusive
	h.Series[0].Changes = append(h.Series[0].Changes, history.Change{Row: 9})
	h.Series = append(h.Series, h.Series[0])
	contains(t, historyText(h, history.Request{}, 120, false), "inconclusive, regressed before")
}

// TestHistoryOffClock: a change between different clocks has both in place of a verdict, is counted, and there is nothing to bisect.
func TestHistoryOffClock(t *testing.T) {
	made := func(shifts ...float64) history.History {
		h := madeHistory(shifts...)
		row := &h.Rows[h.Series[0].Changes[0].Row]
		row.Verdict, row.Reason, row.Clocks = judge.Estimate, judge.OffClock, &query.Clocks{Base: 1980, Head: 1000}
		return h
	}
	one := historyText(made(.593), history.Request{}, 160, false)
	contains(t, one, " +59.3 %  +58.3 –  off_clock (1,980 against 1,000 MHz)  81cc0fe..9a01b3d")
	several := historyText(made(.593, -.2, .3), history.Request{}, 160, false)
	contains(t, several, "1 of 3 series regressed since", "off_clock (1,980 against 1,000 MHz)",
		"3 series over 12 sessions: 1 regressed, 1 improved, 1 without a verdict (the GPU ran at different clocks)\n")
	if worst, off := strings.Index(several, "+30.0 %"), strings.LastIndex(several, "+59.3 %"); worst > off {
		t.Errorf("what is not judged comes first:\n%s", several)
	}
	if strings.Contains(one, "bisect") {
		t.Errorf("bisect finds no clock:\n%s", one)
	}
}

// TestHistorySlow: a slow change is named with its direction, its start and its length, and nothing to bisect is named for it.
func TestHistorySlow(t *testing.T) {
	slow := func(shifts ...float64) history.History {
		h := madeHistory(shifts...)
		c := &h.Series[0].Changes[0]
		row := &h.Rows[c.Row+3]
		c.After, c.By = h.Rows[h.Series[0].First].StartedAt, row.StartedAt
		*row, h.Rows[c.Row] = h.Rows[c.Row], *row
		c.Row, c.Places = c.Row+3, 9
		row.StartedAt, row.RampSessions = c.By, 10
		return h
	}
	text := historyText(slow(.118), history.Request{Metric: "latency"}, 120, false)
	contains(t, text,
		"\n2026-09-01..2026-09-10  4.00 ms  4.48 ms  +11.8 %  +10.8 –  regressed, rising  81cc0fe..9a01b3d", "regressed, rising since 2026-09-01 (81cc0fe..9a01b3d): 4.00 ms → 4.48 ms, +11.8 % in 10 sessions\n",
		"\nnext  neurolens plot history --metric latency\n",
	)
	if strings.Contains(text, "bisect") || strings.Contains(text, "A..B") {
		t.Errorf("it is taken for a step:\n%s", text)
	}
	text = historyText(slow(-.2, 0), history.Request{}, 120, false)
	if want := "−20.0 %  improved, falling  2026-09-01 12:00\n"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	open := slow(.118)
	row := &open.Rows[open.Series[0].Changes[0].Row]
	open = unsettled(open, 0)
	row.ShiftLow = nil
	text = historyText(open, history.Request{Metric: "latency"}, 160, false)
	want := "inconclusive, slow change: 4.00 ms → 4.48 ms, +11.8 % in 10 sessions since 2026-09-01 (81cc0fe..9a01b3d); may be chance; about 4 more sessions decide\n"
	if !strings.HasPrefix(text, want) || !strings.Contains(text, "  inconclusive, slow change  ") || strings.Contains(text, "rising") {
		t.Errorf("no %q in\n%s", want, text)
	}
	text = historyText(slow(.3), history.Request{Regressions: true}, 120, false)
	if want := "latency · matmul · bs=1 · lab3 · tile=32\n\nCHANGED                    FROM       TO              BY     95 %  COMMITS           ALSO CHANGED\n2026-09-01..2026-09-10  4.00 ms  5.21 ms  +30.0 % rising"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// TestRegressionsNarrow: on a narrow screen a regression keeps its commits longest.
func TestRegressionsNarrow(t *testing.T) {
	text := historyText(madeHistory(0, .3), history.Request{Regressions: true}, 60, false)
	if !strings.Contains(text, "  COMMITS\n") || !strings.Contains(text, "  81cc0fe..9a01b3d\n") || strings.Contains(text, "95 %  ") {
		t.Errorf("without COMMITS, or with 95 %%:\n%s", text)
	}
}

// TestHistoryPlace: a step whose place is uncertain has the sessions between which it is, and their commits, also those to bisect.
func TestHistoryPlace(t *testing.T) {
	h := madeHistory(.118)
	c := &h.Series[0].Changes[0]
	c.Places, c.After = 3, h.Rows[3].StartedAt
	const meaning = "\nA..B: the step is after session A and not after session B, with a confidence of 95 %\n"
	for _, regressions := range []bool{false, true} {
		text := historyText(h, history.Request{Regressions: regressions}, 120, false)
		contains(t, text, "\n2026-09-04..2026-09-07  ", meaning, "\nneurolens bisect 81cc0fe 9a01b3d SWEEP.yaml finds the commit (your sweep file)\n")
	}
	c.Sweep = "my sweep.yaml"
	contains(t, historyText(h, history.Request{}, 120, false), "\nnext  neurolens plot history\n      neurolens bisect 81cc0fe 9a01b3d 'my sweep.yaml'\n")
	for found, want := range map[string]string{
		"c4a7df15":             "(c4a7df1, found by bisect): ",
		schema.BisectNothing:   "(81cc0fe..9a01b3d, no difference by bisect): ",
		schema.BisectUndecided: "(81cc0fe..9a01b3d, undecided by bisect): ",
	} {
		next := map[string]string{
			"c4a7df15":             "\n      git show c4a7df1\n",
			schema.BisectNothing:   "\nbisect on 2026-09-30 measured no difference between 81cc0fe and 9a01b3d\n\nnext  neurolens plot history\n      neurolens explain session=",
			schema.BisectUndecided: "\nbisect on 2026-09-30 did not decide: --max-blocks allows more runs\n\nnext  neurolens plot history\n      neurolens bisect 81cc0fe 9a01b3d 'my sweep.yaml'\n",
		}[found]
		c.Bisected = &history.Bisected{Found: found, At: new(time.Date(2026, 9, 30, 12, 0, 0, 0, time.UTC))}
		text := historyText(h, history.Request{}, 120, false)
		contains(t, text, "regressed since 2026-09-07 "+want, next)
		if found != schema.BisectUndecided && strings.Contains(text, "neurolens bisect") {
			t.Errorf("an answered search is proposed again:\n%s", text)
		}
	}
	c.Bisected = nil
	c.Base = c.Head
	if text := historyText(h, history.Request{}, 120, false); strings.Contains(text, "bisect") {
		t.Errorf("equal commits are to be bisected:\n%s", text)
	}
}

// TestHistorySpikeBesideVerdict: the row of a series that changed says that it has a spike, too.
func TestHistorySpikeBesideVerdict(t *testing.T) {
	h := madeHistory(.149, 0)
	h.Series[0].Spikes = []int{3}
	text := historyText(h, history.Request{}, 120, false)
	contains(t, text, " +14.9 %  regressed, spike  2026-09-07 12:00\n", "\n1 series with a session far off the level (a spike, not a change)\n")
}

func TestSparkline(t *testing.T) {
	many := make([]float64, 1000)
	for i := range many {
		many[i] = float64(i)
	}
	for _, c := range []struct {
		values  []float64
		columns int
		want    string
	}{
		{[]float64{1, 2.1, 3}, 10, "▁▅█"},
		{[]float64{100, 101, 100.1}, 10, "▄▅▄"},
		{[]float64{5, 5, 5}, 10, "▅▅▅"},
		{[]float64{0}, 1, "▁"},
		{nil, 10, ""},
		{many, 8, "▁▂▃▄▅▆▇█"},
		{[]float64{1, 1, 9, 5, 5, 5}, 2, "▁█"},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, 5, "▁█"},
		{[]float64{0, math.SmallestNonzeroFloat64}, 5, "▁▁"},
		{[]float64{-3, -1, -2.1}, 5, "▁█▄"},
	} {
		if got := sparkline(c.values, c.columns); got != c.want || utf8.RuneCountInString(got) > c.columns {
			t.Errorf("%v in %d columns: %s, want %s", c.values[:min(len(c.values), 6)], c.columns, got, c.want)
		}
	}
}
