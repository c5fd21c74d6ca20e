package runner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/runner/prepare"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/shellwords"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// assembler makes runs from the outcomes of launches and from the common data of a session.
type assembler struct {
	session schema.ULID
	resumes string // the session that this one continues; empty: a new session
	sweep   *sweep.Sweep
	file    string // of the sweep, as the user gave it
	flags   string // of the user's command line
	env     schema.Env
	sides   []side            // one, or base and head
	devices []string          // that are measured, see device.Of
	rules   map[string]string // see ruleFacts

	orderSeed uint64 // see factOrderSeed

	campaign string      // see Campaign; empty: none
	shard    sweep.Shard // of the campaign; zero: none

	processStart string // see factProcessStart; empty: it is not known
}

// run makes a run from a launch, its target, its outcome, and the state of the machine during the run.
func (a *assembler) run(l sweep.Launch, t *prepare.Target, o task.Outcome, volatile map[string]string) schema.Run {
	hideSecrets(&o, t.Mask())
	run := schema.Run{
		RunID:     schema.NewULID(o.StartedAt).String(),
		SessionID: a.session.String(), Resumes: a.resumes,
		Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens, Side: a.sides[l.Side].Name,
		RepeatIndex: new(int64(l.Repeat)), BlockIndex: new(int64(l.Block)), PositionIndex: new(int64(l.Position)),
		Tags: a.sweep.Tags, ModelSHA256: t.ModelSHA256, BackendVersion: t.BackendVersion,
		Applied: o.Applied, Work: o.Work,
		StartedAt: o.StartedAt.Truncate(time.Microsecond), TimeSource: schema.TimeClock, Stages: o.Stages,
		Status: o.Status, Stage: o.Stage, ErrorKind: o.ErrorKind, Error: o.Error, ExitCode: o.ExitCode, Signal: o.Signal,
		Metrics: o.Metrics, Ops: o.Ops,
		Env: a.runEnv(l, t, o, volatile),
	}
	l.Point.Fill(&run)
	run.Stages.Build = t.Built
	if l.Profile != "" {
		run.Purpose = schema.PurposeProfile
	}
	if o.BackendVersion != "" {
		run.BackendVersion = o.BackendVersion
	}
	addWork(&run, l.Point)
	devices := a.devices
	if usesProcessorOnly(l.Point) {
		devices = []string{device.CPU} // no GPU slows it down
	} else if one := volatile[schema.FactMeasuredDevice]; one != "" {
		devices = []string{one}
	}
	run.Warnings = slices.Concat(o.Warnings, probe.Warnings(a.env, volatile, devices))
	judge(l.Point, &run)
	stat.Complete(&run)
	if name := cmp.Or(l.Point.Primary, schema.PrimaryMetric); run.Metric(name) != nil && !task.Multiplexed(o.Facts, name) {
		run.Primary = name
	}
	run.Warnings = append(run.Warnings, sampleWarnings(&run, o.Facts[task.FactTimerFloor])...)
	return run
}

// sampleWarnings returns the warnings about the samples of the primary metric of a run. timerFloor is the smallest interval in ns that the
// timer of the metric `latency` can measure; empty: it is not known. How another metric was measured is not known.
func sampleWarnings(run *schema.Run, timerFloor string) []string {
	m := run.Metric(run.Primary)
	switch {
	case m == nil:
		return nil
	case m.Name == schema.PrimaryMetric:
		floor, _ := strconv.ParseFloat(timerFloor, 64)
		if n := m.IterationsPerSample; len(n) == 1 { // the iterations of a sample share the overhead of the clock
			floor /= float64(n[0])
		}
		return stat.Warnings(m.Values(), m.Tick, floor)
	case m.Level == schema.LevelIteration, m.Level == schema.LevelProcess:
		return stat.Warnings(m.Values(), 0, 0)
	}
	return nil // requests and tokens are different from each other
}

// hideSecrets masks the messages of a benchmark: an error often quotes its last line.
func hideSecrets(o *task.Outcome, m probe.Mask) {
	o.Error, o.StderrTail = m.Text(o.Error), m.Text(o.StderrTail)
	for _, fact := range []string{task.FactStack, task.FactCleanup, prepare.FactTraceback} {
		if text := o.Facts[fact]; text != "" {
			o.Facts[fact] = m.Text(text)
		}
	}
	for key, why := range o.Missing { // the reason may quote a part of an output
		o.Missing[key] = m.Text(why)
	}
}

// factOrderSeed is the fact with the seed of the random order within each block.
const factOrderSeed = "runner.order_seed"

// rulesOf lists the facts that define how a comparison of a point's runs is decided.
func (a *assembler) rulesOf(p *sweep.Point) map[string]string {
	rules := maps.Clone(a.rules)
	for metric, text := range p.Thresholds {
		rules[schema.FactThreshold+metric] = text
	}
	return rules
}

// runEnv returns the environment of the session, with the facts of this run added.
func (a *assembler) runEnv(l sweep.Launch, t *prepare.Target, o task.Outcome, volatile map[string]string) schema.Env {
	env := a.env
	env.Facts, env.Missing = maps.Clone(env.Facts), maps.Clone(env.Missing)
	a.sides[l.Side].describe(&env)
	if a.file != "" {
		env.Facts["sweep.file"] = shellwords.ToUTF8(a.file)
		env.Facts["sweep.sha256"] = a.sweep.SHA256
	}
	if a.flags != "" {
		env.Facts["runner.flags"] = hideFlags(a.flags, t.Mask())
	}
	if a.processStart != "" && l.Point.Executor == schema.ExecutorCommand {
		env.Facts[factProcessStart] = a.processStart
	}
	if a.sweep.Baseline != "" {
		env.Facts[schema.FactBaseline] = a.sweep.Baseline
	}
	env.Facts["runner.order"], env.Facts[factOrderSeed] = a.sweep.Order, strconv.FormatUint(a.orderSeed, 10)
	if a.campaign != "" {
		env.Facts[schema.FactCampaign] = a.campaign
	}
	if a.shard.Count > 0 {
		env.Facts[factShard] = a.shard.String()
	}
	env.Facts["runner.timeouts"] = l.Timeouts().String()
	maps.Copy(env.Facts, a.rulesOf(l.Point))
	maps.Copy(env.Facts, a.sweep.Found[l.Point.File])
	if l.Profile != "" {
		env.Facts[schema.FactProfile] = l.Profile
	}
	if args := profilerArguments(l); args != "" {
		env.Facts[factProfileArgs] = args
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
	env.Facts, env.Missing = inUTF8(env.Facts), inUTF8(env.Missing)
	return env
}

// inUTF8 returns facts as valid UTF-8, which a store requires. Some facts are names of files and need not be UTF-8.
func inUTF8(facts map[string]string) map[string]string {
	for name, text := range facts {
		if utf8.ValidString(name) && utf8.ValidString(text) {
			continue
		}
		delete(facts, name)
		facts[shellwords.ToUTF8(name)] = shellwords.ToUTF8(text)
	}
	return facts
}
