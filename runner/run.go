package runner

import (
	"context"
	_ "embed" // the page
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/runner/tune"
	"github.com/neurolens/neurolens/schema"
)

// Options of Run.
type Options struct {
	Version string      // version of NeuroLens; stored with every run
	Machine string      // the name that the user gave this machine; empty: a fingerprint
	Sweep   string      // path of the sweep file, as the user gave it; stored with every run
	Flags   string      // options of the user's command line, in any form; stored with every run
	Observe func(Event) // is called for each event, from the goroutine that called Run; may be nil

	// Done returns the runs of earlier sessions of the same suites on a machine: the newest session first, and in each session
	// the newest run first; nil: there are none.
	Done func(machine string) ([]schema.Run, error)
	// Campaign makes the session one of several that share out a sweep, and replaces Done; nil: the session is of no campaign.
	Campaign *Campaign
	Rerun    Rerun
	DryRun   bool          // plan, but launch nothing
	MaxTime  time.Duration // after this time, nothing more is launched; 0: no limit
	// LargerAfterOOM launches points even if a smaller one ran out of memory.
	LargerAfterOOM bool

	// Against is a commit to compare the working tree with, side by side; empty: only one side. Run then removes the variables that tie git to
	// one repository from the environment of the process.
	Against string
	Head    string // with Against, a commit to measure instead of the working tree
	// Settings are files with settings, in addition to Sweep. If one of them changes, earlier runs differ only if the change affects
	// their settings.
	Settings []string
	Exclude  []string // paths that are not code, even if they are in the working tree: the store, a folder of results

	// FindInconclusive returns the points of a session with two sides whose comparison is inconclusive, by id, with the reason. It gets the
	// runs so far, with the summaries of their primary metrics and without samples. The session keeps the map. FindInconclusive is required
	// if the sweep has Looks.
	FindInconclusive func(runs []schema.Run) map[string]string

	// Extract reads the metrics in outputs. The rules of a sweep may never end, or may use too much memory, so it should work in
	// a separate process. Without it, metrics are read in this process.
	Extract Extract

	// Results reads the outputs of benchmark tools; nil: none is read. Beside returns the names of the files that are read together with
	// an output of this name in a format, if the process writes them; nil: none is.
	Results ReadResults
	Beside  func(format, file string) []string

	// Keep stores files that runs have left; nil: none is kept.
	Keep KeepFile

	// Planned is called with the plan before the first launch. If it returns an error, the session ends. It may be nil.
	Planned func(*Plan) error

	// Process are the settings that each process of a benchmark gets, and Tuned the settings of the machine that are held meanwhile. Both
	// are stored with every run.
	Process tune.Process
	Tuned   []tune.Result

	// Devices are GPUs to measure at once, as device.Each takes them: the points are dealt out, and each device runs its own one after the other.
	// One that another session measures is left out. Empty: one point runs at a time.
	Devices string
	Locks   string // directory of the device locks
	Wait    bool   // wait for a device that another session is measuring
}

// Event is something that happens while a sweep runs. Exactly one of Plan, Waiting, Build, Reference, Unread, Progress, Run and Look is set.
type Event struct {
	Session   string
	Env       *schema.Env // environment of the session
	Index     int         // of the launch in the session, from 0
	Launches  int         // number of launches of the session, including those done by an earlier session
	Launch    sweep.Launch
	Remaining time.Duration // estimate; 0: not known

	Plan    *Plan  // once, before the first launch
	Waiting string // why the session waits for a device, with the owner
	// Build is the command that runs now, or describes the model that is being converted, before the first launch that needs it.
	Build []string
	// Reference reports that the correct output is being computed, before the first launch that needs it, or that there is none.
	Reference *Reference
	// Unread reports, once, that the launch has printed results that nothing reads.
	Unread   *Unread
	Progress *task.Progress
	Run      *schema.Run // finished and stored
	Look     *Look
}

// Precision counts the points of a session that have the requested precision.
type Precision struct {
	Points    int     // that succeeded at least once, without controls
	Imprecise int     // points that need more runs
	Reached   float64 // the largest relative error of a side of a point, as a share; 0: unknown
	Needed    int     // number of runs after which all points are probably precise; 0: unknown, or more than 1,000
	RelError  float64 // the requested precision, as a share
	Repeats   int     // maximum number of ok runs of an imprecise point or, if there is none, of all points, per side
	Stopped   Stop    // why there are no more runs
}

// Stop is why a session ended before its precision was reached.
type Stop string

