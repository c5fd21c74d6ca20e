package compare

import (
	"context"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/scan"
)

// selectedSide is one side: its description, its strata, and how to read its runs.
type selectedSide struct {
	Side
	Sel    scan.Selection
	Strata []Stratum
	Kinds  []metricKind // the different kinds of the ok runs
}

// Sessionless reports whether some run has no session.
func (s *selectedSide) Sessionless() bool {
	return slices.ContainsFunc(s.Strata, func(t Stratum) bool { return t.Session == "" })
}

// onlyMachine is the machine of all runs, if there is only one.
func (s *selectedSide) onlyMachine() (machine string, ok bool) {
	other := func(t Stratum) bool { return t.machine != s.Strata[0].machine }
	return s.Strata[0].machine, !slices.ContainsFunc(s.Strata, other)
}

// Has reports whether some run is on the named side (base or head) of its session.
func (s *selectedSide) Has(name string) bool {
	return slices.ContainsFunc(s.Strata, func(t Stratum) bool { return t.side == name })
}

// Side describes a side.
type Side struct {
	Filter            string
	Runs              int
	Sessions          []string // ids, oldest first
	Machines, Commits []string // ascending
	NoSession         int      // number of runs without a session
	NoMachine         int      // number of runs without a machine
	NoCommit          int      // number of runs without a commit
	Dirty             int      // number of runs with uncommitted changes
	Imported          int      // number of runs that were imported from files of other tools
	FactRuns          int      // number of runs whose facts were read
	Since, Until      int64    // starts of the first and the last run in Unix microseconds; 0: unknown

	Narrowed string // Filter, narrowed to the runs that are compared
}

// selectSide compiles the filter of a side and reads its strata.
func selectSide(ctx context.Context, r *scan.Reader, filter string) (*selectedSide, error) {
	sel, err := r.Selected(ctx, scan.Question{Filter: filter})
	if err != nil {
		return nil, err
	}
	s := &selectedSide{Side: Side{Narrowed: filter}, Sel: sel}
	return s, s.stratify(ctx, r)
}

// bothFilters is the filter of the runs that match two filters.
func bothFilters(a, b string) string {
	a = strings.TrimSpace(a)
	switch {
	case a == "":
		return b
	case strings.ContainsAny(a, " \t\n"):
		return "(" + a + ") " + b
	}
	return a + " " + b
}

// orAllRuns is the filter or, if it is empty, one that matches all runs.
func orAllRuns(filter string) string {
	if strings.TrimSpace(filter) == "" {
		return "not run_id=null"
	}
	return filter
}
