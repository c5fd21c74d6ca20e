package bisect

import (
	"math"

	"github.com/neurolens/neurolens/schema"
)

// Results of a test of a commit: words of git bisect.
const (
	Good = "good" // it is like the good end
	Bad  = "bad"  // like the bad one
	Skip = "skip" // neither is known
)

// Step is the result for a commit, compared with the good one. Changes are as they are printed: a ratio minus 1, or a difference in
// the stored unit. As JSON it is a line of the log of a search.
type Step struct {
	Commit string `json:"commit"`
	Result string `json:"result"`
	// Reason is why it was skipped. Empty, though it was skipped: its blocks do not decide.
	Reason string `json:"reason,omitempty"`

	Session    string  `json:"session_id,omitempty"`
	PointID    string  `json:"point_id,omitempty"`
	Point      string  `json:"point,omitempty"`
	Metric     string  `json:"metric,omitempty"`
	Unit       string  `json:"unit,omitempty"`
	Scale      string  `json:"scale,omitempty"`
	Change     float64 `json:"change"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"` // of the interval; 0: there is none
	Blocks     int     `json:"blocks"`
}

// inBlocks is the change in the scale of blocks.
func (s *Step) inBlocks() float64 {
	if s.Scale == string(schema.ScaleDifference) {
		return s.Change
	}
	return math.Log1p(s.Change)
}
