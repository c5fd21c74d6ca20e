package history_test

import (
	"math"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
)

// rising returns levels that are flat, rise by 1 % a session and are flat again, with noise of about 1 %.
func rising(before, sessions, after int) []float64 {
	var levels []float64
	for k := range before + sessions + after {
		steps := min(max(k-before, 0), sessions)
		levels = append(levels, 100*math.Pow(1.01, float64(steps))*(1+.01*math.Sin(float64(k*k))))
	}
	return levels
}

// TestHistoryRamp: +1 % a session over 30 sessions is a regression, with its start, its size and its length, and a gate finds it while it lasts.
func TestHistoryRamp(t *testing.T) {
	t.Parallel()
	db := querytest.SealedRuns(t, levelled(rising(0, 40, 0)...))
	for _, req := range []history.Request{{}, {Newest: 14}, {Regressions: true, Since: querytest.Start.Add(35 * 24 * time.Hour)}} {
		h := historyOf(t, db, req)
		if len(h.Series) != 1 || len(h.Series[0].Changes) != 1 {
			t.Fatalf("%+v: %+v", req, h.Series)
		}
		c := h.Series[0].Changes[0]
		row := h.Rows[c.Row]
		if row.Verdict != judge.Regressed || !row.ChangePoint || row.RampSessions < 36 || row.RampSessions > 40 || row.AfterSession >= row.BySession || row.BySession != row.SessionID ||
			math.Abs(*row.Shift-.47) > .05 || *row.ShiftLow < .2 || c.Places != row.RampSessions-1 || !c.After.Before(*c.By) {
			t.Errorf("%+v: %+v, %+v", req, row, c)
		}
		table := answer.TableOf(history.Fields(), h.Rows[c.Row:c.Row+1])
		if got := table.Rows[0][table.Index("ramp_sessions")]; got != int64(row.RampSessions) {
			t.Errorf("ramp_sessions is %v", got)
		}
	}
	if g := historyOf(t, db, history.Request{Newest: 14}).Gate; g.Regressed != 1 {
		t.Errorf("while it rises: %+v", g)
	}
	db = querytest.SealedRuns(t, levelled(rising(0, 40, 20)...))
	if g := historyOf(t, db, history.Request{Newest: 14}).Gate; g.Regressed != 0 {
		t.Errorf("20 sessions after it: %+v", g)
	}
}

// TestHistoryStepHasNoRamp: the columns of a step.
func TestHistoryStepHasNoRamp(t *testing.T) {
	t.Parallel()
	h := historyOf(t, querytest.SealedRuns(t, levelled(100, 101, 100, 102, 101, 100, 200, 203, 201, 200, 202, 201)), history.Request{})
	table := answer.TableOf(history.Fields(), h.Rows)
	for name, want := range map[string]any{"ramp_sessions": nil, "after_session": h.Rows[5].SessionID, "by_session": h.Rows[6].SessionID, "verdict": "regressed"} {
		if got := table.Rows[6][table.Index(name)]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
		if got := table.Rows[3][table.Index(name)]; got != nil {
			t.Errorf("without a change %s is %v", name, got)
		}
	}
}
