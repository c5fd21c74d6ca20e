package runner

import (
	"slices"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// levels records, by point id, what a sample measures if the worker decides it: a single iteration, or the mean of several.
// Samples of different levels cannot be compared. So a function whose time is close to the limit keeps the level of its first
// run, on both sides and in later sessions.
type levels map[string]schema.Level

// learn adds the runs of earlier sessions, newest first. Runs whose iterations are too short for the clock are ignored.
func (l levels) learn(runs []schema.Run) {
	for i := range runs {
		if !slices.Contains(runs[i].Warnings, stat.WarnShort) {
			l.note(runs[i].PointID, &runs[i])
		}
	}
}

// note adds a run, unless the point has a level already.
func (l levels) note(point string, run *schema.Run) {
	if l[point] != "" || run.Executor != schema.ExecutorPython || run.Status != schema.StatusOK ||
		run.Purpose != schema.PurposeMeasure || run.Env.Facts[factIterationsPerSample] != "" {
		return
	}
	if latency := run.Metric(schema.PrimaryMetric); latency != nil {
		l[point] = latency.Level
	}
}

// of is the level for a launch of a point; empty: its worker decides.
func (l levels) of(p *sweep.Point) schema.Level {
	if p.IterationsPerSample > 0 {
		return ""
	}
	return l[p.PointID]
}

// factIterationsPerSample is the fact with the setting of that name, if it was set.
const factIterationsPerSample = "runner.iterations_per_sample"
