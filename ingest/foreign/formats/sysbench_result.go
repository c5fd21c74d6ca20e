package formats

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// sysbenchRates are the lines of rates, with the metric and the unit of the first number.
var sysbenchRates = []struct {
	line         *regexp.Regexp
	metric, unit string
}{
	{regexp.MustCompile(`^events per second: +([\d.]+)`), "throughput", "1/s"},
	{regexp.MustCompile(`^transactions: +\d+ +\(([\d.]+) per sec`), "throughput", "1/s"},
	{regexp.MustCompile(`^queries: +\d+ +\(([\d.]+) per sec`), "queries", "1/s"},
	{regexp.MustCompile(`^read/write requests: +\d+ +\(([\d.]+) per sec`), "read_write_requests", "1/s"}, // queries without BEGIN and COMMIT
	{regexp.MustCompile(`^(?:Total operations|Operations performed): +\d+ +\( *([\d.]+) (?:per second|ops/sec)`), "throughput", "1/s"},
	{regexp.MustCompile(`^[\d.]+ Mi?B transferred \(([\d.]+) Mi?B/sec\)`), "bandwidth", "MiB/s"},
	{regexp.MustCompile(`^([\d.]+) +Requests/sec executed`), "throughput", "1/s"},
	{regexp.MustCompile(`Total transferred \S+ +\(([\d.]+)Kb/sec\)`), "bandwidth", "KiB/s"}, // 0.4 and 0.5: b is bytes
	{regexp.MustCompile(`Total transferred \S+ +\(([\d.]+)Mb/sec\)`), "bandwidth", "MiB/s"},
	{regexp.MustCompile(`Total transferred \S+ +\(([\d.]+)Gb/sec\)`), "bandwidth", "GiB/s"},
	{regexp.MustCompile(`^reads/s: +([\d.]+)`), "reads", "1/s"},
	{regexp.MustCompile(`^writes/s: +([\d.]+)`), "writes", "1/s"},
	{regexp.MustCompile(`^fsyncs/s: +([\d.]+)`), "fsyncs", "1/s"},
	{regexp.MustCompile(`^read, MiB/s: +([\d.]+)`), "read_bandwidth", "MiB/s"},
	{regexp.MustCompile(`^written, MiB/s: +([\d.]+)`), "write_bandwidth", "MiB/s"},
}

var (
	sysbenchEvents  = regexp.MustCompile(`^total number of events: +(\d+)`)
	sysbenchTotal   = regexp.MustCompile(`^(?:total time|time elapsed): +([\d.]+)s`)
	sysbenchLatency = regexp.MustCompile(`^(?:Latency \(ms\):|response time:|per-request statistics:)`)
	sysbenchValue   = regexp.MustCompile(`^(?:(min|avg|max|sum)|(?:approx\. +)?(\d+)(?:th|st|nd|rd)? percentile): +([\d.]+)(ms|s)?$`)
)

// result takes a line of the results at the end.
func (s *sysbenchReader) result(text string) {
	switch m := sysbenchValue.FindStringSubmatch(text); {
	case m != nil && s.inLatency:
		unit := "ms"
		if m[4] != "" {
			unit = m[4]
		}
		s.latencyValue(m[1]+m[2], foreign.Number(m[3]).Finite(unit))
		return
	case sysbenchLatency.MatchString(text):
		s.inLatency = true
		return
	}
	if m := sysbenchEvents.FindStringSubmatch(text); m != nil {
		s.events = foreign.Number(m[1]).Int64()
		return
	}
	if m := sysbenchTotal.FindStringSubmatch(text); m != nil {
		s.total = foreign.Number(m[1])
		return
	}
	for _, rate := range sysbenchRates {
		m := rate.line.FindStringSubmatch(text)
		if m == nil || slices.ContainsFunc(s.rates, func(known schema.Metric) bool { return known.Name == rate.metric }) {
			continue
		}
		value := foreign.Number(m[1]).Finite(rate.unit)
		if value == nil || *value == 0 && rate.metric != "throughput" { // what the test does not do
			return
		}
		metric := meanOf(rate.metric, value, rate.unit)
		metric.Better = schema.BetterHigher
		s.rates, s.units = append(s.rates, metric), append(s.units, rate.unit)
		return
	}
}

