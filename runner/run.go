package runner

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Options of Run.
type Options struct {
	Version string      // of NeuroLens; stored with every run
	Machine string      // the name that the user gave this machine; empty: a fingerprint
	Sweep   string      // path of the sweep file, as the user gave it; stored with every run
	Observe func(Event) // told what happens, from the goroutine that called Run; may be nil
}

// Event is something that happens while a sweep runs. Of Progress and Run at most one is set.
type Event struct {
	Session  string
	Env      *schema.Env // of the session
	Index    int         // of the launch in the session, from 0
	Launches int         // of the session
	Launch   sweep.Launch
	Progress *task.Progress
	Run      *schema.Run // finished and kept
}

// Result counts what a session did.
type Result struct {
	Session  string
	Statuses map[schema.Status]int
}

// Runs is how many runs were kept.
func (r Result) Runs() int {
	n := 0
	for _, count := range r.Statuses {
		n += count
	}
	return n
}

// Failed is how many of them a user has to look at.
func (r Result) Failed() int {
	n := 0
	for status, count := range r.Statuses {
		if status.Failed() {
			n += count
		}
	}
	return n
}

// Run runs every launch of a sweep in order and hands each finished run to emit, which has kept it when it returns
// nil. Once the sweep's Timeout has passed, the launches that are left are handed over as skipped. It ends early, with the runs so far kept, if ctx ends (the run that was going on is kept as cancelled), if emit
// cannot keep a run, or if it cannot start processes; only the first of these is no error.
func Run(ctx context.Context, s *sweep.Sweep, o Options, emit func(schema.Run) error) (Result, error) {
	if o.Observe == nil {
		o.Observe = func(Event) {}
	}
	env := probe.Read(ctx, probe.Options{
		Machine: o.Machine, Environ: os.Environ(), Version: o.Version, GPU: probe.GPU,
	})
	pool, err := task.New()
	if err != nil {
		return Result{}, fmt.Errorf("starting a session: %w", err)
	}
	session := &session{
		sweep: s, options: o, env: env, pool: pool, emit: emit, now: time.Now,
		result: Result{Session: schema.NewULID(time.Now()).String(), Statuses: map[schema.Status]int{}},
	}
	err = session.run(ctx)
	if closed := pool.Close(); err == nil {
		err = closed
	}
	return session.result, err
}

// session is one invocation of a sweep.
type session struct {
	sweep   *sweep.Sweep
	options Options
	env     schema.Env
	pool    *task.Pool
	emit    func(schema.Run) error
	now     func() time.Time // what the sweep's Timeout is measured with
	result  Result
}

func (s *session) run(ctx context.Context) error {
	launches := s.sweep.Launches()
	began := s.now()
	for i, launch := range launches {
		if ctx.Err() != nil {
			return nil
		}
		event := Event{Session: s.result.Session, Env: &s.env, Index: i, Launches: len(launches), Launch: launch}
		var run schema.Run
		if now := s.now(); now.Sub(began) > s.sweep.Timeout {
			run = s.assemble(launch, s.skipped(now), nil)
		} else {
			var err error
			if run, err = s.launch(ctx, event); err != nil {
				return err
			}
		}
		if err := s.emit(run); err != nil {
			return err
		}
		s.result.Statuses[run.Status]++
		event.Run = &run
		s.options.Observe(event)
	}
	return nil
}

// skipped is the outcome of a launch that the sweep's Timeout left no time for.
func (s *session) skipped(at time.Time) task.Outcome {
	return task.Outcome{
		Status: schema.StatusSkipped, ErrorKind: "suite_timeout", StartedAt: at.UTC(),
		Error: fmt.Sprintf("the suite took more than %s; raise timeouts.suite", s.sweep.Timeout),
	}
}

// launch runs one launch and makes a run of its outcome.
func (s *session) launch(ctx context.Context, event Event) (schema.Run, error) {
	point := event.Launch.Point
	volatile := probe.Volatile(nil)
	outcome := task.Outcome{
		Status: schema.StatusUnsupported, Stage: schema.StageSetup, StartedAt: time.Now().UTC(),
		ErrorKind: "executor", Error: fmt.Sprintf("executor %s is not in this version", point.Executor),
	}
	if point.Executor == schema.ExecutorBuiltin || point.Executor == schema.ExecutorCommand {
		var err error
		outcome, err = s.pool.Run(ctx, specOf(point), func(p task.Progress) {
			event := event
			event.Progress = &p
			s.options.Observe(event)
		})
		if err != nil {
			return schema.Run{}, fmt.Errorf("running %s: %w", point.Benchmark, err)
		}
	}
	checkApplied(point, &outcome)
	return s.assemble(event.Launch, outcome, volatile), nil
}

// specOf is what the task package needs to know of a point.
func specOf(p *sweep.Point) task.Spec {
	spec := task.Spec{
		Executor: p.Executor, Command: p.Command, Dir: p.Dir,
		Warmup: p.Warmup, Iterations: p.Iterations, Budget: p.Budget,
		Deadlines: task.Deadlines(p.Timeouts),
	}
	for _, key := range slices.Sorted(maps.Keys(p.Env)) {
		spec.Env = append(spec.Env, key+"="+p.Env[key])
	}
	if p.Executor == schema.ExecutorBuiltin {
		spec.Config = configOf(p)
	}
	return spec
}

