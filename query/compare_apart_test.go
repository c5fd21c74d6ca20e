package query_test

import (
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/schema"
)

// TestCompareApart: what two sessions differ by is told by others that are as far apart. Eight of one afternoon do not tell
// what two days differ by; where both sides are of that afternoon they do.
func TestCompareApart(t *testing.T) {
	afternoon := func(k int, at time.Duration) func(*schema.Run) {
		return func(r *schema.Run) {
			first := start.Add(time.Duration(k) * 24 * time.Hour)
			r.StartedAt = start.Add(at + r.StartedAt.Sub(first))
		}
	}
	for _, c := range []struct {
		what       string
		base, head time.Duration // when the sides began
		verdict    compare.Verdict
		history    int
	}{
		{"another day", 2 * time.Hour, 72 * time.Hour, compare.Inconclusive, 1},
		{"the same afternoon", 2 * time.Hour, 2*time.Hour + 10*time.Minute, compare.Regressed, 9},
		{"two hours later", 2 * time.Hour, 4 * time.Hour, compare.Inconclusive, 2},
	} {
		n := 0
		var runs []schema.Run
		for k := range 8 {
			runs = append(runs, runsOf(&n, 1+k, afternoon(1+k, time.Duration(k)*10*time.Minute), wobble(1000*(1+.002*float64(k%3-1)))...)...)
		}
		runs = append(runs, runsOf(&n, 20, afternoon(20, c.base), wobble(1002)...)...)
		runs = append(runs, runsOf(&n, 21, afternoon(21, c.head), wobble(1300)...)...)
		got := mustCompare(t, sealedRuns(t, runs), query.CompareRequest{Base: "session=last~1", Head: "session=last"})
		if v := cellOf(got, 0, "verdict"); v != string(c.verdict) || got.Points[0].History != c.history {
			t.Errorf("%s: %s with a history of %d, want %s with %d", c.what, v, got.Points[0].History, c.verdict, c.history)
		}
	}
}

// TestCompareLongAfter: in one session, one side long after the other is like another session. In blocks it does not matter.
func TestCompareLongAfter(t *testing.T) {
	at := func(side string, begin time.Duration, block bool) func(*schema.Run) {
		return of(1, func(r *schema.Run) {
			r.Side, r.StartedAt = side, r.StartedAt.Add(begin)
			if block {
				r.BlockIndex = r.RepeatIndex
			}
		})
	}
	for _, c := range []struct {
		what       string
		base, head time.Duration
		blocks     bool
		verdict    compare.Verdict
		reason     compare.Reason
	}{
		{"at once", 0, 0, false, compare.Regressed, ""},
		{"20 minutes", 0, 20 * time.Minute, false, compare.Regressed, ""},
		{"40 minutes", 0, 40 * time.Minute, false, compare.Inconclusive, compare.Sessions},
		{"the head first", 40 * time.Minute, 0, false, compare.Inconclusive, compare.Sessions},
		{"in blocks", 0, 40 * time.Minute, true, compare.Regressed, ""},
	} {
		n := 0
		runs := slices.Concat(runsOf(&n, 1, at("base", c.base, c.blocks), wobble(1000)...), runsOf(&n, 1, at("head", c.head, c.blocks), wobble(1300)...))
		got := mustCompare(t, sealedRuns(t, runs), query.CompareRequest{Base: "session=last"})
		if v, r := cellOf(got, 0, "verdict"), got.Points[0].Reason; v != string(c.verdict) || r != c.reason {
			t.Errorf("%s: %s %s, want %s %s", c.what, v, r, c.verdict, c.reason)
		}
	}
}
