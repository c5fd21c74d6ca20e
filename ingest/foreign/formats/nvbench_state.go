package formats

import (
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// nvbenchSummary is a number that NVBench, or a benchmark, computed for a state.
type nvbenchSummary struct {
	Tag  string         `json:"tag"`
	Hint string         `json:"hint"`
	Data []nvbenchValue `json:"data"`
}

// value is a value of a summary by its name, or empty if it has none.
func (s *nvbenchSummary) value(name string) string {
	for _, v := range s.Data {
		if v.Name == name {
			return string(v.Value)
		}
	}
	return ""
}

// nvbenchSummaries are the summaries of a state: a list, and in the oldest files an object by their names.
type nvbenchSummaries []nvbenchSummary

// nvbenchOldTags are the tags of summaries that had only names in the oldest files.
var nvbenchOldTags = map[string]string{
	"Number of Samples (Cold)": "nv/cold/sample_size", "Number of Samples (Batch)": "nv/batch/sample_size",
	"Average GPU Time (Cold)": "nv/cold/time/gpu/mean", "Average CPU Time (Cold)": "nv/cold/time/cpu/mean",
	"GPU Relative Standard Deviation (Cold)": "nv/cold/time/gpu/stdev/relative",
	"CPU Relative Standard Deviation (Cold)": "nv/cold/time/cpu/stdev/relative",
	"Average GPU Time (Batch)":               "nv/batch/time/gpu/mean",
}

// UnmarshalJSON reads either.
func (all *nvbenchSummaries) UnmarshalJSON(text []byte) error {
	if jsontext.Value(text).Kind() != '{' {
		var list []nvbenchSummary
		err := foreign.Decode(text, &list)
		*all = list
		return err
	}
	var object map[string]struct {
		Values []nvbenchValue `json:"values"`
	}
	if err := foreign.Decode(text, &object); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		s := nvbenchSummary{Tag: name, Data: object[name].Values}
		if tag, ok := nvbenchOldTags[name]; ok {
			s.Tag = tag
		}
		s.Hint = s.value("hint")
		*all = append(*all, s)
	}
	return nil
}

// nvbenchTimes are the statistics of one kind of time.
type nvbenchTimes struct {
	schema.Summary
	relative *float64 // standard deviation
}

// nvbenchTimeNames are the kinds of times, with our names. cold are isolated executions, batch are consecutive ones.
var nvbenchTimeNames = []struct{ kind, metric string }{
	{"cold/gpu", schema.PrimaryMetric}, {"cpu_only/cpu", schema.PrimaryMetric}, {"cold/cpu", "cpu_time"}, {"batch/gpu", "batch_time"},
}

var nvbenchTime = regexp.MustCompile(`^nv/(cold|batch|cpu_only)/time/(gpu|cpu)/(mean|median|min|max|q1|q3|stdev/absolute|stdev/relative)$`)

// nvbenchKnown are summaries by the ends of their tags.
var nvbenchKnown = []struct{ end, metric, unit string }{
	{"/bw/item_rate", "throughput", "1/s"},
	{"/bw/global/bytes_per_second", "bandwidth", "B/s"},
	{"/bw/global/utilization", "bandwidth_utilization", "ratio"},
	{"/sm_clock_rate/mean", "clock_sm", "Hz"},
	{"/sm_clock_rate/scaling/percent", "clock_scaling", "ratio"},
}

// nvbenchHints are the units of the other summaries, and their direction if the kind of value decides it.
var nvbenchHints = map[string]struct {
	unit   string
	better schema.Better
}{
	"duration": {"s", schema.BetterLower}, "item_rate": {"1/s", schema.BetterHigher}, "byte_rate": {"B/s", schema.BetterHigher},
	"bytes": {"B", ""}, "percentage": {"ratio", ""}, "frequency": {"Hz", ""},
}

