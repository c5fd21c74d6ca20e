package runner

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Why a metric of readings is missing, beside the words of package probe.
const (
	whyWentBack    = "counter went back"
	whyStoodStill  = "counter stood still"
	whyNotMeasured = "not measured"
)

// Metrics of readings that have rules of their own.
const (
	metricEnergy      = "energy" // a counter
	metricCPUEnergy   = "cpu_energy"
	metricPower       = "power"
	metricThrottle    = "throttle"
	metricUtilization = "gpu_utilization"
	metricMemory      = "memory_utilization"
)

const (
	// minSteps is how often a counter has to move in a stage, so that its steps change the energy by 5 % at most.
	minSteps = 20
	// minBusy is the shortest stage, in ns, that has a utilisation: the driver averages over the last second at most.
	minBusy = nsPerSecond
	// longestStep is a time, in ns, in which every energy counter moves: the drivers' steps are 10 to 100 ms.
	longestStep = 2 * nsPerSecond
	// maxTimed is the number of samples up to which each has its time.
	maxTimed = 100_000
)

// window is the stage measure of a run, in ns since its start.
type window struct{ from, to int64 }

// windowOf returns the stage measure; false if the run did not come so far.
func windowOf(stages schema.Stages) (w window, measured bool) {
	if stages.Measure == nil {
		return w, false
	}
	for _, before := range []*int64{stages.Setup, stages.Warmup} {
		if before != nil {
			w.from += *before
		}
	}
	return window{w.from, w.from + *stages.Measure}, true
}

func (w window) length() int64 { return w.to - w.from }

// observed makes metrics and facts of what was read while a run measured.
type observed struct {
	outcome *task.Outcome
	window  window
	energy  bool // requested
	facts   map[string]string
	series  map[string]probe.Series // at ns since the start of the run
}

// addTelemetry adds to an outcome what was read while it measured, and returns facts of the machine.
func addTelemetry(o *task.Outcome, r probe.Readings, t *sweep.Telemetry) map[string]string {
	facts := map[string]string{}
	for i, uuid := range r.Devices {
		facts[probe.FactTelemetryDevice+probe.Suffix(i)] = uuid
	}
	w, measured := windowOf(o.Stages)
	if !measured {
		o.Missing[probe.MissingTelemetry] = whyNotMeasured
		return facts
	}
	if why := r.Missing[probe.MissingTelemetry]; why != "" {
		o.Missing[probe.MissingTelemetry] = why
		return facts
	}
	x := observed{outcome: o, window: w, energy: t.Energy, facts: facts, series: map[string]probe.Series{}}
	for _, s := range r.Series {
		x.series[s.Name] = shifted(s, time.Unix(0, r.Began).Sub(o.StartedAt))
	}
	for name, why := range r.Missing {
		x.miss(name, why)
	}
	for _, name := range slices.Sorted(maps.Keys(x.series)) {
		x.add(x.series[name])
	}
	if t.Energy {
		for i := range r.Devices {
			x.addDeviceEnergy(probe.Suffix(i))
		}
		if len(r.Devices) == 0 { // no GPU is measured
			x.miss(metricEnergy, "absent")
		}
	}
	timeLatency(o, w)
	return facts
}

// shifted returns a series with other times.
func shifted(s probe.Series, by time.Duration) probe.Series {
	s.AtNS = slices.Clone(s.AtNS)
	for i := range s.AtNS {
		s.AtNS[i] += int64(by)
	}
	return s
}

// miss records why there is no metric, unless the benchmark reports it.
func (x *observed) miss(name, why string) {
	base := probe.BaseMetric(name)
	if asked := x.energy || base != metricEnergy && base != metricCPUEnergy; asked && !x.has(name) {
		x.outcome.Missing[name] = why
	}
}

func (x *observed) has(name string) bool {
	return slices.ContainsFunc(x.outcome.Metrics, func(m schema.Metric) bool { return m.Name == name })
}

// put adds a metric, unless the benchmark reports one of that name.
func (x *observed) put(m schema.Metric) {
	kind, _ := schema.KindOfMetric(probe.BaseMetric(m.Name))
	m.Unit, m.Better = kind.Unit, kind.Better
	if !x.has(m.Name) {
		x.outcome.Metrics = append(x.outcome.Metrics, m)
	}
}

// add adds the metric of a series: its readings within the stage.
func (x *observed) add(s probe.Series) {
	base := probe.BaseMetric(s.Name)
	switch base {
	case metricEnergy: // see addDeviceEnergy
		return
	case metricCPUEnergy:
		if x.energy {
			used, step, why := counted(s, x.window)
			x.putEnergy(s.Name, used, step, why)
		}
		return
	}
	first, _ := slices.BinarySearch(s.AtNS, x.window.from)
	end, _ := slices.BinarySearch(s.AtNS, x.window.to)
	coarse := (base == metricUtilization || base == metricMemory) && x.window.length() < minBusy
	if first == end || coarse {
		x.miss(s.Name, probe.WindowTooShort)
		return
	}
	values := s.Values[first:end]
	x.put(schema.Metric{Name: s.Name, Level: schema.LevelInterval, Tick: s.Tick, Ticks: values, AtNS: s.AtNS[first:end]})
	if base == metricThrottle {
		maps.Copy(x.facts, probe.ThrottleShares(values, strings.TrimPrefix(s.Name, base)))
	}
}

