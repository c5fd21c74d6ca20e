package chartdata_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

func TestMain(m *testing.M) { os.Exit(runtest.InMemory{M: m}.Run()) }

var (
	began = time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)
	maker = chartdata.Maker{Reader: views.Display{Width: 80, Now: began.AddDate(0, 1, 0)}}
	ctx   = context.Background()
)

// sessionID returns the id of a session, a day after the one before.
func sessionID(n int) string {
	return schema.ULIDFrom(began.AddDate(0, 0, n), [10]byte{9: byte(n)}).String()
}

// runOf returns a run of a point in a session, with samples around a level.
func runOf(n, session int, batch, dim int64, level float64) schema.Run {
	started := began.AddDate(0, 0, session).Add(time.Duration(n) * time.Second)
	r := schema.Run{
		RunID: schema.ULIDFrom(started, [10]byte{8: byte(n >> 8), 9: byte(n)}).String(), SessionID: sessionID(session),
		Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens, Status: schema.StatusOK, Benchmark: "matmul", Backend: "cpu",
		BatchSize: new(batch), Params: map[string]string{"dim": fmt.Sprint(dim)}, StartedAt: started, TimeSource: schema.TimeClock,
		Env: schema.Env{Machine: "lab3"}, Primary: "latency",
	}
	latency := schema.Metric{Name: "latency", Unit: "ns", Better: schema.BetterLower, Level: schema.LevelIteration, Clock: "monotonic", Tick: 1}
	for i := range 5 {
		latency.Ticks = append(latency.Ticks, int64(level*(1+.01*float64((i*3+n)%5)))+int64(n%7))
	}
	share := schema.Metric{Name: "accuracy", Unit: "ratio", Better: schema.BetterHigher, Reals: []float64{.5 + .1*float64(batch)/8 - .0001*float64(dim)}}
	r.Metrics = []schema.Metric{latency, share}
	r.PointID = schema.PointID(&r)
	return r
}

// fail makes a run one that failed.
func fail(r schema.Run) schema.Run {
	r.Status, r.Stage, r.Error, r.Metrics, r.Primary = schema.StatusTimeout, schema.StageMeasure, "10 s\x1b[2J passed", nil, ""
	return r
}

// stored returns runs in a store.
func stored(t *testing.T, runs ...schema.Run) *query.DB { return annotated(t, runs) }

// twelve returns twelve sessions of two points, of which one gets slower with the eighth and fails in the eleventh; of the fifth one run
// fails.
func twelve() (runs []schema.Run) {
	for session := range 12 {
		for n := range 3 {
			level := 9000.0
			if session >= 7 {
				level *= 1.3
			}
			late := runOf(6*session+2*n+1, session, 8, 64, level)
			if session == 10 || session == 4 && n == 1 {
				late = fail(late)
			}
			runs = append(runs, runOf(6*session+2*n, session, 1, 64, 1000), late)
		}
	}
	runs[0].Warnings = []string{"drift"}
	return runs
}

// grid returns a session of a sweep over two axes, of which one point fails.
func grid() (runs []schema.Run) {
	n := 0
	for _, batch := range []int64{1, 2, 4, 8} {
		for _, dim := range []int64{64, 128} {
			for _, backend := range []string{"cpu", "cuda"} {
				r := runOf(n, 0, batch, dim, float64(1000*batch*dim/64)+float64(100*len(backend)))
				r.Backend = backend
				r.PointID = schema.PointID(&r)
				if batch == 8 && dim == 128 {
					r = fail(r)
				}
				runs = append(runs, r)
				n++
			}
		}
	}
	return runs
}

// sound checks what holds of all figures: few marks, each with words in one line and a command.
func sound(t *testing.T, f *chart.Figure, err error) {
	t.Helper()
	ok(t, err)
	if n := f.Marks(); n == 0 || n > chart.MaxMarks {
		t.Errorf("%s has %d marks", f.Kind, n)
	}
	texts := append(slices.Clone(f.Notes), f.Title)
	texts = slices.Concat(texts, f.X.Categories, f.Y.Categories)
	for _, p := range f.Parts() {
		texts = append(texts, p.Title)
		for _, s := range p.Series {
			texts = append(texts, s.Name)
			for _, k := range s.Marks {
				if texts = append(texts, k.Text, k.Command); k.Text == "" || !strings.HasPrefix(k.Command, "neurolens ") {
					t.Errorf("%s: a mark says %q and %q", f.Kind, k.Text, k.Command)
				}
			}
		}
	}
	for _, text := range texts {
		if strings.ContainsFunc(text, unicode.IsControl) || len(text) > 2000 {
			t.Errorf("%s: %q steers", f.Kind, text)
		}
	}
}

// marks returns the marks of a series of a part.
func marks(p chart.Panel, name string) (all []chart.Mark) {
	for _, s := range p.Series {
		if s.Name == name {
			all = append(all, s.Marks...)
		}
	}
	return all
}

