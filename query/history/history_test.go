package history_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

const (
	historySessions = 40
	historyShift    = 25 // the session from which on batch size 1 is 12 % slower
)

// historyRuns returns sessions a day apart, of two points with two runs each. The first session is the newest commit of a
// session with two sides.
func historyRuns() []schema.Run {
	random := rand.New(rand.NewPCG(5, 5))
	var runs []schema.Run
	for k := range historySessions {
		for n := range 4 {
			level := 100_000 * (1 + .01*random.NormFloat64())
			if n%2 == 0 && k >= historyShift {
				level *= 1.12
			}
			runs = append(runs, historyRun(k, n, level))
		}
	}
	base := historyRun(3, 9, 900_000)
	base.Side, base.BatchSize = "base", new(int64(1))
	base.PointID = schema.PointID(&base)
	failed := historyRun(4, 9, 0)
	failed.Status, failed.Metrics, failed.Primary, failed.BatchSize = schema.StatusTimeout, nil, "", new(int64(1))
	failed.PointID = schema.PointID(&failed)
	profiled := historyRun(5, 9, 900_000)
	profiled.Purpose = schema.PurposeProfile
	return append(runs, base, failed, profiled)
}

// historyRun is run n of session k.
func historyRun(k, n int, level float64) schema.Run {
	return querytest.NewRun(100*k+n, 0, func(r *schema.Run) {
		r.StartedAt = querytest.Start.Add(time.Duration(24*k)*time.Hour + time.Duration(n)*time.Second)
		r.SessionID = schema.ULIDFrom(querytest.Start.Add(time.Duration(24*k)*time.Hour), [10]byte{9: byte(k)}).String()
		r.BatchSize, r.Params = new(int64(1+n%2)), nil
		r.Env.GitCommit = fmt.Sprintf("%040x", k)
		r.Env.Facts = map[string]string{"governor": "performance", "load.1m": fmt.Sprint(k), "gpu.0.vbios": "1", "sweep.file": "nightly.yaml"}
		r.Env.DriverVersion = "570.86"
		if k < historyShift {
			r.Env.Facts["boost"] = "1"
		}
		if k >= historyShift {
			r.Env.DriverVersion, r.Env.Facts["governor"], r.Env.Facts["smt"] = "575.51", "powersave", "on"
		}
		if n == 3 {
			r.Side = "head"
		}
		latency := schema.Metric{Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 1}
		for i := range 5 {
			latency.Ticks = append(latency.Ticks, int64(level)+int64(i))
		}
		accuracy := schema.Metric{Name: "accuracy", Unit: "ratio", Better: schema.BetterHigher, Level: schema.LevelIteration, Reals: []float64{0}}
		if k >= 10 {
			accuracy.Reals[0] = .5
		}
		for _, m := range []*schema.Metric{&latency, &accuracy} {
			m.Summary = stat.Summarize(m.Values())
		}
		r.Metrics, r.Primary = []schema.Metric{latency, accuracy}, "latency"
	})
}

