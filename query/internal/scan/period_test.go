package scan_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// TestSpans: whether periods overlap is what comparing each with each says.
func TestSpans(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() [2]int64 {
		first := random.Int64N(60)
		return [2]int64{first, first + random.Int64N(6)}
	}
	for range 500 {
		all := make([][2]int64, random.IntN(8))
		for i := range all {
			all[i] = draw()
		}
		spans, asked := scan.NewSpans(slices.Clone(all)), draw()
		hit := slices.ContainsFunc(all, func(p [2]int64) bool { return p[0] <= asked[1] && asked[0] <= p[1] })
		if spans.Miss(asked[0], asked[1]) == hit {
			t.Fatalf("%v overlaps one of %v: %t, and it is not so by %v", asked, all, hit, spans)
		}
	}
}

// TestBounds: a run without a start, whose time is 0, is within no bounds, and the second bound is not part of the period.
func TestBounds(t *testing.T) {
	t.Parallel()
	at := func(ms int64) time.Time { return time.UnixMilli(ms) }
	for _, c := range []struct {
		bounds      scan.Period
		first, last int64
		want        bool
	}{
		{scan.NewPeriod(time.Time{}, time.Time{}), 0, 0, true},
		{scan.NewPeriod(time.Time{}, at(50)), 0, 0, false},
		{scan.NewPeriod(time.Time{}, at(50)), 49, 90, true},
		{scan.NewPeriod(time.Time{}, at(50)), 50, 90, false},
		{scan.NewPeriod(at(50), time.Time{}), 0, 49, false},
		{scan.NewPeriod(at(50), time.Time{}), 0, 50, true},
	} {
		if got := c.bounds.Overlap(c.first, c.last); got != c.want {
			t.Errorf("%+v and %d to %d: %t", c.bounds, c.first, c.last, got)
		}
	}
}

// TestWindows: each matching run is in one window, and there are as few windows as the number of matching runs permits. A store of 60 runs has
// 10 files of 6.
func TestWindows(t *testing.T) {
	t.Parallel()
	dir := querytest.NewStore(t)
	var runs []schema.Run
	for n := range 60 {
		runs = append(runs, querytest.NewRun(n, 100, func(r *schema.Run) {
			r.StartedAt = querytest.Start.Add(time.Duration(n) * time.Hour)
			r.BatchSize, r.SeqLen = new(int64(n%2)), new(int64(n/20*10+n/19))
		}))
	}
	for n := 0; n < len(runs); n += 6 {
		querytest.Seal(t, dir, runs[n:n+6]...)
	}
	tests := []struct {
		filter             string
		matching, atATime  int
		windows, inLargest int
	}{
		{"", 60, 6, 10, 6},
		{"", 60, 60, 1, 60},
		{"bs=1", 30, 6, 5, 6},
		{"bs=1", 30, 12, 3, 12},
		{"bs=1", 30, 30, 1, 30},
		{"seq_len=0", 19, 6, 4, 6}, // the last window has one run, and all later ones none
		{"seq_len=23", 3, 6, 1, 3}, // only the last window has some
		{"seq_len=99", 0, 6, 1, 0},
	}
	for _, test := range tests {
		err := querytest.Open(t, dir).Stores().Query(t.Context(), func(r *scan.Reader) error {
			sel, err := r.Selected(t.Context(), scan.Question{Filter: test.filter})
			if err != nil {
				return err
			}
			windows, err := r.Windows(t.Context(), sel, test.atATime)
			if err != nil {
				return err
			}
			all, most := 0, 0
			for _, b := range windows {
				part, columns := sel, sel.Columns
				part.Src = sel.Src.Within(b)
				part.Restrict(b)
				row, err := r.Conn.One(t.Context(), duck.Statement{
					SQL: "SELECT count(*) FROM " + part.Src.Scan(scan.WithRunID(columns), part.SQL), Args: part.Args,
				})
				if err != nil {
					return err
				}
				n := int(duck.Integer(row[0]))
				all, most = all+n, max(most, n)
			}
			if len(windows) != test.windows || all != test.matching || most != test.inLargest {
				t.Errorf("%+v: %d windows with %d runs, at most %d", test, len(windows), all, most)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
