package query_test

import (
	"os"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestKept: answers of a DB that is kept open use the files of its first question, until one of these disappears.
func TestKept(t *testing.T) {
	dir := querytest.LiveStore(t, querytest.NewRun(1, 1000, nil), querytest.NewRun(2, 1001, nil))
	db := querytest.Open(t, dir)
	kept := db.Snapshot()
	want := func(of *query.DB, runs ...int) {
		t.Helper()
		got := querytest.IDs(t, of, query.ListRequest{})
		if slices.Sort(got); !slices.Equal(got, runs) {
			t.Errorf("got %v, want %v", got, runs)
		}
	}
	want(kept, 1, 2)
	querytest.Append(t, dir, querytest.NewRun(3, 1002, nil))
	want(kept, 1, 2)
	want(kept.WithoutWarnings(), 1, 2)
	want(db, 1, 2, 3)
	valuetest.OK(t, os.Remove(querytest.LiveFiles(t, dir)[0]))
	left := querytest.IDs(t, db, query.ListRequest{})
	slices.Sort(left)
	valuetest.Equal(t, len(left), 2, left)
	want(kept, left...)
}
