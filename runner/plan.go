package runner

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// Rerun selects the launches that run again although an earlier session has a run of them.
type Rerun string

// Which launches run again.
const (
	RerunNothing Rerun = ""       // only missing launches; all of them if nothing is missing
	RerunFailed  Rerun = "failed" // missing launches, and failed ones
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
	Ignored  []Change      // new files that differ, although runs count: see files.changed
	Sides    []Side        // base and head; empty without a comparison
	OwnSweep OwnSweep      // how the sweep file of both sides differs from that of the base
	Secrets  []string      // names of variants and values of parameters that look like secrets: they are stored
	Busy     []string      // devices that the session was to measure with others and that another session measures, with its owner
	Campaign string        // that the session belongs to; empty: none
	Shards   int           // of a plan that tells the state of a campaign: how many the newest of its sessions with shards shared out; 0: none
	Twice    []Twice       // of the same: launches that were run by more than one session of the campaign
}

// Twice is a launch that more than one session of a campaign ran.
type Twice struct {
	Launch sweep.Launch
	Runs   []*schema.Run // the newest first
}

// Side is one of the two states of the code that a session compares.
type Side struct {
	Name   string // base or head
	Commit string
	Dirty  bool // it has uncommitted changes
}

// OwnSweep names a sweep file that differs in the base. Both sides of a comparison run the file of the working tree.
type OwnSweep struct {
	File  string // path from the working directory; empty: the base has the same, or none
	Alone bool   // no other file differs, so that both sides run the same code
}

// Planned is a launch and, if it is not run again, its run of an earlier session.
type Planned struct {
	Launch sweep.Launch
	Done   *schema.Run
	Reason string // why it is run, as text
	// Why it cannot be launched; empty: no reason is known.
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
	profile string // the profiler and its arguments
	skipped bool
}

func slotOfLaunch(l sweep.Launch) slot {
	skip := l.Point.Skip
	return slot{l.Point.PointID, int64(l.Repeat), l.Profile + profilerArguments(l), skip != nil && !skip.Unsupported}
}

// The kinds of error of launches that did not happen.
const (
	kindSkipIf       = "skip_if"
	kindSuiteTimeout = "suite_timeout"
	kindAfterOOM     = "after_oom"
	kindAfterFailure = "after_failure"
	kindNotInstalled = "not_installed" // the profiler of a pass
	kindNotApplied   = "not_applied"   // the function of a point does not take an axis, or its profiler cannot work here
)

// plan looks up launches in earlier sessions.
func (p *past) plan(launches []sweep.Launch) Plan {
	plan := Plan{Launches: make([]Planned, len(launches))}
	changes, ignored := map[Change]int{}, map[Change]int{}
	for i, l := range launches {
		planned := &plan.Launches[i]
		planned.Launch = l
		found := p.find(l)
		switch {
		case found.run == nil:
			planned.Reason = cmp.Or(p.anew, reasonNone)
		case len(found.changes) > 0:
			planned.Reason = describeChanges(found.changes)
			for _, c := range found.changes {
				changes[c]++
			}
		case p.rerun == RerunFailed && unsatisfactory(found.run):
			planned.Reason = reasonFailed
		default:
			planned.Done = found.run
			plan.Done++
			if found.ignored != "" {
				ignored[Change{What: prepare.FactTree, Files: found.ignored}]++
			}
		}
	}
	plan.Changes, plan.Ignored = sortedChanges(changes), sortedChanges(ignored)
	plan.Secrets = secretNames(launches)
	return plan
}

// secretNames lists the variants and parameters of launches, as key=value with the secret hidden, that contain an apparent secret. They
// identify the points, so they are stored unchanged.
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

// resume decides whether the session continues an earlier one, and returns the answer. A sweep that was run to its end starts again as a
// new session, unless only its failures are requested, or it is a campaign. Then the plan keeps the first launches, certain of them, which
// do not depend on results.
func (p *Plan) resume(from *past, certain int) (resumes bool) {
	switch {
	case p.Done == 0:
	case p.Done == len(p.Launches) && from.rerun == RerunNothing && !from.whole:
		p.startAnew(certain)
	default:
		p.Resumes = from.session
	}
	missing := slices.ContainsFunc(p.Launches, func(l Planned) bool { return l.Reason == reasonNone })
	if !missing && p.Resumes == "" && !from.whole {
		p.Changes = nil // a finished sweep of other code is no news
	}
	return p.Resumes != ""
}

