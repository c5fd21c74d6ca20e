package query_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/check"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestNewestRemoved: if the newest runs are removed, more of a store of many files is read.
func TestNewestRemoved(t *testing.T) {
	t.Parallel()
	runs := querytest.ManyRuns(120)
	dir := querytest.NewStore(t)
	for few := range slices.Chunk(runs, 3) {
		querytest.Seal(t, dir, few...)
	}
	var removed []string
	for _, r := range runs[len(runs)-9:] {
		removed = append(removed, r.RunID)
	}
	s := valuetest.Must(ingest.Open(dir, "test"))
	valuetest.Must(s.Annotate(ingest.Annotation{Kind: schema.EventRemove, Runs: removed}))
	valuetest.OK(t, s.Close())
	for limit, want := range map[int][]int{1: {110}, 5: {110, 109, 108, 107, 106}, 9: {110, 109, 108, 107, 106, 105, 104, 103, 102}} {
		l := valuetest.Must(querytest.Open(t, dir).List(context.Background(), query.ListRequest{Limit: limit}))
		var got []int
		for i := range l.Runs {
			got = append(got, slices.IndexFunc(runs, func(r schema.Run) bool { return r.RunID == l.Runs[i].RunID }))
		}
		valuetest.DeepEqual(t, got, want, "limit", limit)
		valuetest.Equal(t, l.Total, 111, "limit", limit)
	}
}

// TestNewestCompacted: of removed runs that a compaction left out the events are still there. The number of all runs is right in spite of them,
// also if other runs were removed and added since.
func TestNewestCompacted(t *testing.T) {
	t.Parallel()
	runs := querytest.ManyRuns(90)
	from := querytest.NewStore(t, runs[:80]...)
	remove(t, from, runs[5:35])
	into := compact(t, from)
	checkNewest(t, "compacted", 50, into)
	remove(t, into, runs[40:44])
	checkNewest(t, "removed since", 46, into)
	querytest.Append(t, into, runs[80:83]...)
	checkNewest(t, "with live runs", 49, into)
	remove(t, into, runs[81:82])
	checkNewest(t, "a live run removed", 48, into)
	querytest.Append(t, into, runs[83:]...)
	checkNewest(t, "with runs of two files", 55, into)
}

// remove removes runs of a store.
func remove(t *testing.T, dir string, runs []schema.Run) {
	t.Helper()
	all := func(*schema.Run) bool { return true }
	querytest.Annotate(t, dir, ingest.Annotation{Kind: schema.EventRemove, Runs: querytest.IDsWhere(runs, all)})
}

// checkNewest lists the newest runs of stores that have so many, with limits that lie around that number.
func checkNewest(t *testing.T, when string, all int, dirs ...string) {
	t.Helper()
	for _, limit := range []int{1, all / 2, all/2 + 1, all - 1, all, all + 1, 0} {
		l := valuetest.Must(querytest.Open(t, dirs...).List(t.Context(), query.ListRequest{Limit: limit}))
		want := min(limit, all)
		if limit == 0 {
			want = all
		}
		valuetest.Equal(t, len(l.Runs), want, when, "limit", limit)
		valuetest.Equal(t, l.Total, all, when, "limit", limit)
	}
}

// compact makes a compacted store of a store.
func compact(t *testing.T, from string) string {
	t.Helper()
	into := filepath.Join(t.TempDir(), "into")
	valuetest.Must(ingest.Compact(t.Context(), from, into, "test", func(left ingest.LeftOut) { t.Errorf("left out: %+v", left) }))
	return into
}

// TestNewestMerged: a store into which a compacted one was merged has removals of runs that neither has.
func TestNewestMerged(t *testing.T) {
	t.Parallel()
	runs := querytest.ManyRuns(60)
	older := querytest.NewStore(t, runs[50:]...)
	from := querytest.NewStore(t, runs[:50]...)
	remove(t, from, runs[10:30])
	compacted := compact(t, from)
	store, err := ingest.Open(older, "test")
	valuetest.OK(t, err)
	_, err = store.Merge(t.Context(), compacted, ingest.Merging{Refused: func(left ingest.LeftOut) { t.Errorf("refused: %+v", left) }})
	valuetest.OK(t, errors.Join(err, store.Close()))
	checkNewest(t, "merged", 40, older)
}

// TestNewestRepaired: a repair loses runs that were removed, and the events stay.
func TestNewestRepaired(t *testing.T) {
	t.Parallel()
	runs := querytest.ManyRuns(60)
	dir := compact(t, querytest.NewStore(t, runs[:40]...)) // where no claim has the runs any more
	first, err := filepath.Glob(filepath.Join(dir, schema.RunsDir, "*", "*"))
	valuetest.DeepEqual(t, []any{err, len(first)}, []any{nil, 1}, "the store", first)
	querytest.Append(t, dir, runs[40:]...)
	remove(t, dir, runs[:5])
	checkNewest(t, "removed", 55, dir)
	valuetest.OK(t, os.Truncate(first[0], 100))
	repairer := valuetest.Must(check.OpenToRepair(dir, "test"))
	_, err = repairer.Repair(t.Context(), func(check.Repair) {})
	valuetest.OK(t, errors.Join(err, repairer.Close()))
	checkNewest(t, "repaired", 20, dir)
}

