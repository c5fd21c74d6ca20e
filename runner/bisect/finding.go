package bisect

import (
	"slices"

	"github.com/neurolens/neurolens/runner/worktree"
)

// Finding is what a search says of a commit, or of a point in which the ends are not known to differ.
type Finding struct {
	Result Result
	Commit worktree.Commit
	Step   Step // what is known of it; the zero step where it was not tested
}

// Result is the word for a finding.
type Result string

// The results of a search.
const (
	First     Result = "first_changed"
	Candidate Result = "candidate"
	Unchanged Result = "unchanged"    // the ends do not differ in a point
	Open      Result = "inconclusive" // it is not known whether they do
	Failed    Result = "failed"       // one of them cannot be measured
)

// Findings are those of an end: one of each candidate; where there is none, one of each point.
func (s *Search) Findings(end End) []Finding {
	var all []Finding
	for _, c := range end.Candidates {
		result := Candidate
		if len(end.Candidates) == 1 {
			result = First
		}
		all = append(all, Finding{result, c, s.found(c)})
	}
	for _, step := range end.Unchanged {
		all = append(all, Finding{step.ofEnds(), s.History.Bad, step})
	}
	return all
}

// ofEnds is what a step says of a point in which the ends were not found to differ.
func (s *Step) ofEnds() Result {
	switch {
	case s.Reason != "":
		return Failed
	case s.Result == Good:
		return Unchanged
	}
	return Open
}

// Unmeasured tells that one of the ends could not be measured, in any point.
func (e End) Unmeasured() bool {
	works := func(s Step) bool { return s.ofEnds() != Failed }
	return len(e.Unchanged) > 0 && !slices.ContainsFunc(e.Unchanged, works)
}

// Measured is how many blocks were measured in all: of the points by which commits were told apart, or of those in which
// the ends do not differ.
func (s *Search) Measured(end End) (blocks int) {
	for _, step := range slices.Concat(s.Steps, end.Unchanged) {
		blocks += step.Blocks
	}
	return blocks
}
