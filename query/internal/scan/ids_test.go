package scan_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// TestNewestSessions: however many runs are read first, the last sessions are those of all runs that are not removed.
func TestNewestSessions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		random := rand.New(rand.NewPCG(seed, 4))
		var runs []schema.Run
		for i := range 120 {
			began := querytest.Start.Add(time.Duration(i) * time.Hour)
			id := schema.NewULID(began).String()
			if i%7 == 0 { // of a file whose newest run is first, or of a tool that makes ids when it uploads
				id = schema.NewULID(began.Add(time.Duration(random.Int64N(100)) * time.Hour)).String()
			}
			for range 1 + random.IntN(3) {
				runs = append(runs, querytest.NewRun(len(runs), 100, func(r *schema.Run) {
					r.SessionID, r.StartedAt = id, began.Add(time.Duration(random.Int64N(10*3600e9)))
					if random.IntN(9) == 0 {
						r.SessionID = ""
					}
				}))
			}
		}
		slices.SortFunc(runs, func(a, b schema.Run) int { return a.StartedAt.Compare(b.StartedAt) })
		dir := querytest.NewStore(t)
		for rest := runs; len(rest) > 0; {
			n := min(1+random.IntN(9), len(rest))
			querytest.Seal(t, dir, rest[:n]...)
			rest = rest[n:]
		}
		removed := querytest.IDsWhere(runs, func(r *schema.Run) bool { return random.IntN(3) == 0 })
		querytest.Annotate(t, dir, ingest.Annotation{Kind: schema.EventRemove, Runs: removed})
		var want []string
		for _, r := range runs {
			if r.SessionID != "" && !slices.Contains(removed, r.RunID) {
				want = append(want, r.SessionID)
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		slices.Reverse(want)
		err := querytest.Open(t, dir).Stores().Ask(t.Context(), func(r *scan.Reader) error {
			for _, step := range []int{1, 2, 5, 20, 1 << 40} {
				for n := 1; n < len(want)+7; n += 7 {
					got, err := scan.NewestSessions(r, t.Context(), n, step)
					if err != nil {
						return err
					}
					if !slices.Equal(got, want[:min(n, len(want))]) {
						t.Errorf("seed %d, the last %d, in steps of %d: %q, of %d sessions", seed, n, step, got, len(want))
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
