package runner

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// assemble makes a run of a launch and its outcome.
func (s *session) assemble(ctx context.Context, l sweep.Launch, o task.Outcome, volatile map[string]string) schema.Run {
	t := s.target(ctx, subjectOf(l))
	hideSecrets(&o, t.mask())
	run := schema.Run{
		RunID:     schema.NewULID(o.StartedAt).String(),
		SessionID: s.result.Session, Resumes: s.result.Plan.Resumes,
		Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens, Side: s.sides[l.Side].name,
		RepeatIndex: new(int64(l.Repeat)), BlockIndex: new(int64(l.Block)), PositionIndex: new(int64(l.Position)),
		Suite: s.sweep.Suite, Tags: s.sweep.Tags, ModelSHA256: t.modelSHA256, BackendVersion: t.backendVersion,
		Applied: o.Applied, Work: o.Work,
		StartedAt: o.StartedAt.Truncate(time.Microsecond), TimeSource: schema.TimeClock, Stages: o.Stages,
		Status: o.Status, Stage: o.Stage, ErrorKind: o.ErrorKind, Error: o.Error, ExitCode: o.ExitCode, Signal: o.Signal,
		Metrics: o.Metrics, Ops: o.Ops,
		Env: s.runEnv(l, t, o, volatile),
	}
	l.Point.Fill(&run)
	run.Stages.Build = t.built
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
}

// factThreshold begins the facts of thresholds; the metric follows.
const factThreshold = "runner.threshold."

// runEnv is the session's manifest with what is of this run alone.
func (s *session) runEnv(l sweep.Launch, t *target, o task.Outcome, volatile map[string]string) schema.Env {
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
	for _, facts := range []map[string]string{t.facts, volatile, o.Facts} {
		maps.Copy(env.Facts, facts)
	}
	maps.Copy(env.Missing, o.Missing)
	if t.python.Version != "" {
		env.PythonVersion = t.python.Version
	}
	if o.StderrTail != "" {
		env.Facts["runner.stderr_tail"] = o.StderrTail
	}
	return env
}

// checkApplied makes a run unsupported where what ran is not what was asked: a benchmark cannot silently change an
// axis. What it measured is not what the point says, so samples and operators go.
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
		o.Error = key + " " + asked[key] + " was asked, " + applied + " was applied"
		o.Metrics, o.Ops = nil, nil
		return
	}
}