// startAnew makes the plan the plan of a session that continues no other.
func (p *Plan) startAnew(certain int) {
	p.Done, p.Ignored, p.Launches = 0, nil, p.Launches[:certain]
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
		return strings.Compare(a.What+a.From+a.To+a.Files, b.What+b.From+b.To+b.Files)
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

// order returns how the sweep orders its launches.
func (s *session) order() sweep.LaunchOptions {
	return sweep.LaunchOptions{Sides: len(s.assembler.sides), Seed: s.assembler.orderSeed, Absent: s.absent}
}

// plan decides which launches run, and reports the plan.
func (s *session) plan(ctx context.Context) error {
	var earlier, done []schema.Run
	var err error
	switch c := s.options.Campaign; {
	case c != nil:
		earlier, err = c.Done(s.assembler.campaign)
		earlier = c.counting(earlier, s.sweep, &s.assembler.env)
	case s.options.Done != nil:
		earlier, err = s.options.Done(s.assembler.env.Machine)
	}
	if err != nil {
		return err
	}
	anew := ""
	switch {
	case len(s.assembler.sides) > 1:
		anew = reasonAgainst
	case s.options.Rerun == RerunAll:
		anew = reasonAll
	case s.options.Done == nil && s.options.Campaign == nil:
		anew = reasonLine
	default:
		done = earlier
	}
	targets, plan := s.launcher.targets, &s.result.Plan
	if len(done) > 0 {
		targets.InheritBuild(done[0].Env.Facts[prepare.FactBuild])
	}
	if err := targets.CheckBuilt(); err != nil {
		return &InputError{err}
	}
	lacking, err := targets.CheckThere(ctx)
	if err != nil {
		return &InputError{err}
	}
	for _, p := range lacking { // one line per point is enough: no profiler passes
		p.Profile = nil
	}
	r := rules{
		identity: s.identities(ctx), identify: s.identify, points: targets.Points(), absent: s.absent, rerun: s.options.Rerun, anew: anew,
		larger: s.options.LargerAfterOOM,
	}
	if s.options.Campaign != nil {
		r.whole = true
		s.agenda.past = campaignPast(done, r)
	} else {
		s.agenda.past = findPast(done, s.sweep.Launches(s.order()), r)
	}
	s.choose()
	s.noteFailing(ctx, plan)
	s.progress.total, s.progress.finished, s.progress.estimate = len(plan.Launches), plan.Done, newEstimate(*plan)
	s.launcher.levels.learn(earlier)
	s.progress.estimate.learn(*plan, earlier, func(sub subject) *prepare.Target { return targets.Of(ctx, sub) })
	plan.Busy = s.busy
	plan.Expected, plan.Sides = s.progress.estimate.remaining(), compared(s.assembler.sides)
	plan.OwnSweep = s.ownSweep
	for _, p := range plan.Launches {
		if p.Done != nil {
			s.limits.oom.note(subjectOf(p.Launch), p.Done.Status)
			s.limits.noteMeasured(subjectOf(p.Launch), p.Done)
		}
	}
	s.progress.report(Event{Plan: plan})
	if s.options.Planned != nil && !s.options.DryRun && ctx.Err() == nil {
		return s.options.Planned(plan)
	}
	return ctx.Err()
}

// noteFailing records in a plan which launches cannot happen. A dry run builds nothing, so for a point with a build it can only detect
// that the build cannot begin.
func (s *session) noteFailing(ctx context.Context, plan *Plan) {
	for i := range plan.Launches {
		l := &plan.Launches[i]
		sub := subjectOf(l.Launch)
		if l.Launch.Point.Skip != nil || s.launcher.targets.NotBuilt(sub) {
			continue
		}
		switch refused := s.launcher.targets.Of(ctx, sub).Refused; {
		case refused == nil:
		case refused.Status.Failed():
			l.Fails = refused.Error
		default:
			l.Skips = refused.Error
		}
	}
}

// choose completes the plan. If earlier sessions have done the repeats, it repeats the rounds that followed in the same way, up
// to the first incomplete one. A session that continues another one continues its order, so that the blocks stay whole.
func (s *session) choose() {
	own := s.assembler.orderSeed
	if s.options.Campaign == nil {
		s.assembler.orderSeed = s.agenda.past.seed(own)
	}
	launches := s.sweep.Launches(s.order())
	plan := s.agenda.past.plan(launches)
	s.noteDone(plan)
	for ; s.agenda.repeat < s.sweep.MaxRepeats && plan.measured(); s.agenda.repeat++ {
		round := s.agenda.past.plan(s.sweep.Round(s.agenda.repeat, s.order(), s.imprecise))
		if len(round.Launches) == 0 && s.agenda.repeat >= s.sweep.Repeats {
			break
		}
		s.noteDone(round)
		plan.add(round)
	}
	if !plan.resume(s.agenda.past, len(launches)) {
		s.agenda, s.assembler.orderSeed = newAgenda(s.sweep), own
		plan.reorder(s.sweep.Launches(s.order()))
	}
	plan.Campaign = s.assembler.campaign
	s.result.Plan, s.assembler.resumes, s.counted = plan, plan.Resumes, plan.counted()
}

// identify returns the values in which a run must agree with a launch to count for it.
func (s *session) identify(run *schema.Run) map[string]string {
	if s.options.Campaign != nil {
		return s.options.Campaign.identify(run)
	}
	return identityOf(run)
}

// dealt returns the number of the lane of each point, from 1, where several devices measure at once.
func (s *session) dealt() map[string]int {
	if s.options.Devices == "" || len(s.lanes) == 0 {
		return nil
	}
	return s.sweep.Shards(len(s.lanes))
}

// identities returns a function for the values that must agree with a run for it to count as a launch, computed once per target.
func (s *session) identities(ctx context.Context) func(sweep.Launch) map[string]string {
	known, dealt := map[*prepare.Target]map[string]string{}, s.dealt()
	return func(l sweep.Launch) map[string]string {
		t := s.launcher.targets.Of(ctx, subjectOf(l))
		if known[t] == nil {
			prospect := s.assembler.run(l, t, task.Outcome{StartedAt: s.limits.began}, nil)
			known[t] = s.identify(&prospect)
			if on := dealt[l.Point.PointID]; on > 0 {
				known[t][schema.FactMeasuredDevice] = s.lanes[on-1].devices[0]
			}
		}
		return known[t]
	}
}

// estimate predicts how long the remaining launches will take, from the earlier launches of the same points. A point without
// launches is assumed to be average.
type estimate struct {
	points map[subject]*pace
	known  time.Duration // of the remaining launches whose point was launched before
	left   int           // the other launches left
	total  time.Duration // of all launches measured
	count  int
}

// pace is the duration of the launches of one point.
type pace struct {
	total time.Duration
	count int
	left  int
}

// mean returns the mean duration; 0 before the first one.
func (p *pace) mean() time.Duration {
	if p.count == 0 {
		return 0
	}
	return p.total / time.Duration(p.count)
}

// newEstimate makes an estimate from the remaining launches and the durations of earlier sessions.
func newEstimate(plan Plan) *estimate {
	e := &estimate{points: map[subject]*pace{}}
	for _, p := range plan.Launches {
		if p.Done == nil && p.Launch.Point.Skip == nil { // a skipped launch takes no time
			e.add(subjectOf(p.Launch))
		}
	}
	for _, p := range plan.Launches {
		if p.Done != nil && p.Done.Status != schema.StatusSkipped { // a skipped run took no time
			e.measure(subjectOf(p.Launch), time.Duration(p.Done.Stages.Launch()))
		}
	}
	return e
}

// at returns the pace of a point, which it creates if necessary.
func (e *estimate) at(s subject) *pace {
	p, ok := e.points[s]
	if !ok {
		p = &pace{}
		e.points[s] = p
	}
	return p
}

// add adds a launch to the remaining ones.
func (e *estimate) add(s subject) { e.change(e.at(s), func(p *pace) { p.left++ }) }

// measure adds the time that a launch took.
func (e *estimate) measure(s subject, took time.Duration) {
	e.total, e.count = e.total+took, e.count+1
	e.change(e.at(s), func(p *pace) { p.total, p.count = p.total+took, p.count+1 })
}

// done removes a launch from the remaining ones.
func (e *estimate) done(s subject) { e.change(e.at(s), func(p *pace) { p.left-- }) }

// change keeps the sums right while a pace changes.
func (e *estimate) change(p *pace, edit func(*pace)) {
	account := func(sign int) {
		if p.count == 0 {
			e.left += sign * p.left
		} else {
			e.known += time.Duration(sign*p.left) * p.mean()
		}
	}
	account(-1)
	edit(p)
	account(+1)
}

// learn adds how long the newest successful run of each point took, if it had the same settings.
func (e *estimate) learn(plan Plan, earlier []schema.Run, target func(subject) *prepare.Target) {
	newest := map[string]*schema.Run{}
	for i := range earlier {
		r := &earlier[i]
		key := r.PointID + r.Env.Facts[prepare.FactConfig] + r.Env.Facts[schema.FactProfile]
		if r.Status == schema.StatusOK && newest[key] == nil {
			newest[key] = r
		}
	}
	for _, p := range plan.Launches {
		sub := subjectOf(p.Launch)
		if p.Done != nil || len(newest) == 0 || e.at(sub).count > 0 {
			continue
		}
		if r := newest[p.Launch.Point.PointID+target(sub).Facts[prepare.FactConfig]+p.Launch.Profile]; r != nil {
			e.measure(sub, time.Duration(r.Stages.Launch()))
		}
	}
}

// remaining returns 0 if nothing was measured.
func (e *estimate) remaining() time.Duration {
	if e.count == 0 {
		return 0
	}
	return e.known + time.Duration(e.left)*(e.total/time.Duration(e.count))
}
