package history

import (
	"time"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// Row is a session of a series, or one of the commits of a session that has several. Fields says what each value means. A
// value that is missing is nil, or an empty text.
type Row struct {
	PointID string
	Point
	Metric, Unit string
	Better       schema.Better
	Scale        schema.Scale

	SessionID string
	StartedAt *time.Time // UTC
	Runs      int
	Location  float64 // in the unit
	GitCommit string

	ChangePoint                bool
	Shift, ShiftLow, ShiftHigh *float64 // of the ratio less 1 or, where the scale is difference, in the unit
	P, PAdjusted               *float64
	Verdict                    judge.Verdict
	FailedSessions             int
}

// Point is what is measured, and the machine on which it is.
type Point struct {
	Benchmark, Variant, Backend, Model, Precision string
	BatchSize, SeqLen                             *int64
	Params                                        map[string]any // texts by name; nil where there are none
	Machine                                       string
}

// pointOf is the point of a run, from its values of facts.IdentityColumns.
func pointOf(values []any, machine string) Point {
	integer := func(v any) *int64 {
		if n, ok := v.(int64); ok {
			return &n
		}
		return nil
	}
	params, _ := values[7].(map[string]any)
	return Point{
		Benchmark: duck.Text(values[0]), Variant: duck.Text(values[1]), Backend: duck.Text(values[2]), Model: duck.Text(values[3]),
		Precision: duck.Text(values[4]), BatchSize: integer(values[5]), SeqLen: integer(values[6]), Params: params, Machine: machine,
	}
}
