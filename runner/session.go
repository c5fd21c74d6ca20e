package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// session is one invocation of a sweep.
type session struct {
	sweep   *sweep.Sweep
	options Options
	env     schema.Env
	sides   []side   // one, or base and head
	devices []string // that it measures, see device.Of
	targets *prepare.Targets
	pool    *task.Pool
	watch   *probe.Watcher
	emit    func(schema.Run) error
	now     func() time.Time // what the sweep's Timeout is measured with
	began   time.Time        // MaxTime counts from here
	first   time.Time        // of the first launch; the sweep's Timeout counts from here
	result  Result

	past     *past // what earlier sessions have done
	repeat   int   // the first one that is not planned: it depends on the runs until then
	finished int   // of all launches, those of earlier sessions included
	total    int
	estimate *estimate
	oom      outOfMemory
	runs     map[subject][]float64 // logarithmic medians of the runs of a point, where their number depends on them
	rules    map[string]string     // see ruleFacts
	compared []schema.Run          // what a comparison reads of the runs so far, where their number depends on it
}

// subject is a point on a side: what is launched again and again.
type subject = prepare.Subject

func subjectOf(l sweep.Launch) subject { return subject{Point: l.Point, Side: l.Side} }

// run plans, builds and launches.
func (s *session) run(ctx context.Context) error {
	s.targets = prepare.New(prepare.Options{
		Sweep: s.sweep, Sides: s.places(), Version: s.options.Version, Exclude: s.options.Exclude,
	})
	if !s.options.DryRun {
		if err := s.targets.Build(ctx, s.builder()); err != nil || ctx.Err() != nil {
			return err
		}
	}
	if len(s.sides) == 1 { // after the build, which may leave files
		s.sides[0] = workingTree(ctx, s.options.Exclude)
	}
	if err := s.plan(ctx, s.sweep.Launches(s.order())); err != nil || s.options.DryRun {
		return err
	}
	s.first = s.now()
	measured, passes := s.result.Plan.left()
	if err := s.launchAll(ctx, measured); err != nil {
		return err
	}
	further := s.launchRounds
	if s.sweep.Looks != nil {
		further = s.launchUntilSettled
	}
	if err := further(ctx); err != nil {
		return err
	}
	return s.launchAll(ctx, passes)
}

// late tells that the suite has taken too long.
func (s *session) late() bool { return s.now().Sub(s.first) > s.sweep.Timeout }

// order is how the sweep orders its launches. Random orders differ from session to session.
func (s *session) order() sweep.LaunchOptions {
	id, err := schema.ParseULID(s.result.Session)
	if err != nil {
		panic(err) // it was made by newSession
	}
	return sweep.LaunchOptions{Sides: len(s.sides), Seed: seedOf(id)}
}

// plan decides what is launched, and says so.
func (s *session) plan(ctx context.Context, launches []sweep.Launch) error {
	var earlier, done []schema.Run
	if s.options.Done != nil {
		var err error
		if earlier, err = s.options.Done(s.env.Machine); err != nil {
			return err
		}
	}
	if s.options.Rerun != RerunAll && len(s.sides) == 1 {
		done = earlier
	}
	if len(done) > 0 {
		s.targets.InheritBuild(done[0].Env.Facts[prepare.FactBuild])
	}
	if err := s.targets.CheckThere(ctx, s.options.DryRun); err != nil {
		return &InputError{err}
	}
	s.past = findPast(done, launches, rules{
		identity: s.identities(ctx), points: s.targets.Points(), rerun: s.options.Rerun, larger: s.options.LargerAfterOOM,
	})
	s.choose(launches)
	s.total, s.finished = len(s.result.Plan.Launches), s.result.Plan.Done
	s.estimate = newEstimate(s.result.Plan)
	s.learn(ctx, earlier)
	s.result.Plan.Expected = s.estimate.remaining()
	for _, p := range s.result.Plan.Launches {
		if p.Done != nil {
			s.oom.note(subjectOf(p.Launch), p.Done.Status)
		}
	}
	s.result.Plan.Sides = compared(s.sides)
	s.options.Observe(s.event(Event{Plan: &s.result.Plan}))
	if s.options.Planned != nil && !s.options.DryRun && ctx.Err() == nil {
		return s.options.Planned(&s.result.Plan)
	}
	return ctx.Err()
}

// choose settles the plan. Where earlier sessions have done the repeats, it goes through the rounds that followed as
// they did, up to the first one that is not complete.
func (s *session) choose(launches []sweep.Launch) {
	plan := s.past.plan(launches)
	s.noteDone(plan)
	for s.repeat < s.sweep.MaxRepeats && plan.measured() {
		round := s.past.plan(s.sweep.Round(s.repeat, s.order(), s.imprecise))
		if len(round.Launches) == 0 {
			break
		}
		s.noteDone(round)
		plan.add(round)
		s.repeat++
	}
	if !plan.settle(s.past, len(launches)) {
		s.past, s.repeat, s.runs = &past{}, s.sweep.Repeats, map[subject][]float64{}
	}
	s.result.Plan = plan
}

