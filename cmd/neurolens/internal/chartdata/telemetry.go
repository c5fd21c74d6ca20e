package chartdata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// reading is a metric of a run whose samples have times.
type reading struct {
	*schema.Metric
	values []float64
}

// Telemetry draws the readings of a run over its time, a panel for each metric and a line for each device. Above them are the samples of the
// primary metric. Readings in which a device was throttled are marked in the panel of its clock.
func (m Maker) Telemetry(d *query.Detail) (*chart.Figure, error) {
	of := map[string][]reading{} // by the metric without the suffix of a device
	var order []string
	throttle := map[string]*schema.Metric{}
	devices := 0
	for i := range d.Metrics {
		metric := &d.Metrics[i]
		name := probe.BaseMetric(metric.Name)
		switch values := metric.Values(); {
		case len(metric.AtNS) == 0 || len(values) != len(metric.AtNS):
		case name == "throttle":
			throttle[metric.Name] = metric
		case metric.Name == d.Run.Primary || metric.Level == schema.LevelInterval:
			if of[name] == nil {
				order = append(order, name)
			}
			of[name] = append(of[name], reading{metric, values})
			devices = max(devices, len(of[name]))
		}
	}
	if len(order) == 0 || len(order) == 1 && order[0] == d.Run.Primary {
		return nil, refused("run %s has no readings: telemetry in a sweep takes them (neurolens help telemetry)", views.ShortRun(d.Run.RunID))
	}
	slices.SortStableFunc(order, func(a, b string) int { return rankOfReading(a, d.Run.Primary) - rankOfReading(b, d.Run.Primary) })
	f := &chart.Figure{Kind: chart.Telemetry, Title: titled("telemetry of run "+views.ShortRun(d.Run.RunID), m.when(d.Run.StartedAt))}
	f.X = chart.Axis{Label: "time since the start of the run", Unit: "ns"}
	f.Y = chart.Axis{Own: true}
	most, together := max(cmp.Or(m.Marks, chart.MaxMarks)/(len(order)*devices), 2), 0
	warmup := warmupOf(&d.Run)
	for _, name := range order {
		p := chart.Panel{Title: plain(name), Y: &chart.Axis{Unit: of[name][0].Unit, Own: true}}
		for _, r := range of[name] {
			series, each := m.readings(d, r, most, throttle)
			if name != d.Run.Primary && devices > 1 {
				series.Name = "device " + deviceOf(r.Name)
			}
			p.Series, together = append(p.Series, series), max(together, each)
		}
		p.Guides = warmup
		f.Panels = append(f.Panels, p)
	}
	if len(warmup) > 0 {
		f.Notes = append(f.Notes, "shaded: the end of the warm-up ("+schema.ForPeople(float64(*d.Run.Stages.Warmup), "ns")+" in all), of which no readings are kept; after it comes the stage measure")
	}
	if together > 1 {
		f.Notes = append(f.Notes, fmt.Sprintf("a mark combines up to %s: their median, with a bar from minimum to maximum", term.Count(together, "value")))
	}
	if len(f.Words(chart.Warned)) > 0 {
		f.Notes = append(f.Notes, "marked readings of the clock: the device was throttled")
	}
	return f, nil
}

// warmupOf returns an area before the stage measure, in which readings begin: the end of the warm-up, at most a fifth as long as that
// stage. There is none without both stages.
func warmupOf(r *schema.Run) []chart.Guide {
	s := &r.Stages
	if s.Warmup == nil || *s.Warmup == 0 || s.Measure == nil {
		return nil
	}
	end := *s.Warmup
	if s.Setup != nil {
		end += *s.Setup
	}
	return []chart.Guide{{Along: chart.Vertical, At: float64(end - min(*s.Warmup, *s.Measure/5)), Until: float64(end), Text: "warm-up", Noted: true}}
}

// readingOrder is the order of panels; others come last.
var readingOrder = []string{
	"clock_sm", "clock_memory", "power", "temperature", "gpu_utilization", "memory_utilization", "device_memory_used", "cpu_frequency", "cpu_pressure", "cpu_steal",
}

// IsReading reports whether a metric is one that telemetry reads.
func IsReading(metric string) bool { return slices.Contains(readingOrder, probe.BaseMetric(metric)) }

func rankOfReading(name, primary string) int {
	if name == primary {
		return -1
	}
	if i := slices.Index(readingOrder, name); i >= 0 {
		return i
	}
	return len(readingOrder)
}

// deviceOf returns the number of the device that a metric is of: 1 of power.1.
func deviceOf(metric string) string {
	if _, device, found := strings.Cut(metric, "."); found {
		return device
	}
	return "0"
}

// readings returns the marks of a metric, at most most, and how many values a mark combines at most.
func (m Maker) readings(d *query.Detail, r reading, most int, throttle map[string]*schema.Metric) (series chart.Series, each int) {
	each = (len(r.values) + most - 1) / most
	series.Style = chart.Line
	switch {
	case each > 1:
		series.Style = chart.Intervals
	case r.Name == d.Run.Primary:
		series.Style = chart.Points
	}
	reasons := reasonsAt(r.Metric, throttle)
	for at := 0; at < len(r.values); at += each {
		end := min(at+each, len(r.values))
		some := slices.Sorted(slices.Values(r.values[at:end]))
		k := chart.Mark{
			X: float64(r.AtNS[(at+end-1)/2]), Y: computed(stat.Quantile(some, .5)), Low: chart.Unknown(), High: chart.Unknown(),
			Run: d.Run.RunID, Command: m.ofRun(d.Run.RunID),
		}
		value := quantity(k.Y, r.Unit, r.Name)
		if each > 1 {
			k.Low, k.High, k.Count = some[0], some[len(some)-1], end-at
			value = fmt.Sprintf("median %s, %s … %s", value, quantity(k.Low, r.Unit, r.Name), quantity(k.High, r.Unit, r.Name))
		}
		if words := reasons(at, end); len(words) > 0 {
			k.Tone, k.Word = chart.Warned, strings.Join(words, ", ")
		}
		k.Text = sentence(fmt.Sprintf("%s at %s: %s", plain(r.Name), schema.ForPeople(k.X, "ns"), value), k.Word)
		series.Marks = append(series.Marks, k)
	}
	return series, each
}

// reasonsAt returns a function that says why a device was throttled in some readings of its clock; nothing of other metrics.
func reasonsAt(of *schema.Metric, throttle map[string]*schema.Metric) func(from, to int) []string {
	suffix, isClock := strings.CutPrefix(of.Name, schema.MetricClock)
	masks := throttle["throttle"+suffix]
	if !isClock || masks == nil {
		return func(int, int) []string { return nil }
	}
	values := masks.Values()
	return func(from, to int) (words []string) {
		for i, at := range masks.AtNS {
			if at >= of.AtNS[from] && at <= of.AtNS[to-1] {
				words = append(words, probe.ThrottleReasons(int64(values[i]))...)
			}
		}
		slices.Sort(words)
		return slices.Compact(words)
	}
}