// TestNewestOfCopies: runs of two stores, in files of different names, count once.
func TestNewestOfCopies(t *testing.T) {
	t.Parallel()
	runs := querytest.ManyRuns(30)
	dir := querytest.NewStore(t, runs...)
	const month = 32 * 24 * 60 * 60
	for i := range runs {
		runs[i] = querytest.NewRun(month+i, 100_000, nil)
	}
	querytest.Append(t, dir, runs...)
	checkNewest(t, "a store and what it was compacted into", 60, dir, compact(t, dir))
}

// TestNewestTwice: a live run that is also in a sealed file counts once, even if that file is not among those that
// can contain the newest runs.
func TestNewestTwice(t *testing.T) {
	t.Parallel()
	runs := querytest.ManyRuns(40)
	dir := querytest.NewStore(t)
	for some := range slices.Chunk(runs, 10) {
		querytest.Seal(t, dir, some...)
	}
	querytest.Append(t, dir, runs[3], runs[39])
	db := querytest.Open(t, dir)
	for _, limit := range []int{1, 5, 30, 100} {
		l := valuetest.Must(db.List(context.Background(), query.ListRequest{Limit: limit}))
		if l.Total != 40 || len(l.Runs) != min(limit, 40) || l.Runs[0].RunID != runs[39].RunID {
			t.Errorf("limit %d: %d runs of %d, the first is %v", limit, len(l.Runs), l.Total, l.Runs[0])
		}
	}
}

// TestPagesNewest: the newest matching runs, found without counting all of many runs, are those that List gives.
func TestPagesNewest(t *testing.T) {
	querytest.NeedsLong(t)
	t.Parallel()
	const many = 54_000
	dir := t.TempDir() + "/store"
	querytest.SyntheticStore(t, dir, querytest.Synthetic{Runs: many, PerFile: 3_000, Samples: 1, Packs: 2, Events: 10})
	querytest.Append(t, dir, querytest.NewRun(1, 1000, func(r *schema.Run) { r.Params["dim"] = "wide" }), querytest.NewRun(2, 1000, nil))
	db := querytest.Open(t, dir)
	ctx := context.Background()
	const old, both = "git_commit=30", "git_commit=30,33" // of the oldest thousand runs, and of a thousand that are later
	for _, c := range []struct {
		filter string
		where  string // the same as SQL
		limit  int
		of     int // how many match, at least
	}{
		{"precision=bf16", "precision = 'bf16'", 100, many / 3},
		{"tag.kept=yes", "tags['kept'] = 'yes'", 3, 4},
		{"tag.kept=yes", "tags['kept'] = 'yes'", 100, 4}, // fewer than wanted
		{old, "git_commit = '30'", 10, 900},
		{old, "git_commit = '30'", 4_000, 900},
		{both, "git_commit IN ('30', '33')", 1_500, 1_900},
		{old + " repeat_index=0 bs=1 dim=64", "git_commit = '30' AND repeat_index = 0 AND batch_size = 1 AND params['dim'] = '64'", 4_000, 30},
		{"batch_size=3", "batch_size = 3", 10, 0},
		{"tag.kept=no", "tags['kept'] = 'no'", 4_096, 0},
		{"dim>100", "TRY_CAST(params['dim'] AS DOUBLE) > 100", 10, many / 2}, // a newer one is no number
		{"dim>100 " + old, "TRY_CAST(params['dim'] AS DOUBLE) > 100 AND git_commit = '30'", 4_000, 500},
		{"dim>1000", "TRY_CAST(params['dim'] AS DOUBLE) > 1000", 10, 0},
		{"bs>=16", "batch_size >= 16", 5_000, many / 11}, // more than a page
		{"status=ok", "status = 'ok'", 4_096, many - 2},
	} {
		req := query.ListRequest{Filter: c.filter, Limit: c.limit}
		want, err := db.List(ctx, req)
		valuetest.OK(t, err, c.filter)
		same := valuetest.Must(sql.Select(ctx, db, fmt.Sprintf("SELECT run_id, count(*) OVER () FROM runs WHERE %s ORDER BY run_id DESC LIMIT %d", c.where, c.limit)))
		if !slices.EqualFunc(want.Runs, same.Rows, func(a query.ListedRun, b []any) bool { return a.RunID == b[0] }) || want.Total < c.of || c.of == 0 && want.Total > 0 {
			t.Errorf("%q: List gives %d runs of %d, SQL %d", c.filter, len(want.Runs), want.Total, len(same.Rows))
		}
		if len(same.Rows) > 0 && same.Rows[0][1] != int64(want.Total) {
			t.Errorf("%q: Total is %d, want %v", c.filter, want.Total, same.Rows[0][1])
		}
		got := querytest.Pages(t, db, req, "run_id", "p50")
		if !slices.EqualFunc(want.Runs, got.Rows, func(a query.ListedRun, b []any) bool { return a.RunID == b[0] && *a.Median == b[1] }) {
			t.Errorf("%q, limit %d: Pages gives %d rows, List %d", c.filter, c.limit, len(got.Rows), len(want.Runs))
		}
		counted := strings.HasPrefix(c.filter, "dim") && !strings.Contains(c.filter, old) // the run whose dim is wide is a later one
		if !maps.Equal(got.NotNumbers, want.NotNumbers) || (want.NotNumbers["dim"] == 1) != counted {
			t.Errorf("%q: values that are no numbers: Pages %v, List %v", c.filter, got.NotNumbers, want.NotNumbers)
		}
	}
}
