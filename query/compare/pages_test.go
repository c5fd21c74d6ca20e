package compare_test

import (
	"context"
	"errors"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
)

// TestPagesEnd: an error of Pages ends a comparison, and so does a context that is cancelled meanwhile.
func TestPagesEnd(t *testing.T) {
	t.Parallel()
	db := querytest.Open(t, querytest.NewStore(t, twoSides()...))
	full := errors.New("the disk is full")
	_, err := compare.Compare(t.Context(), db, compare.Request{Pages: func([]compare.Row) error { return full }})
	if !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = compare.Compare(ctx, db, compare.Request{Pages: func([]compare.Row) error { cancel(); return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
