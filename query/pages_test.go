package query_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestPages: a long listing comes in pages that together have every run once and in order, whatever the order is.
func TestPages(t *testing.T) {
	querytest.NeedsLong(t)
	t.Parallel()
	dir := t.TempDir() + "/store"
	s := querytest.Synthetic{Runs: 27_000, PerFile: 3_000, Samples: 2, Packs: 2, Events: 10}
	querytest.SyntheticStore(t, dir, s)
	db := querytest.Open(t, dir)
	ctx := context.Background()
	for _, c := range []struct {
		req  query.ListRequest
		same string // SQL of the ids
	}{
		{query.ListRequest{}, "SELECT run_id FROM runs ORDER BY run_id DESC"},
		{query.ListRequest{Filter: "dim=64"}, "SELECT run_id FROM runs WHERE params['dim'] = '64' ORDER BY run_id DESC"},
		{query.ListRequest{Sort: []string{"bs", "-p99"}}, "SELECT run_id FROM runs ORDER BY batch_size, p99 DESC, run_id DESC"},
		{query.ListRequest{Sort: []string{"p99"}, Limit: 9_000}, "SELECT run_id FROM runs ORDER BY p99, run_id DESC LIMIT 9000"},
	} {
		want, err := sql.Select(ctx, db, c.same)
		valuetest.OK(t, err)
		var got []string
		pages := 0
		err = db.Pages(ctx, c.req, []string{"p50", "run_id"}, func(page query.Page) error {
			pages++
			if page.Total != len(want.Rows) && c.req.Limit == 0 || len(page.Columns) != 2 {
				return fmt.Errorf("%d runs, want %d; %v", page.Total, len(want.Rows), page.Columns)
			}
			for _, row := range page.Rows {
				got = append(got, row[1].(string))
			}
			return nil
		})
		valuetest.OK(t, err, c.req)
		same := slices.EqualFunc(got, want.Rows, func(id string, row []any) bool { return id == row[0] })
		if !same || pages < 3 {
			t.Errorf("%+v: %d runs in %d pages, want %d; in order: %v", c.req, len(got), pages, len(want.Rows), same)
		}
	}
	stop := errors.New("enough")
	valuetest.ErrorIs(t, db.Pages(ctx, query.ListRequest{}, nil, func(query.Page) error { return stop }), stop)
}
