package runner

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// assemble makes a run of a launch and its outcome.
func (s *session) assemble(ctx context.Context, l sweep.Launch, o task.Outcome, volatile map[string]string) schema.Run {
	t := s.targets.Of(ctx, subjectOf(l))
	hideSecrets(&o, t.Mask())
	run := schema.Run{
		RunID:     schema.NewULID(o.StartedAt).String(),
		SessionID: s.result.Session, Resumes: s.result.Plan.Resumes,
		Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens, Side: s.sides[l.Side].Name,
		RepeatIndex: new(int64(l.Repeat)), BlockIndex: new(int64(l.Block)), PositionIndex: new(int64(l.Position)),
		Suite: s.sweep.Suite, Tags: s.sweep.Tags, ModelSHA256: t.ModelSHA256, BackendVersion: t.BackendVersion,
		Applied: o.Applied, Work: o.Work,
		StartedAt: o.StartedAt.Truncate(time.Microsecond), TimeSource: schema.TimeClock, Stages: o.Stages,
		Status: o.Status, Stage: o.Stage, ErrorKind: o.ErrorKind, Error: o.Error, ExitCode: o.ExitCode, Signal: o.Signal,
		Metrics: o.Metrics, Ops: o.Ops,
		Env: s.runEnv(l, t, o, volatile),
	}
	l.Point.Fill(&run)
	run.Stages.Build = t.Built
	if l.Profile != "" {
		run.Purpose = schema.PurposeProfile
	}
	if o.BackendVersion != "" {
		run.BackendVersion = o.BackendVersion
	}
	stat.Complete(&run)
	run.Warnings = slices.Concat(o.Warnings, probe.Warnings(s.env, volatile, s.devices))
	if m := run.Metric(schema.PrimaryMetric); m != nil {
		run.Primary = schema.PrimaryMetric
		floor, _ := strconv.ParseFloat(o.Facts[task.FactTimerFloor], 64) // 0: not known
		run.Warnings = append(run.Warnings, stat.Warnings(m.Values(), m.Tick, floor)...)
	}
	return run
}

// hideSecrets masks what a benchmark said: its error often is the last line of it.
func hideSecrets(o *task.Outcome, m probe.Mask) {
	o.Error, o.StderrTail = m.Text(o.Error), m.Text(o.StderrTail)
	if stack := o.Facts[task.FactStack]; stack != "" {
		o.Facts[task.FactStack] = m.Text(stack)
	}
	for key, why := range o.Missing { // which may have a part of an output in it
		o.Missing[key] = m.Text(why)
	}
}

// factThreshold begins the facts of thresholds; the metric follows.
const factThreshold = "runner.threshold."

// runEnv is the session's manifest with what is of this run alone.
func (s *session) runEnv(l sweep.Launch, t *prepare.Target, o task.Outcome, volatile map[string]string) schema.Env {
	env := s.env
	env.Facts, env.Missing = maps.Clone(env.Facts), maps.Clone(env.Missing)
	s.sides[l.Side].describe(&env)
	if s.options.Sweep != "" {
		env.Facts["sweep.file"] = s.options.Sweep
		env.Facts["sweep.sha256"] = s.sweep.SHA256
	}
	if s.options.Flags != "" {
		env.Facts["runner.flags"] = s.options.Flags
	}
	env.Facts["runner.order"] = s.sweep.Order
	maps.Copy(env.Facts, s.rules)
	if l.Profile != "" {
		env.Facts[factProfile] = l.Profile
	}
	for _, facts := range []map[string]string{t.Facts, volatile, o.Facts} {
		maps.Copy(env.Facts, facts)
	}
	maps.Copy(env.Missing, o.Missing)
	if t.Python.Version != "" {
		env.PythonVersion = t.Python.Version
	}
	if o.StderrTail != "" {
		env.Facts["runner.stderr_tail"] = o.StderrTail
	}
	return env
}
