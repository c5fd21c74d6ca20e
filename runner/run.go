package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// Options of Run.
type Options struct {
	Version string      // of NeuroLens; stored with every run
	Machine string      // the name that the user gave this machine; empty: a fingerprint
	Sweep   string      // path of the sweep file, as the user gave it; stored with every run
	Flags   string      // of the user's command line, in whatever form; stored with every run
	Observe func(Event) // told what happens, from the goroutine that called Run; may be nil

	// Done gives the runs that earlier sessions of its suites have on a machine, the newest session and in each the
	// newest run first; nil: there are none.
	Done    func(machine string) ([]schema.Run, error)
	Rerun   Rerun
	DryRun  bool          // plan, and launch nothing
	MaxTime time.Duration // nothing more is launched after it; 0: no such limit
	// LargerAfterOOM launches points although a smaller one ran out of memory.
	LargerAfterOOM bool

	Against string   // a commit to measure the working tree against, side by side; empty: one side
	Head    string   // with Against, a commit to measure in place of the working tree
	Exclude []string // paths that are no code, though they may lie in the working tree: the store, a folder of results

	// Open tells which points of a session with two sides are not settled, by their ids, and why, from its runs so far, which
	// have the summaries of their primary metrics and no samples. The map is the session's to keep. It has to be there where the sweep has Looks.
	Open func(runs []schema.Run) map[string]string

	// Extract reads the metrics that stand in outputs. What a sweep asks for need not end, nor fit into memory, so it is to
	// do that apart from this process, which does it where there is none.
	Extract Extract

	// Results reads the outputs of benchmark tools; nil: none is read.
	Results ReadResults

	// Keep stores files that runs have left; nil: none is kept.
	Keep KeepFile

	// Planned is told the plan before the first launch; an error ends the session. It may be nil.
	Planned func(*Plan) error

	Locks string // directory of the device locks
	Wait  bool   // for a device that another session measures
}

// Event is something that happens while a sweep runs. Of Plan, Waiting, Build, Reference, Progress, Run and Look one is set.
type Event struct {
	Session   string
	Env       *schema.Env // of the session
	Index     int         // of the launch in the session, from 0
	Launches  int         // of the session, those that an earlier session has done included
	Launch    sweep.Launch
	Remaining time.Duration // estimate; 0: not known

	Plan    *Plan  // once, before the first launch
	Waiting string // for whom a device has to be waited for
	// Build is the command that is being run, or says which model is being converted, before the first launch that needs it.
	Build []string
	// Reference says that what outputs are compared with is being computed, before the first launch that needs it, or that there
	// is none.
	Reference *Reference
	Progress  *task.Progress
	Run       *schema.Run // finished and kept
	Look      *Look
}

// Result counts what a session did.
type Result struct {
	Session  string
	Plan     Plan
	Statuses map[schema.Status]int
	Left     int // launches that were not begun, because of MaxTime

	Look *Look // the last one; nil: there was none

	Files Files

	ProcessStart time.Duration // what a process that does nothing takes here; 0: no command was launched, or it is not known

	// Failure is the id of the first run kept that a user has to look at; empty: there is none.
	Failure string

	measured int    // runs kept that have measured something
	Why      string // the first reason why a run has measured nothing, of one that failed if any did; empty: there is none
	skip     bool   // it is that of one that was skipped or is not supported
}

// count takes in a run that was kept.
func (r *Result) count(run *schema.Run) {
	r.Statuses[run.Status]++
	if r.Failure == "" && run.Status.Failed() && run.Status != schema.StatusCancelled {
		r.Failure = run.RunID
	}
	switch {
	case run.Status == schema.StatusOK && run.Purpose == schema.PurposeMeasure:
		r.measured++
	case r.Why == "", r.skip && !skipped(run.Status) && run.Error != "": // what failed says more than what was left out
		r.Why, r.skip = run.Error, skipped(run.Status)
	}
}

func skipped(status schema.Status) bool {
	return status == schema.StatusSkipped || status == schema.StatusUnsupported
}

