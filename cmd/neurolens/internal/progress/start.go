package progress

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// muchOfStart is how many starts of a process a program has to take so that they are not worth a word.
const muchOfStart = 5

// startLine says what starting a process takes, where that is much of what a program of the session took; empty elsewhere. A program whose
// shell is subtracted has no such part.
func startLine(start time.Duration, sw *sweep.Sweep, points []query.SessionPoint) string {
	limit := muchOfStart * start
	started := map[string]bool{}
	for i := range sw.Points {
		p := &sw.Points[i]
		started[p.PointID] = p.Executor == schema.ExecutorCommand && p.Start == nil
	}
	for i := range points {
		p := &points[i]
		if started[p.PointID] && p.Metric == schema.PrimaryMetric && p.Median != nil && *p.Median < float64(limit) {
			return fmt.Sprintf("starting a process takes %s here; this is part of each median, and a large part of those below %s",
				schema.ForPeople(float64(start), "ns"), schema.ForPeople(float64(limit), "ns"))
		}
	}
	return ""
}
