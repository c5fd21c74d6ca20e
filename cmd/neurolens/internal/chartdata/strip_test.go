package chartdata_test

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
)

// TestStrip: each run is in the row of its point, at the median that query has of it, in the metric that was asked for; runs with a warning
// are told from others, and failed ones are left out.
func TestStrip(t *testing.T) {
	runs := twelve()
	db := stored(t, runs...)
	for _, metric := range []string{"latency", "accuracy"} {
		f, found, err := maker.Strip(ctx, db, chartdata.Sampled{SamplesRequest: query.SamplesRequest{Metric: metric}})
		sound(t, f, err)
		list, err := db.List(ctx, query.ListRequest{Filter: "status=ok", Metrics: []string{metric}})
		ok(t, err)
		at := map[string]chart.Mark{}
		for s, k := range f.All() {
			if at[k.Run] = k; (s.ToneOf(k) == chart.Warned) != strings.HasSuffix(k.Text, "drift") {
				t.Errorf("%s: %s", s.Name, k.Text)
			}
		}
		for _, r := range list.Runs {
			k := at[r.RunID]
			if k.X != *r.Median || f.Y.Categories[int(k.Y)] != map[int64]string{1: "bs=1", 8: "bs=8"}[*r.BatchSize] {
				t.Errorf("%s of %s is %v in %s", metric, r.RunID, k.X, f.Y.Categories[int(k.Y)])
			}
		}
		if len(at) != len(list.Runs) || found.Metric != metric || f.X.Label != metric || strings.Join(f.Words(chart.Warned), " ") != "drift" {
			t.Errorf("%d marks of %d runs, %q", len(at), len(list.Runs), f.Notes)
		}
	}
	f, _, err := maker.Strip(ctx, db, chartdata.Sampled{Marks: 8})
	ok(t, err)
	if f.Marks() != 8 || !strings.Contains(strings.Join(f.Notes, "\n"), "only the newest 4 runs") {
		t.Errorf("%d marks, %q", f.Marks(), f.Notes)
	}
	for _, k := range f.All() {
		if k.Run < runs[len(runs)-20].RunID {
			t.Errorf("%s is not one of the newest", k.Text)
		}
	}
}

// TestStripOfSides: the base of each point stands before its head, whichever ran first.
func TestStripOfSides(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for n, side := range []string{"head", "base", "base", "head"} {
		r := runOf(n, 0, int64(1+n/2), 64, 1000)
		r.Side = side
		runs = append(runs, r)
	}
	f, _, err := maker.Strip(ctx, stored(t, runs...), chartdata.Sampled{})
	sound(t, f, err)
	if got := strings.Join(f.Y.Categories, ", "); got != "bs=1 base, bs=1 head, bs=2 base, bs=2 head" {
		t.Errorf("the rows are %s", got)
	}
}

// TestChosen: of more points than there is room for those are drawn that have each value of each axis, and the title says so; a strip has
// a row for each of 60.
func TestChosen(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for n := range 24 {
		r := runOf(n, 0, int64(1)<<(n/2%6), int64(64*(1+n/12)), 1000)
		r.Precision = []string{"fp16", "fp32"}[n%2]
		r.PointID = schema.PointID(&r)
		runs = append(runs, r)
	}
	db := stored(t, runs...)
	f, _, err := maker.Runs(ctx, db, chartdata.Sampled{})
	sound(t, f, err)
	var titles []string
	for _, p := range f.Panels {
		titles = append(titles, p.Title)
	}
	all := strings.Join(titles, " ") + " "
	for _, word := range []string{"bs=1 ", "bs=2 ", "bs=4 ", "bs=8 ", "bs=16 ", "bs=32 ", "fp16 ", "fp32 ", "dim=64 ", "dim=128 "} {
		if !strings.Contains(all, word) {
			t.Errorf("no panel of %s: %q", word, titles)
		}
	}
	if len(titles) != 12 || !strings.HasSuffix(f.Title, " · 12 of 24 points, others by a filter such as dim=64") {
		t.Errorf("%d panels of %q", len(titles), f.Title)
	}
	if f, _, err = maker.Strip(ctx, db, chartdata.Sampled{}); err != nil || len(f.Y.Categories) != 24 {
		t.Errorf("%d rows, %v", len(f.Y.Categories), err)
	}
}

// TestWithoutAxis: points without a value of an axis of numbers are counted, and the other points are drawn.
func TestWithoutAxis(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for n := range 6 {
		r := runOf(n, 0, 1, 64, 1000)
		r.BatchSize, r.Benchmark = nil, "other"
		if n < 3 {
			r.BatchSize, r.Benchmark = new(int64(1)<<n), "matmul"
		}
		r.PointID = schema.PointID(&r)
		runs = append(runs, r)
	}
	f, err := maker.Lines(points(t, stored(t, runs...), ""))
	sound(t, f, err)
	if notes := strings.Join(f.Notes, "\n"); f.Marks() != 3 || !strings.Contains(notes, "1 point without batch_size not drawn: other") {
		t.Errorf("%d marks, %q", f.Marks(), notes)
	}
}