// Measured is how many runs have measured something: those kept, and those of earlier sessions that this one goes on from.
func (r Result) Measured() int {
	n := r.measured
	for _, p := range r.Plan.Launches {
		if p.Done != nil && p.Done.Status == schema.StatusOK && p.Launch.Profile == "" {
			n++
		}
	}
	return n
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

// FailedBefore is how many runs of earlier sessions a user has to look at, of those that this one goes on from.
func (r Result) FailedBefore() int {
	n := 0
	for _, p := range r.Plan.Launches {
		if p.Done != nil && p.Done.Status.Failed() {
			n++
		}
	}
	return n
}

// Run runs every launch of a sweep in order that no earlier session has done, and hands each finished run to emit,
// which has kept it when it returns nil. Once the sweep's Timeout has passed, the launches that are left are handed
// over as skipped.
//
// It ends early, with the runs so far kept, if ctx ends (the run that was going on is kept as cancelled), if emit
// cannot keep a run, or if it cannot start processes; only the first of these is no error. A device that another
// session measures is a *device.BusyError, and what makes no sense in the options or against a commit an *InputError.
func Run(ctx context.Context, s *sweep.Sweep, o Options, emit func(schema.Run) error) (result Result, failed error) {
	if o.Observe == nil {
		o.Observe = func(Event) {}
	}
	if o.Extract == nil {
		o.Extract = extractHere
	}
	if s.Looks != nil && (o.Against == "" || o.Open == nil) {
		return result, &InputError{errors.New("repeats until the comparison is conclusive: want a commit to compare with, and a function that finds open points")}
	}
	session := newSession(ctx, s, o, emit)
	defer func() {
		result = session.result
		result.Files.Unmatched = session.patterns.unmatched()
	}()
	if !o.DryRun {
		held, err := session.lock(ctx)
		if err != nil {
			return result, err
		}
		defer held.Release()
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
	watch := probe.Watch(session.assembler.env)
	defer watch.Close()
	session.launcher.pool, session.launcher.watch = pool, watch
	err = session.run(ctx)
	if closed := pool.Close(); err == nil {
		err = closed
	}
	return result, err
}

// newSession reads the environment.
func newSession(ctx context.Context, s *sweep.Sweep, o Options, emit func(schema.Run) error) *session {
	env := probe.Read(ctx, probe.Options{
		Machine: o.Machine, Environ: os.Environ(), Version: o.Version, GPU: probe.GPU,
	})
	now, sides := time.Now(), 1
	if o.Against != "" {
		sides = 2
	}
	id := schema.NewULID(now)
	session := &session{
		sweep: s, options: o, emit: emit,
		assembler: assembler{session: id, sweep: s, file: o.Sweep, flags: o.Flags, env: env, sides: make([]side, sides), rules: ruleFacts(s)},
		limits:    limits{now: time.Now, began: now, maxTime: o.MaxTime, timeout: s.Timeout, larger: o.LargerAfterOOM},
		launcher:  launcher{extract: o.Extract, read: o.Results, keep: o.Keep, comparer: newComparer(), levels: levels{}},
		agenda:    newAgenda(s),
		patterns:  patterns{matched: map[string]bool{}},
		result:    Result{Session: id.String(), Statuses: map[schema.Status]int{}},
	}
	session.progress = progress{
		observe: o.Observe, session: id.String(), env: &session.assembler.env, total: len(s.Launches(sweep.LaunchOptions{Sides: sides})), estimate: &estimate{},
	}
	session.launcher.tell = func(e Event) { session.progress.tell(e) }
	return session
}

// lock locks the devices that the sweep measures.
func (s *session) lock(ctx context.Context) (*device.Held, error) {
	cpuOnly := true
	for i := range s.sweep.Points {
		p := &s.sweep.Points[i]
		cpuOnly = cpuOnly && (p.Executor == schema.ExecutorBuiltin || p.Device == "cpu" || p.Provider == "CPUExecutionProvider")
	}
	s.assembler.devices = device.Of(s.assembler.env, os.Environ(), cpuOnly)
	var wait func(device, owner string)
	if s.options.Wait {
		wait = func(device, owner string) {
			s.progress.tell(Event{Waiting: device + " is being measured by " + owner})
		}
	}
	return device.Lock(ctx, s.options.Locks, s.assembler.devices, wait)
}
