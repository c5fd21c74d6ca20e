package runner

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// limits prevent further launches: the time of the session is over, or a smaller point ran out of memory.
type limits struct {
	now   func() time.Time
	began time.Time // maxTime counts from here
	first time.Time // of the first launch; timeout counts from here

	maxTime time.Duration // see Options; 0: there is none
	timeout time.Duration // of the suite
	larger  bool          // points are launched although a smaller one ran out of memory
	oom     outOfMemory

	skippedLate bool // a launch was skipped because the time of the suite was over

	skipped map[subject]task.Outcome // of points that said that they cannot run here: they are not asked again

	unmeasured map[subject]schema.Run // of points that have not been measured: how their last run ended
}

// noteSkipped remembers a point that cannot run here, by its own statement.
func (l *limits) noteSkipped(sub subject, o task.Outcome) {
	if o.Status != schema.StatusSkipped {
		return
	}
	if l.skipped == nil {
		l.skipped = map[subject]task.Outcome{}
	}
	l.skipped[sub] = task.Outcome{Status: o.Status, Stage: o.Stage, ErrorKind: o.ErrorKind, Error: o.Error}
}

// before is the outcome of a launch that an earlier one ruled out; nil: none did.
func (l *limits) before(sub subject) *task.Outcome {
	if o, known := l.skipped[sub]; known {
		return &o
	}
	return nil
}

// noteMeasured remembers whether a point has been measured.
func (l *limits) noteMeasured(sub subject, run *schema.Run) {
	if l.unmeasured == nil {
		l.unmeasured = map[subject]schema.Run{}
	}
	last, failed := l.unmeasured[sub]
	switch measured := run.Status == schema.StatusOK || run.Stage == schema.StageValidate || run.Stage == schema.StageTeardown; {
	case run.Purpose == schema.PurposeProfile, failed && last.Status == schema.StatusOK:
	case measured:
		l.unmeasured[sub] = schema.Run{Status: schema.StatusOK}
	default:
		l.unmeasured[sub] = schema.Run{Status: run.Status, Stage: run.Stage, ErrorKind: run.ErrorKind, Error: run.Error}
	}
}

// afterFailure is the outcome of a profiler pass of a point that was not measured: it would end in the same way, and a benchmark that
// hangs would take its deadline once more. nil: it was measured, or nobody has tried.
func (l *limits) afterFailure(launch sweep.Launch) *task.Outcome {
	run, known := l.unmeasured[subjectOf(launch)]
	switch {
	case launch.Profile == "" || !known || run.Status == schema.StatusOK:
		return nil
	case skipped(run.Status):
		return &task.Outcome{Status: run.Status, Stage: run.Stage, ErrorKind: run.ErrorKind, Error: run.Error}
	}
	return &task.Outcome{
		Status: schema.StatusSkipped, ErrorKind: kindAfterFailure, Error: fmt.Sprintf("the measurement ended with %s: %s", run.Status, run.Error),
	}
}

// over reports that nothing more is to be started.
func (l *limits) over() bool { return l.maxTime > 0 && l.now().Sub(l.began) > l.maxTime }

// late reports that the suite has taken too long.
func (l *limits) late() bool { return l.now().Sub(l.first) > l.timeout }

// whileLate is the outcome of a launch after the suite's time is over; nil: there is time left.
func (l *limits) whileLate() *task.Outcome {
	if !l.late() {
		return nil
	}
	l.skippedLate = true
	return &task.Outcome{
		Status: schema.StatusSkipped, ErrorKind: kindSuiteTimeout,
		Error: fmt.Sprintf("the suite took more than %s; raise timeouts.suite", l.timeout),
	}
}

// afterOOM is the outcome of a launch that would run out of memory; nil: that is not expected.
func (l *limits) afterOOM(sub subject) *task.Outcome {
	smaller := l.oom.smaller(sub)
	if smaller == nil || l.larger {
		return nil
	}
	return &task.Outcome{
		Status: schema.StatusSkipped, ErrorKind: kindAfterOOM,
		Error: fmt.Sprintf("%s ran out of memory, and this point is larger (use --no-skip-after-oom to run it)", describeSizes(smaller)),
	}
}
