package query_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestWhole: each matching run is passed on with all data of its metrics, as Show gives it, wherever it is stored.
func TestWhole(t *testing.T) {
	t.Parallel()
	runs := append(querytest.ManyRuns(5), querytest.Everything())
	live := querytest.Open(t, querytest.NewStore(t, runs...))
	for name, db := range map[string]*query.DB{"live": live, "sealed": querytest.SealedRuns(t, runs)} {
		var got []schema.Run
		found := valuetest.Must(db.Whole(t.Context(), query.ListRequest{}, func(r schema.Run) error { got = append(got, r); return nil }))
		valuetest.Equal(t, len(got), len(runs), name)
		valuetest.Equal(t, found.Total, len(runs), name)
		for _, run := range got {
			d := valuetest.Must(db.Show(t.Context(), run.RunID))
			want := d.Run
			want.Metrics = d.Metrics
			if !querytest.EqualValues(run, want) {
				t.Errorf("%s: %+v, want %+v", name, run, want)
			}
			if len(run.Metrics) == 0 || run.Metrics[0].Name != run.Primary {
				t.Errorf("%s: run %s begins with %+v, its primary metric is %s", name, run.RunID, run.Metrics, run.Primary)
			}
		}
		var some []string
		if _, err := db.Whole(t.Context(), query.ListRequest{Filter: "repeat_index>=1 repeat_index<=2", Sort: []string{"repeat_index"}},
			func(r schema.Run) error { some = append(some, r.RunID); return nil }); err != nil || !slices.Equal(some, []string{runs[1].RunID, runs[2].RunID}) {
			t.Errorf("%s: %q, %v", name, some, err)
		}
		ids := []string{runs[3].RunID, runs[5].RunID, runs[0].RunID}
		var of []string
		if err := db.WholeOf(t.Context(), ids, func(r schema.Run) error { of = append(of, r.RunID); return nil }); err != nil || !slices.Equal(of, ids) {
			t.Errorf("%s: of ids: %q, %v", name, of, err)
		}
		valuetest.Fails(t, db.WholeOf(t.Context(), []string{"x"}, nil), "", name, "x is no id")
		stop := errors.New("stop")
		if _, err := db.Whole(t.Context(), query.ListRequest{}, func(schema.Run) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%s: %v, want the error of the caller", name, err)
		}
	}
}
