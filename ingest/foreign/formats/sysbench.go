package formats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// sysbench reads the printed output of sysbench, one command after the other.
var sysbench = foreign.Format{
	Name: "sysbench", About: "sysbench: the printed output of `sysbench TEST run`",
	Level:       "a run is one command; the intervals of --report-interval are samples of separate metrics",
	OwnHeadings: regexp.MustCompile(`^sysbench `),
	Recognize:   func(h *foreign.Head) bool { return h.Matches(sysbenchTitle) },
	Read:        readSysbench,
}

var (
	sysbenchTitle   = regexp.MustCompile(`(?m)^sysbench (\d+\.\d+\S*?):? +(?:\(using |multi-threaded system)`)
	sysbenchCommand = regexp.MustCompile(`\bsysbench\s+(.*\brun\b.*)$`)
	sysbenchTest    = regexp.MustCompile(`--test=(\S+)`)
)

// sysbenchReader reads the lines of one command after the other.
type sysbenchReader struct {
	out       *foreign.Output
	command   string // the test of the command line that was seen last
	version   string
	where     string // the first line of a command's output; empty outside of it
	test      string
	params    map[string]string
	intervals *sysbenchIntervals
	latency   schema.Summary
	inLatency bool
	rates     []schema.Metric
	units     []string
	events    *int64
	sum       *float64
	total     foreign.Number
	status    schema.Status
	err       string
}

func readSysbench(in *foreign.Input, out *foreign.Output) error {
	s := &sysbenchReader{out: out}
	return eachLine(in, out, s.line, s.flush)
}

func (s *sysbenchReader) line(where, text string) error {
	if m := sysbenchTitle.FindStringSubmatch(text); m != nil {
		if err := s.flush(); err != nil {
			return err
		}
		*s = sysbenchReader{
			out: s.out, version: m[1], where: where, test: s.command, params: map[string]string{}, intervals: &sysbenchIntervals{},
		}
		s.out.Version(m[1])
		return nil
	}
	if m := sysbenchCommand.FindStringSubmatch(text); m != nil && (s.where == "" || strings.HasPrefix(strings.TrimLeft(text, "$#> "), "sysbench ")) {
		s.command = sysbenchName(m[1])
		return nil
	}
	if s.where == "" || s.intervals.add(text) {
		return nil
	}
	text = strings.TrimSpace(text)
	if fatal, ok := strings.CutPrefix(text, "FATAL: "); ok && s.status == "" {
		s.status, s.err = schema.StatusError, fatal
	}
	s.setting(text)
	s.result(text)
	return nil
}

// sysbenchName returns the test of the arguments of a command: oltp_read_only.
func sysbenchName(arguments string) string {
	name := ""
	if m := sysbenchTest.FindStringSubmatch(arguments); m != nil {
		name = m[1]
	}
	for _, word := range strings.Fields(arguments) {
		if name == "" && word != "run" && !strings.HasPrefix(word, "-") {
			name = word
		}
	}
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".lua")
}

// sysbenchSettings are the lines that describe the test, with their parameters.
var sysbenchSettings = []struct {
	line  *regexp.Regexp
	test  string
	param string
}{
	{regexp.MustCompile(`^Number of threads: (\d+)`), "", "threads"},
	{regexp.MustCompile(`^Target transaction rate: ([\d.]+)`), "", "rate"},
	{regexp.MustCompile(`^Prime numbers limit: (\d+)|^Maximum prime number checked in CPU test: (\d+)`), "cpu", "cpu_max_prime"},
	{regexp.MustCompile(`^CPU speed:`), "cpu", ""},
	{regexp.MustCompile(`^Running memory speed test`), "memory", ""},
	{regexp.MustCompile(`^(?:Memory )?block size: (\S+)|^Memory block size: (\S+)`), "memory", "block_size"},
	{regexp.MustCompile(`^total size: (\S+)`), "memory", "total_size"},
	{regexp.MustCompile(`^(?:Memory )?operations? ?(?:type)?: (read|write|none)$`), "memory", "operation"},
	{regexp.MustCompile(`^(?:Memory )?scope(?: type)?: (\S+)`), "memory", "scope"},
	{regexp.MustCompile(`^(\d+) files, `), "fileio", "files"},
	{regexp.MustCompile(`^(\S+) total file size`), "fileio", "total_size"},
	{regexp.MustCompile(`^Block size (\S+)`), "fileio", "block_size"},
	{regexp.MustCompile(`^Read/Write ratio for combined random IO test: (\S+)`), "fileio", "rw_ratio"},
	{regexp.MustCompile(`^Using (\S+) I/O mode`), "fileio", "io_mode"},
	{regexp.MustCompile(`^Doing ((?:sequential|random|sync) .+) test`), "fileio", "test_mode"},
	{regexp.MustCompile(`^Doing CPU performance benchmark`), "cpu", ""},
	{regexp.MustCompile(`^Doing memory operations speed test`), "memory", ""},
	{regexp.MustCompile(`^Doing thread subsystem performance test`), "threads", ""},
	{regexp.MustCompile(`^Thread yields per test: (\d+)`), "threads", "thread_yields"},
	{regexp.MustCompile(`^Doing mutex performance test`), "mutex", ""},
	{regexp.MustCompile(`^Doing OLTP test`), "oltp", ""},
	{regexp.MustCompile(`^Running (mixed|simple) OLTP test|^Running (non-transactional) test`), "oltp", "oltp_test_mode"},
	{regexp.MustCompile(`^Doing (read-only) test`), "oltp", "oltp_read_only"},
	{regexp.MustCompile(`^Using (Special|Uniform|Gaussian|Pareto) distribution`), "oltp", "oltp_dist_type"},
	{regexp.MustCompile(`^(?:SQL|OLTP test) statistics:`), "oltp", ""},
}