func historyOf(t *testing.T, db *query.DB, req history.Request) history.History {
	t.Helper()
	h, err := history.Read(context.Background(), db, req)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistory(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, historyRuns()...))
	h := historyOf(t, db, history.Request{})
	if len(h.Series) != 2 || len(h.Rows) != 2*historySessions || h.Known != 2 || h.Sessions != historySessions || h.NoValue != 0 {
		t.Fatalf("%d series, %d rows, %d sessions, %d useless", len(h.Series), len(h.Rows), h.Sessions, h.NoValue)
	}
	slow, steady := h.Series[0], h.Series[1]
	if *h.Rows[slow.First].BatchSize != 1 || slow.Sessions != historySessions || len(slow.Changes) != 1 || len(steady.Changes) != 0 {
		t.Fatalf("%+v", h.Series)
	}
	change := slow.Changes[0]
	if change.Sweep != "nightly.yaml" {
		t.Errorf("the sweep file is %q", change.Sweep)
	}
	if change.Row != slow.First+historyShift || change.Base != fmt.Sprintf("%040x", historyShift-1) || change.Head != fmt.Sprintf("%040x", historyShift) {
		t.Errorf("changed at row %d, %s to %s", change.Row, change.Base, change.Head)
	}
	if at, previous := h.Rows[change.Row], h.Rows[change.Row-1]; at.AfterSession != previous.SessionID || at.BySession != at.SessionID ||
		change.Places != 1 || !change.After.Equal(*previous.StartedAt) || !change.By.Equal(*at.StartedAt) {
		t.Errorf("the change is after %s and not after %s: %+v", at.AfterSession, at.BySession, change)
	}
	for name, level := range map[string]struct {
		got      float64
		from, to int
	}{"old": {change.OldLevel, 0, historyShift}, "new": {change.NewLevel, historyShift, historySessions}} {
		var values []float64
		for _, row := range h.Rows[slow.First+level.from : slow.First+level.to] {
			values = append(values, row.Location)
		}
		if want := stat.Median(values); level.got != want {
			t.Errorf("the %s level is %v, want %v", name, level.got, want)
		}
	}
	want := []query.FactDifference{
		{Kind: query.EnvironmentFact, Name: "driver_version", Base: []string{"570.86"}, Head: []string{"575.51"}},
		{Kind: query.EnvironmentFact, Name: "env.boost", Base: []string{"1"}},
		{Kind: query.EnvironmentFact, Name: "env.governor", Base: []string{"performance"}, Head: []string{"powersave"}},
		{Kind: query.EnvironmentFact, Name: "env.load.1m", Base: []string{"24"}, Head: []string{"25"}},
		{Kind: query.EnvironmentFact, Name: "env.smt", Head: []string{"on"}},
	}
	if !slices.EqualFunc(change.Differs, want, func(a, b query.FactDifference) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("differs %v, want %v", change.Differs, want)
	}
	const counted = " FROM runs WHERE batch_size = 1 AND status = 'ok' AND purpose = 'measure' AND coalesce(side, '') <> 'base'"
	ofSession := map[any]float64{} // the medians of logarithms, in which changes are found
	for _, row := range valuetest.Must(sql.Select(context.Background(), db, "SELECT session_id, median(log_median)"+counted+" GROUP BY session_id")).Rows {
		ofSession[row[0]] = row[1].(float64)
	}
	logs := make([]float64, historySessions)
	for i := range logs {
		logs[i] = ofSession[h.Rows[slow.First+i].SessionID]
	}
	shift := stat.Shift(logs[:historyShift], logs[historyShift:], .95)
	changed := h.Rows[change.Row]
	for _, c := range []struct {
		name string
		got  *float64
		want float64
	}{{"shift", changed.Shift, shift.Value}, {"shift_low", changed.ShiftLow, shift.Low}, {"shift_high", changed.ShiftHigh, shift.High}} {
		if math.Abs(*c.got-math.Expm1(c.want)) > 1e-9 || math.Abs(*c.got-.12) > .02 {
			t.Errorf("%s is %g, want %g", c.name, *c.got, math.Expm1(c.want))
		}
	}
	if p := *changed.PAdjusted; p > .001 || p < *changed.P || changed.Verdict != judge.Regressed {
		t.Errorf("p_adjusted %g, verdict %v", p, changed.Verdict)
	}
	for i, row := range h.Rows {
		if row.ChangePoint != (i == change.Row) || row.ChangePoint != (row.Shift != nil) || row.ChangePoint != (row.Verdict != "") {
			t.Errorf("row %d: %+v", i, row)
		}
		if i > slow.First && i < slow.End && !row.StartedAt.After(*h.Rows[i-1].StartedAt) {
			t.Errorf("row %d is not later than the one before", i)
		}
	}
	// The value again, in SQL, and of a session with a base and one with a failed run.
	for _, i := range []int{0, 3, 4, 5, historyShift} {
		row := h.Rows[i]
		table := valuetest.Must(sql.Select(context.Background(), db, "SELECT median(p50), count(*)"+counted+" AND session_id = '"+row.SessionID+"'"))
		if want := table.Rows[0][0].(float64); math.Abs(row.Location-want) > 1e-9*want || int64(row.Runs) != table.Rows[0][1] || row.Runs != 2 {
			t.Errorf("row %d: %g of %d runs, want %g", i, row.Location, row.Runs, want)
		}
	}
}

// TestHistoryLastingFacts: a fact that differs only in the session of a change, or has its old value again at the end of the level, did
// not change with it. The level before the next change counts, not what came later.
func TestHistoryLastingFacts(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for k := range 30 {
		r := historyRun(k, 0, 100_000*(1+float64(k/10))+float64(k%3)*100)
		r.Env.DriverVersion, r.Env.Facts = "570", map[string]string{"governor": "performance", "kernel": "6.1"}
		if k == 10 {
			r.Env.DriverVersion = "575"
		}
		if k >= 10 && k < 20 {
			r.Env.Facts["governor"] = "powersave"
		}
		if k >= 10 {
			r.Env.Facts["kernel"] = fmt.Sprintf("6.%d", k)
		}
		runs = append(runs, r)
	}
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{})
	if len(h.Series) != 1 || len(h.Series[0].Changes) != 2 {
		t.Fatalf("%+v", h.Series)
	}
	for i, want := range []string{
		"[{environment env.governor [performance] [powersave]} {environment env.kernel [6.1] [6.10]}]",
		"[{environment env.governor [powersave] [performance]} {environment env.kernel [6.19] [6.20]}]",
	} {
		if got := fmt.Sprint(h.Series[0].Changes[i].Differs); got != want {
			t.Errorf("change %d: differs %s, want %s", i, got, want)
		}
	}
}

