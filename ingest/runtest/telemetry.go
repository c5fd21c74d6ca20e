package runtest

import (
	"fmt"

	"github.com/neurolens/neurolens/schema"
)

// Telemetry returns a run with the series of telemetry, ten readings a second on each device for 4 s: 1 s of setup with an idle device, 0.5 s
// of warm-up, 2 s of measure and 0.5 s of teardown. In warm-up and measure the clock is mhz, but for the reading 1 s into measure: there
// the power cap halves it. The samples of the primary metric start at equal distances in measure.
func Telemetry(r schema.Run, mhz int64, devices int) schema.Run {
	const tick, setup, warmup, measure, teardown = 100e6, 1e9, 5e8, 2e9, 5e8
	r.Stages = schema.Stages{Setup: new(int64(setup)), Warmup: new(int64(warmup)), Measure: new(int64(measure)), Teardown: new(int64(teardown))}
	metrics := make([]schema.Metric, len(r.Metrics))
	copy(metrics, r.Metrics)
	for i := range metrics {
		if m := &metrics[i]; m.Name == r.Primary {
			n := int64(len(m.Ticks) + len(m.Reals))
			m.AtNS = make([]int64, n)
			for k := range n {
				m.AtNS[k] = setup + warmup + k*measure/n
			}
		}
	}
	const readings = (setup + warmup + measure + teardown) / tick
	series := map[string][]int64{}
	at := make([]int64, readings)
	for i := range at {
		at[i] = int64(i) * tick
		busy := at[i] >= setup && at[i] < setup+warmup+measure
		clock, power, utilization, throttle := int64(345), int64(70_000), int64(0), int64(0)
		if busy {
			clock, power, utilization = mhz, 600_000, 97
		}
		if at[i] == setup+warmup+1e9 {
			clock, throttle = mhz/2, 4
		}
		for name, value := range map[string]int64{
			"clock_sm": clock, "clock_memory": 2619, "power": power, "temperature": 40 + int64(i)/2, "gpu_utilization": utilization,
			"memory_utilization": utilization / 2, "device_memory_used": 3 << 30, "throttle": throttle,
		} {
			series[name] = append(series[name], value)
		}
	}
	for device := range devices {
		for _, kind := range []struct {
			name, unit string
			tick       float64
			better     schema.Better
		}{
			{"clock_sm", "MHz", 1, schema.BetterHigher},
			{"clock_memory", "MHz", 1, ""},
			{"power", "mW", 1, schema.BetterLower},
			{"temperature", "Cel", 1, schema.BetterLower},
			{"gpu_utilization", "ratio", .01, ""},
			{"memory_utilization", "ratio", .01, ""},
			{"device_memory_used", "B", 1, schema.BetterLower},
			{"throttle", "", 1, ""},
		} {
			name := kind.name
			if device > 0 {
				name = fmt.Sprintf("%s.%d", name, device)
			}
			metrics = append(metrics, schema.Metric{
				Name: name, Unit: kind.unit, Better: kind.better, Level: schema.LevelInterval, Tick: kind.tick, Ticks: series[kind.name], AtNS: at,
			})
		}
	}
	r.Metrics = metrics
	return r
}
