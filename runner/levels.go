package runner

import (
	"slices"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// levels are what samples of points measure for which their worker decides it, by point id: single iterations, or means of
// several. Samples of two levels are not compared, so a function that takes about as long as the limit keeps the level of
// its first run, on both sides and in later sessions.
type levels map[string]schema.Level

// learn takes in the runs of earlier sessions, newest first. Single iterations that are too short for the clock are no example.
func (l levels) learn(runs []schema.Run) {
	for i := range runs {
		if !slices.Contains(runs[i].Warnings, stat.WarnShort) {
			l.note(runs[i].PointID, &runs[i])
		}
	}
}

// note takes in a run, unless the point has a level already.
func (l levels) note(point string, run *schema.Run) {
	if l[point] != "" || run.Executor != schema.ExecutorPython || run.Status != schema.StatusOK ||
		run.Purpose != schema.PurposeMeasure || run.Env.Facts[factIterationsPerSample] != "" {
		return
	}
	if latency := run.Metric(schema.PrimaryMetric); latency != nil {
		l[point] = latency.Level
	}
}

// of is the level that a launch of a point is to have; empty: its worker decides.
func (l levels) of(p *sweep.Point) schema.Level {
	if p.IterationsPerSample > 0 {
		return ""
	}
	return l[p.PointID]
}

// factIterationsPerSample is the setting of that name, where one was given.
const factIterationsPerSample = "runner.iterations_per_sample"
