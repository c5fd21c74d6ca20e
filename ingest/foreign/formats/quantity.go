package formats

import (
	"math"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// meanOf is a metric of which a file has only the mean, in the stored unit; unit is that of the file.
func meanOf(name string, value *float64, unit string) schema.Metric {
	return foreign.Aggregate(name, unit, schema.Summary{Mean: value})
}

// addMore adds a mean for which higher is better.
func addMore(r *schema.Run, name string, value *float64, unit string) {
	m := meanOf(name, value, unit)
	m.Better = schema.BetterHigher
	foreign.Add(r, m, unit)
}

// addLess adds a mean for which lower is better.
func addLess(r *schema.Run, name string, value *float64, unit string) {
	m := meanOf(name, value, unit)
	m.Better = schema.BetterLower
	foreign.Add(r, m, unit)
}

// milliseconds converts milliseconds to nanoseconds. It is nil if it is not a time.
func milliseconds(n foreign.Number) *int64 { return nanoseconds(n, "ms") }

// nanoseconds gives a time in nanoseconds, or nil if it is not a time.
func nanoseconds(n foreign.Number, unit string) *int64 {
	v := n.Finite(unit)
	if v == nil || *v < 0 || *v >= math.MaxInt64 {
		return nil
	}
	return new(int64(math.Round(*v)))
}
