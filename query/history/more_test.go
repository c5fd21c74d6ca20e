package history_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// sameHistory compares everything except the positions of the rows.
func sameHistory(t *testing.T, name string, got, want history.History) {
	t.Helper()
	if fmt.Sprint(got.Series, got.Known, got.Sessions, got.NoValue) != fmt.Sprint(want.Series, want.Known, want.Sessions, want.NoValue) {
		t.Errorf("%s: got %+v, want %+v", name, got.Series, want.Series)
	}
	if !reflect.DeepEqual(got.Rows, want.Rows) {
		t.Errorf("%s: got rows\n%v\nwant\n%v", name, cells(got.Rows), cells(want.Rows))
	}
}

// cells returns the rows as they are printed.
func cells(rows []history.Row) [][]any { return answer.TableOf(history.Fields(), rows).Rows }

// TestHistoryRemoved: removed runs do not affect a history, although the store has their files,
// a second store has them too, and tags were changed.
func TestHistoryRemoved(t *testing.T) {
	t.Parallel()
	runs := historyRuns()
	gone := func(r *schema.Run) bool {
		day := r.StartedAt.Sub(querytest.Start) / (24 * time.Hour)
		return day == 7 || *r.BatchSize == 1 && (day == historyShift || day == 9 && r.StartedAt.Second()%2 == querytest.Start.Second()%2)
	}
	kept := slices.DeleteFunc(slices.Clone(runs), func(r schema.Run) bool { return gone(&r) })
	removed := querytest.IDsWhere(runs, gone)
	if len(removed) < 6 || len(removed) > 10 {
		t.Fatalf("%d runs are to be removed", len(removed))
	}
	said := []ingest.Annotation{
		{Kind: schema.EventRemove, Runs: removed},
		{Kind: schema.EventTag, Runs: querytest.IDsWhere(kept, func(r *schema.Run) bool { return *r.BatchSize == 1 }), Key: "lane", Value: "fast"},
	}
	whole := historyOf(t, querytest.Open(t, querytest.NewStore(t, kept...)), history.Request{})
	fast := historyOf(t, querytest.Open(t, querytest.NewStore(t, kept...)), history.Request{Filter: "batch_size=1"})
	if whole.Sessions != historySessions-1 || len(fast.Series) != 1 || len(fast.Series[0].Changes) != 1 {
		t.Fatalf("%d sessions, %+v", whole.Sessions, fast.Series)
	}
	live, sealed := querytest.NewStore(t, runs...), querytest.NewStore(t)
	querytest.Seal(t, sealed, runs...)
	half := querytest.NewStore(t)
	querytest.Seal(t, half, runs[:len(runs)/2]...)
	querytest.Append(t, half, runs[len(runs)/3:]...)
	for name, stores := range map[string][]string{"live": {live}, "sealed": {sealed}, "some of each": {half}, "two stores": {half, sealed}} {
		if name != "two stores" && !querytest.Long() {
			continue // these are the others at once
		}
		querytest.Annotate(t, stores[len(stores)-1], said...)
		db := querytest.Open(t, stores...)
		sameHistory(t, name, historyOf(t, db, history.Request{}), whole)
		sameHistory(t, name+", by a tag", historyOf(t, db, history.Request{Filter: "tag.lane=fast"}), fast)
		for _, metric := range []string{"", "accuracy"} {
			parts, err := history.ReadInParts(context.Background(), db, history.Request{Filter: "bs=1 or bs=2", Metric: metric}, 7)
			if err != nil {
				t.Fatal(err)
			}
			sameHistory(t, name+", in parts", parts, historyOf(t, db, history.Request{Metric: metric}))
		}
	}
}

