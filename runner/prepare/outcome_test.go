package prepare

import (
	"testing"
	"time"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// TestWhatWasNotAppliedIsNotMeasured: the samples of another configuration are not stored under this one.
func TestWhatWasNotAppliedIsNotMeasured(t *testing.T) {
	p := &sweep.Point{Benchmark: "b", Precision: "fp32", BatchSize: new(int64(8)), Params: map[string]string{"dim": "64"}, Executor: schema.ExecutorBuiltin}
	for name, c := range map[string]struct {
		applied map[string]string
		want    schema.Status
	}{
		"all":            {map[string]string{"batch_size": "8", "precision": "fp32", "param.dim": "64", "compute": "fp64"}, schema.StatusOK},
		"nothing said":   {nil, schema.StatusOK},
		"another batch":  {map[string]string{"batch_size": "4"}, schema.StatusUnsupported},
		"another param":  {map[string]string{"param.dim": "32"}, schema.StatusUnsupported},
		"not said of it": {map[string]string{"seq_len": "1"}, schema.StatusOK},
	} {
		o := task.Outcome{Status: schema.StatusOK, StartedAt: time.Now(), Applied: c.applied, Metrics: []schema.Metric{{Name: "latency"}}, Ops: []schema.Op{{Name: "a"}}}
		checkApplied(configOf(p), &o)
		if o.Status != c.want || (o.Metrics == nil) != (c.want != schema.StatusOK) || (o.Ops == nil) != (o.Metrics == nil) {
			t.Errorf("%s: %s (%s), %d metrics, %d operators", name, o.Status, o.Error, len(o.Metrics), len(o.Ops))
		}
	}
}
