package history

import (
	"time"

	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// Row is a session of a series, or one of the commits of a session that has several. Fields says what each value means. A
// value that is missing is nil, or an empty text.
type Row struct {
	PointID string
	facts.Point
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