// The reasons.
const (
	StopMaxRepeats  Stop = "" // each point has its maximum number of repeats
	StopMaxTime     Stop = "max_time"
	StopTimeout     Stop = "timeout" // of the suite
	StopInterrupted Stop = "interrupted"
)

// Result summarizes a session.
type Result struct {
	Session  string
	Plan     Plan
	Statuses map[schema.Status]int // number of runs
	Left     int                   // launches that were not started, because of MaxTime

	Look *Look // the last look; nil: there was none

	Precision *Precision // of a sweep with rel_error; else nil

	Files Files

	ProcessStart time.Duration // time to start a process that does nothing; 0: no command was launched, or it is not known

	// Failure is the id of the first stored run that a user has to look at; empty: there is none.
	Failure string

	// Passes are notes on what runs under profilers lack, each once: see PassNotes. They begin with the profiler.
	Passes []string

	// Unread are results of a tool in the output of a command that nothing has read; nil: none were found.
	Unread *Unread

	measured int    // stored runs that have measured something
	tried    int    // stored runs, without passes of profilers, that were not skipped
	Why      string // the first reason why a run measured nothing, preferably of one that failed; empty: there is none
	skip     bool   // Why is from a run that was skipped or is unsupported
}

// count adds a run that was kept.
func (r *Result) count(run *schema.Run) {
	r.Statuses[run.Status]++
	if r.Failure == "" && run.Status.Failed() && run.Status != schema.StatusCancelled {
		r.Failure = run.RunID
	}
	if run.Purpose == schema.PurposeMeasure && run.Status != schema.StatusSkipped {
		r.tried++
	}
	notes := PassNotes(run)
	for i := range notes {
		notes[i] = run.Env.Facts[schema.FactProfile] + ": " + notes[i]
	}
	if run.Purpose == schema.PurposeProfile && run.Status == schema.StatusUnsupported {
		notes = append(notes, run.Error) // it begins with the profiler
	}
	for _, note := range notes {
		if !slices.Contains(r.Passes, note) {
			r.Passes = append(r.Passes, note)
		}
	}
	switch {
	case run.Status == schema.StatusOK && run.Purpose == schema.PurposeMeasure:
		r.measured++
	case r.Why == "", r.skip && !skipped(run.Status) && run.Error != "": // a failure is more informative than a skip
		r.Why, r.skip = run.Error, skipped(run.Status)
	}
}

func skipped(status schema.Status) bool {
	return status == schema.StatusSkipped || status == schema.StatusUnsupported
}

// Measured returns the number of runs that measured something, including those of earlier sessions that this one continues.
func (r Result) Measured() int {
	n := r.measured
	for _, p := range r.Plan.Launches {
		if p.Done != nil && p.Done.Status == schema.StatusOK && p.Launch.Profile == "" {
			n++
		}
	}
	return n
}

// AllSkipped reports whether all kept runs were skipped, but for passes of profilers.
func (r Result) AllSkipped() bool { return r.tried == 0 }

// Runs returns the number of runs that were kept.
func (r Result) Runs() int {
	n := 0
	for _, count := range r.Statuses {
		n += count
	}
	return n
}

// Failed returns the number of kept runs that a user has to look at.
func (r Result) Failed() int {
	n := 0
	for status, count := range r.Statuses {
		if status.Failed() {
			n += count
		}
	}
	return n
}

// FailedBefore returns the number of runs that a user has to look at, among those of earlier sessions that this one continues.
func (r Result) FailedBefore() int {
	n := 0
	for _, p := range r.Plan.Launches {
		if p.Done != nil && p.Done.Status.Failed() {
			n++
		}
	}
	return n
}