func TestHistory(t *testing.T) {
	db := stored(t, twelve()...)
	f, _, err := maker.History(ctx, db, history.Request{})
	sound(t, f, err)
	h, err := history.Read(ctx, db, history.Request{})
	ok(t, err)
	if len(f.Panels) != 2 || !f.Y.Own || f.X.Scale != chart.Time || f.Panels[0].Title != "bs=8" { // what got worse comes first
		t.Fatalf("%d panels, the first is %s", len(f.Panels), f.Panels[0].Title)
	}
	for _, p := range f.Panels {
		var want, levels []float64
		rows := map[float64]history.Row{}
		for _, r := range h.Rows {
			if fmt.Sprint("bs=", *r.BatchSize) == p.Title {
				rows[float64(r.StartedAt.UnixMicro())/1e6] = r
				want = append(want, schema.RoundedTo(12, r.Location))
			}
		}
		values := marks(p, "sessions")
		for i, k := range values {
			if r := rows[k.X]; k.Y != want[i] || !same(k.Y, r.Location) || r.PointID != k.Point || k.Count > 1 {
				t.Errorf("%s: mark %d is %v at %v, want %v", p.Title, i, k.Y, k.X, want[i])
			}
		}
		for _, s := range p.Series {
			if s.Style == chart.Line {
				levels = append(levels, s.Marks[0].Y)
			}
		}
		switch gaps := marks(p, "failed"); p.Title {
		case "bs=1":
			if len(values) != 12 || len(levels) != 1 || len(gaps) != 0 || len(p.Guides) != 0 {
				t.Errorf("%d values, levels %v, %d gaps, guides %v", len(values), levels, len(gaps), p.Guides)
			}
		default:
			if len(values) != 11 || len(levels) != 2 || levels[1]/levels[0] < 1.29 || len(p.Guides) != 1 || p.Guides[0].At != values[7].X || values[7].Tone != chart.Regressed {
				t.Errorf("%d values, levels %v, guides %v, tone %s", len(values), levels, p.Guides, values[7].Tone)
			}
			if len(gaps) != 1 || !math.IsNaN(gaps[0].Y) || gaps[0].Tone != chart.Failed || !strings.Contains(gaps[0].Text, "no value, timeout") || !strings.Contains(gaps[0].Text, "3 failed runs") {
				t.Errorf("gaps are %+v", gaps)
			}
		}
	}
	if _, _, err := maker.History(ctx, db, history.Request{Filter: "dim=64 status=timeout"}); err == nil || !strings.Contains(err.Error(), "no matching series has a value") {
		t.Errorf("of nothing: %v", err)
	}
}

// TestHistoryLines: a slow change is a sloped line between the levels around it.
func TestHistoryLines(t *testing.T) {
	var runs []schema.Run
	for session := range 60 {
		level := 1000 * math.Pow(1.02, float64(min(max(session-10, 0), 40)))
		runs = append(runs, runOf(session, session, 1, 64, level))
	}
	f, h, err := maker.History(ctx, stored(t, runs...), history.Request{})
	sound(t, f, err)
	var lines []chart.Series
	for _, s := range f.Series {
		if s.Style == chart.Line {
			lines = append(lines, s)
		}
	}
	if len(lines) != 3 || len(h.Series[0].Changes) != 1 {
		t.Fatalf("%d lines, changes %+v", len(lines), h.Series[0].Changes)
	}
	rise := func(s chart.Series) float64 { return s.Marks[1].Y / s.Marks[0].Y }
	if math.Abs(rise(lines[1])-math.Pow(1.02, 40)) > .2 || rise(lines[0]) != 1 || rise(lines[2]) != 1 ||
		math.Abs(lines[1].Marks[0].Y/lines[0].Marks[1].Y-1) > .05 || math.Abs(lines[2].Marks[0].Y/lines[1].Marks[1].Y-1) > .05 {
		t.Errorf("the lines are %+v", lines)
	}
	if text := f.Guides[0].Text; !regexp.MustCompile(`^regressed \+1[0-9][0-9] % in 4[0-9] sessions$`).MatchString(text) {
		t.Errorf("the change is %q", text)
	}
}

// TestHistoryFarOff: newest sessions that are far off their level are marked, and stand for themselves where others are combined.
func TestHistoryFarOff(t *testing.T) {
	var runs []schema.Run
	for session := range 500 {
		level := 1000 + float64(session%3)
		for batch := range int64(5) {
			value := level
			if batch == 3 && session == 499 {
				value = 1300
			}
			runs = append(runs, runOf(int(batch), session, batch+1, 64, value))
		}
	}
	f, _, err := maker.History(ctx, stored(t, runs...), history.Request{})
	sound(t, f, err)
	values := marks(f.Panels[0], "sessions")
	last := values[len(values)-1]
	if f.Panels[0].Title != "bs=4" || last.Y < 1300 || last.Count > 1 || last.Tone != chart.Warned || last.Word != "far off" || !strings.Contains(last.Text, "far off its level of 1.0") {
		t.Errorf("the first panel is %s, its last mark %+v", f.Panels[0].Title, last)
	}
	if before := values[len(values)-2]; before.Tone != chart.Plain || before.Count < 2 {
		t.Errorf("the mark before it is %+v", before)
	}
}

// TestHistoryMayBeChance: a step that may be chance has a level on either side, at values that sessions had.
func TestHistoryMayBeChance(t *testing.T) {
	var runs []schema.Run
	for session := range 12 {
		for batch := range int64(40) {
			value := float64(1000 + (session*7+int(batch)*5)%11)
			if batch == 2 && session >= 6 {
				value *= 1.2
			}
			runs = append(runs, runOf(int(batch), session, batch+1, 64, value))
		}
	}
	f, _, err := maker.History(ctx, stored(t, runs...), history.Request{})
	sound(t, f, err)
	var levels []float64
	for _, s := range f.Panels[0].Series {
		if s.Style == chart.Line {
			levels = append(levels, s.Marks[0].Y)
		}
	}
	if word := f.Panels[0].Guides[0].Text; f.Panels[0].Title != "bs=3" || !strings.HasPrefix(word, "inconclusive +") || len(levels) != 2 || levels[1]/levels[0] < 1.15 {
		t.Errorf("%s: %s, levels %v", f.Panels[0].Title, word, levels)
	}
}

func TestHistoryOfMany(t *testing.T) {
	var runs []schema.Run
	for session := range 40 {
		for batch := range int64(14) {
			runs = append(runs, runOf(int(batch), session, batch+1, 64, float64(1000*(batch+1))))
		}
	}
	for session := 40; session < 400; session++ {
		runs = append(runs, runOf(0, session, 1, 64, 1000))
	}
	f, _, err := maker.History(ctx, stored(t, runs...), history.Request{})
	sound(t, f, err)
	counted, most := 0, 0
	for _, k := range marks(f.Panels[0], "sessions") {
		counted, most = counted+max(k.Count, 1), max(most, k.Count)
		if k.Count > 1 && (k.Low > k.Y || k.Y > k.High) {
			t.Errorf("%+v is not within its interval", k)
		}
	}
	notes := strings.Join(f.Notes, "\n")
	if len(f.Panels) != 12 || counted != 400 || most < 2 || !strings.Contains(notes, "12 of 14 series drawn") || !strings.Contains(notes, "a mark combines up to 10 sessions: their median") {
		t.Errorf("%d panels, %d sessions, up to %d in a mark\n%s", len(f.Panels), counted, most, notes)
	}
}