// configOf is a point as a worker is told of it: the axes with a column under their names, the others prefixed param.
// What the point does not say is left out.
func configOf(p *sweep.Point) map[string]string {
	config := map[string]string{}
	for key, text := range map[string]string{"benchmark": p.Benchmark, "model": p.Model, "precision": p.Precision} {
		if text != "" {
			config[key] = text
		}
	}
	for key, n := range map[string]*int64{"batch_size": p.BatchSize, "seq_len": p.SeqLen} {
		if n != nil {
			config[key] = strconv.FormatInt(*n, 10)
		}
	}
	for name, text := range p.Params {
		config["param."+name] = text
	}
	return config
}

// checkApplied makes a run unsupported where what ran is not what was asked: a benchmark cannot silently change an
// axis. What it measured is not what the point says, so the samples go.
func checkApplied(p *sweep.Point, o *task.Outcome) {
	if o.Status != schema.StatusOK || o.Applied == nil {
		return
	}
	asked := configOf(p)
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		applied, known := o.Applied[key]
		if !known || applied == asked[key] {
			continue
		}
		o.Status, o.Stage, o.ErrorKind = schema.StatusUnsupported, schema.StageSetup, "not_applied"
		o.Error = fmt.Sprintf("%s %s was asked, %s was applied", key, asked[key], applied)
		o.Metrics = nil
		return
	}
}

// assemble makes a run of a launch and its outcome.
func (s *session) assemble(l sweep.Launch, o task.Outcome, volatile map[string]string) schema.Run {
	run := schema.Run{
		RunID:     schema.NewULID(o.StartedAt).String(),
		SessionID: s.result.Session,
		Purpose:   schema.PurposeMeasure, Source: schema.SourceNeuroLens,
		RepeatIndex: new(int64(l.Repeat)), BlockIndex: new(int64(l.Block)), PositionIndex: new(int64(l.Position)),
		Suite: s.sweep.Suite, Tags: s.sweep.Tags,
		Applied: o.Applied, Work: o.Work,
		StartedAt: o.StartedAt.Truncate(time.Microsecond), TimeSource: schema.TimeClock, Stages: o.Stages,
		Status: o.Status, Stage: o.Stage, ErrorKind: o.ErrorKind, Error: o.Error, ExitCode: o.ExitCode, Signal: o.Signal,
		Warnings: append(o.Warnings, s.warnings(volatile)...), Metrics: o.Metrics,
		Env: s.runEnv(l.Point, o, volatile),
	}
	l.Point.Fill(&run)
	if run.Executor == schema.ExecutorBuiltin {
		run.BackendVersion = s.options.Version
	}
	if m := run.Metric(schema.PrimaryMetric); m != nil {
		run.Primary = schema.PrimaryMetric
		run.Warnings = append(run.Warnings, stat.Warnings(stat.Summarize(m.Values()))...)
	}
	return run
}

// WarnLoad is the word of warning for a run that began while more wanted to run than the machine has processors.
const WarnLoad = "load"

func (s *session) warnings(volatile map[string]string) []string {
	load, err := strconv.ParseFloat(volatile["load.1m"], 64)
	if err != nil || s.env.CPUCount == nil || load <= float64(*s.env.CPUCount) {
		return nil
	}
	return []string{WarnLoad}
}

// runEnv is the session's manifest with what is of this run alone.
func (s *session) runEnv(p *sweep.Point, o task.Outcome, volatile map[string]string) schema.Env {
	env := s.env
	env.Facts, env.Missing = maps.Clone(env.Facts), maps.Clone(env.Missing)
	maps.Copy(env.Facts, asked(p))
	if s.options.Sweep != "" {
		env.Facts["sweep.file"] = s.options.Sweep
	}
	maps.Copy(env.Facts, volatile)
	maps.Copy(env.Facts, o.Facts)
	maps.Copy(env.Missing, o.Missing)
	if o.StderrTail != "" {
		env.Facts["runner.stderr_tail"] = o.StderrTail
	}
	return env
}

// asked are the settings of a launch that are not part of what is measured.
func asked(p *sweep.Point) map[string]string {
	facts := map[string]string{"runner.warmup": strconv.Itoa(p.Warmup)}
	if p.Iterations > 0 {
		facts["runner.iterations"] = strconv.Itoa(p.Iterations)
	} else {
		facts["runner.budget"] = p.Budget.String()
	}
	if p.Dir != "" {
		facts["runner.cwd"] = p.Dir
	}
	if p.Command == nil {
		return facts
	}
	words := make([]any, len(p.Command))
	for i, word := range p.Command {
		words[i] = word
	}
	if text, err := schema.CanonicalJSON(words); err == nil { // texts always have one
		facts["runner.command"] = text
	}
	return facts
}
