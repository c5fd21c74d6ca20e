package task

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// arm sets the timer to the deadline.
func (r *run) arm() { r.timer.Reset(time.Until(r.deadline())) }

// deadline is that of the stage. The supervisor ends a cleanup itself, as the run may have ended already.
func (r *run) deadline() time.Time {
	limit := *r.spec.Deadlines.of(r.stage)
	if r.stage == schema.StageTeardown && r.cleans() {
		limit += r.job.KillWait
	}
	return r.since.wall.Add(limit)
}

// cleans reports whether the end of the run has something to do.
func (r *run) cleans() bool { return len(r.spec.Hooks.Cleanup) > 0 }

// strike is called by the timer.
func (r *run) strike() {
	switch r.phase {
	case phaseRunning:
		if !r.behind() && !r.movedOn() {
			at := r.deadline()
			r.facts[factTimeoutLimit] = nanoseconds(*r.spec.Deadlines.of(r.stage))
			r.facts[factTimeoutElapsed] = nanoseconds(time.Since(r.since.wall))
			r.stop(cause{status: schema.StatusTimeout, text: r.timeoutText(), at: at})
		}
	case phaseDumping:
		r.awaitDump()
	case phaseKilling:
		r.phase = phaseTakeover
		_ = r.cmd.Process.Kill()
		r.timer.Reset(r.job.KillWait / 2)
	case phaseTakeover:
		r.left, r.over = 1, true // the supervisor itself
	case phaseDraining:
		r.over = true
	}
}

// behind reports whether this process looks at a deadline long after it, as one does that Ctrl-Z or SIGSTOP stopped. The run went on
// meanwhile, and may be over: then the timer is armed anew, as long as there is something to read of what it said.
func (r *run) behind() bool {
	const long = time.Second
	if time.Since(r.deadline()) < long || r.caughtUp == r.handled {
		return false
	}
	r.caughtUp = r.handled
	r.timer.Reset(long)
	return true
}

// headerStage is the stage that runs, and when it or its process began, as the header of the samples has it: there
// a stage may have begun without an event, or before its event was read.
func (r *run) headerStage() (stage schema.Stage, began moment) {
	number, at := r.samples.progress()
	if number < stageNumber(r.stage) || number > int64(len(schema.StageNames)) {
		return r.stage, r.began
	}
	return schema.StageNames[number-1], r.at(r.measurer(), at)
}

// catchUp enters the stages that have begun by the header of the samples, and whose events have not come yet or never
// will.
func (r *run) catchUp() {
	last, _ := r.headerStage()
	for number := stageNumber(r.stage) + 1; number <= stageNumber(last); number++ {
		if at := r.samples.begun(number); at != unset {
			r.enter(schema.StageNames[number-1], r.at(r.measurer(), at))
		}
	}
}

// movedOn reports whether a later stage, or the next process of this one, has begun. Then it arms the timer anew.
func (r *run) movedOn() bool {
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

// measurer is the stream whose sender measures.
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

// short is a duration without the zeros at its end: 10m, not 10m0s.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if cut, ok := strings.CutSuffix(text, zero); ok {
			text = cut + zero[:1]
		}
	}
	return text
}
