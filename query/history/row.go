package history

import (
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// Row is one session of a series, or one commit of a session that measured several. Fields describes each value. A missing
// value is nil or an empty text.
type Row struct {
	PointID string
	query.Point
	Metric, Unit string
	Better       schema.Better
	Scale        schema.Scale

	SessionID string
	StartedAt *time.Time // UTC
	Runs      int
	Location  float64 // in Unit
	GitCommit string

	ChangePoint                bool
	Shift, ShiftLow, ShiftHigh *float64 // new level / old level - 1 or, if Scale is difference, new - old in Unit
	P, PAdjusted               *float64
	AfterSession, BySession    string // the change is after the one and not after the other
	RampSessions               int    // number of sessions over which the level rises or falls; 0: a step
	Verdict                    judge.Verdict
	FailedSessions             int
}
