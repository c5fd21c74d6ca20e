package compare_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/baseline"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// blessWobble returns locations around a level.
func blessWobble(level float64) (all []float64) {
	for _, w := range []float64{0, .004, -.003, .002, -.004, .001} {
		all = append(all, level*(1+w))
	}
	return all
}

// sessions returns the runs of ten sessions a day apart, of three points: the last one takes longer at the first two by 20 %, and not
// at the third.
func sessions() (runs []schema.Run) {
	n := 0
	for k := range 10 {
		for size := range int64(3) {
			level := 1000 * float64(1+size) * (1 + .002*float64((k*7)%5-2))
			if k == 9 && size < 2 {
				level *= 1.2
			}
			runs = append(runs, querytest.RunsOf(&n, 1+k, func(r *schema.Run) {
				r.BatchSize, r.BlockIndex, r.Env.GitCommit, r.Env.GitDirty = new(1+size), nil, "abcdef", new(true)
			}, blessWobble(level)...)...)
		}
	}
	return runs
}

// read makes a baseline of a session.
func read(t *testing.T, db *query.DB, filter string, metrics ...string) *compare.Baseline {
	t.Helper()
	b := valuetest.Must(compare.ReadBaseline(t.Context(), db, compare.BaselineRequest{Filter: filter, Metrics: metrics}))
	return b
}

// fileStore returns a store of the runs of a file of a baseline, as its reader makes them.
func fileStore(t *testing.T, path string) *query.DB {
	t.Helper()
	text := valuetest.Must(os.ReadFile(path))
	d := valuetest.Must(baseline.Decode(text))
	var runs []schema.Run
	for i := range d.Points {
		for _, r := range d.RunsOf(&d.Points[i]) {
			var bits [10]byte
			bits[8], bits[9] = byte(len(runs)>>8), byte(len(runs))
			r.RunID, r.Source, r.Purpose, r.Status, r.Primary = schema.ULIDFrom(r.StartedAt, bits).String(), "file", schema.PurposeMeasure, schema.StatusOK, r.Metrics[0].Name
			runs = append(runs, r)
		}
	}
	return querytest.SealedRuns(t, runs)
}

// TestVerdictsOfFile: a comparison with the baseline file of a session gives the same verdicts as one with the session itself, and
// numbers that are equal to eight digits. So its error rates are those of query/judge/VALIDATION.md for different sessions.
func TestVerdictsOfFile(t *testing.T) {
	t.Parallel()
	db := querytest.SealedRuns(t, sessions())
	path := filepath.Join(t.TempDir(), "b.json")
	valuetest.Must(read(t, db, "session=last~1").Write(path))
	file := fileStore(t, path)
	for _, gate := range []bool{false, true} {
		req := compare.Request{Base: "session=last~1", Head: "session=last"}
		req.Rules.Gate = gate
		want := valuetest.Must(compare.Compare(t.Context(), db, req))
		req.Base, req.BaseDB = "", file
		got := valuetest.Must(compare.Compare(t.Context(), db, req))
		verdicts := ""
		for i, w := range want.Rows {
			g := got.Rows[i]
			verdicts += string(g.Verdict) + " "
			a, b := g.Estimates, w.Estimates
			for _, pair := range [][2]float64{{a.Change, b.Change}, {a.Low, b.Low}, {a.High, b.High}} {
				if math.Abs(pair[0]-pair[1]) > 1e-8 {
					t.Errorf("gate %v: row %d: %+v, want %+v", gate, i, *a, *b)
				}
			}
			if g.Verdict != w.Verdict || g.Reason != w.Reason || g.History != w.History || g.Base.Runs != w.Base.Runs {
				t.Errorf("gate %v: row %d is %s %s with %d sessions, want %s %s with %d", gate, i, g.Verdict, g.Reason, g.History, w.Verdict, w.Reason, w.History)
			}
		}
		valuetest.Equal(t, verdicts, "regressed regressed unchanged ", "gate", gate)
	}
}

// TestRead: a baseline contains the session's results for its points.
func TestRead(t *testing.T) {
	t.Parallel()
	b := read(t, querytest.SealedRuns(t, sessions()), "session=last")
	p := b.Points[0]
	if b.SessionID != querytest.SessionID(10) || b.Session.Commit != "abcdef" || !*b.Session.Dirty || len(b.Points) != 3 {
		t.Errorf("the session is %s %+v with %d points", b.SessionID, b.Session, len(b.Points))
	}
	if want := querytest.Start.Add(10 * 24 * time.Hour); b.Session.Began.Sub(want).Abs() > time.Hour {
		t.Errorf("it began %s, want about %s", b.Session.Began, want)
	}
	if m := p.Metrics[0]; m.Name != "latency" || m.Unit != "ns" || m.Better != schema.BetterLower || len(m.Runs) != 6 || m.Samples[0] == 0 || p.Machine != "lab3" {
		t.Errorf("the first point is %+v", p)
	}
}

