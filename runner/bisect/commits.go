package bisect

import (
	"math/bits"
	"slices"

	"github.com/neurolens/neurolens/runner/worktree"
)

// commits are the commits of a history with what is known about each: which may be the first changed one, and which to test next. The
// zero value is not usable: see newCommits.
type commits struct {
	history worktree.History
	parents [][]int        // by index of a commit: the indices of its parents within the history
	index   map[string]int // of a commit by its id
	bad     int            // contains the change
	good    []bool         // does not, and neither do its ancestors
	skipped []bool
}

// newCommits returns the commits between the two ends of a history.
func newCommits(h worktree.History) *commits {
	n := len(h.Commits)
	s := &commits{history: h, parents: make([][]int, n), index: make(map[string]int, n), good: make([]bool, n), skipped: make([]bool, n)}
	for i, c := range h.Commits {
		s.index[c.ID] = i
	}
	for i, c := range h.Commits {
		for _, id := range c.Parents {
			if parent, ok := s.index[id]; ok {
				s.parents[i] = append(s.parents[i], parent)
			}
		}
	}
	s.bad = s.index[h.Bad.ID]
	return s
}

// markGood records that a commit, and all its ancestors, are like the good end. Commits outside of the history are ignored.
func (s *commits) markGood(id string) {
	if i, ok := s.index[id]; ok {
		s.below(i, func(i int) { s.good[i] = true })
	}
}

// markBad records that a commit is changed: the first changed commit is this one or one of its ancestors.
func (s *commits) markBad(id string) {
	if i, ok := s.index[id]; ok {
		s.bad = i
	}
}

// markSkipped records that a commit could not be tested.
func (s *commits) markSkipped(id string) {
	if i, ok := s.index[id]; ok {
		s.skipped[i] = true
	}
}

// next returns the commit to test: the one that halves the candidates best. After skipped commits it is another one, further away the more
// were skipped, because neighbours often cannot be tested either. ok is false when the search is over.
func (s *commits) next() (c worktree.Commit, ok bool) {
	left := s.left()
	weights := s.weigh(left)
	var testable []int
	skips := 0
	for _, i := range left {
		switch {
		case i == s.bad:
		case s.skipped[i]:
			skips++
		default:
			testable = append(testable, i)
		}
	}
	if len(testable) == 0 {
		return worktree.Commit{}, false
	}
	halves := func(i int) int { return min(weights[i], len(left)-weights[i]) }
	slices.SortStableFunc(testable, func(a, b int) int { return halves(b) - halves(a) })
	away := 1<<min(skips, bits.Len(uint(len(testable)))) - 1 // 0 1 3 7: the best ones lie to both sides of the middle
	return s.history.Commits[testable[min(away, len(testable)/2)]], true
}

// candidates returns the commits one of which is the first changed one, children first. If there is a single one, it is the result.
// There is none if a commit was marked good and one of its ancestors bad.
func (s *commits) candidates() []worktree.Commit {
	var all []worktree.Commit
	for _, i := range s.left() {
		all = append(all, s.history.Commits[i])
	}
	return all
}

// steps is about how many more tests are needed: how often the commits must be halved until one is left.
func (s *commits) steps() int { return bits.Len(uint(max(len(s.left()), 1) - 1)) }

// left returns the commits that may be the first changed one, children first: the bad one and its ancestors, without the good ones.
func (s *commits) left() []int {
	if s.good[s.bad] {
		return nil
	}
	var left []int
	s.below(s.bad, func(i int) {
		if !s.good[i] {
			left = append(left, i)
		}
	})
	slices.Sort(left) // the history has each commit after its children
	return left
}

// below visits a commit and all its ancestors, each once.
func (s *commits) below(i int, visit func(i int)) {
	seen := make([]bool, len(s.parents))
	seen[i] = true
	for next := []int{i}; len(next) > 0; {
		i, next = next[len(next)-1], next[:len(next)-1]
		visit(i)
		for _, parent := range s.parents[i] {
			if !seen[parent] {
				seen[parent] = true
				next = append(next, parent)
			}
		}
	}
}

// weigh counts, for each remaining commit, how many of the remaining ones it contains, including itself.
func (s *commits) weigh(left []int) map[int]int {
	weights := make(map[int]int, len(left))
	for _, i := range slices.Backward(left) { // parents first
		in := slices.DeleteFunc(slices.Clone(s.parents[i]), func(parent int) bool { return s.good[parent] })
		switch len(in) {
		case 0:
			weights[i] = 1
		case 1:
			weights[i] = weights[in[0]] + 1
		default:
			n := 0
			s.below(i, func(i int) {
				if !s.good[i] {
					n++
				}
			})
			weights[i] = n
		}
	}
	return weights
}
