package scan_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/internal/scan"
)

// TestLoadLive compares the rows of stores before and after their live files were loaded. Afterwards these are not opened again: the
// answers stay the same without them.
func TestLoadLive(t *testing.T) {
	t.Parallel()
	runs := querytest.ManyRuns(60)
	first, second := querytest.LiveStore(t, runs[40:]...), querytest.LiveStore(t, runs[50:]...)
	querytest.Seal(t, first, runs[:20]...)
	querytest.Seal(t, second, runs[10:45]...)
	for name, dirs := range map[string][]string{
		"events": {directStore(t)}, "every value": {querytest.MixedStore(t)}, "copies": {first, second}, "empty": {querytest.NewStore(t)},
	} {
		for _, stores := range []*scan.Stores{querytest.Open(t, dirs...).Stores(), querytest.Open(t, dirs...).Stores().WithRemoved()} {
			err := stores.Query(t.Context(), func(r *scan.Reader) error {
				want, err := rowsOfTables(t.Context(), r)
				if err != nil {
					return err
				}
				if err := r.LoadLive(t.Context()); err != nil {
					return err
				}
				got, err := rowsOfTables(t.Context(), r)
				for i := range got { // NaN is equal in texts
					if g, w := fmt.Sprintf("%#v", got[i]), fmt.Sprintf("%#v", want[i]); g != w {
						t.Errorf("%s: the loaded rows are\n%s\nwant\n%s", name, g, w)
					}
				}
				return err
			})
			if err != nil {
				t.Error(name, err)
			}
		}
	}
	err := querytest.Open(t, first, second).Stores().Query(t.Context(), func(r *scan.Reader) error {
		if err := r.LoadLive(t.Context()); err != nil {
			return err
		}
		for _, path := range r.Src.Paths(r.Src.Live) {
			if err := os.Rename(path, path+".away"); err != nil {
				return err
			}
			defer func() {
				if err := os.Rename(path+".away", path); err != nil {
					t.Error(err)
				}
			}()
		}
		all, err := r.Conn.Table(t.Context(), duck.Statement{SQL: r.Src.RunsSQL()})
		if err == nil && len(all.Rows) != len(runs) {
			t.Errorf("%d rows, want %d", len(all.Rows), len(runs))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// rowsOfTables returns the rows of runs, samples and ops, in the order of the runs.
func rowsOfTables(ctx context.Context, r *scan.Reader) (all []answer.Table, err error) {
	if err := r.ApplyEvents(ctx); err != nil {
		return nil, err
	}
	for _, text := range []string{r.Src.RunsSQL() + " ORDER BY run_id", r.Src.SamplesSQL("") + " ORDER BY run_id, metric", r.Src.OpsSQL("") + " ORDER BY run_id, op"} {
		t, err := r.Conn.Table(ctx, duck.Statement{SQL: text})
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}
