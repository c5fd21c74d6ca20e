package compare_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestCompareApart: the variation between two sessions is estimated from others that are as far apart. Eight sessions of one afternoon do not show
// how much two days differ; they do if both sides are of that afternoon.
func TestCompareApart(t *testing.T) {
	t.Parallel()
	afternoon := func(k int, at time.Duration) func(*schema.Run) {
		return func(r *schema.Run) {
			first := querytest.Start.Add(time.Duration(k) * 24 * time.Hour)
			r.StartedAt = querytest.Start.Add(at + r.StartedAt.Sub(first))
		}
	}
	for _, c := range []struct {
		what       string
		base, head time.Duration // when the sides began
		verdict    judge.Verdict
		history    int
	}{
		{"another day", 2 * time.Hour, 72 * time.Hour, judge.Inconclusive, 1},
		{"the same afternoon", 2 * time.Hour, 2*time.Hour + 10*time.Minute, judge.Regressed, 9},
		{"two hours later", 2 * time.Hour, 4 * time.Hour, judge.Inconclusive, 2},          // of the first, and the base's
		{"a bit closer", 2 * time.Hour, 2*time.Hour + 13*time.Minute, judge.Regressed, 9}, // no two sessions are equally far apart
	} {
		n := 0
		var runs []schema.Run
		for k := range 8 {
			runs = append(runs, querytest.RunsOf(&n, 1+k, afternoon(1+k, time.Duration(k)*10*time.Minute), wobble(1000*(1+.002*float64(k%3-1)))...)...)
		}
		runs = append(runs, querytest.RunsOf(&n, 20, afternoon(20, c.base), wobble(1002)...)...)
		runs = append(runs, querytest.RunsOf(&n, 21, afternoon(21, c.head), wobble(1300)...)...)
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last~1", Head: "session=last"})
		if v := cellOf(got, 0, "verdict"); v != string(c.verdict) || got.Points[0].History != c.history {
			t.Errorf("%s: %s with a history of %d, want %s with %d", c.what, v, got.Points[0].History, c.verdict, c.history)
		}
	}
}

// TestCompareKnownSessions: of the few sessions of a store those are known that would count: of the point, and as far apart as the sides.
func TestCompareKnownSessions(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for _, s := range []struct {
		day   int
		batch int64
	}{{1, 8}, {4, 8}, {5, 8}, {6, 16}, {7, 16}, {8, 8}, {12, 8}} { // base and head are the last two of 8, 4 days apart
		runs = append(runs, querytest.RunsOf(&n, s.day, querytest.Of(s.batch, func(r *schema.Run) {}), wobble(1000)...)...)
	}
	for base, want := range map[string]int{"session=last~1": 3, "session=last~6": 1} { // of days 8, 5 and 1, and of day 1
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: base, Head: "session=last"})
		if p := got.Points[0]; p.History != want || p.Reason != judge.Sessions {
			t.Errorf("%s: %d known, want %d (%s)", base, p.History, want, p.Reason)
		}
	}
}

// TestCompareApartPoints: the time between the sides of one point does not affect another point.
func TestCompareApartPoints(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	add := func(session int, batch int64, commit string, level float64) {
		runs = append(runs, querytest.RunsOf(&n, session, func(r *schema.Run) { r.BatchSize, r.BlockIndex, r.Env.GitCommit = new(batch), nil, commit }, wobble(level)...)...)
	}
	for k := range 7 { // of an afternoon
		runs = append(runs, querytest.RunsOf(&n, 1+k, func(r *schema.Run) {
			r.BatchSize, r.BlockIndex, r.Env.GitCommit = new(int64(16)), nil, "c"
			r.StartedAt = r.StartedAt.Add(-time.Duration(k) * (24*time.Hour - 10*time.Minute))
		}, wobble(1000)...)...)
	}
	for _, session := range []int{20, 40} {
		add(session, 8, "a", 500)
		add(session, 8, "b", 500)
	}
	add(20, 16, "a", 1000)
	add(40, 16, "b", 1150)
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "commit=a", Head: "commit=b"})
	for row := range got.Rows {
		if v := cellOf(got, row, "verdict"); cellOf(got, row, "batch_size") == "16" && v != string(judge.Inconclusive) {
			t.Errorf("%s with a history of %d", v, got.Points[row].History)
		}
	}
}

