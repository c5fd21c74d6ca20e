package bisect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/worktree"
)

// line returns a history of n commits after the good one, each the only parent of the next: 1 to n.
func line(n int) worktree.History {
	var h worktree.History
	for i := range n + 1 {
		c := worktree.Commit{ID: fmt.Sprint(i)}
		if i == 0 {
			h.Good = c
			continue
		}
		c.Parents = []string{fmt.Sprint(i - 1)}
		h.Commits = append([]worktree.Commit{c}, h.Commits...)
	}
	h.Bad = h.Commits[0]
	return h
}

// search tells a search the truth of each commit that it asks for, and gives the ids of these and of the candidates.
func search(s *commits, truth func(id string) string) (asked, candidates []string) {
	for c, ok := s.next(); ok; c, ok = s.next() {
		asked = append(asked, c.ID)
		switch truth(c.ID) {
		case "good":
			s.markGood(c.ID)
		case "bad":
			s.markBad(c.ID)
		default:
			s.markSkipped(c.ID)
		}
	}
	for _, c := range s.candidates() {
		candidates = append(candidates, c.ID)
	}
	return asked, candidates
}

func number(id string) (n int) { fmt.Sscan(id, &n); return n }

// TestLine: wherever the change is, it is found, in as many tests as halving takes.
func TestLine(t *testing.T) {
	t.Parallel()
	for n := range 70 {
		n++
		for first := range n {
			first++
			s := newCommits(line(n))
			expected := s.steps()
			asked, found := search(s, func(id string) string {
				if number(id) < first {
					return "good"
				}
				return "bad"
			})
			if len(found) != 1 || number(found[0]) != first || len(asked) > expected {
				t.Fatalf("%d of %d: found %v with %d tests, want at most %d", first, n, found, len(asked), expected)
			}
			if s.steps() != 0 {
				t.Fatalf("%d of %d: %d steps are left", first, n, s.steps())
			}
		}
	}
}

// TestSkipped: what cannot be tested leaves the candidates that it has to, and no others; no commit is asked for twice.
func TestSkipped(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + random.IntN(64)
		first := 1 + random.IntN(n)
		broken := map[int]bool{}
		for range random.IntN(8) {
			broken[1+random.IntN(n)] = true
		}
		asked, found := search(newCommits(line(n)), func(id string) string {
			switch {
			case broken[number(id)]:
				return "skip"
			case number(id) < first:
				return "good"
			}
			return "bad"
		})
		// The first changed commit, and what is next to it and broken: all that no test tells from it.
		from, to := first, first
		for from > 1 && broken[from-1] {
			from--
		}
		for to < n && broken[to] {
			to++
		}
		var want []string
		for i := to; i >= from; i-- {
			want = append(want, fmt.Sprint(i))
		}
		if !slices.Equal(found, want) {
			t.Fatalf("%d of %d, broken %v: %v, want %v", first, n, broken, found, want)
		}
		if slices.Sort(asked); len(slices.Compact(slices.Clone(asked))) != len(asked) {
			t.Fatalf("asked for twice: %v", asked)
		}
	}
}

// TestMerges: a change on a branch that was merged is found there, and one that the merge itself brought in is the merge.
func TestMerges(t *testing.T) {
	t.Parallel()
	//	0 - 1 - 2 - m - 5
	//	 \- 3 - 4 -/
	h := worktree.History{Good: worktree.Commit{ID: "0"}, Bad: worktree.Commit{ID: "5", Parents: []string{"m"}}}
	h.Commits = []worktree.Commit{
		h.Bad,
		{ID: "m", Parents: []string{"2", "4"}},
		{ID: "4", Parents: []string{"3"}},
		{ID: "3", Parents: []string{"0"}},
		{ID: "2", Parents: []string{"1"}},
		{ID: "1", Parents: []string{"0"}},
	}
	for first, changed := range map[string]string{"5": "5", "m": "m 5", "4": "4 m 5", "3": "3 4 m 5", "2": "2 m 5", "1": "1 2 m 5"} {
		asked, found := search(newCommits(h), func(id string) string {
			if slices.Contains(strings.Fields(changed), id) {
				return "bad"
			}
			return "good"
		})
		if len(found) != 1 || found[0] != first || len(asked) > 4 {
			t.Errorf("%s: found %v, asked for %v", first, found, asked)
		}
	}
}

// TestContradiction: a commit that is good and contains the bad one leaves no candidate.
func TestContradiction(t *testing.T) {
	t.Parallel()
	s := newCommits(line(8))
	s.markBad("4")
	s.markGood("6")
	if _, ok := s.next(); ok || len(s.candidates()) != 0 {
		t.Errorf("%v are left", s.candidates())
	}
	s.markGood("none of them") // is nothing new
}