// Run runs all launches of a sweep, in order, that no earlier session has done. It passes each finished run to emit; if emit
// returns nil, the run is stored. After the sweep's Timeout, the remaining launches are passed on as skipped.
//
// It ends early, with the runs stored so far, in three cases: ctx ends (the current run is stored as cancelled), emit cannot
// store a run, or processes cannot be started. Only the first one is not an error. If another session is measuring a device, the
// error is a *device.BusyError. Invalid options, or a commit that cannot be compared with, are an *InputError.
func Run(ctx context.Context, s *sweep.Sweep, o Options, emit func(schema.Run) error) (result Result, failed error) {
	if o.Observe == nil {
		o.Observe = func(Event) {}
	}
	if o.Extract == nil {
		o.Extract = extractHere
	}
	if s.Looks != nil && (o.Against == "" || o.FindInconclusive == nil) {
		return result, &InputError{errors.New("repeats until the comparison is conclusive: want a commit to compare with, and a function that finds open points")}
	}
	if o.Against != "" {
		if err := leaveRepository(ctx, o.Against); err != nil {
			return result, &InputError{err}
		}
	}
	session := newSession(ctx, s, o, emit)
	defer func() {
		result = session.result
		result.Files.Unmatched = session.patterns.unmatched()
	}()
	held, err := session.openLanes(ctx)
	if err != nil {
		return result, err
	}
	defer held.Release()
	if !o.DryRun {
		if err := session.cleanSides(ctx); err != nil {
			return result, err
		}
	}
	if o.Against != "" {
		pair, err := session.openSides(ctx)
		if err != nil {
			return result, err
		}
		defer func() {
			if closed := pair.Close(); closed != nil && failed == nil {
				failed = closed
			}
		}()
	}
	pool, err := task.New()
	if err != nil {
		return result, fmt.Errorf("starting a session: %w", err)
	}
	for _, on := range session.lanes {
		on.watch = probe.Watch(session.assembler.env)
		defer on.watch.Close()
	}
	session.launcher.pool = pool
	err = session.run(ctx)
	if closed := pool.Close(); err == nil {
		err = closed
	}
	return result, err
}

// newSession reads the environment and prepares a session.
func newSession(ctx context.Context, s *sweep.Sweep, o Options, emit func(schema.Run) error) *session {
	env := probe.Read(ctx, probe.Options{
		Machine: o.Machine, Environ: os.Environ(), Version: o.Version, GPU: probe.GPU,
	})
	for _, r := range o.Tuned {
		if r.Missing != "" {
			env.Missing[tune.Fact+r.Name] = r.Missing
		} else {
			env.Facts[tune.Fact+r.Name] = r.Value
		}
	}
	now, sides := time.Now(), 1
	if o.Against != "" {
		sides = 2
	}
	id := schema.NewULID(now)
	session := &session{
		sweep: s, options: o, emit: emit,
		assembler: assembler{session: id, sweep: s, file: o.Sweep, flags: o.Flags, env: env, sides: make([]side, sides), rules: ruleFacts(s), orderSeed: binary.BigEndian.Uint64(id[8:])},
		limits:    limits{now: time.Now, began: now, maxTime: o.MaxTime, timeout: s.Timeout, larger: o.LargerAfterOOM},
		launcher:  launcher{process: o.Process, extract: o.Extract, read: o.Results, keep: o.Keep, comparer: newComparer(), levels: levels{}},
		agenda:    newAgenda(s),
		patterns:  patterns{matched: map[string]bool{}},
		result:    Result{Session: id.String(), Statuses: map[schema.Status]int{}},
	}
	session.launcher.tools, session.absent = findTools(s.Points)
	session.progress = progress{
		observe: o.Observe, session: id.String(), env: &session.assembler.env, total: len(s.Launches(session.order())), estimate: &estimate{},
	}
	session.launcher.tell = func(e Event) { session.progress.report(e) }
	return session
}

// lock locks the devices that the sweep measures.
func (s *session) lock(ctx context.Context) (*device.Held, error) {
	cpuOnly := true
	for i := range s.sweep.Points {
		cpuOnly = cpuOnly && usesProcessorOnly(&s.sweep.Points[i])
	}
	s.assembler.devices = device.Of(s.assembler.env, os.Environ(), cpuOnly)
	return s.lockDevices(ctx, s.assembler.devices)
}

// lockDevices locks devices. Before it waits for one that another session is measuring, or refuses to, it checks without measuring
// that what the points need exists.
func (s *session) lockDevices(ctx context.Context, devices []string) (*device.Held, error) {
	held, err := device.Lock(ctx, s.options.Locks, devices, nil)
	if _, busy := errors.AsType[*device.BusyError](err); !busy {
		return held, err
	}
	if err := s.checkThere(ctx); err != nil {
		return nil, err
	}
	return device.Lock(ctx, s.options.Locks, devices, s.waiting())
}

// checkThere checks what the points need as the plan does, except that nothing is built and that the sides of a commit do not exist yet.
func (s *session) checkThere(ctx context.Context) error {
	if len(s.assembler.sides) > 1 {
		return nil
	}
	targets := s.newTargets()
	targets.CheckBuilders()
	if _, err := targets.CheckThere(ctx); err != nil {
		return &InputError{err}
	}
	return nil
}