// TestHistoryNote: which series are drawn of many is said as it is.
func TestHistoryNote(t *testing.T) {
	many := func(sessions int, also ...schema.Run) (runs []schema.Run) {
		for session := range sessions {
			for batch := range int64(14) {
				runs = append(runs, runOf(int(batch), session, batch+1, 64, 1000))
			}
		}
		return append(runs, also...)
	}
	for says, runs := range map[string][]schema.Run{
		"12 of 14 series drawn: the first ones, as no level changed and nothing fails":                                many(12),
		"12 of 14 series drawn: the first ones, as a change among so many series needs at least 12 sessions":          many(2),
		"12 of 14 series drawn: those that changed, fail or are far off their level (1), and the first of the others": many(2, fail(runOf(50, 2, 14, 64, 1000))),
	} {
		f, _, err := maker.History(ctx, stored(t, runs...), history.Request{})
		ok(t, err)
		contains(t, strings.Join(f.Notes, "\n"), says)
	}
}

func compared(t *testing.T, db *query.DB, req compare.Request) *compare.Comparison {
	t.Helper()
	req.Worst = compare.Verdicts
	c, err := compare.Compare(ctx, db, req)
	ok(t, err)
	return &c
}

func TestForestAndScatter(t *testing.T) {
	db := stored(t, twelve()...)
	c := compared(t, db, compare.Request{Base: "session=" + sessionID(3), Head: "session=" + sessionID(9)})
	asked := chartdata.Selection{Selections: []string{"session=" + sessionID(3), "session=" + sessionID(9)}}
	f, err := maker.Forest(c, asked)
	sound(t, f, err)
	seen := 0
	for _, k := range f.All() {
		r := c.Rows[int(k.Y)]
		if e := r.Estimates; !same(k.X, e.Change) || !same(k.Low, e.Low) || !same(k.High, e.High) || k.Point != r.HeadID || k.Word != string(r.Verdict) {
			t.Errorf("%+v is not of %+v", k, e)
		}
		if want := views.Signed(r.Estimates.Change) + " (" + k.Interval + ")"; k.Label+" ("+k.Interval+")" != want || k.Interval != views.Signed(r.Estimates.Low)+" to "+views.Signed(r.Estimates.High) || !strings.Contains(k.Text, ", "+want+", ") {
			t.Errorf("%s (%s) of %s, want %s", k.Label, k.Interval, k.Text, want)
		}
		if want := fmt.Sprint("bs=", *r.Identity.BatchSize); f.Y.Categories[int(k.Y)] != want || !strings.HasPrefix(k.Text, want+": latency ") {
			t.Errorf("row %v is %s: %s", k.Y, f.Y.Categories[int(k.Y)], k.Text)
		}
		seen++
	}
	margin := f.Guides[1]
	if seen != 2 || f.Guides[0].At != 0 || math.Abs(margin.Until-.02) > 1e-12 || margin.At >= 0 || margin.At < -.02 {
		t.Errorf("%d rows, guides %+v", seen, f.Guides)
	}
	f, err = maker.Scatter(c, asked)
	sound(t, f, err)
	pairs := map[[2]float64]bool{}
	for _, r := range c.Rows {
		pairs[[2]float64{schema.RoundedTo(12, *r.Base.Value), schema.RoundedTo(12, *r.Head.Value)}] = true
	}
	for _, k := range f.All() {
		if !pairs[[2]float64{k.X, k.Y}] {
			t.Errorf("%v, %v is no pair of %v", k.X, k.Y, pairs)
		}
	}
	if f.Marks() != 2 || f.Guides[0].Along != chart.Diagonal || f.X.Unit != "ns" {
		t.Errorf("%d marks, guides %v, unit %s", f.Marks(), f.Guides, f.X.Unit)
	}
}

// TestTonesDiffer: the marks of unchanged and of inconclusive points differ.
// TestForestOfRepeats: where only the repeats of imported results are judged, a forest has the words that the table of compare has.
func TestForestOfRepeats(t *testing.T) {
	runs := twelve()
	for i := range runs {
		runs[i].Source = "hyperfine"
	}
	c := compared(t, stored(t, runs...), compare.Request{Base: "session=" + sessionID(3), Head: "session=" + sessionID(9)})
	f, err := maker.Forest(c, chartdata.Selection{})
	sound(t, f, err)
	for _, k := range f.All() {
		r := c.Rows[int(k.Y)]
		if r.Repeats == nil || k.Word != r.Repeats.Result || !strings.HasSuffix(k.Text, ", "+k.Word+".") && !strings.HasSuffix(k.Text, ", "+k.Word) {
			t.Errorf("%s: %q of %+v", k.Text, k.Word, r.Repeats)
		}
	}
}

func TestTonesDiffer(t *testing.T) {
	if open, same := chartdata.ToneOf(judge.Inconclusive), chartdata.ToneOf(judge.Unchanged); open == same || chartdata.ToneOf(judge.Estimate) != open {
		t.Errorf("inconclusive is %s, unchanged %s, an estimate %s", open, same, chartdata.ToneOf(judge.Estimate))
	}
}

