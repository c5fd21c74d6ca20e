package runner

import (
	"context"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// order is how the sweep orders its launches.
func (s *session) order() sweep.LaunchOptions {
	return sweep.LaunchOptions{Sides: len(s.assembler.sides), Seed: s.assembler.orderSeed}
}

// plan decides what is launched, and reports it.
func (s *session) plan(ctx context.Context) error {
	var earlier, done []schema.Run
	if s.options.Done != nil {
		var err error
		if earlier, err = s.options.Done(s.assembler.env.Machine); err != nil {
			return err
		}
	}
	anew := ""
	switch {
	case len(s.assembler.sides) > 1:
		anew = reasonAgainst
	case s.options.Rerun == RerunAll:
		anew = reasonAll
	case s.options.Done == nil:
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
	for _, p := range lacking { // no pass of a profiler says more than the run
		p.Profile = nil
	}
	s.agenda.past = findPast(done, s.sweep.Launches(s.order()), rules{
		identity: s.identities(ctx), points: targets.Points(), rerun: s.options.Rerun, anew: anew, larger: s.options.LargerAfterOOM,
	})
	s.choose()
	s.noteFailing(ctx, plan)
	s.progress.begin(*plan)
	s.launcher.levels.learn(earlier)
	s.progress.estimate.learn(*plan, earlier, func(sub subject) *prepare.Target { return targets.Of(ctx, sub) })
	plan.Expected, plan.Sides = s.progress.estimate.remaining(), compared(s.assembler.sides)
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

// noteFailing notes in a plan which launches cannot happen. A dry run builds nothing, so of a point with a build it knows only that the build
// cannot begin.
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
	s.assembler.orderSeed = s.agenda.past.seed(own)
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
	s.result.Plan, s.assembler.resumes, s.counted = plan, plan.Resumes, plan.counted()
}

// identities returns a function for the values that must agree with a run for it to count as a launch, computed once per target.
func (s *session) identities(ctx context.Context) func(sweep.Launch) map[string]string {
	known := map[*prepare.Target]map[string]string{}
	return func(l sweep.Launch) map[string]string {
		t := s.launcher.targets.Of(ctx, subjectOf(l))
		if known[t] == nil {
			prospect := s.assembler.run(l, t, task.Outcome{StartedAt: s.limits.began}, nil)
			known[t] = identityOf(&prospect)
		}
		return known[t]
	}
}
