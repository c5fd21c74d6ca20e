package views

import (
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/schema"
)

// OpenPoints tells which points of a session with two sides are inconclusive, by their ids, and why.
func OpenPoints(runs []schema.Run) map[string]string {
	open := map[string]string{}
	for id, decided := range compare.JudgeSession(runs) {
		if decided.Open() {
			open[id] = string(decided.Reason)
		}
	}
	return open
}