// TestForestOfZeros: a forest draws changes on the scale of most points. Notes count the other points and have the threshold. A scatter
// draws all points.
func TestForestOfZeros(t *testing.T) {
	t.Parallel()
	c := &compare.Comparison{Metrics: []string{"faults"}, Thresholds: judge.Thresholds{"faults": {Value: .02}}}
	for i, heads := range []float64{0, 3, 5} {
		r := compare.Row{
			Unit: "1", Scale: schema.ScaleDifference, Base: &compare.Measured{Value: new(0.)}, Head: &compare.Measured{Value: new(heads)},
			Estimates: &compare.Estimates{Change: heads, Low: heads, High: heads}, HeadID: fmt.Sprint(i),
		}
		if i == 2 {
			r.Scale, r.Ratio, r.Base, r.Estimates = schema.ScaleRatio, true, &compare.Measured{Value: new(4.)}, &compare.Estimates{Change: .25, Low: .2, High: .3}
		}
		r.Metric, r.Better, r.Verdict = "faults", "lower", judge.Regressed
		r.Identity.Benchmark, r.Identity.BatchSize = "b", new(int64(i))
		c.Rows, c.Points = append(c.Rows, r), append(c.Points, r.Point)
	}
	f, err := maker.Forest(c, chartdata.Selection{})
	sound(t, f, err)
	notes := strings.Join(f.Notes, "; ")
	if f.Marks() != 2 || f.X.Unit != "1" || len(f.Guides) != 1 || !strings.Contains(notes, "not drawn: 1 point compared by ratio") || !strings.Contains(notes, "a change below 2.0 % of the smaller side counts as none") {
		t.Errorf("%d marks in %q, guides %v, notes %s", f.Marks(), f.X.Unit, f.Guides, notes)
	}
	if f, err = maker.Scatter(c, chartdata.Selection{}); err != nil || f.Marks() != 3 {
		t.Errorf("the scatter has %d marks, %v", f.Marks(), err)
	}
}

// same tells numbers that are equal in the digits that answers have, where one that is not finite is not known.
func same(drawn, stored float64) bool {
	return drawn == schema.RoundedTo(12, stored) || math.IsNaN(drawn) && !views.Finite(stored)
}

// TestDigits: what is computed has the digits that the answer has in JSON.
func TestDigits(t *testing.T) {
	var runs []schema.Run
	for session := range 3 {
		r := runOf(session, session, 1, 64, 1)
		r.Metrics[0].Ticks, r.Metrics[0].Reals = nil, []float64{849802699.0000012, 849802699.0000012}
		runs = append(runs, r)
	}
	db := stored(t, runs...)
	f, h, err := maker.History(ctx, db, history.Request{})
	ok(t, err)
	seen := 0
	for s, k := range f.All() {
		if seen++; k.Y != 849802699 {
			t.Errorf("%s: %s at %v, of %v", s.Name, k.Text, k.Y, h.Rows[0].Location)
		}
	}
	c := compared(t, db, compare.Request{Base: "session=" + sessionID(0), Head: "session=" + sessionID(1)})
	f, err = maker.Scatter(c, chartdata.Selection{Selections: []string{"session=" + sessionID(0), "session=" + sessionID(1)}})
	ok(t, err)
	if k := f.Series[0].Marks[0]; seen < 5 || k.X != 849802699 || k.Y != 849802699 {
		t.Errorf("%d marks of a history; %v, %v", seen, k.X, k.Y)
	}
}

// TestWorstFirst: of rows with the same verdict that which got worse by most stands first, that which got better last.
func TestWorstFirst(t *testing.T) {
	var runs []schema.Run
	for session, levels := range [][]float64{{1000, 1000, 1000}, {700, 1010, 1200}} {
		for i, level := range levels {
			for n := range 3 {
				runs = append(runs, runOf(10*i+n, session, int64(i+1), 64, level))
			}
		}
	}
	sides := []string{"session=" + sessionID(0), "session=" + sessionID(1)}
	c := compared(t, stored(t, runs...), compare.Request{Base: sides[0], Head: sides[1]})
	f, err := maker.Forest(c, chartdata.Selection{Selections: sides})
	ok(t, err)
	if want := []string{"bs=3", "bs=2", "bs=1"}; !slices.Equal(f.Y.Categories, want) {
		t.Errorf("rows are %q, want %q", f.Y.Categories, want)
	}
	for i := range c.Rows { // as if more were better
		c.Rows[i].Better = string(schema.BetterHigher)
	}
	if f, err = maker.Forest(c, chartdata.Selection{Selections: sides}); err != nil || f.Y.Categories[0] != "bs=1" {
		t.Errorf("where more is better, rows are %q, %v", f.Y.Categories, err)
	}
}

// TestOpen: a chart of sides without verdicts says why there is none, and what settles it.
func TestOpen(t *testing.T) {
	db := stored(t, twelve()...)
	sides := []string{"session=" + sessionID(1), "session=" + sessionID(2)}
	c, asked := compared(t, db, compare.Request{Base: sides[0], Head: sides[1]}), chartdata.Selection{Selections: sides}
	for _, draw := range []func(*compare.Comparison, chartdata.Selection) (*chart.Figure, error){maker.Forest, maker.Scatter} {
		f, err := draw(c, asked)
		sound(t, f, err)
		contains(t, strings.Join(f.Notes, "\n"), "2 points without a verdict (sessions): the sides are different sessions, and fewer than 7 earlier ones show how much sessions differ", "measure both alternately in one session")
	}
}

// TestFailedOnBothSides: a point that failed on both sides is a failed row of a forest and counted below a scatter, of whichever metric the
// others are.
func TestFailedOnBothSides(t *testing.T) {
	runs := []schema.Run{fail(runOf(90, 1, 2, 64, 1)), fail(runOf(91, 2, 2, 64, 1))}
	sides := []string{"session=" + sessionID(1), "session=" + sessionID(2)}
	asked := chartdata.Selection{Selections: sides}
	req := compare.Request{Base: sides[0], Head: sides[1]}
	if _, err := maker.Forest(compared(t, stored(t, runs...), req), asked); err == nil || !strings.Contains(err.Error(), "every point failed on both sides") {
		t.Errorf("without any value: %v", err)
	}
	c := compared(t, stored(t, append(twelve(), runs...)...), req)
	f, err := maker.Forest(c, asked)
	sound(t, f, err)
	failed := 0
	for s, k := range f.All() {
		if s.Tone == chart.Failed && f.Y.Categories[int(k.Y)] == "bs=2" && strings.Contains(k.Text, "latency – → –") && strings.HasSuffix(k.Command, "--metric latency") {
			failed++
		}
	}
	if notes := strings.Join(f.Notes, "\n"); failed != 1 || f.Marks() != 3 || strings.Contains(notes, "not drawn") || !strings.Contains(f.Title, "change of latency") || f.X.Better != chart.Lower {
		t.Errorf("%s: %d failed rows of %d, rows %q, notes %q", f.Title, failed, f.Marks(), f.Y.Categories, f.Notes)
	}
	if f, err = maker.Scatter(c, asked); err != nil || f.Marks() != 2 || !slices.Contains(f.Notes, "1 point not drawn: no value on one of the sides") {
		t.Errorf("%d marks, %q, %v", f.Marks(), f.Notes, err)
	}
}