// TestCompareApartAxis: each value that is compared with one reference has its own earlier sessions, by its own time distance.
func TestCompareApartAxis(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	add := func(session int, at time.Duration, variant, commit string, level float64) {
		runs = append(runs, querytest.RunsOf(&n, session, func(r *schema.Run) {
			r.Variant, r.Env.GitCommit, r.BlockIndex = variant, commit, nil
			r.StartedAt = r.StartedAt.Add(at - time.Duration(session)*24*time.Hour)
		}, wobble(level)...)...)
	}
	for k := range 7 {
		add(1+k, time.Duration(k)*70*time.Minute, "a", "earlier", 1000*(1+.002*float64(k%3-1)))
	}
	add(20, 240*time.Hour, "a", "x", 1000)
	add(21, 241*time.Hour+30*time.Minute, "near", "x", 1300)
	add(22, 960*time.Hour, "far", "x", 1300)
	got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "commit=x", Axis: "variant", Reference: "a"})
	verdicts := map[string]string{}
	for row := range got.Rows {
		verdicts[cellOf(got, row, "variant")] = cellOf(got, row, "verdict")
	}
	valuetest.DeepEqual(t, verdicts, map[string]string{"near": string(judge.Regressed), "far": string(judge.Inconclusive)})
}

// TestCompareUnknownSession: runs without a session have no verdict, whatever is known of
// others.
func TestCompareUnknownSession(t *testing.T) {
	t.Parallel()
	n := 0
	var runs []schema.Run
	for k := range 10 {
		runs = append(runs, querytest.RunsOf(&n, 1+k, func(r *schema.Run) { r.Env.GitCommit = "a" }, wobble(1000)...)...)
	}
	runs = append(runs, querytest.RunsOf(&n, 30, func(r *schema.Run) {
		r.SessionID, r.StartedAt, r.TimeSource, r.Env.GitCommit = "", time.Time{}, "", "b"
	}, wobble(1200)...)...)
	db := querytest.SealedRuns(t, runs)
	for base, head := range map[string]string{"commit=b": "session=last", "session=last": "commit=b"} {
		got := mustCompare(t, db, compare.Request{Base: base, Head: head})
		if v, r := cellOf(got, 0, "verdict"), got.Points[0].Reason; v != string(judge.Inconclusive) || r != judge.Sessions {
			t.Errorf("%s: %s %s", base, v, r)
		}
	}
}

// TestCompareLongAfter: if one side of a session runs long after the other, it counts as another session. With blocks it does not matter.
func TestCompareLongAfter(t *testing.T) {
	t.Parallel()
	at := func(side string, begin time.Duration, block bool) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) {
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
		verdict    judge.Verdict
		reason     judge.Reason
	}{
		{"at once", 0, 0, false, judge.Regressed, ""},
		{"20 minutes", 0, 20 * time.Minute, false, judge.Inconclusive, judge.Order},
		{"40 minutes", 0, 40 * time.Minute, false, judge.Inconclusive, judge.Sessions},
		{"the head first", 40 * time.Minute, 0, false, judge.Inconclusive, judge.Sessions},
		{"in blocks", 0, 40 * time.Minute, true, judge.Regressed, ""},
		{"some hours, but one", 0, 8 * time.Hour, false, judge.Inconclusive, judge.Sessions},
	} {
		n := 0
		runs := slices.Concat(querytest.RunsOf(&n, 1, at("base", c.base, c.blocks), wobble(1000)...), querytest.RunsOf(&n, 1, at("head", c.head, c.blocks), wobble(1300)...))
		if strings.HasSuffix(c.what, "but one") { // of each side, among the others, and of one it is not known when
			last := len(runs) - 1
			runs[0].StartedAt, runs[last].StartedAt = time.Time{}, runs[1].StartedAt.Add(time.Minute)
			runs[0].TimeSource = ""
			for _, i := range []int{0, last} {
				runs[i].RunID = schema.ULIDFrom(runs[i].StartedAt, [10]byte{byte(i)}).String()
			}
		}
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "session=last"})
		if v, r := cellOf(got, 0, "verdict"), got.Points[0].Reason; v != string(c.verdict) || r != c.reason {
			t.Errorf("%s: %s %s, want %s %s", c.what, v, r, c.verdict, c.reason)
		}
	}
}

