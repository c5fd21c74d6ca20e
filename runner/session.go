package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// session is one invocation of a sweep.
type session struct {
	sweep   *sweep.Sweep
	options Options
	env     schema.Env
	sides   []side   // one, or base and head
	devices []string // that it measures, see device.Of
	host    *host
	pool    *task.Pool
	watch   *probe.Watcher
	emit    func(schema.Run) error
	now     func() time.Time // what the sweep's Timeout is measured with
	began   time.Time        // MaxTime counts from here
	first   time.Time        // of the first launch; the sweep's Timeout counts from here
	result  Result

	launches []sweep.Launch // of this session, in order, those of earlier sessions left out
	finished int            // of all launches, those of earlier sessions included
	total    int
	estimate *estimate
	built    map[subject]built // of points with a build
	commands map[string]built  // by side, folder, environment and words
	oom      outOfMemory
	runs     map[subject][]float64 // logarithmic medians of the runs of a point, where their number depends on them
}

// subject is a point on a side: what is launched again and again.
type subject struct {
	point *sweep.Point
	side  int
}

func subjectOf(l sweep.Launch) subject { return subject{l.Point, l.Side} }

// run plans, builds and launches.
func (s *session) run(ctx context.Context) error {
	order := s.order()
	if !s.options.DryRun {
		if err := s.build(ctx); err != nil || ctx.Err() != nil {
			return err
		}
	}
	if err := s.plan(ctx, s.sweep.Launches(order)); err != nil || s.options.DryRun {
		return err
	}
	s.first = s.now()
	measured := s.launches
	var passes []sweep.Launch
	for i, l := range s.launches {
		if l.Profile != "" {
			measured, passes = s.launches[:i], s.launches[i:]
			break
		}
	}
	if err := s.launchAll(ctx, measured); err != nil {
		return err
	}
	for repeat := s.sweep.Repeats; repeat < s.sweep.MaxRepeats && ctx.Err() == nil && s.result.Left == 0; repeat++ {
		round := s.sweep.Round(repeat, order, s.imprecise)
		if len(round) == 0 {
			break
		}
		s.more(round)
		if err := s.launchAll(ctx, round); err != nil {
			return err
		}
	}
	return s.launchAll(ctx, passes)
}

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
	var done []schema.Run
	if s.options.Done != nil && s.options.Rerun != RerunAll && len(s.sides) == 1 {
		var err error
		if done, err = s.options.Done(s.env.Machine); err != nil {
			return err
		}
	}
	s.result.Plan = makePlan(launches, func(l sweep.Launch) map[string]string {
		t := s.target(ctx, subjectOf(l))
		if t.identity == nil {
			prospect := s.assemble(ctx, l, task.Outcome{StartedAt: s.began}, nil)
			t.identity = identityOf(&prospect)
		}
		return t.identity
	}, done, s.options.Rerun)
	s.total, s.finished = len(launches), s.result.Plan.Done
	s.estimate = newEstimate(s.result.Plan)
	s.runs = map[subject][]float64{}
	for _, p := range s.result.Plan.Launches {
		if p.Done == nil {
			s.launches = append(s.launches, p.Launch)
			continue
		}
		s.oom.note(p.Launch.Point, p.Done.Status)
		s.note(p.Launch, p.Done)
	}
	s.options.Observe(s.event(Event{Plan: &s.result.Plan}))
	return ctx.Err()
}

// more adds a round of launches that was not planned.
func (s *session) more(round []sweep.Launch) {
	s.total += len(round)
	for _, l := range round {
		s.estimate.add(subjectOf(l))
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
	s.result.Statuses[run.Status]++
	s.oom.note(l.Point, run.Status)
	s.note(l, &run)
	s.estimate.measure(subjectOf(l), time.Since(began))
	s.estimate.done(subjectOf(l))
	e := s.event(Event{Launch: l, Run: &run})
	s.finished++
	s.options.Observe(e)
	return nil
}

// launch gives the run of a launch: of a process tree, or of the reason why there was none.
func (s *session) launch(ctx context.Context, l sweep.Launch) (schema.Run, error) {
	t := s.target(ctx, subjectOf(l))
	refused := s.refusal(l, t)
	if refused != nil {
		refused.StartedAt = s.now().UTC()
		return s.assemble(ctx, l, *refused, nil), nil
	}
	before := s.watch.Read()
	outcome, err := s.pool.Run(ctx, t.specOf(l), func(p task.Progress) {
		s.options.Observe(s.event(Event{Launch: l, Progress: &p}))
	})
	if err != nil {
		return schema.Run{}, fmt.Errorf("running %s: %w", l.Point.Benchmark, err)
	}
	checkApplied(l.Point, &outcome)
	return s.assemble(ctx, l, outcome, probe.Between(before, s.watch.Read())), nil
}

// refusal is the outcome of a launch that does not happen, or nil.
func (s *session) refusal(l sweep.Launch, t *target) *task.Outcome {
	if s.now().Sub(s.first) > s.sweep.Timeout {
		return &task.Outcome{
			Status: schema.StatusSkipped, ErrorKind: "suite_timeout",
			Error: fmt.Sprintf("the suite took more than %s; raise timeouts.suite", s.sweep.Timeout),
		}
	}
	if t.refused != nil {
		outcome := *t.refused
		return &outcome
	}
	if smaller := s.oom.smaller(l.Point); smaller != nil && !s.options.LargerAfterOOM {
		return &task.Outcome{
			Status: schema.StatusSkipped, ErrorKind: "after_oom",
			Error: fmt.Sprintf("%s ran out of memory, and this is larger (--no-skip-after-oom runs it)", describeSizes(smaller)),
		}
	}
	return nil
}

// note keeps the location of a run, where the number of runs depends on it.
func (s *session) note(l sweep.Launch, r *schema.Run) {
	if s.sweep.RelError == 0 || l.Profile != "" || r.Status != schema.StatusOK {
		return
	}
	if m := r.Metric(r.Primary); m != nil && m.Summary.LogMedian != nil {
		s.runs[subjectOf(l)] = append(s.runs[subjectOf(l)], *m.Summary.LogMedian)
	}
}

// imprecise tells that a point needs more runs on some side: those it has do not give its location to the relative
// error asked for. A point that never ran well needs none.
func (s *session) imprecise(p *sweep.Point) bool {
	for i := range s.sides {
		locations := s.runs[subject{p, i}]
		if len(locations) == 0 {
			continue
		}
		if relError, ok := stat.RunsRelError(locations); !ok || relError > s.sweep.RelError {
			return true
		}
	}
	return false
}
