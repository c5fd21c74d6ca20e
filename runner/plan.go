package runner

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// Rerun says which launches run again although an earlier session has a run of them.
type Rerun string

// Which launches run again.
const (
	RerunNothing Rerun = ""       // only missing launches; all of them if nothing is missing
	RerunFailed  Rerun = "failed" // missing launches, and those that failed
	RerunAll     Rerun = "all"
)

// Plan is what a session will do: all launches of its sweep that are known before the first one, and which of them earlier
// sessions have done.
type Plan struct {
	Launches []Planned
	Resumes  string        // the session that this one continues; empty: none
	Done     int           // launches that are not run again
	Expected time.Duration // how long the others will take, estimated from earlier runs with the same settings; 0: not known
	Changes  []Change      // why runs of an unfinished session do not count
	Sides    []Side        // base and head; empty if nothing is compared
	Secrets  []string      // names of variants and values of parameters that hold what looks like a secret: they are stored
}

// Side is one of the two states of the code that a session compares.
type Side struct {
	Name   string // base or head
	Commit string
	Dirty  bool // it has uncommitted changes
}

// Planned is a launch and, if it is not run again, its run of an earlier session.
type Planned struct {
	Launch sweep.Launch
	Done   *schema.Run
	Reason string // why it is run, as text
	// Why it cannot be launched; empty: nothing is known.
	Fails string // its run is an error
	Skips string // its run is skipped or unsupported, for a reason that is not one of its point
}

// Why a launch is run, unless something changed.
const (
	reasonNone     = "not measured yet" // or not to its end
	reasonFailed   = "failed before"
	reasonComplete = "complete: measured again"
	reasonAll      = "--rerun all"
	reasonAgainst  = "--against starts from the beginning"
	reasonLine     = "programs on the command line are always measured again"
)

// Change is a difference because of which earlier runs do not count.
type Change struct {
	What     string // column or fact
	From, To string
	Files    string // of the working tree, the files that changed, separated by commas; empty: not known
	Runs     int
}

// slot identifies a launch of a sweep across sessions. A skipped point and the same point when it runs have different slots.
type slot struct {
	point   string
	repeat  int64
	profile string
	skipped bool
}

func slotOfLaunch(l sweep.Launch) slot {
	skip := l.Point.Skip
	return slot{l.Point.PointID, int64(l.Repeat), l.Profile, skip != nil && !skip.Unsupported}
}

// factProfile is the fact with the profiler of a pass.
const factProfile = "runner.profile"

// The kinds of error of launches that did not happen.
const (
	kindSkipIf       = "skip_if"
	kindSuiteTimeout = "suite_timeout"
	kindAfterOOM     = "after_oom"
	kindProfiler     = "not_applied"
	kindAfterFailure = "after_failure"
	kindNotApplied   = "not_applied" // of a point whose function does not take an axis
)

// plan looks up launches in earlier sessions.
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
	plan.Secrets = secretNames(launches)
	return plan
}

// secretNames lists the variants and parameters of launches, as key=value with the secret hidden, that hold what looks like a secret.
// They identify the points, so they are stored as they are.
func secretNames(launches []sweep.Launch) []string {
	mask := probe.NewMask(os.Environ())
	names := map[string]bool{}
	look := func(key, value string) {
		if text := key + "=" + value; mask.Text(text) != text {
			names[mask.Text(text)] = true
		}
	}
	var last *sweep.Point
	for _, l := range launches {
		if l.Point == last {
			continue
		}
		last = l.Point
		look("variant", l.Point.Variant)
		for name, value := range l.Point.Params {
			look(name, value)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// unsatisfactory reports whether --rerun failed runs a launch again: it failed, or was skipped because another one failed.
func unsatisfactory(r *schema.Run) bool {
	return r.Status.Failed() || r.ErrorKind == kindAfterOOM || r.ErrorKind == kindAfterFailure
}

// add appends a round of launches to a plan.
func (p *Plan) add(round Plan) {
	p.Launches, p.Done = append(p.Launches, round.Launches...), p.Done+round.Done
}

// counted lists the ids of the runs of earlier sessions.
func (p *Plan) counted() (ids []string) {
	for _, l := range p.Launches {
		if l.Done != nil {
			ids = append(ids, l.Done.RunID)
		}
	}
	return ids
}

// measured reports whether earlier sessions have done all measurements of a plan, apart from profiler passes.
func (p *Plan) measured() bool {
	return !slices.ContainsFunc(p.Launches, func(l Planned) bool { return l.Done == nil && l.Launch.Profile == "" })
}

// resume decides whether the session continues an earlier one, and returns the answer. A sweep that was run to its end starts
// again as a new session, unless only its failures are requested. Then the plan keeps the first launches, certain of them, which
// do not depend on results.
func (p *Plan) resume(from *past, certain int) (resumes bool) {
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

// startAnew turns the plan into that of a session that continues no other.
func (p *Plan) startAnew(certain int) {
	p.Done, p.Launches = 0, p.Launches[:certain]
	for i := range p.Launches {
		p.Launches[i].Done, p.Launches[i].Reason = nil, reasonComplete
	}
}

// reorder lists the same launches in another order. None of them is done.
func (p *Plan) reorder(launches []sweep.Launch) {
	reasons := map[slot]string{}
	for _, planned := range p.Launches {
		reasons[slotOfLaunch(planned.Launch)] = planned.Reason
	}
	for i, l := range launches {
		p.Launches[i] = Planned{Launch: l, Reason: reasons[slotOfLaunch(l)]}
	}
}

func describeChanges(changes []Change) string {
	var names []string
	for _, c := range changes {
		names = append(names, cmp.Or(c.Files, c.What))
	}
	return "changed: " + strings.Join(names, ", ")
}

// sortedChanges lists changes with their counts, the most frequent first.
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

// left lists the launches that no earlier session has done, in order: measurements, and profiler passes.
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
