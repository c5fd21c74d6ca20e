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