// TestForestOfManyTimes: changes by several times are ratios on a logarithmic axis, and rows of a matrix have the value that is compared.
func TestForestOfManyTimes(t *testing.T) {
	c := compared(t, stored(t, twelve()...), compare.Request{Base: "session=" + sessionID(3), Axis: "batch_size", Reference: "1"})
	f, err := maker.Forest(c, chartdata.Selection{Selections: []string{"session=" + sessionID(3)}, Matrix: "batch_size=1"})
	sound(t, f, err)
	k := f.Series[0].Marks[0]
	if f.X.Scale != chart.Log || !same(k.X, 1+c.Rows[0].Estimates.Change) || k.X < 8 || f.Guides[0].At != 1 || !strings.Contains(f.Y.Categories[0], "batch_size=8") {
		t.Errorf("%v on %s, guides %v, rows %q", k.X, f.X.Scale, f.Guides, f.Y.Categories)
	}
}

// all returns the samples of runs, by their ids.
func all(t *testing.T, db *query.DB, filter string) (ids []string, values map[string][]float64) {
	t.Helper()
	values = map[string][]float64{}
	_, err := db.Whole(ctx, query.ListRequest{Filter: filter, Sort: []string{"started_at"}}, func(r schema.Run) error {
		ids, values[r.RunID] = append(ids, r.RunID), r.Metrics[0].Values()
		return nil
	})
	ok(t, err)
	return ids, values
}

func TestECDF(t *testing.T) {
	db := stored(t, twelve()...)
	f, found, err := maker.ECDF(ctx, db, chartdata.Sampled{SamplesRequest: query.SamplesRequest{Filter: "dim=64"}})
	sound(t, f, err)
	if len(f.Series) != 2 || f.Series[0].Name != "bs=1" || found.Failed != 4 || !strings.Contains(strings.Join(f.Notes, "\n"), "4 runs left out: failed") {
		t.Fatalf("%d curves, %d failed, notes %q", len(f.Series), found.Failed, f.Notes)
	}
	for _, s := range f.Series {
		var own []float64
		ids, values := all(t, db, "status=ok "+s.Name)
		for _, id := range ids {
			own = append(own, values[id]...)
		}
		counted := 0
		for _, k := range s.Marks {
			n := 0
			for _, v := range own {
				if v <= k.X {
					n++
				}
			}
			if counted += k.Count; k.Y != float64(n)/float64(len(own)) || counted != n {
				t.Errorf("%s: %v of samples up to %v, want %d of %d", s.Name, k.Y, k.X, n, len(own))
			}
		}
		if want := "neurolens ls 'dim=64 batch_size=" + strings.TrimPrefix(s.Name, "bs=") + "'"; s.Marks[0].Command != want {
			t.Errorf("%s: %s, want %s", s.Name, s.Marks[0].Command, want)
		}
		if counted != len(own) {
			t.Errorf("%s: %d samples, want %d", s.Name, counted, len(own))
		}
	}
	if s := f.Series[0]; s.Style != chart.Steps {
		t.Errorf("all values are drawn as a %s", s.Style)
	}
	if f, _, err = maker.ECDF(ctx, db, chartdata.Sampled{SamplesRequest: query.SamplesRequest{Filter: "dim=64"}, Marks: 8}); err != nil || f.Series[0].Style != chart.Line || !strings.Contains(strings.Join(f.Notes, "\n"), "joined by straight lines") {
		t.Errorf("some of the values are drawn as %+v, %v", f, err)
	}
	if f, _, err = maker.ECDF(ctx, db, chartdata.Sampled{SamplesRequest: query.SamplesRequest{Filter: "bs=1 session=" + sessionID(2)}}); err != nil || len(f.Series) != 3 || f.Series[0].Marks[0].Run == "" {
		t.Errorf("of one point: %+v, %v", f, err)
	}
	for says, req := range map[string]chartdata.Sampled{
		"no matching run has samples of rmse; there are samples of accuracy, latency": {SamplesRequest: query.SamplesRequest{Metric: "rmse"}},
		"no matching run is ok":                       {SamplesRequest: query.SamplesRequest{Filter: "status=timeout"}},
		"--by nothing: no point has it":               {By: "nothing"},
		"--by dim: all points have 64; points differ": {By: "dim"},
	} {
		if _, _, err := maker.ECDF(ctx, db, req); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %s", req, err, says)
		}
	}
}

func TestRuns(t *testing.T) {
	db := stored(t, twelve()...)
	filter := "bs=1"
	f, _, err := maker.Runs(ctx, db, chartdata.Sampled{SamplesRequest: query.SamplesRequest{Filter: filter}})
	sound(t, f, err)
	ids, values := all(t, db, filter)
	var want []float64
	var of []string
	for _, id := range ids {
		for _, v := range values[id] {
			want, of = append(want, v), append(of, id)
		}
	}
	warned := 0
	for s, k := range f.All() {
		if at := int(k.X) - 1; k.Y != want[at] || k.Run != of[at] {
			t.Errorf("sample %v is %v of %s, want %v of %s", k.X, k.Y, k.Run, want[at], of[at])
		}
		if s.ToneOf(k) == chart.Warned {
			warned++
			if k.Word != "drift" || !strings.HasSuffix(k.Text, ", with a warning: drift") {
				t.Errorf("a mark with a warning says %q, %q", k.Word, k.Text)
			}
		}
	}
	if f.Marks() != len(want) || warned != 5 || len(f.Guides) != 35 || f.Guides[0].At != 5.5 {
		t.Errorf("%d of %d samples, %d warned, %d boundaries", f.Marks(), len(want), warned, len(f.Guides))
	}
	contains(t, strings.Join(f.Notes, "\n"), "have a warning: drift (neurolens help warnings")
}

