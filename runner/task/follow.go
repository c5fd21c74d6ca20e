package task

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// cancelledText is the error of a cancelled run.
const cancelledText = "cancelled"

const (
	// dumpPoll is how often the runner looks whether a stack is written, dumpWait how long it waits for one: a
	// process that the kernel holds cannot write it.
	dumpPoll = 2 * time.Millisecond
	dumpWait = time.Second
	// tick is how often the runner looks at the number of samples and at the size of the output.
	tick = 100 * time.Millisecond
	// drainWait is how long the runner reads on after all processes are gone: only a process that survives
	// SIGKILL can hold a pipe open.
	drainWait = 200 * time.Millisecond
)

// phase is what the timer of a run stands for.
type phase int

const (
	phaseRunning  phase = iota // the deadline of a stage
	phaseDumping               // the worker was told to write down its stack
	phaseKilling               // the supervisor was told to kill
	phaseTakeover              // the supervisor itself was killed
	phaseDraining              // everything has ended
)

// follow listens until nothing of the run is left, ending it where it has to be ended.
func (r *run) follow(ctx context.Context) {
	r.timer = time.NewTimer(r.spec.Deadlines.Setup)
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
			r.strike()
		case <-ticker.C:
			r.look()
		case <-cancelled:
			cancelled = nil
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

// finish reads the samples of a run that nobody had to end.
func (r *run) finish() {
	r.catchUp()
	r.closeStage(now())
	if r.cause == nil {
		r.warmup, r.measured = r.samples.counts()
	} else if !r.cause.at.IsZero() {
		r.facts["runner.kill_delay_ns"] = strconv.FormatInt(int64(time.Since(r.cause.at)), 10)
	}
	if r.keeper != nil {
		r.unkept = r.keeper.keep(0)
	}
}

// handle takes in what a stream brought.
func (r *run) handle(m message) {
	if m.end {
		r.ended[m.from] = true
		if m.err != nil {
			r.breach(m.err)
		}
		r.drained()
		return
	}
	e := m.event
	if m.from == fromWorker {
		if err := r.receive(e); err != nil {
			r.breach(err)
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

// breach ends a run whose worker does not keep to the protocol.
func (r *run) breach(err error) {
	r.garbage = fmt.Errorf("reading events: %w", err)
	r.stop(cause{status: schema.StatusError, kind: kindProtocol, text: r.garbage.Error()})
}

// moment is a point in time on the runner's clock, and on the sender's where that is known (ns, else unset).
type moment struct {
	wall   time.Time
	sender int64
}

func now() moment { return moment{time.Now(), unset} }

// at is when something happened that a sender gives as ns on its own clock. It cannot place it after now, or before
// the stage that runs.
func (r *run) at(from int, ns int64) moment {
	m := moment{r.epoch[from].Add(time.Duration(ns)), ns}
	if t := time.Now(); r.epoch[from].IsZero() || m.wall.After(t) || m.wall.Before(r.began.wall) {
		m.wall = t
	}
	return m
}

// enter begins a stage and its deadline, if it is a later one. The worker's events may come after the supervisor's
// word that all is done.
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

// look reports progress and ends a run that writes too much.
func (r *run) look() {
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

// checkEnough asks whether the samples will do, where that is asked, each time there are a quarter more of them: asking
// takes time from the machine that measures, and an answer among many is yes by chance.
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

// output is the size of the largest of the files of output, in B.
func (r *run) output() int64 {
	return max(sizeOf(r.stdout), sizeOf(r.stderr), sizeOf(r.events))
}

// sizeOf is the size of a file in B; 0 if that is not known.
func sizeOf(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// stop ends a run. The samples are counted before anything is killed: what a dying loop adds is none.
func (r *run) stop(c cause) {
	if r.phase != phaseRunning || r.cause != nil {
		return
	}
	r.catchUp()
	c.stage = r.stage
	r.cause = &c
	r.warmup, r.measured = r.samples.counts()
	r.closeStage(now())
	if c.status == schema.StatusTimeout && r.reports.dumps {
		r.phase, r.dumpBy = phaseDumping, time.Now().Add(dumpWait)
		r.dumped = r.stackSize()
		r.order(orderDump)
		r.timer.Reset(dumpPoll)
		return
	}
	r.kill()
}

// kill has the supervisor kill everything.
func (r *run) kill() {
	r.phase = phaseKilling
	wait := r.job.KillWait / 2
	if r.cleans() {
		wait += r.spec.Deadlines.Teardown
	}
	r.timer.Reset(wait)
	r.order(orderKill)
}

// awaitDump orders the kill when the stack is there and grows no more.
func (r *run) awaitDump() {
	size := r.stackSize()
	if size > 0 && size == r.dumped || time.Now().After(r.dumpBy) {
		r.kill()
		return
	}
	r.dumped = size
	r.timer.Reset(dumpPoll)
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
	r.timer.Reset(drainWait)
	r.drained()
}

// drained ends the run if there is nothing more to read.
func (r *run) drained() {
	if r.phase == phaseDraining && r.ended[fromWorker] && (r.ended[fromSupervisor] || !r.dead) {
		r.over = true
	}
}
