package task

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// cancelledText is the error of a cancelled run.
const cancelledText = "cancelled"

const (
	// dumpPoll is the interval at which the runner checks for a stack dump, and dumpWait the time limit for it: a process that hangs in
	// the kernel cannot write it.
	dumpPoll = 2 * time.Millisecond
	dumpWait = time.Second
	// tick is how often the runner looks at the number of samples and at the size of the output.
	tick = 100 * time.Millisecond
	// drainWait is how long the runner reads on after all processes are gone: only a process that survives
	// SIGKILL can hold a pipe open.
	drainWait = 200 * time.Millisecond
)

// phase is the purpose of the timer of a run.
type phase int

const (
	phaseRunning   phase = iota // the deadline of a stage
	phaseDumping                // the worker was told to dump its stack
	phaseReporting              // the profiler was told to write its report
	phaseKilling                // the supervisor was told to kill
	phaseTakeover               // the supervisor itself was killed
	phaseDraining               // everything has ended
)

// follow listens until nothing of the run is left. It ends the run if necessary.
func (r *run) follow(ctx context.Context) {
	r.timer = time.NewTimer(r.spec.Deadlines.Setup)
	r.due = time.Now().Add(r.spec.Deadlines.Setup)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	cancelled := ctx.Done()
	r.report(Progress{Stage: r.stage})
	for !r.over {
		select {
		case m := <-r.messages:
			r.handled++
			r.handle(m)
		case <-r.timer.C:
			r.onDeadline()
		case <-ticker.C:
			r.poll()
		case <-cancelled:
			cancelled = nil
			if r.phase == phaseReporting {
				r.kill()
			}
			r.stop(cause{status: schema.StatusCancelled, text: cancelledText})
		case r.death = <-r.exited:
			r.dead = true
			if r.done == nil {
				r.left = r.pool.sweep()
			}
			r.drain()
		}
	}
	r.finish()
}

// finish closes the last stage, and counts the samples unless stop did.
func (r *run) finish() {
	r.catchUp()
	r.closeStage(now())
	if r.cause == nil {
		r.warmup, r.measured = r.samples.counts()
	} else if !r.cause.at.IsZero() {
		r.facts["runner.kill_delay_ns"] = strconv.FormatInt(int64(time.Since(r.cause.at)), 10)
	}
	if r.keeper != nil {
		r.keepErr = r.keeper.keep(0)
	}
}

// handle processes a message of a stream.
func (r *run) handle(m message) {
	if m.end {
		r.ended[m.from] = true
		if m.err != nil {
			r.protocolError(m.err)
		}
		r.drained()
		return
	}
	e := m.event
	if m.from == fromWorker {
		if err := r.receive(e); err != nil {
			r.protocolError(err)
			return
		}
	}
	switch e.Event {
	case eventHello:
		if r.epoch[m.from].IsZero() {
			r.epoch[m.from] = time.Now().Add(-time.Duration(e.At))
		}
	case eventStage:
		r.enter(e.Stage, r.at(m.from, e.At))
	case eventResult:
		if r.result == nil {
			r.result = &e
			r.enter(schema.StageTeardown, r.at(m.from, e.At))
		}
	case eventUnsupported, eventSkipped, eventError:
		if r.failed == nil {
			r.failed = &e
		}
	case eventRead, eventExecuted:
		r.files = append(r.files, File{e.Value, e.Event == eventExecuted})
	case eventFact:
		if e.Missing != "" {
			r.missing[e.Key] = e.Missing
		} else {
			r.facts[e.Key] = e.Value
		}
	}
	if m.from != fromSupervisor {
		return
	}
	switch e.Event {
	case eventExit:
		r.exit = &e
	case eventDone:
		r.done, r.left = &e, e.Left
		r.drain()
	case eventReady:
		r.note(e)
	}
}

// protocolError ends a run whose worker violates the protocol.
func (r *run) protocolError(err error) {
	r.protocolErr = fmt.Errorf("reading events: %w", err)
	r.stop(cause{status: schema.StatusError, kind: kindProtocol, text: r.protocolErr.Error()})
}

// moment is a point in time on the runner's clock and, if known, on the sender's (ns, else unset).
type moment struct {
	wall   time.Time
	sender int64
}

func now() moment { return moment{time.Now(), unset} }

// at returns the time of an event, which a sender reports as ns on its own clock. The result is not after now, and not before the
// running stage.
func (r *run) at(from int, ns int64) moment {
	m := moment{r.epoch[from].Add(time.Duration(ns)), ns}
	if t := time.Now(); r.epoch[from].IsZero() || m.wall.After(t) || m.wall.Before(r.began.wall) {
		m.wall = t
	}
	return m
}