// TestHistoryPages: the pages have the same rows as one table, and an outline has the most informative ones.
func TestHistoryPages(t *testing.T) {
	t.Parallel()
	const days = 520 // 1,040 rows
	var runs []schema.Run
	for k := range days {
		for n := range 2 {
			r := historyRun(k, n, float64(100_000+k%7*100+k/300*50_000))
			r.SessionID = schema.ULIDFrom(r.StartedAt, [10]byte{8: byte(k >> 8), 9: byte(k)}).String()
			runs = append(runs, r)
		}
	}
	db := querytest.SealedRuns(t, runs)
	whole := historyOf(t, db, history.Request{})
	var pages []int
	paged := history.History{}
	h := historyOf(t, db, history.Request{Pages: func(page []history.Row) error {
		pages = append(pages, len(page))
		paged.Rows = append(paged.Rows, page...)
		return nil
	}})
	if h.Rows != nil || !slices.Equal(pages, []int{1000, 40}) {
		t.Errorf("%d rows, pages of %v", len(h.Rows), pages)
	}
	h.Rows = paged.Rows
	sameHistory(t, "pages", h, whole)

	outline := historyOf(t, db, history.Request{Outline: true})
	if len(outline.Rows) != 6 || len(outline.Series) != 2 {
		t.Fatalf("%d rows, %+v", len(outline.Rows), outline.Series)
	}
	for i, s := range outline.Series {
		of := whole.Series[i]
		if !slices.Equal(s.Locations, of.Locations) || len(s.Locations) != days || len(s.Changes) != 1 || s.Changes[0].Row != s.First+1 {
			t.Errorf("%d locations, %+v", len(s.Locations), s.Changes)
		}
		want := []history.Row{whole.Rows[of.First], whole.Rows[of.Changes[0].Row], whole.Rows[of.End-1]}
		if got := outline.Rows[s.First:s.End]; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", cells(got), cells(want))
		}
		for k, location := range of.Locations {
			if got := whole.Rows[of.First+k].Location; got != location {
				t.Errorf("row %d: %g, and %g among the locations", k, got, location)
			}
		}
	}
	full := errors.New("the disk is full")
	if _, err := history.Read(context.Background(), db, history.Request{Pages: func([]history.Row) error { return full }}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

// TestHistoryOfSessions: a session counts with the median of its runs, and starts with the first of them; runs of another
// commit, and runs without a value, are separate.
func TestHistoryOfSessions(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for i, level := range []float64{0, 90_000, 160_000, 40_000, 10_000, 70_000} {
		r := historyRun(0, 2*i, level)
		r.Env.GitCommit = fmt.Sprintf("%040x", i/4)
		if level == 0 {
			r.Metrics, r.Primary = nil, ""
			r.PointID = schema.PointID(&r)
		}
		runs = append(runs, r)
	}
	for i := range runs[1:] {
		runs[i+1].Metrics = []schema.Metric{querytest.MetricOf("latency", "ns", schema.BetterLower, *runs[i+1].Metrics[0].Summary.P50)}
	}
	runs = append(runs, historyRun(1, 0, 1e5), historyRun(1, 2, 4e5))
	for _, metric := range []string{"", "latency"} {
		h := historyOf(t, querytest.Open(t, querytest.NewStore(t, runs...)), history.Request{Metric: metric})
		if len(h.Rows) != 3 || h.Known != 1 || h.NoValue != 1 || h.Sessions != 2 {
			t.Fatalf("%d rows, %d series, %d useless, %d sessions", len(h.Rows), h.Known, h.NoValue, h.Sessions)
		}
		for i, want := range []struct {
			started  int // seconds
			runs     int
			location float64
			commit   int
		}{{2, 3, 90_000, 0}, {8, 2, 40_000, 1}, {24 * 60 * 60, 2, 250_000, 1}} {
			row := h.Rows[i]
			started := querytest.Start.Add(time.Duration(want.started) * time.Second).Truncate(time.Microsecond)
			if row.StartedAt == nil || *row.StartedAt != started || row.Runs != want.runs || math.Abs(row.Location/want.location-1) > 1e-3 || row.GitCommit != fmt.Sprintf("%040x", want.commit) {
				t.Errorf("row %d: %v, %d runs, %v of %v; want %+v", i, row.StartedAt, row.Runs, row.Location, row.GitCommit, want)
			}
		}
	}
}
