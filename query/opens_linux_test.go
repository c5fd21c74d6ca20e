package query_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// TestOpens counts how often a question opens a file of runs. Opening one, and reading its footer, is what a live file costs.
func TestOpens(t *testing.T) {
	t.Parallel()
	n := 0
	runs := querytest.RunsOf(&n, 1, querytest.On("", 1), 0, .01, .02, .03, .04)
	runs = append(runs, querytest.RunsOf(&n, 2, querytest.On("", 1), .5, .51, .52, .53, .54)...)
	store := querytest.LiveStore(t, runs...)
	first, second := "session_id="+runs[0].SessionID, "session_id="+runs[9].SessionID
	for name, question := range map[string]struct {
		most int
		ask  func(context.Context, *query.DB) error
	}{
		"list": {1, func(ctx context.Context, db *query.DB) error {
			_, err := db.List(ctx, query.ListRequest{Filter: "status=ok"})
			return err
		}},
		"compare": {3, func(ctx context.Context, db *query.DB) error {
			_, err := compare.Compare(ctx, db, compare.Request{Base: first, Head: second})
			return err
		}},
		"compare with a second look": {5, func(ctx context.Context, db *query.DB) error {
			_, err := compare.Compare(ctx, db, compare.Request{Base: first, Head: second, SecondLook: "cpu_user"})
			return err
		}},
		"history": {4, func(ctx context.Context, db *query.DB) error {
			_, err := history.Read(ctx, db, history.Request{})
			return err
		}},
		"report of two sides": {8, func(ctx context.Context, db *query.DB) error {
			_, _, err := summary.Read(ctx, db, summary.Request{Filter: first, Base: second})
			return err
		}},
	} {
		opens := querytest.Opens(t, store, func() {
			if err := question.ask(t.Context(), querytest.Open(t, store)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		maps.DeleteFunc(opens, func(path string, _ int) bool { return filepath.Ext(path) != ".parquet" })
		if got := slices.Max(slices.Collect(maps.Values(opens))); got > question.most || len(opens) != len(runs) {
			t.Errorf("%s: opens %d files of %d runs up to %d times, want at most %d", name, len(opens), len(runs), got, question.most)
		}
	}
}

// TestOpensOfPack: a session among many sealed files is found in the pack that has their runs, not file by file.
func TestOpensOfPack(t *testing.T) {
	t.Parallel()
	n := 0
	store := querytest.NewStore(t)
	var runs []schema.Run
	var files []schema.SealedFile
	for session := range 70 {
		own := querytest.RunsOf(&n, session, nil, 0, .01)
		runs, files = append(runs, own...), append(files, querytest.Seal(t, store, own...))
	}
	querytest.Pack(t, store, files, runs...)
	opens := querytest.Opens(t, store, func() {
		list, err := querytest.Open(t, store).List(t.Context(), query.ListRequest{Filter: "session=last"})
		if err != nil || len(list.Runs) != 2 {
			t.Errorf("%d runs, %v", len(list.Runs), err)
		}
	})
	sealed := 0
	for path := range opens {
		if strings.HasPrefix(path, schema.RunsDir) {
			sealed++
		}
	}
	if sealed > 2 {
		t.Errorf("opens %d of %d sealed files", sealed, len(files))
	}
}