// waiting returns a function that reports that the session waits for a device; nil: it does not wait.
func (s *session) waiting() func(device, owner string) {
	if !s.options.Wait {
		return nil
	}
	return func(device, owner string) {
		s.progress.report(Event{Waiting: device + " is being measured by " + owner})
	}
}

// usesProcessorOnly reports whether a point is known to use no GPU: by its settings, or by the label of its backend.
func usesProcessorOnly(p *sweep.Point) bool {
	return p.Executor == schema.ExecutorBuiltin || p.Device == "cpu" || p.Backend == "cpu" || p.Provider == "CPUExecutionProvider"
}

// factProcessStart is the fact with the time to start a process that does nothing and to wait for its end, in ns: the median of
// several starts.
const factProcessStart = "timer.process_start_ns"

// The number of starts of an empty program that measure the time of a start, and the time limit of one.
const (
	emptyWarmup  = 3
	emptyStarts  = 30
	emptyPatient = 10 * time.Second
)

// emptyProgram does nothing.
const emptyProgram = "true"

// measureStart measures how long it takes to start a process, in the same way as commands, if there are commands among the
// launches. If that fails, the time stays unknown.
func (s *session) measureStart(ctx context.Context, launches []sweep.Launch) {
	command := func(l sweep.Launch) bool { return l.Point.Executor == schema.ExecutorCommand && l.Point.Skip == nil }
	if !slices.ContainsFunc(launches, command) {
		return
	}
	if _, err := task.LookPath(emptyProgram, os.Environ()); err != nil {
		return
	}
	outcome, err := s.launcher.pool.Run(ctx, task.Spec{
		Launch:    task.Launch{Executor: schema.ExecutorCommand, Command: []string{emptyProgram}, Warmup: emptyWarmup, Iterations: emptyStarts},
		Deadlines: task.EachStage(emptyPatient),
	}, nil)
	if err != nil || outcome.Status != schema.StatusOK {
		return
	}
	for i := range outcome.Metrics {
		if m := &outcome.Metrics[i]; m.Name == schema.PrimaryMetric && len(m.Ticks) > 0 {
			ticks := slices.Sorted(slices.Values(m.Ticks))
			s.result.ProcessStart = time.Duration(ticks[len(ticks)/2])
			s.assembler.processStart = strconv.FormatInt(int64(s.result.ProcessStart), 10)
		}
	}
}

// hideFlags masks the options of the command line: a JSON map of texts, some of which are JSON lists of texts. Each text is
// masked separately, so that quotes are not mistaken for parts of a secret.
func hideFlags(flags string, m probe.Mask) string {
	var given map[string]any
	if err := json.Unmarshal([]byte(flags), &given); err != nil {
		return m.Text(flags)
	}
	for name, value := range given {
		text, _ := value.(string)
		var list []any
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			given[name] = m.Text(text)
			continue
		}
		for i, word := range list {
			if word, ok := word.(string); ok {
				list[i] = m.Text(word)
			}
		}
		given[name] = canonical(list)
	}
	return canonical(given)
}

// canonical returns the canonical JSON of a value that was read from JSON, which always exists.
func canonical(value any) string {
	text, err := schema.CanonicalJSON(value)
	if err != nil {
		return ""
	}
	return text
}

// the page

// StoredPage is the page that lists the stored facts about a machine and a command.
//
//go:embed STORED.md
var StoredPage string

// progress reports the events of a session and how far it is.
type progress struct {
	observe  func(Event)
	session  string
	env      *schema.Env
	finished int // number of launches, including the ones of earlier sessions
	total    int
	estimate *estimate
}

// more adds a round.
func (p *progress) more(round Plan) {
	p.total, p.finished = p.total+len(round.Launches), p.finished+round.Done
	for _, planned := range round.Launches {
		if planned.Done == nil {
			p.estimate.add(subjectOf(planned.Launch))
		}
	}
}

// ran reports a finished run that is stored, and how long it took.
func (p *progress) ran(l sweep.Launch, run *schema.Run, took time.Duration) {
	if l.Point.Skip == nil { // a skipped launch takes no time
		p.estimate.measure(subjectOf(l), took)
		p.estimate.done(subjectOf(l))
	}
	e := p.filled(Event{Launch: l, Run: run})
	p.finished++
	p.observe(e)
}

// report reports an event.
func (p *progress) report(e Event) { p.observe(p.filled(e)) }

// filled sets the fields that every event has.
func (p *progress) filled(e Event) Event {
	e.Session, e.Env, e.Index, e.Launches = p.session, p.env, p.finished, p.total
	e.Remaining = p.estimate.remaining()
	return e
}