// TestCompareLeftOut: runs of a session that has none of the other side, such as those before an interruption, do not make a point
// undecidable if the other sessions have enough of both. The comparison leaves them out, with the flag left_out.
func TestCompareLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what       string
		base, head []int // runs by session
		gate       bool
		verdict    judge.Verdict
		reason     judge.Reason
		leftOut    int
		decides    int
	}{
		{"one run before", []int{1, 7}, []int{0, 8}, false, judge.Regressed, "", 1, 0},
		{"of the head", []int{0, 8}, []int{1, 7}, true, judge.Regressed, "", 1, 0},
		{"of each side another", []int{2, 0, 7}, []int{0, 1, 8}, false, judge.Regressed, "", 3, 0},
		{"few are left", []int{1, 2}, []int{0, 3}, false, judge.Inconclusive, judge.Sessions, 0, 0},
		{"enough are left", []int{1, 4}, []int{0, 4}, false, judge.Regressed, "", 1, 0},
		{"not for a gate", []int{1, 4}, []int{0, 4}, true, judge.Inconclusive, judge.Sessions, 0, 0},
		{"most elsewhere", []int{8, 1}, []int{0, 8}, false, judge.Inconclusive, judge.Sessions, 0, 0},
		{"unequally often", []int{3, 8}, []int{8, 8}, false, judge.Inconclusive, judge.Sessions, 0, 2},
		{"one session", []int{8}, []int{8}, false, judge.Regressed, "", 0, 0},
	} {
		n := 0
		var runs []schema.Run
		for session := range max(len(c.base), len(c.head)) {
			for k := range max(c.base[session], c.head[session]) { // by turns
				for i, of := range [][]int{c.base, c.head} {
					if k < of[session] {
						runs = append(runs, querytest.RunsOf(&n, 1+session, func(r *schema.Run) {
							r.Side, r.BlockIndex, r.StartedAt = []string{"base", "head"}[i], nil, querytest.Start.Add(time.Duration(session)*time.Hour+time.Duration(n)*time.Second)
						}, []float64{1000, 1300}[i]*(1+.004*float64(k%3-1)))...)
					}
				}
			}
		}
		got := mustCompare(t, querytest.SealedRuns(t, runs), compare.Request{Base: "side=base", Head: "side=head", Rules: judge.Rules{Gate: c.gate}, Inputs: true})
		p, decides := got.Points[0], ""
		if c.decides > 0 {
			decides = querytest.SessionID(c.decides)
		}
		valuetest.DeepEqual(t, []any{p.Verdict, p.Reason, p.LeftOut, p.Decides}, []any{c.verdict, c.reason, c.leftOut, decides}, c.what)
		if in := got.Rows[0].Inputs; len(in.Base)+len(in.Head)+c.leftOut != len(runs) || slices.Contains(got.Rows[0].Flags, compare.FlagLeftOut) != (c.leftOut > 0) || (len(got.LeftOut) > 0) != (c.leftOut > 0) {
			t.Errorf("%s: %d and %d compared, sessions %q, flags %v", c.what, len(in.Base), len(in.Head), got.LeftOut, got.Rows[0].Flags)
		}
	}
}
