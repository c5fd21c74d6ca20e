package progress

import (
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// TestStartLine: the summary has the time of a start where it is much of a program's time, and for programs alone.
func TestStartLine(t *testing.T) {
	s := &sweep.Sweep{Points: []sweep.Point{
		{PointID: "program", Launch: task.Launch{Executor: schema.ExecutorCommand}},
		{PointID: "by a shell", Launch: task.Launch{Executor: schema.ExecutorCommand, Start: []string{"sh", "-c", ""}}},
		{PointID: "builtin", Launch: task.Launch{Executor: schema.ExecutorBuiltin}},
	}}
	const said = "starting a process takes 500 µs here; this is part of each median, and a large part of those below 2.50 ms"
	for _, c := range []struct {
		point, metric string
		median        float64
		want          string
	}{
		{"program", "latency", 2_400_000, said},
		{"program", "latency", 2_500_000, ""},
		{"program", "accuracy", 0.9, ""},
		{"by a shell", "latency", 100_000, ""},
		{"builtin", "latency", 100_000, ""},
	} {
		points := []query.SessionPoint{{PointID: c.point, Metric: c.metric, Median: &c.median}, {PointID: c.point}}
		if got := startLine(500*time.Microsecond, s, points); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
