package history

import (
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// TestOneMarkPerSession: a session that is far off has one mark and hides no other, also where a slow change that may be chance ends with it.
func TestOneMarkPerSession(t *testing.T) {
	t.Parallel()
	const first, until = 20, 36
	l := &line{}
	for k := range 80 {
		rise := min(max(k-first, 0), until-1-first)
		l.entries = append(l.entries, entry{location: float64(2*rise + k%3)})
	}
	l.entries[until-1].location += 100
	l.entries[60].location += 100
	l.series.slow = append(l.series.slow, stat.ChangePoint{Index: first + 1, Until: until, After: first, By: until - 1})
	l.mark(&l.series)
	h := &historian{}
	marked := 0
	for _, m := range h.requested(l) {
		if m != nil {
			marked++
		}
	}
	if marked != len(l.series.marks) || marked != 2 {
		t.Errorf("%d sessions are marked: %+v", marked, l.series.marks)
	}
}

// TestNeeds: a gate cannot call a step before GateSessions, and a history of some series needs as many sessions as docs/trends.md says.
func TestNeeds(t *testing.T) {
	t.Parallel()
	for alpha, want := range map[float64]int{
		historyLookAlpha: GateSessions, historyAlpha: MinSessions, historyAlpha / 2: 9, historyAlpha / 10: 12, historyAlpha / 20: 13, historyAlpha / 60: 14,
		historyAlpha / 100: 15, historyAlpha / 1000: 19, historyAlpha / 5100: 21,
	} {
		if got := needs(alpha); got != want {
			t.Errorf("at %g: %d sessions, want %d", alpha, got, want)
		}
	}
}

// TestGateAlone: a step that may be chance among very many series is a regression for a gate, which judges each series by itself.
func TestGateAlone(t *testing.T) {
	t.Parallel()
	h := newHistorian(Request{Newest: 14}, 0)
	const series, sessions, step = 1200, 18, 9
	for k := range sessions {
		h.sessions.place(string(rune('a' + k)))
	}
	for n := range series {
		l := &line{better: "lower", scale: schema.ScaleRatio, lineKey: lineKey{metric: "latency"}}
		for k := range sessions {
			e := entry{began: int64(k+1) * 1e12, session: int32(k), location: .001 * float64((k*7+n)%5)}
			if n == 0 && k >= step {
				e.location += .2
			}
			l.entries = append(l.entries, e)
		}
		h.lines = append(h.lines, l)
	}
	h.Known = series
	h.findChanges()
	h.decide()
	h.findUndecided()
	if want := (Gate{Series: series, Regressed: 1, Alone: 1}); h.Gate != want || h.undecided != h.lines[0] || h.Needs != 19 {
		t.Errorf("%+v, want %+v; undecided %v, %d sessions needed", h.Gate, want, h.undecided != nil, h.Needs)
	}
}
