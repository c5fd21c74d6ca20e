package runner

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// session is one execution of a sweep. It plans, builds, and works through the launches: limits decide whether a launch happens,
// the launcher runs it, the assembler makes a run of the outcome, emit stores the run, and the agenda decides whether more
// repeats are needed.
type session struct {
	sweep   *sweep.Sweep
	options Options
	emit    func(schema.Run) error

	assembler assembler
	launcher  launcher
	limits    limits
	agenda    agenda
	progress  progress
	result    Result
	patterns  patterns
	counted   []string // ids of runs of earlier sessions that count, and that no stored run names yet
}

// subject is a point on one side: the thing that is launched repeatedly.
type subject = prepare.Subject

func subjectOf(l sweep.Launch) subject { return subject{Point: l.Point, Side: l.Side} }

// run plans, builds and launches.
func (s *session) run(ctx context.Context) error {
	s.launcher.targets = prepare.New(prepare.Options{
		Sweep: s.sweep, Sides: s.sideFolders(), Version: s.options.Version, Exclude: s.options.Exclude, Beside: s.options.Beside,
	})
	if err := s.launcher.targets.CheckSides(); err != nil {
		return &InputError{err}
	}
	if s.options.DryRun {
		s.launcher.targets.CheckBuilders()
	} else if err := s.build(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	if len(s.assembler.sides) == 1 { // after the build, which may leave files
		s.assembler.sides[0] = workingTree(ctx, s.options.Exclude, s.settingsFiles())
	}
	if err := s.plan(ctx); err != nil || s.options.DryRun {
		return err
	}
	measured, passes := s.result.Plan.left()
	if err := s.convert(ctx, measured); err != nil || ctx.Err() != nil {
		return err
	}
	s.measureStart(ctx, measured)
	s.limits.first = s.limits.now()
	if err := s.launchAll(ctx, measured); err != nil {
		return err
	}
	further := s.launchRounds
	if s.sweep.Looks != nil {
		further = s.launchUntilConclusive
	}
	if err := further(ctx); err != nil {
		return err
	}
	s.notePrecision(ctx)
	return s.launchAll(ctx, passes)
}

// settingsFiles are the files with settings: what they say is compared setting by setting. A program that reads one names it.
func (s *session) settingsFiles() []string {
	if s.options.Sweep == "" {
		return s.options.Settings
	}
	return append(slices.Clone(s.options.Settings), s.options.Sweep)
}

// build runs the build commands and reports each of them.
func (s *session) build(ctx context.Context) error {
	return s.launcher.build(ctx, func(of subject, command []string) {
		s.progress.report(Event{Launch: sweep.Launch{Point: of.Point, Side: of.Side}, Build: command})
	})
}

// convert converts models before anything is measured. Models that change later, or whose points are skipped, are left to the
// launch.
func (s *session) convert(ctx context.Context, launches []sweep.Launch) error {
	seen := map[subject]bool{}
	for _, l := range launches {
		if sub := subjectOf(l); l.Point.Skip == nil && !seen[sub] {
			seen[sub] = true
			if _, err := s.launcher.target(ctx, sub); err != nil || ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

// launchAll runs launches in order.
func (s *session) launchAll(ctx context.Context, launches []sweep.Launch) error {
	for i, l := range launches {
		if ctx.Err() != nil {
			return nil
		}
		if s.limits.over() {
			s.result.Left += len(launches) - i
			return nil
		}
		if err := s.launchOne(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// launchOne runs one launch and stores its run.
func (s *session) launchOne(ctx context.Context, l sweep.Launch) error {
	began := time.Now()
	run, results, err := s.launch(ctx, l)
	if err != nil {
		return err
	}
	s.nameCounted(&run)
	for _, r := range append(results, run) { // its own run last: with that the launch is done
		if err := s.emit(r); err != nil {
			return err
		}
		s.result.count(&r)
	}
	if l.Point.Skip == nil {
		s.limits.oom.note(subjectOf(l), run.Status)
		s.limits.noteMeasured(subjectOf(l), &run)
		s.launcher.levels.note(l.Point.PointID, &run)
		s.note(l, &run)
		s.keepCompared(l, &run)
	}
	s.progress.ran(l, &run, time.Since(began))
	return nil
}

// nameCounted adds to a run the runs of earlier sessions that the session has counted since the last one. A list in each run would
// take as much space as all the rest of it.
func (s *session) nameCounted(run *schema.Run) {
	if len(s.counted) > 0 {
		run.Env.Facts[schema.FactCounted] = strings.Join(s.counted, " ")
		s.counted = nil
	}
}

// WarnFileChanged is the warning for a run whose file, model or program changed during its session: before the run, so that
// earlier runs of the point measured something else, or during it. The run has the hash from its beginning.
const WarnFileChanged = "file_changed"

// launch returns the run of a launch: of a process tree, or of the reason why there was none. results are the runs that the
// launched tool reported.
func (s *session) launch(ctx context.Context, l sweep.Launch) (run schema.Run, results []schema.Run, err error) {
	t, err := s.launcher.target(ctx, subjectOf(l))
	if err != nil {
		return schema.Run{}, nil, err
	}
	if refused := s.refusal(l, t); refused != nil {
		refused.StartedAt = s.limits.now().UTC()
		return s.assembler.run(l, t, *refused, nil), nil, nil
	}
	came, err := s.launcher.launch(ctx, l, t, func(p task.Progress) { s.progress.report(Event{Launch: l, Progress: &p}) })
	if err != nil {
		return schema.Run{}, nil, err
	}
	s.limits.noteSkipped(subjectOf(l), came.outcome)
	run = s.assembler.run(l, t, came.outcome, came.volatile)
	came.leaving.finish(&run)
	s.result.Files.count(came.leaving, &run)
	s.patterns.note(came.leaving, &run)
	if run.Status == schema.StatusOK {
		results = s.assembler.results(l, t, came)
		for i := range results { // they came out of the same launch
			came.leaving.giveTo(&results[i])
		}
	}
	if came.changed {
		run.Warnings = append(run.Warnings, WarnFileChanged)
		for i := range results {
			results[i].Warnings = append(results[i].Warnings, WarnFileChanged)
		}
	}
	return run, results, nil
}

// refusal is the outcome of a launch that does not happen; nil: it happens.
func (s *session) refusal(l sweep.Launch, t *prepare.Target) *task.Outcome {
	if skip := l.Point.Skip; skip != nil {
		if skip.Unsupported {
			return &task.Outcome{Status: schema.StatusUnsupported, Stage: schema.StageSetup, ErrorKind: kindNotApplied, Error: skip.Reason}
		}
		return &task.Outcome{Status: schema.StatusSkipped, ErrorKind: kindSkipIf, Error: skip.Reason}
	}
	if late := s.limits.whileLate(); late != nil {
		return late
	}
	if why := sweep.NotRun(l.Profile); why != "" {
		return &task.Outcome{Status: schema.StatusUnsupported, Stage: schema.StageProfile, ErrorKind: kindProfiler, Error: why}
	}
	if t.Refused != nil {
		outcome := *t.Refused
		return &outcome
	}
	if said := s.limits.before(subjectOf(l)); said != nil {
		return said
	}
	if failed := s.limits.afterFailure(l); failed != nil {
		return failed
	}
	return s.limits.afterOOM(subjectOf(l))
}
