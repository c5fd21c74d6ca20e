package runner

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
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

	skipped map[subject]task.Outcome // of points that reported that they cannot run here: they are not launched again

	unmeasured map[subject]schema.Run // of points that have not been measured: how their last run ended
}

// noteSkipped records a point that reported that it cannot run here.
func (l *limits) noteSkipped(sub subject, o task.Outcome) {
	if o.Status != schema.StatusSkipped {
		return
	}
	if l.skipped == nil {
		l.skipped = map[subject]task.Outcome{}
	}
	l.skipped[sub] = task.Outcome{Status: o.Status, Stage: o.Stage, ErrorKind: o.ErrorKind, Error: o.Error}
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

// afterFailure returns the outcome of a profiler pass of a point that was not measured: it would end in the same way, and a benchmark that
// hangs would take its deadline once more. nil: it was measured, or not tried yet.
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

// late reports that the suite has taken too long.
func (l *limits) late() bool { return l.now().Sub(l.first) > l.timeout }

// whileLate returns the outcome of a launch after the suite's time is over; nil: there is time left.
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

// afterOOM returns the outcome of a launch that would run out of memory; nil: that is not expected.
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

// outOfMemory records the points that ran out of memory, so that larger ones are skipped. They would run out of memory too, and repeated
// out-of-memory errors can crash the driver.
type outOfMemory struct {
	failed []subject
	ran    map[subject]bool
}

// note records how a run ended.
func (o *outOfMemory) note(sub subject, status schema.Status) {
	switch {
	case status == schema.StatusOOM && !slices.Contains(o.failed, sub):
		o.failed = append(o.failed, sub)
	case status == schema.StatusOK:
		if o.ran == nil {
			o.ran = map[subject]bool{}
		}
		o.ran[sub] = true
	}
}

// smaller returns a point on the same side that ran out of memory and is smaller than sub, or nil.
func (o *outOfMemory) smaller(sub subject) *sweep.Point {
	for _, q := range o.failed {
		if q.Side == sub.Side && o.larger(sub, q) {
			return q.Point
		}
	}
	return nil
}

// larger reports whether p differs from q, which ran out of memory, only in sizes, and all differing sizes are larger.
func (o *outOfMemory) larger(p, q subject) bool {
	grown, ok := increased(q.Point, p.Point)
	return ok && len(grown) > 0 && !slices.ContainsFunc(grown, func(axis string) bool { return !o.isSize(axis, q) })
}

// isSize reports whether a larger value of an axis takes more memory. For a parameter this is known if a smaller value, with all else
// equal, did not run out of memory: more shards or more ranks may take less memory.
func (o *outOfMemory) isSize(axis string, q subject) bool {
	if axis == "batch_size" || axis == "seq_len" {
		return true
	}
	for r := range o.ran {
		if grown, ok := increased(r.Point, q.Point); r.Side == q.Side && ok && slices.Equal(grown, []string{axis}) {
			return true
		}
	}
	return false
}

// increased lists the axes that are larger in to than in from; ok is false if they differ in anything else.
func increased(from, to *sweep.Point) (axes []string, ok bool) {
	if from.Benchmark != to.Benchmark || from.Variant != to.Variant || from.Backend != to.Backend || from.Model != to.Model || from.Precision != to.Precision {
		return nil, false
	}
	a, b := numbered(from), numbered(to)
	if len(a) != len(b) {
		return nil, false
	}
	for name, text := range a {
		more, there := b[name]
		switch {
		case !there:
			return nil, false
		case more == text:
			continue
		}
		x, errX := strconv.ParseFloat(text, 64)
		y, errY := strconv.ParseFloat(more, 64)
		if errX != nil || errY != nil || !(x < y) {
			return nil, false
		}
		axes = append(axes, name)
	}
	return axes, true
}

// numbered lists the axes of a point that may be numbers, by name.
func numbered(p *sweep.Point) map[string]string {
	all := map[string]string{}
	maps.Copy(all, p.Params)
	for name, n := range map[string]*int64{"batch_size": p.BatchSize, "seq_len": p.SeqLen} {
		if n != nil {
			all[name] = strconv.FormatInt(*n, 10)
		}
	}
	return all
}

// describeSizes names a point by its axes.
func describeSizes(p *sweep.Point) string {
	text := ""
	all := numbered(p)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text += fmt.Sprintf(" %s=%s", name, all[name])
	}
	return p.Benchmark + text
}
