package progress

import (
	"github.com/neurolens/neurolens/runner"
	"github.com/neurolens/neurolens/schema"
)

// Earlier are the runs of earlier sessions that a session goes on from.
func Earlier(plan *runner.Plan) (earlier []schema.Run) {
	for _, p := range plan.Launches {
		if p.Done != nil {
			earlier = append(earlier, *p.Done)
		}
	}
	return earlier
}