// TestRunsOfMany: of more samples than there is room for none is lost, nor an outlier.
func TestRunsOfMany(t *testing.T) {
	r := runOf(0, 0, 1, 64, 1000)
	r.Metrics[0].Ticks = make([]int64, 50_000)
	for i := range r.Metrics[0].Ticks {
		r.Metrics[0].Ticks[i] = int64(1000 + i%777)
	}
	r.Metrics[0].Ticks[31_234] = 1_000_000
	db := stored(t, r)
	f, _, err := maker.Runs(ctx, db, chartdata.Sampled{})
	sound(t, f, err)
	counted, highest := 0, 0.0
	for _, k := range f.Series[0].Marks {
		counted, highest = counted+k.Count, max(highest, k.High)
	}
	if counted != 50_000 || highest != 1_000_000 || f.Series[0].Style != chart.Intervals || !strings.Contains(strings.Join(f.Notes, "\n"), "a mark combines up to 157 samples in a row") {
		t.Errorf("%d samples up to %v, notes %q", counted, highest, f.Notes)
	}
	f, _, err = maker.ECDF(ctx, db, chartdata.Sampled{})
	sound(t, f, err)
	if last := f.Series[0].Marks[len(f.Series[0].Marks)-1]; last.X != 1_000_000 || last.Y != 1 {
		t.Errorf("the curve ends with %+v", last)
	}
}

func points(t *testing.T, db *query.DB, filter string) chartdata.Points {
	t.Helper()
	found, _, err := summary.Points(ctx, db, "plot", filter)
	ok(t, err)
	return chartdata.Points{All: found, Filter: filter}
}

func TestHeatmap(t *testing.T) {
	db := stored(t, grid()...)
	req := points(t, db, "")
	for _, by := range [][]string{{"batch_size", "dim"}, {"backend", "batch_size", "dim"}} {
		req.Median = len(by) == 2
		f, err := maker.Heatmap(req)
		sound(t, f, err)
		if !slices.Equal(f.X.Categories, []string{"1", "2", "4", "8"}) || f.X.Label != "batch_size" || f.Y.Label != "dim" || f.Values.Better != chart.Lower {
			t.Fatalf("%s by %s: %q, notes %q", f.X.Label, f.Y.Label, f.X.Categories, f.Notes)
		}
		if said := strings.Contains(strings.Join(f.Notes, ""), "the median of the points that differ in backend (2)"); said != req.Median || len(f.Panels) > 0 == req.Median {
			t.Errorf("median %v: %d panels, notes %q", req.Median, len(f.Panels), f.Notes)
		}
		g, err := db.Groups(ctx, query.GroupRequest{By: by})
		ok(t, err)
		want := map[string]float64{}
		for _, group := range g.Groups {
			key := fmt.Sprint(group.Keys...)
			if want[key] = math.NaN(); group.Median != nil {
				want[key] = *group.Median
			}
		}
		marks := 0
		for _, part := range f.Parts() {
			for _, k := range part.All() {
				var batch int64
				_, _ = fmt.Sscan(f.X.Categories[int(k.X)], &batch)
				keys := []any{batch, f.Y.Categories[int(k.Y)]}
				if !req.Median {
					keys = append([]any{part.Title}, keys...)
				}
				w, known := want[fmt.Sprint(keys...)]
				if !known || !same(k.Value, w) || (k.Tone == chart.Failed) != math.IsNaN(w) {
					t.Errorf("median %v: %s: %v %s, want %v", req.Median, k.Text, k.Value, k.Tone, w)
				}
				marks++
			}
		}
		if marks != len(g.Groups) {
			t.Errorf("%d cells of %d groups", marks, len(g.Groups))
		}
	}
	req.By = "backend"
	if f, err := maker.Heatmap(req); err != nil || len(f.Panels) != 2 || f.Panels[1].Title != "cuda" {
		t.Errorf("by backend: %+v, %v", f, err)
	}
}

func TestLines(t *testing.T) {
	req := points(t, stored(t, grid()...), "backend=cpu")
	req.Sessions = 2
	f, err := maker.Lines(req)
	sound(t, f, err)
	contains(t, strings.Join(f.Notes, "\n"), "2 sessions combined: each value is the median over all of them")
	if f.X.Scale != chart.Log || f.X.Label != "batch_size" || len(f.Series) != 2 || f.Series[0].Name != "dim=64" {
		t.Errorf("%s, %s, %d lines", f.X.Label, f.X.Scale, len(f.Series))
	}
	medians := map[string]float64{}
	for _, p := range req.All {
		for _, v := range p.Metrics {
			if v.Metric == "latency" {
				medians[fmt.Sprint("dim=", p.Params["dim"], *p.BatchSize)] = *v.Median
			}
		}
	}
	for _, s := range f.Series {
		for _, k := range s.Marks {
			want, ok := medians[s.Name+fmt.Sprint(k.X)]
			if ok && k.Y != want || !ok && k.Tone != chart.Failed {
				t.Errorf("%s at %v is %v, want %v", s.Name, k.X, k.Y, want)
			}
		}
		if s.Style != chart.Line {
			t.Errorf("%s has style %s", s.Name, s.Style)
		}
	}
	whole := points(t, stored(t, grid()...), "bs=1")
	whole.X = "backend"
	if f, err = maker.Lines(whole); err != nil || f.Series[0].Style != chart.Bars {
		t.Errorf("values of names, between which nothing lies, are connected: %+v, %v", f, err)
	}
}

