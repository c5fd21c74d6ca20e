package scan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// TestNewestSessions: however many runs are read first, the last sessions are those of all runs that are not removed, with
// all that began at the same time.
func TestNewestSessions(t *testing.T) {
	t.Parallel()
	seeds := uint64(1)
	if querytest.Long() {
		seeds = 2
	}
	for seed := range seeds {
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
		for i := range 4 { // without a start, also in a session that its log names
			runs = append(runs, querytest.NewRun(len(runs), 100, func(r *schema.Run) {
				r.StartedAt, r.TimeSource = time.Time{}, ""
				r.RunID = schema.ULIDFrom(time.Time{}, [10]byte{byte(i)}).String()
				r.SessionID = schema.ULIDFrom(time.UnixMilli(int64(i)), [10]byte{byte(i)}).String()
			}))
		}
		slices.SortFunc(runs, func(a, b schema.Run) int { return a.StartedAt.Compare(b.StartedAt) })
		dir, most := querytest.NewStore(t), 9 // runs of a file: about 50 files, which are read without DuckDB
		if seed%2 == 0 {
			most = 3
		}
		for rest := runs; len(rest) > 0; {
			n := min(1+random.IntN(most), len(rest))
			querytest.Seal(t, dir, rest[:n]...)
			rest = rest[n:]
		}
		removed := querytest.IDsWhere(runs, func(r *schema.Run) bool { return random.IntN(3) == 0 })
		querytest.Annotate(t, dir, ingest.Annotation{Kind: schema.EventRemove, Runs: removed})
		var want []string
		for _, r := range runs {
			if id, err := schema.ParseULID(r.SessionID); err == nil && id.Dated() && !slices.Contains(removed, r.RunID) {
				want = append(want, r.SessionID)
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		slices.Reverse(want)
		err := querytest.Open(t, dir).Stores().Query(t.Context(), func(r *scan.Reader) error {
			for _, step := range []int{1, 2, 5, 20, 1 << 40} {
				for n := 1; n < len(want)+7; n += 7 {
					got, err := scan.NewestSessions(r, t.Context(), n, step)
					if err != nil {
						return err
					}
					end := min(n, len(want))
					for end < len(want) && want[end][:10] == want[end-1][:10] { // began at the same time
						end++
					}
					if !slices.Equal(got, want[:end]) {
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

// TestSameIDs: ids are found in few files, which are read without DuckDB, as in many.
func TestSameIDs(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for n := range scan.FewFiles + 6 {
		runs = append(runs, querytest.NewRun(n, 1000, func(r *schema.Run) {
			r.SessionID, r.Env.GitCommit = querytest.SessionID(n/9), fmt.Sprintf("%040x", 1<<(n/9))
			if n%5 == 4 {
				r.SessionID, r.Env.GitCommit = "", ""
			}
		}))
	}
	few, many := querytest.LiveStore(t, runs[0]), querytest.LiveStore(t, runs[0])
	querytest.Seal(t, few, runs[1:40]...)
	querytest.Seal(t, few, runs[40:]...)
	for i := range runs[1:] {
		querytest.Seal(t, many, runs[1+i])
	}
	for _, dir := range []string{few, many} {
		querytest.Annotate(t, dir, ingest.Annotation{Kind: schema.EventRemove, Runs: []string{runs[0].RunID, runs[7].RunID}})
	}
	var values [][2]string // keys and values
	for _, r := range []schema.Run{runs[0], runs[1], runs[7], runs[30], runs[69]} {
		for _, id := range []string{r.RunID, strings.ToLower(r.RunID), r.RunID[18:], r.RunID[25:], r.RunID[:10], r.RunID[:1], "", "Z"} {
			values = append(values, [2]string{filter.KeyRun, id})
		}
		if r.SessionID == "" {
			continue
		}
		for _, id := range []string{r.SessionID, r.SessionID[20:], r.SessionID[:2], "last", "last~1", "last~7", "last~9"} {
			values = append(values, [2]string{filter.KeySession, id})
		}
		for _, id := range []string{r.Env.GitCommit, r.Env.GitCommit[:39], r.Env.GitCommit[:5], "f"} {
			values = append(values, [2]string{filter.KeyCommit, id})
		}
	}
	found := 0
	for _, v := range values {
		var texts [2]string
		for i, dir := range []string{few, many} {
			err := querytest.Open(t, dir).Stores().Query(t.Context(), func(r *scan.Reader) error {
				ids, err := scan.IDs(r, t.Context(), v[0], v[1])
				texts[i] = fmt.Sprint(ids, err)
				found += len(ids)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if texts[0] != texts[1] {
			t.Errorf("%s=%s: in few files %s, in many %s", v[0], v[1], texts[0], texts[1])
		}
	}
	if found < 40 {
		t.Errorf("only %d ids are found", found)
	}
}
