package runtest

import (
	"fmt"
	"maps"

	"github.com/neurolens/neurolens/schema"
)

// Telemetry returns a run with readings of some devices, ten a second while it measures: from 1.5 s to 3.5 s after its start. The clock of the
// multiprocessors of the device N is mhz[N]; in the reading 1 s into the stage the power cap halves it. The samples of the primary metric
// start at equal distances.
func Telemetry(r schema.Run, mhz ...int64) schema.Run {
	const tick, began, measure, readings = 100e6, 1.5e9, 2e9, 20
	r.Stages = schema.Stages{Setup: new(int64(1e9)), Warmup: new(int64(5e8)), Measure: new(int64(measure)), Teardown: new(int64(5e8))}
	r.Env.Facts = maps.Clone(r.Env.Facts)
	if r.Env.Facts == nil {
		r.Env.Facts = map[string]string{}
	}
	metrics := make([]schema.Metric, len(r.Metrics))
	copy(metrics, r.Metrics)
	for i := range metrics {
		if m := &metrics[i]; m.Name == r.Primary {
			n := int64(len(m.Ticks) + len(m.Reals))
			m.AtNS = make([]int64, n)
			for k := range n {
				m.AtNS[k] = began + k*measure/n
			}
		}
	}
	for device, clock := range mhz {
		suffix := ""
		if device > 0 {
			suffix = fmt.Sprintf(".%d", device)
		}
		r.Env.Facts["telemetry.device"+suffix] = fmt.Sprintf("GPU-%d", device)
		r.Env.Facts["throttle.power_cap"+suffix] = "5.0"
		series := map[string][]int64{}
		var at []int64
		for i := range int64(readings) {
			at = append(at, began+i*tick)
			add := func(name string, value int64) { series[name] = append(series[name], value) }
			if i == readings/2 {
				add("clock_sm", clock/2)
				add("throttle", 4)
			} else {
				add("clock_sm", clock)
				add("throttle", 0)
			}
			add("clock_memory", 2619)
			add("power", 600_000+1000*i)
			add("temperature", 40+i/2)
			add("gpu_utilization", 97)
			add("device_memory_used", 3<<30)
		}
		for _, of := range []struct {
			name string
			tick float64
		}{{"clock_sm", 1}, {"clock_memory", 1}, {"power", 1}, {"throttle", 1}, {"gpu_utilization", .01}, {"temperature", 1}, {"device_memory_used", 1}} {
			kind, _ := schema.KindOfMetric(of.name)
			metrics = append(metrics, schema.Metric{
				Name: of.name + suffix, Unit: kind.Unit, Better: kind.Better, Level: schema.LevelInterval, Tick: of.tick, Ticks: series[of.name], AtNS: at,
			})
		}
	}
	r.Metrics = metrics
	return r
}