// TestPlan: what is planned is what Lines draws; of a single point and of runs without a value that is little.
func TestPlan(t *testing.T) {
	db := stored(t, grid()...)
	for filter, want := range map[string]chartdata.Plan{
		"":                         {Metric: "latency", Unit: "ns", Axes: []string{"batch_size", "dim", "backend"}, X: "batch_size", By: "backend", Numbers: true, Doubles: true},
		"bs=1 dim=64":              {Metric: "latency", Unit: "ns", Axes: []string{"backend"}, X: "backend"},
		"bs=1 backend=cuda":        {Metric: "latency", Unit: "ns", Axes: []string{"dim"}, X: "dim", Numbers: true, Doubles: true},
		"bs=1 dim=64 backend=cuda": {Metric: "latency", Unit: "ns"},
	} {
		got, err := maker.Plan(points(t, db, filter))
		if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%q: %+v, %v, want %+v", filter, got, err, want)
		}
	}
	if _, err := maker.Plan(points(t, db, "status!=ok")); err == nil {
		t.Error("runs without a value have a plan")
	}
}

// TestFoldedAxes: points that would be in one place have a panel each, or their median where that is asked for, and a note says so.
func TestFoldedAxes(t *testing.T) {
	runs := grid()
	for i, r := range grid() {
		other := runOf(100+i, 0, *r.BatchSize, 64, 5000)
		other.Benchmark, other.Backend, other.Params = "conv", r.Backend, r.Params
		other.PointID = schema.PointID(&other)
		runs = append(runs, other)
	}
	whole := points(t, stored(t, runs...), "")
	for _, of := range []struct {
		draw   func(chartdata.Points) (*chart.Figure, error)
		by     string
		panels int // without --median, whose note says the rest
		says   string
	}{
		{maker.Heatmap, "", 4, "the median of the points that differ in benchmark (2), backend (2)"},
		{maker.Heatmap, "backend", 4, "the median of the points that differ in benchmark (2)"},
		{maker.Lines, "", 4, "the median of the points that differ in dim (2), benchmark (2)"},
		{maker.Lines, "dim", 4, "the median of the points that differ in benchmark (2), backend (2)"},
	} {
		for _, median := range []bool{false, true} {
			req := whole
			req.By, req.Median = of.by, median
			f, err := of.draw(req)
			sound(t, f, err)
			notes := strings.Join(f.Notes, "\n")
			if strings.Contains(notes, of.says) != median || !median && len(f.Panels) != of.panels {
				t.Errorf("%s by %q, median %v: %d panels, notes %q", f.Kind, of.by, median, len(f.Panels), f.Notes)
			}
			for _, k := range f.All() {
				if k.Count > 1 && !median {
					t.Errorf("%s by %q, median %v: %s", f.Kind, of.by, median, k.Text)
				}
			}
		}
	}
}

// TestWithoutValue: a point that was measured in another unit, or in another metric, is no failure, and nor is an unsupported one.
func TestWithoutValue(t *testing.T) {
	runs := grid()
	rate := runOf(90, 0, 16, 64, 1)
	rate.Metrics[0] = schema.Metric{Name: "latency", Unit: "1/s", Better: schema.BetterHigher, Reals: []float64{5}}
	other := runOf(91, 0, 32, 64, 1)
	other.Metrics, other.Primary = other.Metrics[1:], "accuracy"
	unsupported := fail(runOf(92, 0, 64, 64, 1))
	unsupported.Status, unsupported.Error = schema.StatusUnsupported, "no kernel"
	req := points(t, stored(t, append(runs, rate, other, unsupported)...), "")
	for _, draw := range []func(chartdata.Points) (*chart.Figure, error){maker.Lines, maker.Heatmap} {
		f, err := draw(req)
		sound(t, f, err)
		notes := strings.Join(f.Notes, "\n")
		contains(t, notes, "1 point left out: latency in a unit other than ns", "1 point left out: no value of latency", "1 point without a value: unsupported")
		for _, k := range f.All() {
			failed := strings.Contains(k.Text, "bs=8 dim=128")
			if (k.Tone == chart.Failed) != failed || strings.Contains(k.Text, "bs=16") || strings.Contains(k.Text, "bs=32") {
				t.Errorf("%s: %s is %q", f.Kind, k.Text, k.Tone)
			}
			if strings.Contains(k.Text, "bs=64") && (k.Word != "unsupported" || !strings.Contains(k.Text, "no value: unsupported, no kernel")) {
				t.Errorf("%s: %s has the word %q", f.Kind, k.Text, k.Word)
			}
		}
	}
}

func TestPareto(t *testing.T) {
	req := points(t, stored(t, grid()...), "backend=cpu")
	req.X, req.Y = "latency", "accuracy"
	f, err := maker.Pareto(req)
	sound(t, f, err)
	front, beaten := marks(chart.Panel{Series: f.Series}, "front"), marks(chart.Panel{Series: f.Series}, "beaten")
	everything := slices.Concat(front, beaten)
	beats := func(a, b chart.Mark) bool { return a.X <= b.X && a.Y >= b.Y && (a.X < b.X || a.Y > b.Y) }
	for i, k := range everything {
		beaten := slices.ContainsFunc(everything, func(other chart.Mark) bool { return beats(other, k) })
		if beaten != (i >= len(front)) {
			t.Errorf("%s: beaten is %v", k.Text, beaten)
		}
	}
	if len(front) < 2 || len(beaten) < 2 || len(everything) != 7 || f.Y.Better != chart.Higher {
		t.Errorf("%d on the front, %d beaten", len(front), len(beaten))
	}
	for _, k := range front {
		if f.Series[0].Style != chart.Steps || k.Label == "" || !strings.HasPrefix(k.Text, k.Label) {
			t.Errorf("%s line, labelled %q: %s", f.Series[0].Style, k.Label, k.Text)
		}
	}
}

// TestParetoOfFailedRequests: a point in which requests failed is neither on the front nor beaten.
func TestParetoOfFailedRequests(t *testing.T) {
	req := points(t, stored(t, grid()...), "backend=cpu")
	req.X, req.Y = "latency", "accuracy"
	before, err := maker.Pareto(req)
	ok(t, err)
	dead := before.Series[0].Marks[0].Point
	for i := range req.All {
		if string(req.All[i].PointID) == dead {
			req.All[i].Warnings = map[string]int{"16 of 24 requests failed": 1}
		}
	}
	f, err := maker.Pareto(req)
	ok(t, err)
	for s, k := range f.All() {
		if k.Point == dead {
			t.Errorf("%s: %s", s.Name, k.Text)
		}
	}
	if notes := strings.Join(f.Notes, "; "); !strings.Contains(notes, "1 point left out: more requests failed than allow_failed allows") {
		t.Error(notes)
	}
}