// sysbenchModes are the values of options that the output spells differently: of --file-test-mode and of OLTP.
var sysbenchModes = map[string]string{
	"sequential write (creation)": "seqwr", "sequential rewrite": "seqrewr", "sequential read": "seqrd", "random read": "rndrd",
	"random write": "rndwr", "random r/w": "rndrw",
	"mixed": "complex", "non-transactional": "nontrx", "read-only": "on",
	"Special": "special", "Uniform": "uniform", "Gaussian": "gaussian", "Pareto": "pareto",
}

// setting reads a line that describes the test.
func (s *sysbenchReader) setting(text string) {
	for _, setting := range sysbenchSettings {
		m := setting.line.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		s.test = cmp.Or(s.test, setting.test)
		if value := strings.Join(m[1:], ""); setting.param != "" {
			s.params[setting.param] = cmp.Or(sysbenchModes[value], value)
		}
		return
	}
}

// flush yields the run of the command that was read.
func (s *sysbenchReader) flush() error {
	if s.where == "" {
		return nil
	}
	where := s.where
	s.where = ""
	r := schema.Run{Benchmark: "sysbench", Status: s.status, Error: s.err}
	if s.test != "" {
		r.Benchmark = "sysbench/" + s.test
	}
	foreign.SetFact(&r, foreign.FactVersion, s.version)
	for name, text := range s.params {
		foreign.SetParam(&r, name, text)
	}
	for i, m := range s.rates {
		foreign.Add(&r, m, s.units[i])
	}
	s.intervals.fill(&r)
	s.addLatency(&r)
	single(&r, "total_time", s.total, "s")
	if len(r.Metrics) == 0 && r.Status == "" {
		s.out.LeaveOutNamed("commands that measure nothing", r.Benchmark)
		return nil
	}
	for _, name := range []string{"throughput", "bandwidth"} {
		if r.Metric(name) != nil {
			r.Primary = name // of memory both are known: it is about the bandwidth
		}
	}
	return s.out.Run(where, r)
}

// addLatency adds the latency of an event. The output has few digits, so the mean is computed from the sum of all. A
// value that is rounded to 0 is unknown.
func (s *sysbenchReader) addLatency(r *schema.Run) {
	l := s.latency
	for _, value := range []**float64{&l.Min, &l.Mean, &l.P50, &l.P75, &l.P90, &l.P95, &l.P99, &l.Max} {
		if *value != nil && **value == 0 {
			*value = nil
		}
	}
	if s.sum != nil && s.events != nil && *s.events > 0 && *s.sum > 0 {
		l.Mean = new(*s.sum / float64(*s.events))
	}
	if l == (schema.Summary{}) {
		return
	}
	l.N = s.events
	foreign.Add(r, foreign.Aggregate("latency", "ns", l), "ms")
}

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

// result reads a line of the results at the end.
func (s *sysbenchReader) result(text string) {
	switch m := sysbenchValue.FindStringSubmatch(text); {
	case m != nil && s.inLatency:
		unit := cmp.Or(m[4], "ms")
		value := foreign.Number(m[3]).Finite(unit)
		if m[1] == "sum" {
			s.sum = value
		} else if m[2] != "25" { // no id of a run depends on it
			setStatistic(&s.latency, cmp.Or(m[1], "p"+m[2]), foreign.Number(m[3]), unit)
		}
		return
	case sysbenchLatency.MatchString(text):
		s.inLatency = true
		return
	}
	if m := sysbenchEvents.FindStringSubmatch(text); m != nil {
		s.events = foreign.Number(m[1]).Int64()
	}
	if m := sysbenchTotal.FindStringSubmatch(text); m != nil {
		s.total = foreign.Number(m[1])
	}
	for _, rate := range sysbenchRates {
		m := rate.line.FindStringSubmatch(text)
		if m == nil || slices.ContainsFunc(s.rates, func(known schema.Metric) bool { return known.Name == rate.metric }) {
			continue
		}
		value := foreign.Number(m[1]).Finite(rate.unit)
		if value == nil || *value == 0 && rate.metric != "throughput" { // the test does not perform such operations
			return
		}
		metric := foreign.Aggregate(rate.metric, rate.unit, schema.Summary{Mean: value})
		metric.Better = schema.BetterHigher
		s.rates, s.units = append(s.rates, metric), append(s.units, rate.unit)
		return
	}
}

// sysbenchIntervals are the reports that a command makes while it runs.
type sysbenchIntervals struct {
	names  []string // of metrics, in the order of their first line
	values map[string][]float64
}

// Lines of a report: the time, then the values. Users choose the percentile.
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

// add reads a line if it is a report.
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
	if s.values[name] == nil {
		s.names = append(s.names, name)
	}
	foreign.Put(&s.values, name, append(s.values[name], *value))
}

// fill adds the samples. Intervals and whole commands have different spreads, so no metric has both.
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
			continue // the test does not perform such operations
		}
		foreign.Add(r, m, given)
	}
}