// addDeviceEnergy adds the energy of an iteration of a device: of its counter or, without one, of its power.
func (x *observed) addDeviceEnergy(device string) {
	method := "counter"
	s, known := x.series[metricEnergy+device]
	read := counted
	if !known {
		method, read = "integral", integrated
		if s, known = x.series[metricPower+device]; !known {
			if reasons := x.outcome.Missing; reasons[metricEnergy+device] == "" {
				x.miss(metricEnergy+device, reasons[metricPower+device])
			}
			return
		}
	}
	used, step, why := read(s, x.window)
	if x.putEnergy(metricEnergy+device, used, step, why) {
		delete(x.outcome.Missing, metricEnergy+device)
		x.facts["energy.method"+device] = method
	}
	x.facts["energy.window_ns"+device] = strconv.FormatInt(x.window.length(), 10)
	if step > 0 {
		x.facts["energy.step_ns"+device] = strconv.FormatInt(step, 10)
	}
}

// putEnergy adds the energy of an iteration, of mJ that were used in the stage, unless there is a reason why it is not known.
func (x *observed) putEnergy(name string, used float64, step int64, why string) bool {
	n := measuredIterations(x.outcome)
	switch {
	case why != "":
	case x.window.length() < minSteps*step:
		why = probe.WindowTooShort
	case n == 0:
		why = whyNotMeasured
	default:
		x.put(schema.Metric{Name: name, Level: schema.LevelMean, Reals: []float64{used / float64(n)}, IterationsPerSample: []int64{n}})
		return true
	}
	x.miss(name, why)
	return false
}

// measuredIterations returns the number of measured iterations.
func measuredIterations(o *task.Outcome) (n int64) {
	latency := latencyOf(o)
	if latency == nil {
		return 0
	}
	samples := int64(max(len(latency.Ticks), len(latency.Reals)))
	switch each := latency.IterationsPerSample; len(each) {
	case 0:
		return samples
	case 1:
		return samples * each[0]
	default:
		for _, one := range each {
			n += one
		}
		return n
	}
}

func latencyOf(o *task.Outcome) *schema.Metric {
	i := slices.IndexFunc(o.Metrics, func(m schema.Metric) bool { return m.Name == schema.PrimaryMetric })
	if i < 0 {
		return nil
	}
	return &o.Metrics[i]
}

// counted returns by how much a counter grew in a stage, in its unit, and the median time in ns between two of its changes. Between readings it
// is taken to grow evenly.
func counted(s probe.Series, w window) (grown float64, step int64, why string) {
	if !slices.IsSorted(s.Values) {
		return 0, 0, whyWentBack
	}
	var between []float64
	last := int64(-1)
	for i := 1; i < len(s.Values); i++ {
		if s.Values[i] == s.Values[i-1] {
			continue
		}
		if last >= 0 {
			between = append(between, float64(s.AtNS[i]-last))
		}
		last = s.AtNS[i]
	}
	if len(between) == 0 && w.length() > longestStep {
		return 0, 0, whyStoodStill
	}
	if len(between) == 0 || s.AtNS[0] > w.from || s.AtNS[len(s.AtNS)-1] < w.to {
		return 0, 0, probe.WindowTooShort
	}
	return (valueAt(s, w.to) - valueAt(s, w.from)) * s.Tick, int64(stat.Median(between)), ""
}

// integrated returns the energy of a power in mW in a stage, in mJ, and the median time in ns between two readings: the sum of trapezoids.
func integrated(s probe.Series, w window) (energy float64, step int64, why string) {
	if len(s.AtNS) < 2 || s.AtNS[0] > w.from || s.AtNS[len(s.AtNS)-1] < w.to {
		return 0, 0, probe.WindowTooShort
	}
	var between []float64
	for i := 1; i < len(s.AtNS); i++ {
		between = append(between, float64(s.AtNS[i]-s.AtNS[i-1]))
		from, to := max(s.AtNS[i-1], w.from), min(s.AtNS[i], w.to)
		if from < to {
			energy += (valueAt(s, from) + valueAt(s, to)) / 2 * float64(to-from) / nsPerSecond
		}
	}
	return energy * s.Tick, int64(stat.Median(between)), ""
}

// valueAt returns the value of a series at a time between its first and its last reading, interpolated, in ticks.
func valueAt(s probe.Series, at int64) float64 {
	i, exact := slices.BinarySearch(s.AtNS, at)
	if exact {
		return float64(s.Values[i])
	}
	share := float64(at-s.AtNS[i-1]) / float64(s.AtNS[i]-s.AtNS[i-1])
	return float64(s.Values[i-1]) + share*float64(s.Values[i]-s.Values[i-1])
}

// timeLatency gives the samples of latency their times: from the beginning of the stage, one after the other, with equal gaps between them. If
// they do not fit into the stage, they have none.
func timeLatency(o *task.Outcome, w window) {
	latency := latencyOf(o)
	if latency == nil || latency.AtNS != nil {
		return
	}
	values := latency.Values()
	if len(values) == 0 || len(values) > maxTimed {
		return
	}
	starts, sum := make([]float64, len(values)), 0.0
	for i, value := range values {
		starts[i] = sum
		iterations := int64(1)
		if each := latency.IterationsPerSample; len(each) > 0 {
			iterations = each[min(i, len(each)-1)]
		}
		sum += value * float64(iterations)
	}
	gap := (float64(w.length()) - sum) / float64(len(values))
	if gap < 0 {
		return
	}
	latency.AtNS = make([]int64, len(values))
	for i, start := range starts {
		latency.AtNS[i] = w.from + int64(start+float64(i)*gap)
	}
}
