package runner

import (
	"encoding/json"
	"fmt"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

const metricMismatched = "mismatched"

// judgeOutputs makes a run an error if the output of one of its processes is wrong, and adds metrics for the distance from the
// correct output.
func (c *comparer) judgeOutputs(l sweep.Launch, o *task.Outcome, got []checked, want *computed) {
	noteFacts(o, got, seedOfOutput(l.Point))
	if o.Status != schema.StatusOK {
		return
	}
	if len(got) == 0 {
		fail(o, schema.KindOutput, noOutput)
	}
	for i := range got {
		if got[i].problem != "" {
			fail(o, schema.KindOutput, got[i].problem+inProcess(i, len(got)))
		}
	}
	if o.Status == schema.StatusOK && l.Point.Deterministic {
		c.checkSame(l, o, got)
	}
	switch {
	case want == nil, o.Status != schema.StatusOK && o.ErrorKind == schema.KindOutput:
	case want.problem != "":
		o.Warnings = append(o.Warnings, schema.WarnUnchecked)
		o.Missing[metricMismatched] = want.problem
	default:
		judgeErrors(o, l.Point, got, want)
	}
}

// checkSame fails a run whose output differs from that of the first run of its point.
func (c *comparer) checkSame(l sweep.Launch, o *task.Outcome, got []checked) {
	sub := subjectOf(l)
	if c.first[sub] == "" {
		c.first[sub] = got[0].hash
	}
	for i := range got {
		if got[i].hash != c.first[sub] {
			const digits = 12 // tell hashes apart
			fail(o, schema.KindNotDeterministic, fmt.Sprintf("the output differs from that of the first run: sha256 %.*s, not %.*s%s",
				digits, got[i].hash, digits, c.first[sub], inProcess(i, len(got))))
		}
	}
}

// judgeErrors adds the errors of outputs as metrics, with a value for each process. If the sweep has conditions, these decide
// which errors are too large.
func judgeErrors(o *task.Outcome, p *sweep.Point, got []checked, want *computed) {
	for i := range got {
		switch {
		case got[i].shape != want.shape:
			fail(o, schema.KindOutput, fmt.Sprintf("the output has shape %s, the reference %s%s", got[i].shape, want.shape, inProcess(i, len(got))))
			return
		case got[i].differs != "":
			fail(o, schema.KindOutput, got[i].differs+inProcess(i, len(got)))
			return
		}
	}
	for _, m := range []struct {
		name string
		of   func(e *output.Errors) float64
	}{
		{"rmse", func(e *output.Errors) float64 { return e.RMSE }},
		{"max_error", func(e *output.Errors) float64 { return e.MaxError }},
		{"relative_error", func(e *output.Errors) float64 { return e.Relative }},
		{metricMismatched, func(e *output.Errors) float64 { return float64(e.Mismatched) }},
		{"cosine_similarity", func(e *output.Errors) float64 { return e.Cosine }},
	} {
		addErrors(o, m.name, got, m.of)
	}
	for i := range got {
		if text := tooFar(&got[i], want, p); text != "" {
			fail(o, schema.KindOutput, text+inProcess(i, len(got)))
		}
	}
}

// tooFar describes what is wrong with an output; empty: nothing.
func tooFar(got *checked, want *computed, p *sweep.Point) string {
	switch e, t := got.errors, p.Reference.Tolerance; {
	case e.NotFinite+e.Reference > 0:
		return notFinite(e, got.values)
	case got.odd.NaN+want.odd.NaN > 0:
		return fmt.Sprintf("of %d values, %d of the output and %d of the reference are not a number, and NaN equals nothing", sizeOf(got.shape), got.odd.NaN, want.odd.NaN)
	case got.odd.Infinite != want.odd.Infinite:
		return fmt.Sprintf("of %d values, %d of the output and %d of the reference are infinite", sizeOf(got.shape), got.odd.Infinite, want.odd.Infinite)
	case e.Mismatched > 0 && len(p.Checks) == 0:
		return fmt.Sprintf("%d of %d values differ too much from the reference, by up to %.3g (rtol %v, atol %v)",
			e.Mismatched, got.values, e.MaxError, t.Relative, t.Absolute)
	}
	return ""
}

// notFinite says how many values are infinite or not a number.
func notFinite(e output.Errors, of int) string {
	switch {
	case e.Reference == 0:
		return fmt.Sprintf("%d of %d values of the output are not finite", e.NotFinite, of)
	case e.NotFinite == 0:
		return fmt.Sprintf("%d of %d values of the reference are not finite", e.Reference, of)
	}
	return fmt.Sprintf("of %d values, %d of the output and %d of the reference are not finite, and NaN equals nothing", of, e.NotFinite, e.Reference)
}

// addErrors adds a metric with a number for each process. If one of them is not a number, the metric is missing.
func addErrors(o *task.Outcome, name string, got []checked, of func(*output.Errors) float64) {
	kind, _ := schema.KindOfMetric(name)
	m := schema.Metric{Name: name, Unit: kind.Unit, Better: kind.Better, Level: schema.LevelProcess}
	for i := range got {
		value := of(&got[i].errors)
		if value-value != 0 {
			o.Missing[name] = "not finite" + inProcess(i, len(got))
			o.Facts[factNotFinite+name] = "1" // so that no condition of it holds
			return
		}
		m.Reals = append(m.Reals, value)
	}
	o.Metrics = append(o.Metrics, m)
}

// sizeOf is the number of values in an output of a shape.
func sizeOf(shape string) int {
	var dimensions []int
	if json.Unmarshal([]byte(shape), &dimensions) != nil {
		return 0
	}
	size := 1
	for _, n := range dimensions {
		size *= n
	}
	return size
}
