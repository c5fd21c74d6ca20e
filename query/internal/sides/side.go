// Package sides reads what is compared: the runs of each side of a comparison, gathered by point.
//
// Select compiles the filter of a side and finds what its runs are of (strata). Read gathers the runs of both sides into a
// Group for each point, machine and metric: their locations, in which order and where they ran, and what is out of the
// ordinary with them (Notes).
package sides

import (
	"context"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/scan"
)

// Selected is one side: its runs by session and machine, and how to find them.
type Selected struct {
	Side
	Sel    scan.Selection
	Strata []Stratum
	Kinds  []Kind // of the ok runs
}

// Sessionless tells whether some run says no session.
func (s *Selected) Sessionless() bool {
	return slices.ContainsFunc(s.Strata, func(t Stratum) bool { return t.Session == "" })
}

// onlyMachine is the machine of all runs, if it is one.
func (s *Selected) onlyMachine() (machine string, ok bool) {
	other := func(t Stratum) bool { return t.machine != s.Strata[0].machine }
	return s.Strata[0].machine, !slices.ContainsFunc(s.Strata, other)
}

// Has tells whether some run is of that side of its session.
func (s *Selected) Has(name string) bool {
	return slices.ContainsFunc(s.Strata, func(t Stratum) bool { return t.side == name })
}

// Side says what a side is.
type Side struct {
	Filter            string
	Runs              int
	Sessions          []string // ids, the oldest first
	Machines, Commits []string // ascending
	NoSession         int      // runs that do not say their session
	NoMachine         int      // or their machine
	NoCommit          int      // or their commit
	Dirty             int      // runs of code with changes that no commit has
	Imported          int      // runs that were read from files of other tools
	FactRuns          int      // of so many the facts were read, in which sides may differ
	Since, Until      int64    // starts of the first and the last run in Unix microseconds; 0 where not known

	Narrowed string // Filter, narrowed to the runs that are meant
}

// Select compiles the filter of a side, and finds what its runs are of.
func Select(ctx context.Context, r *scan.Reader, filter string) (*Selected, error) {
	sel, err := r.Selected(ctx, scan.Question{Filter: filter})
	if err != nil {
		return nil, err
	}
	s := &Selected{Side: Side{Narrowed: filter}, Sel: sel}
	return s, s.stratify(ctx, r)
}

// Both is the filter of what matches two.
func Both(a, b string) string {
	a = strings.TrimSpace(a)
	switch {
	case a == "":
		return b
	case strings.ContainsAny(a, " \t\n"):
		return "(" + a + ") " + b
	}
	return a + " " + b
}

// OrAll is a filter that matches all in place of none.
func OrAll(filter string) string {
	if strings.TrimSpace(filter) == "" {
		return "not run_id=null"
	}
	return filter
}