// TestReadRefusals: runs that cannot be a baseline are refused, with the command to type.
func TestReadRefusals(t *testing.T) {
	t.Parallel()
	n := 0
	of := func(session int, edit func(*schema.Run)) []schema.Run {
		return querytest.RunsOf(&n, session, func(r *schema.Run) { r.BlockIndex = nil; edit(r) }, blessWobble(1000)...)
	}
	same := func(*schema.Run) {}
	for name, c := range map[string]struct {
		runs    []schema.Run
		metrics []string
		says    string
	}{
		"two sessions": {append(of(1, same), of(2, same)...), nil, "the runs are from 2 sessions, and a baseline is made from one: session=" + querytest.SessionID(2) + " is the newest"},
		"two sides":    {append(of(1, querytest.On("base", 1)), of(1, querytest.On("head", 1))...), nil, "the session has two sides: choose one, for example side=head"},
		"a failure": {append(of(1, same), of(1, func(r *schema.Run) {
			querytest.Ended(schema.StatusError)(r)
			r.Error, r.ErrorKind = "out of luck\nand more", "exit"
		})...), nil, "6 of 12 runs failed or have a wrong result (tiny_linear: out of luck): repeat them with bench --rerun failed, or leave the point out"},
		"no machine": {of(1, func(r *schema.Run) { r.Env.Machine = "" }), nil, "has no machine, so nothing can be compared with it: import it with ingest --machine NAME"},
		"no session": {of(1, func(r *schema.Run) { r.SessionID = "" }), nil, "some of 6 runs have no session, and a baseline is made from one session"},
		"no metric":  {of(1, same), []string{"energy"}, "no run of tiny_linear has the metric energy"},
		"some without a metric": {of(1, func(r *schema.Run) {
			if *r.RepeatIndex > 3 {
				r.Metrics = append(r.Metrics, querytest.RealMetric("energy", "mJ", 1))
			}
		}), []string{"latency", "energy"}, "2 of 6 runs of tiny_linear have the metric energy: want all or none"},
		"not run":  {of(1, querytest.Ended(schema.StatusSkipped)), nil, "none of 6 runs is ok"},
		"no value": {of(1, func(r *schema.Run) { r.Metrics[0] = querytest.RealMetric("latency", "ns", math.NaN()) }), nil, "of tiny_linear has no value of latency"},
		"two units": {of(1, func(r *schema.Run) {
			if *r.RepeatIndex > 3 {
				r.Metrics[0].Clock = "other"
			}
		}), nil, "measured latency in different ways"},
	} {
		_, err := compare.ReadBaseline(context.Background(), querytest.SealedRuns(t, c.runs), compare.BaselineRequest{Metrics: c.metrics})
		if err == nil {
			t.Errorf("%s is a baseline", name)
			continue
		}
		t.Log(name)
		querytest.WantInput(t, err, c.says)
	}
	_, err := compare.ReadBaseline(context.Background(), querytest.SealedRuns(t, of(1, same)), compare.BaselineRequest{Filter: "variant=x"})
	querytest.WantInput(t, err, `bless: no run matches "variant=x"`)
}

// TestWrite: a file keeps its other points, and is replaced as a whole or not at all.
func TestWrite(t *testing.T) {
	t.Parallel()
	db := querytest.SealedRuns(t, sessions())
	dir := t.TempDir()
	write := func(filter, name string) compare.BaselineWritten {
		w := valuetest.Must(read(t, db, filter).Write(filepath.Join(dir, name)))
		return w
	}
	write("session=last~3", "b.json")
	w := write("session=last batch_size<3", "b.json")
	valuetest.DeepEqual(t, []any{w.Points, w.Replaced, w.Kept, w.Few, w.Session}, []any{2, 2, 1, 0, querytest.SessionID(10)}, w)
	if w := write("session=last repeat_index<4", "b-{machine}.json"); w.File != filepath.Join(dir, "b-lab3.json") || w.Few != 3 {
		t.Errorf("%+v", w)
	}
	text, err := os.ReadFile(filepath.Join(dir, "b.json"))
	if err != nil || strings.Count(string(text), querytest.SessionID(10)) != 3 || strings.Count(string(text), querytest.SessionID(7)) != 2 {
		t.Errorf("the file is %s, %v", text, err)
	}
	again := write("session=last batch_size<3", "b.json")
	if same, _ := os.ReadFile(again.File); string(same) != string(text) {
		t.Error("the same runs give another text")
	}
	querytest.WriteFile(t, filepath.Join(dir, "other.json"), []byte("{}"))
	_, err = read(t, db, "session=last").Write(filepath.Join(dir, "other.json"))
	querytest.WantInput(t, err, "other.json is not a baseline file and is not replaced")
	if text, _ := os.ReadFile(filepath.Join(dir, "other.json")); string(text) != "{}" {
		t.Errorf("it is %s", text)
	}
	if _, err := read(t, db, "session=last").Write(filepath.Join(dir, "nowhere", "b.json")); err == nil {
		t.Error("a file in no folder is written")
	}
}

// TestRemovedRuns: a run that was removed is in no baseline.
func TestRemovedRuns(t *testing.T) {
	t.Parallel()
	runs := sessions()
	dir := querytest.NewStore(t, runs[len(runs)-18:]...)
	querytest.Annotate(t, dir, ingest.Annotation{Kind: schema.EventRemove, Runs: []string{runs[len(runs)-1].RunID}})
	b := read(t, querytest.Open(t, dir), "session=last")
	valuetest.Equal(t, len(b.Points[2].Metrics[0].Runs), 5)
}
