package runner

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/runner/tune"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
)

// session is one execution of a sweep. It plans, builds, and works through the launches: limits decide whether a launch happens,
// the launcher runs it, the assembler makes a run of the outcome, emit stores the run, and the agenda decides whether more
// repeats are needed.
type session struct {
	lanes []*lane
	mu    sync.Mutex // see lane
	busy  []string   // devices of several that are left out, with their owners

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
	counted   []string          // ids of runs of earlier sessions that count, and that no stored run names yet
	absent    map[string]string // profilers that are not installed, with the reasons
	ownSweep  OwnSweep
}

// subject is a point on one side: the thing that is launched repeatedly.
type subject = prepare.Subject

func subjectOf(l sweep.Launch) subject { return subject{Point: l.Point, Side: l.Side} }

// run plans, builds and launches.
func (s *session) run(ctx context.Context) error {
	s.launcher.targets = s.newTargets()
	if err := s.launcher.targets.CheckSides(); err != nil {
		return &InputError{err}
	}
	if s.options.DryRun {
		s.launcher.targets.CheckBuilders()
	} else if err := s.build(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	if len(s.assembler.sides) == 1 { // after the build, which may leave files
		s.assembler.sides[0] = workingTree(ctx, s.options.Exclude, s.options.settingsFiles())
	}
	if c := s.options.Campaign; c != nil {
		s.assembler.campaign = c.nameOf(s.sweep, s.assembler.sides)
		s.assembler.orderSeed, s.assembler.shard = seedOf(s.assembler.campaign), c.Shard
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

// newTargets returns the targets of the sweep on the sides of the session, of which nothing is known yet.
func (s *session) newTargets() *prepare.Targets {
	return prepare.New(prepare.Options{
		Sweep: s.sweep, Sides: s.sideFolders(), Version: s.options.Version, Exclude: s.options.Exclude, Beside: s.options.Beside,
	})
}

// settingsFiles returns the files with settings, which are compared setting by setting. A program that reads such a file names it
// explicitly.
func (o *Options) settingsFiles() []string {
	if o.Sweep == "" {
		return o.Settings
	}
	return append(slices.Clone(o.Settings), o.Sweep)
}

// build runs the build commands and reports each of them.
func (s *session) build(ctx context.Context) error {
	return s.launcher.targets.Build(ctx, s.launcher.builder(func(of subject, command []string) {
		s.progress.report(Event{Launch: sweep.Launch{Point: of.Point, Side: of.Side}, Build: command})
	}))
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

// launchAll runs launches in order, or side by side on several devices, in order on each.
func (s *session) launchAll(ctx context.Context, launches []sweep.Launch) error {
	if s.lanes[0].mu != nil {
		return s.launchLanes(ctx, launches)
	}
	return s.launchOn(ctx, s.lanes[0], launches)
}

// launchOn runs launches in order on a lane.
func (s *session) launchOn(ctx context.Context, on *lane, launches []sweep.Launch) error {
	for i, l := range launches {
		if ctx.Err() != nil {
			return nil
		}
		if l := s.limits; l.maxTime > 0 && l.now().Sub(l.began) > l.maxTime {
			s.result.Left += len(launches) - i
			return nil
		}
		if err := s.launchOne(ctx, on, l); err != nil {
			return err
		}
	}
	return nil
}

// launchOne runs one launch and stores its run.
func (s *session) launchOne(ctx context.Context, on *lane, l sweep.Launch) error {
	began := time.Now()
	run, results, err := s.launch(ctx, on, l)
	if err != nil {
		return err
	}
	s.nameCounted(&run)
	for _, r := range append(results, run) { // its own run last: it marks the launch as done
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

// launch returns the run of a launch: of a process tree, or with the reason why there was none. results are the runs that the launched
// tool reported.
func (s *session) launch(ctx context.Context, on *lane, l sweep.Launch) (run schema.Run, results []schema.Run, err error) {
	t, err := s.launcher.target(ctx, subjectOf(l))
	if err != nil {
		return schema.Run{}, nil, err
	}
	if refused := s.refusal(on, l, t); refused != nil {
		refused.StartedAt = s.limits.now().UTC()
		return s.assembler.run(l, t, *refused, nil), nil, nil
	}
	came, err := s.launcher.launch(ctx, on, l, t, func(p task.Progress) { s.progress.report(Event{Launch: l, Progress: &p}) })
	if err != nil {
		return schema.Run{}, nil, err
	}
	s.limits.noteSkipped(subjectOf(l), came.outcome)
	run = s.assembler.run(l, t, came.outcome, came.volatile)
	on.quarantine(&run)
	came.leaving.finish(&run)
	s.result.Files.count(came.leaving, &run)
	s.patterns.note(came.leaving, &run)
	if run.Status == schema.StatusOK {
		results = s.assembler.results(l, t, came)
		if s.result.Unread == nil && l.Repeat == 0 {
			if s.result.Unread = s.launcher.unreadIn(ctx, l, came.leaving.text(sweep.Stdout)); s.result.Unread != nil {
				s.progress.report(Event{Launch: l, Unread: s.result.Unread})
			}
		}
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

// refusal returns the outcome of a launch that does not happen; nil: it happens.
func (s *session) refusal(on *lane, l sweep.Launch, t *prepare.Target) *task.Outcome {
	if skip := l.Point.Skip; skip != nil {
		if skip.Unsupported {
			return &task.Outcome{Status: schema.StatusUnsupported, Stage: schema.StageSetup, ErrorKind: kindNotApplied, Error: skip.Reason}
		}
		return &task.Outcome{Status: schema.StatusSkipped, ErrorKind: kindSkipIf, Error: skip.Reason}
	}
	if late := s.limits.whileLate(); late != nil {
		return late
	}
	if on.refused != "" && !usesProcessorOnly(l.Point) {
		return &task.Outcome{Status: schema.StatusSkipped, ErrorKind: kindQuarantine, Error: on.refused}
	}
	if why := s.absent[l.Profile]; why != "" {
		return &task.Outcome{Status: schema.StatusUnsupported, Stage: schema.StageProfile, ErrorKind: kindNotInstalled, Error: why}
	}
	if t.Refused != nil {
		outcome := *t.Refused
		return &outcome
	}
	if skipped, known := s.limits.skipped[subjectOf(l)]; known {
		return &skipped
	}
	if failed := s.limits.afterFailure(l); failed != nil {
		return failed
	}
	return s.limits.afterOOM(subjectOf(l))
}

// side is the code that is measured: the working directory, or one of the two sides that a session compares.
type side struct {
	prepare.Side
	code  worktree.Code
	known bool // the code is in a repository
}

// workingTree describes the only side of a session without a comparison. settings are files whose effect is compared otherwise.
func workingTree(ctx context.Context, exclude, settings []string) side {
	code, ok, err := worktree.State(ctx, ".", exclude, settings)
	return side{code: code, known: ok && err == nil} // without it a later session finds that the code changed
}

// InputError is an error in the request of the user. Nothing was launched, or a first launch showed that there is nothing to compare.
type InputError struct{ Err error }

// Error returns the text of the cause.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// cleanSides removes the sides of killed sessions. If that fails, only a session that needs new sides ends with an error.
func (s *session) cleanSides(ctx context.Context) error {
	if _, err := worktree.Clean(ctx, ""); err != nil && s.options.Against != "" {
		return fmt.Errorf("removing files of earlier sessions: %w", err)
	}
	return nil
}

// leaveRepository removes from the environment of this process, and so of all its children, the variables with which git points a hook
// to the user's repository. Builds and programs of two sides run in other repositories, and would write into the user's index.
func leaveRepository(ctx context.Context, against string) error {
	names, err := worktree.LocalVariables(ctx)
	if err != nil {
		return fmt.Errorf("comparing with %q: %w", against, err)
	}
	for _, name := range names {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}

// openSides creates the two sides of a session that compares the working tree, or a commit, with a commit.
func (s *session) openSides(ctx context.Context) (*worktree.Pair, error) {
	pair, err := worktree.Open(ctx, worktree.Options{
		Dir: ".", Against: s.options.Against, Head: s.options.Head, Session: s.result.Session, Share: s.sweep.Share, Exclude: s.options.Exclude,
	})
	if err != nil {
		return nil, &InputError{err}
	}
	s.assembler.sides = []side{sideOf(pair, pair.Base), sideOf(pair, pair.Head)}
	s.ownSweep = ownSweep(pair, s.options.Sweep)
	return pair, nil
}

// ownSweep tells how the sweep file at path, from which both sides run, differs from that of the base. A base without it has nothing to
// differ from.
func ownSweep(pair *worktree.Pair, path string) OwnSweep {
	used, err := os.ReadFile(path)
	if err != nil { // standard input, or no file
		return OwnSweep{}
	}
	if filepath.IsAbs(path) {
		dir, err := filepath.Abs(".")
		if err != nil {
			return OwnSweep{}
		}
		if path, err = filepath.Rel(dir, path); err != nil {
			return OwnSweep{}
		}
	}
	of := filepath.Join(pair.Base.Dir, path)
	if !worktree.Within(of, pair.Base.Root) {
		return OwnSweep{}
	}
	committed, err := os.ReadFile(of)
	if err != nil || bytes.Equal(committed, used) {
		return OwnSweep{}
	}
	return OwnSweep{File: path, Alone: pair.Head.Commit == pair.Base.Commit && !strings.Contains(pair.Head.Changed, "\n")}
}

func sideOf(pair *worktree.Pair, t worktree.Tree) side {
	others, exempt := pair.Foreign(t.Side)
	return side{prepare.Side{Name: t.Side, Dir: t.Dir, Root: t.Root, Trees: namesOf(others[0]), Others: others, Exempt: exempt}, t.Code, true}
}

// namesOf returns the paths under which the working tree is known: the resolved one and, if it differs, the one in $PWD.
func namesOf(tree string) []string {
	names := []string{tree}
	named, err := os.Getwd() // by $PWD, where that is the working directory
	if err != nil {
		return names
	}
	real, err := filepath.EvalSymlinks(named)
	if err != nil {
		return names
	}
	if name, ok := strings.CutSuffix(named, strings.TrimPrefix(real, tree)); ok && name != tree {
		names = append(names, name)
	}
	return names
}

// sideFolders lists the folders with the code of each side.
func (s *session) sideFolders() []prepare.Side {
	var folders []prepare.Side
	for _, side := range s.assembler.sides {
		folders = append(folders, side.Side)
	}
	return folders
}

// maxChanged is the size from which on the list of changed files is not stored: about 300 files. A later session then cannot determine
// which files differ.
const maxChanged = 16 << 10

// DescribeCode adds the state of the code in the working directory to the environment of this machine, as a session does. Paths in exclude
// are not part of it.
func DescribeCode(ctx context.Context, env *schema.Env, exclude []string) {
	workingTree(ctx, exclude, nil).describe(env)
}

// describe adds the state of the code to the environment of a run.
func (s side) describe(env *schema.Env) {
	if !s.known {
		env.Missing["git.dirty"] = cmp.Or(env.Missing["git.commit"], "unsupported")
		return
	}
	dirty := s.code.Dirty || len(s.code.Changed) > maxChanged // then nobody can tell later what differed
	branch := probe.NewMask(os.Environ()).Text(s.code.Branch)
	env.GitCommit, env.GitBranch, env.GitDirty = s.code.Commit, branch, &dirty
	env.Facts[prepare.FactTree] = s.code.Tree
	if s.code.Changed != "" && len(s.code.Changed) <= maxChanged {
		env.Facts[prepare.FactTreeChanged] = s.code.Changed
	}
	for key, value := range map[string]string{"git.commit": s.code.Commit, "git.branch": branch, "git.dirty": fmt.Sprint(dirty)} {
		delete(env.Missing, key)
		env.Facts[key] = value
		if value == "" {
			delete(env.Facts, key)
			env.Missing[key] = "absent"
		}
	}
}

// compared lists the sides for a plan.
func compared(sides []side) []Side {
	if len(sides) < 2 {
		return nil
	}
	var all []Side
	for _, s := range sides {
		all = append(all, Side{Name: s.Name, Commit: s.code.Commit, Dirty: s.code.Dirty})
	}
	return all
}

// launcher runs process trees: for launches, and for the builds before them.
type launcher struct {
	process tune.Process // settings of the processes of each run
	targets *prepare.Targets
	pool    *task.Pool
	extract Extract // reads metrics from the files of a run
	read    ReadResults
	keep    KeepFile
	tell    func(Event)
	tools   map[string]string // paths of profilers that start programs

	comparer comparer
	levels   levels
}

// launched is the result of a launch.
type launched struct {
	outcome  task.Outcome
	volatile map[string]string // facts of the machine while it ran
	changed  bool              // a file that it is made of changed before it or while it ran
	results  []schema.Run      // of the tool that it ran
	leaving  *leaving          // decides about its files
}

// launch runs the process tree for a launch of a target on a lane.
func (r *launcher) launch(ctx context.Context, on *lane, l sweep.Launch, t *prepare.Target, observe func(task.Progress)) (launched, error) {
	looked := l.Point.Compared && l.Profile == ""
	var want *computed
	if looked {
		var err error
		if want, err = r.expected(ctx, l); err != nil {
			return launched{}, err
		}
	}
	spec := t.SpecOf(l, r.levels.of(l.Point))
	spec.Watch, spec.Process = r.targets.Watches(subjectOf(l)), r.process
	spec.Env = append(slices.Clone(spec.Env), on.environ...)
	var came leftovers
	spec.Read = r.reader(ctx, t, want, &came)
	leaving := r.newLeaving(t)
	spec.RunDir, spec.Leave = sweep.RunDir, leaving.take
	shown := func(p task.Progress) { on.together(func() { observe(p) }) }
	run := func() (task.Outcome, error) { return r.pool.Run(ctx, spec, shown) }
	if pass := r.newPass(l, &spec); pass != nil {
		run = func() (task.Outcome, error) { return pass.run(ctx, spec, leaving, shown) }
	}
	before := on.watch.Read()
	watched := l.Point.Telemetry != nil && l.Profile == ""
	if watched {
		on.watch.Begin(l.Point.Telemetry.Hz, on.devicesOf(l.Point))
	}
	var outcome task.Outcome
	var err error
	on.apart(func() { outcome, err = run() })
	var readings probe.Readings
	if watched {
		readings = on.watch.End()
	}
	if err != nil {
		return launched{}, fmt.Errorf("running %s: %w", l.Point.Benchmark, err)
	}
	if err := r.targets.NoteFiles(subjectOf(l), &outcome); err != nil {
		return launched{}, &InputError{err}
	}
	r.targets.NoteOutputs(t)
	if t.Check(&outcome); looked {
		r.comparer.judgeOutputs(l, &outcome, came.outputs, want)
	}
	volatile := probe.Between(before, on.watch.ReadAfter())
	on.describe(volatile)
	if watched {
		maps.Copy(volatile, addTelemetry(&outcome, readings, l.Point.Telemetry))
	}
	return launched{outcome, volatile, r.targets.Fresh(ctx, subjectOf(l)).Changed, came.results, leaving}, nil
}

// target returns the current target of a subject, with a converted model if it needs one.
func (r *launcher) target(ctx context.Context, sub subject) (*prepare.Target, error) {
	t := r.targets.Fresh(ctx, sub)
	err := r.targets.Convert(ctx, r.builder(func(of subject, words []string) {
		r.tell(Event{Launch: sweep.Launch{Point: of.Point, Side: of.Side}, Build: words})
	}), sub, t)
	return t, err
}

// builder runs preparations in the same way as launches. observe is called for each of them.
func (r *launcher) builder(observe func(of subject, command []string)) prepare.Builder {
	return prepare.Builder{
		Run:     func(ctx context.Context, spec task.Spec) (task.Outcome, error) { return r.pool.Run(ctx, spec, nil) },
		Observe: observe,
	}
}