func (s *sysbenchReader) latencyValue(name string, value *float64) {
	switch name {
	case "min":
		s.latency.Min = value
	case "avg":
		s.latency.Mean = value
	case "max":
		s.latency.Max = value
	case "sum":
		s.sum = value
	case "50":
		s.latency.P50 = value
	case "75":
		s.latency.P75 = value
	case "90":
		s.latency.P90 = value
	case "95":
		s.latency.P95 = value
	case "99":
		s.latency.P99 = value
	}
}

// sysbenchIntervals are the reports that a command makes while it runs.
type sysbenchIntervals struct {
	names  []string // of metrics, in the order of their first line
	values map[string][]float64
}

// Lines of a report: when, and what follows it. The percentile is the one that the user asked for.
var (
	sysbenchInterval = regexp.MustCompile(`^\[ *(\d+)s *\] +(.*)$`)
	sysbenchFields   = []struct {
		field        *regexp.Regexp
		metric, unit string
	}{
		{regexp.MustCompile(`\b(?:tps|eps): ([\d.]+)`), "throughput", "1/s"},
		{regexp.MustCompile(`\bqps: ([\d.]+)`), "queries", "1/s"},
		{regexp.MustCompile(`^([\d.]+) MiB/sec`), "bandwidth", "MiB/s"},
		{regexp.MustCompile(`\breads: ([\d.]+) MiB/s`), "read_bandwidth", "MiB/s"},
		{regexp.MustCompile(`\bwrites: ([\d.]+) MiB/s`), "write_bandwidth", "MiB/s"},
		{regexp.MustCompile(`\bfsyncs: ([\d.]+)/s`), "fsyncs", "1/s"},
	}
	sysbenchPercentile = regexp.MustCompile(`\blat(?:ency)? \(ms, ?(\d+)%\): ([\d.]+)|\bresponse time: ([\d.]+)ms \((\d+)%\)`)
)

// add takes a line where it is a report.
func (s *sysbenchIntervals) add(text string) bool {
	m := sysbenchInterval.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	for _, f := range sysbenchFields {
		if v := f.field.FindStringSubmatch(m[2]); v != nil {
			s.put(f.metric, foreign.Number(v[1]).Finite(f.unit))
		}
	}
	if v := sysbenchPercentile.FindStringSubmatch(m[2]); v != nil {
		s.put("latency_p"+v[1]+v[4], foreign.Number(v[2]+v[3]).Finite("ms"))
	}
	return true
}

func (s *sysbenchIntervals) put(name string, value *float64) {
	if value == nil {
		return
	}
	if s.values == nil {
		s.values = map[string][]float64{}
	}
	if s.values[name] == nil {
		s.names = append(s.names, name)
	}
	s.values[name] = append(s.values[name], *value)
}

// fill adds the samples. The spread of intervals is different from that of whole commands, so no metric has both.
func (s *sysbenchIntervals) fill(r *schema.Run) {
	for _, name := range s.names {
		m := schema.Metric{Name: name + "_interval", Level: schema.LevelInterval, Reals: s.values[name]}
		m.Unit, m.Better = "1/s", schema.BetterHigher
		given := "1/s"
		switch {
		case name == "bandwidth" || name == "read_bandwidth" || name == "write_bandwidth":
			m.Unit, given = "B/s", "MiB/s"
		case strings.HasPrefix(name, "latency_"):
			m.Name, m.Unit, m.Better, given = name, "ns", schema.BetterLower, "ms"
		}
		if !slices.ContainsFunc(m.Reals, func(v float64) bool { return v != 0 }) {
			continue // what the test does not do
		}
		foreign.Add(r, m, given)
	}
}