// identities gives what has to agree with a run for it to count as a launch, worked out once for each target.
func (s *session) identities(ctx context.Context) func(sweep.Launch) map[string]string {
	known := map[*prepare.Target]map[string]string{}
	return func(l sweep.Launch) map[string]string {
		t := s.targets.Of(ctx, subjectOf(l))
		if known[t] == nil {
			prospect := s.assemble(ctx, l, task.Outcome{StartedAt: s.began}, nil)
			known[t] = identityOf(&prospect)
		}
		return known[t]
	}
}

// builder runs the commands of builds as launches are run.
func (s *session) builder() prepare.Builder {
	return prepare.Builder{
		Run: func(ctx context.Context, spec task.Spec) (task.Outcome, error) { return s.pool.Run(ctx, spec, nil) },
		Observe: func(of subject, command []string) {
			s.options.Observe(s.event(Event{Launch: sweep.Launch{Point: of.Point, Side: of.Side}, Build: command}))
		},
	}
}

// event fills in what every event has.
func (s *session) event(e Event) Event {
	e.Session, e.Env, e.Index, e.Launches = s.result.Session, &s.env, s.finished, s.total
	e.Remaining = s.estimate.remaining()
	return e
}

// launchAll runs launches in order.
func (s *session) launchAll(ctx context.Context, launches []sweep.Launch) error {
	for i, l := range launches {
		if ctx.Err() != nil {
			return nil
		}
		if limit := s.options.MaxTime; limit > 0 && s.now().Sub(s.began) > limit {
			s.result.Left += len(launches) - i
			return nil
		}
		if err := s.launchOne(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// launchOne runs one launch and has it kept.
func (s *session) launchOne(ctx context.Context, l sweep.Launch) error {
	began := time.Now()
	run, err := s.launch(ctx, l)
	if err != nil {
		return err
	}
	if err := s.emit(run); err != nil {
		return err
	}
	s.result.count(&run)
	s.oom.note(subjectOf(l), run.Status)
	s.note(l, &run)
	s.keepCompared(l, &run)
	s.estimate.measure(subjectOf(l), time.Since(began))
	s.estimate.done(subjectOf(l))
	e := s.event(Event{Launch: l, Run: &run})
	s.finished++
	s.options.Observe(e)
	return nil
}

// WarnFileChanged is the word of warning of a run whose file, model or program changed in its session: before it,
// so that runs of the same point measured something else, or while it ran. The run has the hash of what it began with.
const WarnFileChanged = "file_changed"

// launch gives the run of a launch: of a process tree, or of the reason why there was none.
func (s *session) launch(ctx context.Context, l sweep.Launch) (schema.Run, error) {
	t := s.targets.Fresh(ctx, subjectOf(l))
	refused := s.refusal(l, t)
	if refused != nil {
		refused.StartedAt = s.now().UTC()
		return s.assemble(ctx, l, *refused, nil), nil
	}
	spec := t.SpecOf(l)
	spec.Read = s.reader(ctx, t)
	before := s.watch.Read()
	outcome, err := s.pool.Run(ctx, spec, func(p task.Progress) {
		s.options.Observe(s.event(Event{Launch: l, Progress: &p}))
	})
	if err != nil {
		return schema.Run{}, fmt.Errorf("running %s: %w", l.Point.Benchmark, err)
	}
	s.targets.NoteOutputs(t)
	t.Check(&outcome)
	run := s.assemble(ctx, l, outcome, probe.Between(before, s.watch.Read()))
	if s.targets.Fresh(ctx, subjectOf(l)).Changed {
		run.Warnings = append(run.Warnings, WarnFileChanged)
	}
	return run, nil
}

// refusal is the outcome of a launch that does not happen, or nil.
func (s *session) refusal(l sweep.Launch, t *prepare.Target) *task.Outcome {
	if s.late() {
		return &task.Outcome{
			Status: schema.StatusSkipped, ErrorKind: kindSuiteTimeout,
			Error: fmt.Sprintf("the suite took more than %s; raise timeouts.suite", s.sweep.Timeout),
		}
	}
	if t.Refused != nil {
		outcome := *t.Refused
		return &outcome
	}
	if smaller := s.oom.smaller(subjectOf(l)); smaller != nil && !s.options.LargerAfterOOM {
		return &task.Outcome{
			Status: schema.StatusSkipped, ErrorKind: kindAfterOOM,
			Error: fmt.Sprintf("%s ran out of memory, and this is larger (--no-skip-after-oom runs it)", describeSizes(smaller)),
		}
	}
	return nil
}
