package runner

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// Rerun says which launches run although an earlier session has a run of them.
type Rerun string

// What is run again.
const (
	RerunNothing Rerun = ""       // what is missing runs; all of it, where nothing is
	RerunFailed  Rerun = "failed" // and what a user has to look at
	RerunAll     Rerun = "all"
)

// Plan is what a session does: every launch of its sweep that is known before the first one, and which of them earlier
// sessions have done.
type Plan struct {
	Launches []Planned
	Resumes  string        // the session that this one goes on from; empty: it begins anew
	Done     int           // launches that are not run again
	Expected time.Duration // how long the others will take, by earlier runs that were told the same; 0: not known
	Changes  []Change      // why runs of an unfinished session do not count
	Sides    []Side        // that are compared, base and head; none where nothing is
}

// Side is code that a session compares.
type Side struct {
	Name   string // base or head
	Commit string
	Dirty  bool // it has changes that no commit has
}

// Planned is a launch and, where it is not run again, the run that an earlier session has of it.
type Planned struct {
	Launch sweep.Launch
	Done   *schema.Run
	Reason string // why it is run, in words for people
}

// Why a launch is run, beside what changed.
const (
	reasonNone    = "not measured yet" // or not to its end
	reasonFailed  = "failed before"
	reasonAgain   = "complete: measured again"
	reasonAll     = "--rerun all"
	reasonAgainst = "--against starts from the beginning"
	reasonLine    = "programs on the command line are always measured again"
)

// Change is a difference that keeps runs from counting.
type Change struct {
	What     string // column or fact
	From, To string
	Runs     int
}

// slot is what one launch of a sweep is known by in another session. A point that is skipped is another launch than the
// same point where it runs.
type slot struct {
	point   string
	repeat  int64
	profile string
	skipped bool
}

func slotOfLaunch(l sweep.Launch) slot {
	return slot{l.Point.PointID, int64(l.Repeat), l.Profile, l.Point.Skip != nil}
}

// factProfile is the fact with the profiler of a pass.
const factProfile = "runner.profile"

// The kinds of error of launches that were skipped.
const (
	kindSkipIf       = "skip_if"
	kindSuiteTimeout = "suite_timeout"
	kindAfterOOM     = "after_oom"
)

// plan looks launches up in what earlier sessions have done.
func (p *past) plan(launches []sweep.Launch) Plan {
	plan := Plan{Launches: make([]Planned, len(launches))}
	changes := map[Change]int{}
	for i, l := range launches {
		planned := &plan.Launches[i]
		planned.Launch = l
		run, differs := p.find(l)
		switch {
		case run == nil:
			planned.Reason = cmp.Or(p.anew, reasonNone)
		case len(differs) > 0:
			planned.Reason = describeChanges(differs)
			for _, c := range differs {
				changes[c]++
			}
		case p.rerun == RerunFailed && unsatisfactory(run):
			planned.Reason = reasonFailed
		default:
			planned.Done = run
			plan.Done++
		}
	}
	plan.Changes = sortedChanges(changes)
	return plan
}

// unsatisfactory tells that a run is one of those that --rerun failed runs again: what a user has to look at, and what
// was skipped on its account.
func unsatisfactory(r *schema.Run) bool { return r.Status.Failed() || r.ErrorKind == kindAfterOOM }

// add puts a round of launches at the end of a plan.
func (p *Plan) add(round Plan) {
	p.Launches, p.Done = append(p.Launches, round.Launches...), p.Done+round.Done
}

// measured tells that earlier sessions have done every measurement of a plan, passes of profilers apart.
func (p *Plan) measured() bool {
	return !slices.ContainsFunc(p.Launches, func(l Planned) bool { return l.Done == nil && l.Launch.Profile == "" })
}

// settle decides whether the session goes on from an earlier one, and tells if it does. A sweep that has been run to its
// end is run again, as a session of its own, unless its failures alone are wanted; then the first launches are those
// that the sweep has for certain.
func (p *Plan) settle(from *past, certain int) (resumes bool) {
	switch {
	case p.Done == 0:
	case p.Done == len(p.Launches) && from.rerun == RerunNothing:
		p.startAnew(certain)
	default:
		p.Resumes = from.session
	}
	missing := slices.ContainsFunc(p.Launches, func(l Planned) bool { return l.Reason == reasonNone })
	if !missing && p.Resumes == "" {
		p.Changes = nil // a finished sweep of other code is no news
	}
	return p.Resumes != ""
}

// startAnew makes the plan one of a session that goes on from none.
func (p *Plan) startAnew(certain int) {
	p.Done, p.Launches = 0, p.Launches[:certain]
	for i := range p.Launches {
		p.Launches[i].Done, p.Launches[i].Reason = nil, reasonAgain
	}
}

func describeChanges(changes []Change) string {
	var names []string
	for _, c := range changes {
		names = append(names, c.What)
	}
	return "changed: " + strings.Join(names, ", ")
}

// sortedChanges are the changes with their counts, the most frequent first.
func sortedChanges(counts map[Change]int) []Change {
	var all []Change
	for c, n := range counts {
		c.Runs = n
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Change) int {
		if a.Runs != b.Runs {
			return b.Runs - a.Runs
		}
		return strings.Compare(a.What+a.From+a.To, b.What+b.From+b.To)
	})
	return all
}

// left are the launches that no earlier session has done, in order: those that measure, and the passes of profilers.
func (p *Plan) left() (measured, passes []sweep.Launch) {
	for _, l := range p.Launches {
		switch {
		case l.Done != nil:
		case l.Launch.Profile == "":
			measured = append(measured, l.Launch)
		default:
			passes = append(passes, l.Launch)
		}
	}
	return measured, passes
}
