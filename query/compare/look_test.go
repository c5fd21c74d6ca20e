package compare

import (
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestPointAtALook: a point of which the means of the runs are compared is compared by them at the looks of other points too.
func TestPointAtALook(t *testing.T) {
	t.Parallel()
	group := func(level schema.Level) *runGroup {
		g := &runGroup{Metric: &metricKind{Name: "latency", Unit: "ns", Level: string(level)}}
		g.Machine = "m"
		for i := range 6 {
			g.Locations, g.Started, g.Repeats = append(g.Locations, float64(i)), append(g.Started, int64(i)), append(g.Repeats, int64(i))
		}
		return g
	}
	p := &pairing{base: group(schema.LevelIteration), head: group(schema.LevelRequest), name: "latency", means: true, planned: 2, look: 6}
	early := p.at(3)
	valuetest.Equal(t, len(early.base.Locations), 3)
	for _, of := range []*pairing{p, early} {
		valuetest.Equal(t, of.toJudge().Barred, "", of.look, "repeats")
	}
}
