package compare_test

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
)

// TestCompareDirty: the number of runs of a side whose code has uncommitted changes.
func TestCompareDirty(t *testing.T) {
	t.Parallel()
	n := 0
	code := func(side string, dirty bool) func(*schema.Run) {
		return querytest.Of(1, func(r *schema.Run) { r.Side, r.Env.GitCommit, r.Env.GitDirty = side, "ab", &dirty })
	}
	db := querytest.SealedRuns(t, slices.Concat(querytest.RunsOf(&n, 1, code("base", false), wobble(1000)...), querytest.RunsOf(&n, 1, code("head", true), wobble(1000)...)))
	got := mustCompare(t, db, compare.Request{Base: "session=last"})
	if got.Base.Dirty != 0 || got.Head.Dirty != got.Head.Runs || got.Head.Runs != 7 {
		t.Errorf("base %d, head %d of %d", got.Base.Dirty, got.Head.Dirty, got.Head.Runs)
	}
}