// enter begins a stage and its deadline, if it is a later one. The worker's events may come after the supervisor's report that all is
// done.
func (r *run) enter(stage schema.Stage, m moment) {
	if r.cause != nil || stageNumber(stage) <= stageNumber(r.stage) {
		return
	}
	r.closeStage(m)
	r.stage, r.began, r.since = stage, m, m
	r.reported = 0
	if r.phase == phaseRunning {
		r.arm()
		r.report(r.progress(0))
	}
}

// closeStage notes how long the stage took that ends now, by the sender's clock where that has both ends.
func (r *run) closeStage(m moment) {
	took := int64(m.wall.Sub(r.began.wall))
	if m.sender != unset && r.began.sender != unset {
		took = m.sender - r.began.sender
	}
	slot := r.stages.Of(r.stage)
	if slot != nil && *slot == nil {
		*slot = new(max(took, 0))
	}
}

// poll reports progress and ends a run that writes too much.
func (r *run) poll() {
	if r.phase != phaseRunning {
		return
	}
	warmup, measured := r.samples.counts()
	done := warmup
	if r.stage != schema.StageWarmup {
		done = measured
	}
	if stage, _ := r.headerStage(); done != r.reported && stage == r.stage { // else its event is on the way
		r.reported = done
		r.report(r.progress(done))
	}
	r.checkEnough(measured)
	if size := r.output(); size > r.job.OutputLimit {
		r.stop(cause{
			status: schema.StatusOutputLimit, kind: kindOutputLimit,
			text: fmt.Sprintf("wrote %d B, more than the limit of %d B", size, r.job.OutputLimit),
		})
	}
}

// checkEnough calls Spec.Enough each time there are a quarter more samples: a call disturbs the machine that measures, and repeated
// tests are true too often by chance.
func (r *run) checkEnough(measured int) {
	if r.spec.Enough == nil || r.stage != schema.StageMeasure || measured < r.enough+r.enough/4+1 {
		return
	}
	r.enough = measured
	latencies := r.samples.spread(columnLatency, r.job.Warmup, measured)
	if s, known := r.startOfShell(); known {
		var ok bool
		if latencies, ok = s.subtract(latencies); !ok {
			return
		}
	}
	if r.spec.Enough(latencies) {
		r.samples.stop()
	}
}

func (r *run) progress(done int) Progress {
	p := Progress{Stage: r.stage, Done: done}
	switch r.stage {
	case schema.StageWarmup:
		p.Total = r.job.Warmup
	case schema.StageMeasure:
		if p.Total = r.job.Iterations; r.spec.perProcess() && r.job.Budget > 0 {
			p.Total = 0 // as many as fit
		}
	}
	return p
}

// output returns the size of the largest of the files of output, in B.
func (r *run) output() int64 {
	return max(sizeOf(r.stdout), sizeOf(r.stderr), sizeOf(r.events))
}