// TestParetoOfMany: the front is whole, and what it beats is combined.
func TestParetoOfMany(t *testing.T) {
	req := points(t, stored(t, grid()[:1]...), "")
	one := req.All[0]
	req.All = nil
	for i := range 5000 {
		p := one
		latency, accuracy := one.Metrics[0], one.Metrics[1]
		latency.Median, accuracy.Median = new(float64(1000+i%100)), new(float64(i/100%50)/100)
		p.Metrics = []summary.Value{latency, accuracy}
		req.All = append(req.All, p)
	}
	req.X, req.Y = "latency", "accuracy"
	f, err := maker.Pareto(req)
	sound(t, f, err)
	n := 0
	for _, k := range f.All() {
		n += max(k.Count, 1)
	}
	if n != 5000 {
		t.Errorf("%d points of 5000", n)
	}
}

// TestRefusals: what cannot be drawn is said with its cure.
func TestRefusals(t *testing.T) {
	db := stored(t, grid()...)
	whole, single := points(t, db, ""), points(t, db, "bs=1 dim=64")
	with := func(p chartdata.Points, edit func(*chartdata.Points)) chartdata.Points { edit(&p); return p }
	for says, draw := range map[string]func() (*chart.Figure, error){
		"no matching point has a value of latecy; did you mean latency?": func() (*chart.Figure, error) {
			return maker.Lines(with(whole, func(p *chartdata.Points) { p.Metric = "latecy" }))
		},
		"heatmap needs two axes with several values; points differ in backend (2); plot lines draws one": func() (*chart.Figure, error) { return maker.Heatmap(single) },
		"--x dim: all points have 64; points differ in backend (2)": func() (*chart.Figure, error) {
			return maker.Lines(with(single, func(p *chartdata.Points) { p.X = "dim" }))
		},
		"--x nothing: no point has it; points differ in batch_size (4), dim (2), backend (2)": func() (*chart.Figure, error) {
			return maker.Heatmap(with(whole, func(p *chartdata.Points) { p.X = "nothing" }))
		},
		"want two axes": func() (*chart.Figure, error) {
			return maker.Heatmap(with(whole, func(p *chartdata.Points) { p.X, p.Y = "dim", "param.dim" }))
		},
		"pareto needs two metrics: --x METRIC --y METRIC": func() (*chart.Figure, error) { return maker.Pareto(whole) },
		"--y: no matching point has a value of rmse": func() (*chart.Figure, error) {
			return maker.Pareto(with(whole, func(p *chartdata.Points) { p.X, p.Y = "latency", "rmse" }))
		},
	} {
		if f, err := draw(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, %v, want %s", f, err, says)
		}
	}
}

// TestHostileNames: names steer nothing, end no line, and are not repeated at full length.
func TestHostileNames(t *testing.T) {
	var runs []schema.Run
	for i, name := range []string{"a\x1b]0;x\x07b", "<script>alert(1)</script>", "\u202egnp.exe", strings.Repeat("long", 2500), "two\nlines"} {
		for n := range 3 {
			r := runOf(10*i+n, i%2, 1<<i, 64, 1000)
			r.Variant = name
			r.PointID = schema.PointID(&r)
			runs = append(runs, r)
		}
	}
	db := stored(t, runs...)
	for _, draw := range []func() (*chart.Figure, error){
		func() (*chart.Figure, error) { f, _, err := maker.ECDF(ctx, db, chartdata.Sampled{}); return f, err },
		func() (*chart.Figure, error) { f, _, err := maker.Runs(ctx, db, chartdata.Sampled{}); return f, err },
		func() (*chart.Figure, error) { f, _, err := maker.History(ctx, db, history.Request{}); return f, err },
		func() (*chart.Figure, error) { return maker.Heatmap(points(t, db, "")) },
		func() (*chart.Figure, error) { return maker.Lines(points(t, db, "")) },
	} {
		f, err := draw()
		sound(t, f, err)
	}
}

// TestLongNamesStayApart: points whose names differ far behind what a mark can say are drawn apart, with names that differ.
func TestLongNamesStayApart(t *testing.T) {
	var runs []schema.Run
	for n := range 3 {
		r := runOf(n, 0, int64(n+1), 64, 1000)
		r.BatchSize, r.Params = nil, map[string]string{"data": strings.Repeat("x", 300) + fmt.Sprint(n) + strings.Repeat("y", 300)}
		r.PointID = schema.PointID(&r)
		runs = append(runs, r)
	}
	db := stored(t, runs...)
	for name, by := range map[string]string{"points": "", "values": "data"} {
		f, _, err := maker.ECDF(ctx, db, chartdata.Sampled{By: by})
		ok(t, err)
		names := map[string]bool{}
		for _, s := range f.Series {
			names[s.Name] = true
		}
		if len(names) != 3 {
			t.Errorf("%s: the curves are %q", name, slices.Collect(maps.Keys(names)))
		}
	}
}

// TestRunsEachPanelItsScale: zeros of one point take no logarithmic axis from another one, whose values span decades.
func TestRunsEachPanelItsScale(t *testing.T) {
	zeros, wide := runOf(0, 0, 1, 64, 1000), runOf(1, 0, 2, 64, 1000)
	zeros.Metrics[1].Reals, wide.Metrics[1].Reals = []float64{0, .5, .7}, []float64{1e-6, .1, 1}
	f, _, err := maker.Runs(ctx, stored(t, zeros, wide), chartdata.Sampled{SamplesRequest: query.SamplesRequest{Metric: "accuracy"}})
	sound(t, f, err)
	for i, want := range []chart.Scale{chart.Linear, chart.Log} {
		if got := f.YOf(f.Panels[i]).Scale; got != want {
			t.Errorf("the axis of panel %d, %s, is %q, want %q", i, f.Panels[i].Title, got, want)
		}
	}
}

// ok ends a test at an error.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
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
