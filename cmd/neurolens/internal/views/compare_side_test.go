package views

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
)

// TestCompareSideNamesChanges: two sides of one commit are told apart where one of them has changes that no commit has.
func TestCompareSideNamesChanges(t *testing.T) {
	t.Parallel()
	w := Comparison{}
	for dirty, want := range map[int]string{
		0: "head  side=head  4bc7cc6  12 runs",
		3: "head  side=head  4bc7cc6 (3 runs with uncommitted changes)  12 runs",
		// As bench says it.
		12: "head  side=head  4bc7cc6 + uncommitted changes  12 runs",
	} {
		side := compare.Side{Filter: "side=head", Runs: 12, Dirty: dirty, Commits: []string{"4bc7cc6" + strings.Repeat("0", 33)}}
		if got := w.side("head", side); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