// sizeOf returns the size of a file in B; 0 if that is not known.
func sizeOf(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// stop ends a run. The samples are counted before anything is killed, because a loop that dies may still add rows.
func (r *run) stop(c cause) {
	if r.phase != phaseRunning || r.cause != nil {
		return
	}
	r.catchUp()
	c.stage = r.stage
	r.cause = &c
	r.warmup, r.measured = r.samples.counts()
	r.closeStage(now())
	switch p := r.spec.Profiler; {
	case c.status == schema.StatusTimeout && p != nil:
		r.phase = phaseReporting
		r.order(orderInterrupt)
		r.setTimer(p.Grace)
		return
	case c.status == schema.StatusTimeout && r.reports.dumps:
		r.phase, r.dumpBy = phaseDumping, time.Now().Add(dumpWait)
		r.dumped = r.stackSize()
		r.order(orderDump)
		r.setTimer(dumpPoll)
		return
	}
	r.kill()
}

// kill orders the supervisor to kill everything.
func (r *run) kill() {
	r.phase = phaseKilling
	wait := r.job.KillWait / 2
	if r.hasCleanup() {
		wait += r.spec.Deadlines.Teardown
	}
	r.setTimer(wait)
	r.order(orderKill)
}

// awaitDump orders the kill once the stack is written completely.
func (r *run) awaitDump() {
	size := r.stackSize()
	if size > 0 && size == r.dumped || time.Now().After(r.dumpBy) {
		r.kill()
		return
	}
	r.dumped = size
	r.setTimer(dumpPoll)
}

func (r *run) stackSize() int64 {
	info, err := r.stack.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// drain is called when all processes have ended.
func (r *run) drain() {
	r.phase = phaseDraining
	r.setTimer(drainWait)
	r.drained()
}

// drained ends the run if there is nothing more to read.
func (r *run) drained() {
	if r.phase == phaseDraining && r.ended[fromWorker] && (r.ended[fromSupervisor] || !r.dead) {
		r.over = true
	}
}

// setTimer has onDeadline called after a time.
func (r *run) setTimer(d time.Duration) {
	r.due, r.caughtUp = time.Now().Add(d), 0
	r.timer.Reset(d)
}

// arm sets the timer to the deadline.
func (r *run) arm() { r.setTimer(time.Until(r.deadline())) }

// deadline returns the deadline of the stage. The supervisor enforces the deadline of a cleanup itself, because the run may have ended by
// then.
func (r *run) deadline() time.Time {
	limit := *r.spec.Deadlines.of(r.stage)
	if r.stage == schema.StageTeardown && r.hasCleanup() {
		limit += r.job.KillWait
	}
	return r.since.wall.Add(limit)
}

// hasCleanup reports whether the end of the run has something to do.
func (r *run) hasCleanup() bool { return len(r.spec.Hooks.Cleanup) > 0 }

// onDeadline is called by the timer.
func (r *run) onDeadline() {
	if r.resumedLate() {
		return
	}
	switch r.phase {
	case phaseRunning:
		if !r.hasAdvanced() {
			at := r.deadline()
			r.facts[factTimeoutLimit] = nanoseconds(*r.spec.Deadlines.of(r.stage))
			r.facts[factTimeoutElapsed] = nanoseconds(time.Since(r.since.wall))
			r.stop(cause{status: schema.StatusTimeout, text: r.timeoutText(), at: at})
		}
	case phaseDumping:
		r.awaitDump()
	case phaseReporting:
		r.kill()
	case phaseKilling:
		r.phase = phaseTakeover
		_ = r.cmd.Process.Kill()
		r.setTimer(r.job.KillWait / 2)
	case phaseTakeover:
		r.left, r.over = 1, true // the supervisor itself
	case phaseDraining:
		r.over = true
	}
}

// resumedLate reports whether the timer is looked at long after its time, because Ctrl-Z or SIGSTOP stopped this process. The run went on
// meanwhile, and may be over: then the timer is reset, as long as events are left to read.
func (r *run) resumedLate() bool {
	const long = time.Second
	if time.Since(r.due) < long || r.caughtUp == r.handled {
		return false
	}
	r.caughtUp = r.handled
	r.timer.Reset(long)
	return true
}

// headerStage returns the running stage, and when it or its process began, from the header of the samples. There a stage may have begun
// without an event, or before its event was read.
func (r *run) headerStage() (stage schema.Stage, began moment) {
	number, at := r.samples.progress()
	if number < stageNumber(r.stage) || number > int64(len(schema.StageNames)) {
		return r.stage, r.began
	}
	return schema.StageNames[number-1], r.at(r.measurer(), at)
}

// catchUp enters the stages that have begun according to the header of the samples, whose events have not come yet or never will.
func (r *run) catchUp() {
	last, _ := r.headerStage()
	for number := stageNumber(r.stage) + 1; number <= stageNumber(last); number++ {
		if at := r.samples.begun(number); at != unset {
			r.enter(schema.StageNames[number-1], r.at(r.measurer(), at))
		}
	}
}

// hasAdvanced reports whether a later stage, or the next process of this one, has begun. Then it resets the timer.
func (r *run) hasAdvanced() bool {
	before := r.stage
	r.catchUp()
	stage, began := r.headerStage()
	switch {
	case r.stage != before:
		return true
	case stage != r.stage || stage == schema.StageSetup || !r.spec.perProcess() || began.sender <= r.since.sender:
		return false
	}
	r.since = began
	r.arm()
	return true
}

// measurer returns the stream whose sender measures.
func (r *run) measurer() int {
	if r.spec.perProcess() {
		return fromSupervisor
	}
	return fromWorker
}

func (r *run) timeoutText() string {
	what := string(r.stage)
	if r.spec.perProcess() && (r.stage == schema.StageWarmup || r.stage == schema.StageMeasure) {
		what = "one process of " + what
		if len(r.spec.Hooks.Prepare) > 0 {
			what += ", or its prepare,"
		}
	}
	limit := short(*r.spec.Deadlines.of(r.stage))
	if r.spec.Profile {
		return fmt.Sprintf("%s took more than %s; raise timeouts.profile, or the timeout of the profiler", what, limit)
	}
	if slices.Contains(r.reports.shortened, r.stage) {
		return fmt.Sprintf("%s took more than %s, the deadline in its get_config", what, limit)
	}
	return fmt.Sprintf("%s took more than %s; raise timeouts.%s", what, limit, r.stage)
}

// The facts of a run that missed a deadline: the deadline, and how long the stage, or its process, had taken when the run was ended, in ns.
const (
	factTimeoutLimit   = "runner.timeout_limit_ns"
	factTimeoutElapsed = "runner.timeout_elapsed_ns"
)

func nanoseconds(d time.Duration) string { return strconv.FormatInt(int64(d), 10) }

// short returns a duration without the zeros at its end: 10m, not 10m0s.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if cut, ok := strings.CutSuffix(text, zero); ok {
			text = cut + zero[:1]
		}
	}
	return text
}