// addMeasured adds the samples, if their files exist, and the summaries.
func (f *nvbenchFile) addMeasured(r *schema.Run, summaries nvbenchSummaries) {
	times, samples := map[string]*nvbenchTimes{}, map[string]*int64{}
	var others []schema.Metric
	for i := range summaries {
		s := &summaries[i]
		value := foreign.Number(s.value("value"))
		if m := nvbenchTime.FindStringSubmatch(s.Tag); m != nil {
			kind := m[1] + "/" + m[2]
			if times[kind] == nil {
				times[kind] = &nvbenchTimes{}
			}
			times[kind].set(m[3], value)
			continue
		}
		switch {
		case strings.HasPrefix(s.Tag, "nv/json/"):
			f.addSamples(r, s)
		case strings.HasSuffix(s.Tag, "/sample_size"):
			samples[strings.TrimSuffix(strings.TrimPrefix(s.Tag, "nv/"), "/sample_size")] = value.Int64()
		case !s.addWork(r, value):
			others = append(others, s.metric(value))
		}
	}
	for _, t := range nvbenchTimeNames {
		if times[t.kind] == nil {
			continue
		}
		if r.Metric(t.metric) != nil {
			f.out.LeaveOut("aggregates of samples", 1)
			continue
		}
		measure, _, _ := strings.Cut(t.kind, "/")
		m := times[t.kind].metric(t.metric, samples[measure])
		foreign.Add(r, m, "s")
	}
	for _, m := range others {
		if r.Metric(m.Name) == nil {
			foreign.Add(r, m, "")
		}
	}
	if r.Metric(schema.PrimaryMetric) != nil {
		r.Primary = schema.PrimaryMetric
	}
}

// set sets a statistic.
func (t *nvbenchTimes) set(statistic string, n foreign.Number) {
	if statistic == "stdev/relative" {
		t.relative = n.Finite("")
		return
	}
	*map[string]**float64{
		"mean": &t.Mean, "median": &t.P50, "min": &t.Min, "max": &t.Max, "q1": &t.P25, "q3": &t.P75, "stdev/absolute": &t.StdDev,
	}[statistic] = n.Finite("s")
}

func (t *nvbenchTimes) metric(name string, n *int64) schema.Metric {
	if t.StdDev == nil && t.relative != nil && t.Mean != nil {
		t.StdDev = new(*t.relative * *t.Mean)
	}
	if t.Summary != (schema.Summary{}) {
		t.N = n
	}
	m := foreign.Aggregate(name, "s", t.Summary)
	m.Better = schema.BetterLower
	return m
}

// addWork reads the work of an execution from a summary. It returns false if the summary is about something else.
func (s *nvbenchSummary) addWork(r *schema.Run, value foreign.Number) bool {
	switch {
	case strings.HasSuffix(s.Tag, "/walltime"):
		if ns := value.Finite("s"); ns != nil && !strings.Contains(s.Tag, "/batch/") && *ns < 1e18 {
			r.Stages.Measure = new(int64(*ns))
		}
	case strings.HasPrefix(s.Tag, "nv/element_count/"):
		if n := value.Finite(""); n != nil {
			r.Work.Items = new(*n + zero(r.Work.Items))
		}
	case strings.HasPrefix(s.Tag, "nv/gmem/reads/"), strings.HasPrefix(s.Tag, "nv/gmem/writes/"):
		if n := value.Int64(); n != nil && *n >= 0 {
			r.Work.Bytes = new(*n + zero(r.Work.Bytes))
		}
	default:
		return false
	}
	return true
}

// zero is a number that is added to: 0 where there is none yet.
func zero[T int64 | float64](n *T) T {
	if n == nil {
		return 0
	}
	return *n
}

// metric makes a metric from any other summary. It is empty if the value is not a number.
func (s *nvbenchSummary) metric(value foreign.Number) schema.Metric {
	for _, k := range nvbenchKnown {
		if strings.HasPrefix(s.Tag, "nv/") && strings.HasSuffix(s.Tag, k.end) {
			m := foreign.Aggregate(k.metric, k.unit, schema.Summary{Mean: value.Finite(k.unit)})
			if m.Better == "" {
				m.Better = schema.BetterHigher
			}
			return m
		}
	}
	hint := nvbenchHints[s.Hint]
	m := foreign.Aggregate(foreign.MetricName(strings.TrimPrefix(s.Tag, "nv/")), hint.unit, schema.Summary{Mean: value.Finite(hint.unit)})
	m.Better = hint.better
	return m
}