// TestHistorySince: earlier sessions are not shown, but contribute to a level.
func TestHistorySince(t *testing.T) {
	t.Parallel()
	db := querytest.SealedRuns(t, historyRuns())
	at := func(k int) time.Time { return querytest.Start.Add(time.Duration(24*k) * time.Hour) }
	h := historyOf(t, db, history.Request{Since: at(historyShift - 1)})
	if len(h.Rows) != 2*(historySessions-historyShift+1) || len(h.Series) != 2 || h.Series[0].Sessions != historySessions || h.Series[0].Changes[0].Row != 1 {
		t.Errorf("%d rows, %+v", len(h.Rows), h.Series)
	}
	h = historyOf(t, db, history.Request{Since: at(historyShift), Regressions: true})
	if len(h.Rows) != 1 || len(h.Series) != 1 || h.Known != 2 || len(h.Series[0].Changes) != 1 || h.Series[0].Changes[0].Base != fmt.Sprintf("%040x", historyShift-1) {
		t.Errorf("%v, %+v", h.Rows, h.Series)
	}
	if h = historyOf(t, db, history.Request{Since: at(historyShift + 1), Regressions: true}); len(h.Rows) != 0 || len(h.Series) != 0 {
		t.Errorf("%v", h.Rows)
	}
}

// TestHistoryOfAnotherMetric: a metric that is compared by its difference may be 0, and higher may be better.
func TestHistoryOfAnotherMetric(t *testing.T) {
	t.Parallel()
	db := querytest.SealedRuns(t, historyRuns())
	h := historyOf(t, db, history.Request{Filter: "batch_size=2", Metric: "accuracy"})
	if len(h.Series) != 1 || len(h.Series[0].Changes) != 1 || h.Series[0].Changes[0].Row != 10 {
		t.Fatalf("%+v", h.Series)
	}
	table := answer.TableOf(history.Fields(), h.Rows[10:11])
	for name, want := range map[string]any{"metric": "accuracy", "unit": "ratio", "scale": "difference", "location": .5, "shift": .5, "verdict": "improved"} {
		if got := table.Rows[0][table.Index(name)]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if h = historyOf(t, db, history.Request{Filter: "batch_size=2", Metric: "accuracy", Regressions: true}); len(h.Rows) != 0 {
		t.Errorf("what improved is a regression: %v", h.Rows)
	}
	latency := historyOf(t, db, history.Request{Metric: "latency"})
	primary := historyOf(t, db, history.Request{})
	if !reflect.DeepEqual(latency.Rows, primary.Rows) {
		t.Error("the primary metric by name is another")
	}
	_, err := history.Read(t.Context(), db, history.Request{Metric: "latnecy"})
	querytest.WantInput(t, err, `history: no run has the metric "latnecy"; did you mean latency?`)
}

// TestMethods: Otava's change points are computed from the values in the unit.
func TestMethods(t *testing.T) {
	t.Parallel()
	db := querytest.SealedRuns(t, historyRuns())
	h := historyOf(t, db, history.Request{Method: history.Otava})
	for _, s := range h.Series {
		var values []float64
		var got []int
		for row := s.First; row < s.End; row++ {
			values = append(values, h.Rows[row].Location)
		}
		for _, c := range s.Changes {
			got = append(got, c.Row-s.First)
			if row := h.Rows[c.Row]; row.P != nil || row.PAdjusted != nil || row.Shift == nil {
				t.Errorf("%+v", row)
			}
		}
		if want := stat.Otava(values); !slices.Equal(got, want) {
			t.Errorf("changes at %v, want %v", got, want)
		}
	}
	if len(h.Series[0].Changes) == 0 {
		t.Error("none was found")
	}
	_, err := history.Read(context.Background(), db, history.Request{Method: "mean"})
	querytest.WantInput(t, err, `unknown method "mean": want sbs or otava`)
	_, err = history.Read(context.Background(), db, history.Request{Filter: "bach_size=1"})
	querytest.WantInput(t, err, "did you mean batch_size?")
}

// TestHistoryOfManySeries: among many unchanged series, hardly any has a change point.
func TestHistoryOfManySeries(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	const points, sessions = 60, 30
	var runs []schema.Run
	for k := range sessions {
		for n := range points {
			r := historyRun(k, n, 100_000*(1+.02*random.NormFloat64()))
			r.BatchSize = new(int64(n + 1))
			if n == 7 && k >= 15 {
				r.Metrics[0].Ticks = []int64{150_000 + random.Int64N(9)}
				r.Metrics[0].Summary = stat.Summarize(r.Metrics[0].Values())
			}
			r.PointID = schema.PointID(&r)
			runs = append(runs, r)
		}
	}
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{})
	changed := 0
	for _, s := range h.Series {
		if len(s.Changes) > 0 {
			changed++
		}
	}
	if len(h.Series) != points || len(h.Series[7].Changes) != 1 || changed > 2 {
		t.Errorf("%d of %d series changed; that which did: %+v", changed, len(h.Series), h.Series[7])
	}
}

func TestHistoryOfNothing(t *testing.T) {
	t.Parallel()
	h := historyOf(t, querytest.Open(t, querytest.NewStore(t)), history.Request{Filter: "whatever=1"})
	if len(h.Rows) != 0 || len(h.Series) != 0 {
		t.Errorf("%+v", h)
	}
}
