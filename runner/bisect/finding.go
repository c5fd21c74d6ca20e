package bisect

import (
	"slices"

	"github.com/neurolens/neurolens/runner/worktree"
)

// Finding is the result for a commit, or for a point in which no difference between the ends was found.
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

// Findings are the findings for an end of the search: one for each candidate or, if there is none, one for each point.
func (s *Search) Findings(end End) []Finding {
	var all []Finding
	for _, c := range end.Candidates {
		result := Candidate
		if len(end.Candidates) == 1 {
			result = First
		}
		all = append(all, Finding{result, c, s.stepOf(c)})
	}
	for _, step := range end.Unchanged {
		all = append(all, Finding{step.ofEnds(), s.History.Bad, step})
	}
	return all
}

// ofEnds is the result for a point in which no difference between the ends was found.
func (s *Step) ofEnds() Result {
	switch {
	case s.Reason != "":
		return Failed
	case s.Result == Good:
		return Unchanged
	}
	return Open
}

// Unmeasured reports that one of the ends could not be measured in any point.
func (e End) Unmeasured() bool {
	works := func(s Step) bool { return s.ofEnds() != Failed }
	return len(e.Unchanged) > 0 && !slices.ContainsFunc(e.Unchanged, works)
}

// Measured is the total number of measured blocks: of the points that distinguish commits, or of those in which the ends do not
// differ.
func (s *Search) Measured(end End) (blocks int) {
	for _, step := range slices.Concat(s.Steps, end.Unchanged) {
		blocks += step.Blocks
	}
	return blocks
}
