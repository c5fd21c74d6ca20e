package formats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

var googleBenchmark = foreign.Format{
	Name:  "google-benchmark",
	About: "Google Benchmark: JSON of --benchmark_out or --benchmark_format=json",
	Level: "a run is a benchmark of a process, a sample is a repetition: the mean of its iterations",
	Recognize: func(h *foreign.Head) bool {
		return h.HasAny("benchmarks[].real_time", "benchmarks[].error_occurred", "benchmarks[].real_coefficient") ||
			h.Has("context.num_cpus", "context.library_build_type", "benchmarks")
	},
	Read: readGoogleBenchmark,
}

func readGoogleBenchmark(in *foreign.Input, out *foreign.Output) error {
	type header struct {
		Context gbenchContext `json:"context"`
	}
	return documents(in, out, func(h *header, j *foreign.JSON, others func(fields) error) error {
		c := &h.Context
		g := gbenchGroup{context: c, in: in, out: out}
		out.Version(c.version())
		err := others(fields{"benchmarks": func() error {
			return out.RefuseMismatch(j.Elements(func(int) error {
				object, err := j.Value()
				if err != nil {
					return err
				}
				row := &gbenchRow{where: j.Where()}
				if err := row.read(object); err != nil {
					return out.RefuseMismatch(err)
				}
				return g.add(row)
			}))
		}})
		if flushed := g.flush(); flushed != nil || err != nil {
			return cmp.Or(flushed, err)
		}
		out.LeaveOutNamed("members of the context that are no text", c.leftOut...)
		if c.secrets > 0 {
			out.LeaveOut("members of the context whose names look like secrets", c.secrets)
		}
		return nil
	}, "context")
}

// gbenchContext is the context of all benchmarks of a file.
type gbenchContext struct {
	gbenchSystem
	own     []param  // members that users added: AddCustomContext, --benchmark_context
	leftOut []string // members of these that are no text
	secrets int      // number of values that look like secrets
}

// gbenchSystem has the members of the context that Google Benchmark writes.
type gbenchSystem struct {
	Date         foreign.Text   `json:"date"`
	Host         foreign.Text   `json:"host_name" run:"Env.Machine,Env.Hostname"`
	Executable   foreign.Text   `json:"executable"`
	CPUs         foreign.Number `json:"num_cpus" run:"Env.CPUCount"`
	MHz          foreign.Text   `json:"mhz_per_cpu" fact:"mhz_per_cpu"`
	Scaling      foreign.Text   `json:"cpu_scaling_enabled" fact:"cpu_scaling_enabled"`
	ASLR         foreign.Text   `json:"aslr_enabled" fact:"aslr_enabled"`
	LoadAverage  foreign.Text   `json:"load_avg" fact:"load_avg"`
	Library      foreign.Text   `json:"library_version" fact:"library_version"`
	LibraryBuild foreign.Text   `json:"library_build_type" fact:"library_build_type"`
	Schema       foreign.Text   `json:"json_schema_version"`
	Caches       jsontext.Value `json:"caches"`
}

// UnmarshalJSON also keeps the members that users added.
func (c *gbenchContext) UnmarshalJSON(context []byte) error {
	if err := foreign.Decode(context, &c.gbenchSystem); err != nil {
		return err
	}
	members, err := jsonMembersOf(context)
	if err != nil {
		return err
	}
	known := fieldsOf(&c.gbenchSystem)
	for _, m := range members {
		kind, text := m.value.Kind(), foreign.TextOf(m.value)
		switch {
		case known[m.name] != nil:
		case foreign.Secret(m.name):
			c.secrets++
		case kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray || len(c.own) == maxOwnFacts || len(text) > maxOwnFactLength || m.name == "":
			c.leftOut = append(c.leftOut, m.name)
		default:
			c.own = append(c.own, param{"context." + strings.Join(strings.Fields(m.name), "_"), text})
		}
	}
	return nil
}

// Limits of the members that users add to the context.
const (
	maxOwnFacts      = 100
	maxOwnFactLength = 1000
)

func (c *gbenchContext) version() string {
	if c.Library == "" && c.Schema != "" {
		return "schema " + string(c.Schema)
	}
	return string(c.Library)
}

// run returns a run with the values that all benchmarks of a file share.
func (c *gbenchContext) run(in *foreign.Input) (r schema.Run) {
	describe(&r, &c.gbenchSystem)
	in.SetStart(&r, string(c.Date))
	return r
}

// gbenchSuffixes are the suffixes that Google Benchmark itself adds to a name.
var gbenchSuffixes = map[string]bool{"real_time": true, "manual_time": true, "process_time": true}

// setName sets the benchmark and parameters of a run from the name of a row: BM_x<int>/8/n:128/real_time/threads:2 is BM_x<int> with
// arg0, n, time and threads. Words among the arguments belong to the name; if a parameter would appear twice, the whole name is the
// benchmark.
func (c *gbenchContext) setName(r *schema.Run, name string) {
	parts := gbenchParts(name)
	last := len(parts)
	for last > 1 && isGbenchArgument(parts[last-1]) {
		last--
	}
	var times []string
	var params []param
	for i, part := range parts[last:] {
		switch key, value, named := strings.Cut(part, ":"); {
		case gbenchSuffixes[part]:
			times = append(times, part)
		case named:
			params = append(params, param{key, value})
		default:
			params = append(params, param{fmt.Sprintf("arg%d", i), part})
		}
	}
	if len(times) > 0 {
		params = append(params, param{"time", strings.Join(times, "/")})
	}
	r.Benchmark = strings.Join(parts[:last], "/")
	if !setParams(r, params) {
		r.Benchmark = name
	}
	if program := programName(string(c.Executable)); program != "" {
		r.Benchmark = program + "/" + r.Benchmark
	}
}

// gbenchParts splits a name at its slashes, except inside of <> and ().
func gbenchParts(name string) []string {
	var parts []string
	depth, start := 0, 0
	for i, c := range name {
		switch c {
		case '<', '(':
			depth++
		case '>', ')':
			depth = max(depth-1, 0)
		case '/':
			if depth == 0 {
				parts = append(parts, name[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, name[start:])
}

// isGbenchArgument reports whether a part of a name is an argument: 8, n:128, real_time.
func isGbenchArgument(part string) bool {
	if gbenchSuffixes[part] {
		return true
	}
	key, value, named := strings.Cut(part, ":")
	if !named {
		return part != "" && strings.Trim(strings.TrimPrefix(part, "-"), "0123456789") == "" && part != "-"
	}
	return key != "" && value != "" && value[0] != ':' && !strings.ContainsAny(key, "<>() ")
}

// gbenchGroup collects the consecutive rows of a benchmark: its repetitions, then their aggregates.
type gbenchGroup struct {
	context *gbenchContext
	in      *foreign.Input
	out     *foreign.Output

	gbenchRun
}

// gbenchRun has the values of the rows of a benchmark.
type gbenchRun struct {
	first   *gbenchRow
	last    *gbenchRow // but for its values
	metrics []gbenchMetric
	label   string
	status  schema.Status
	message string
}

// gbenchMetric has the values of a metric in the rows.
type gbenchMetric struct {
	gbenchValue
	numbers    []foreign.Number
	iterations []int64
	summary    schema.Summary
}

// add takes a row. The first one of another benchmark yields the run of the one before.
func (g *gbenchGroup) add(row *gbenchRow) error {
	if row.isFit() {
		g.out.LeaveOut("complexity fits", 1)
		return nil
	}
	if g.first != nil && !g.continues(row) {
		if err := g.flush(); err != nil {
			return err
		}
	}
	switch {
	case row.aggregate == "":
	case g.first != nil && g.first.aggregate == "":
		g.out.LeaveOut("aggregates of repetitions", 1)
		return nil
	case !slices.Contains(gbenchAggregates, row.aggregate):
		g.out.LeaveOut("aggregates without a column: "+row.aggregate, 1)
		return nil
	}
	if g.first == nil {
		g.first = row
	}
	g.last = row
	g.label = cmp.Or(string(row.text["label"]), g.label)
	switch {
	case row.text["error_occurred"] == "true":
		g.status, g.message = schema.StatusError, string(row.text["error_message"])
	case row.text["skipped"] == "true" && g.status == "":
		g.status, g.message = schema.StatusSkipped, string(row.text["skip_message"])
	}
	for _, v := range row.values {
		at := slices.IndexFunc(g.metrics, func(m gbenchMetric) bool { return m.metric == v.metric })
		if at < 0 {
			at = len(g.metrics)
			g.metrics = append(g.metrics, gbenchMetric{gbenchValue: v})
		}
		g.metrics[at].add(v, row)
	}
	return nil
}

// continues reports whether a row belongs to the same benchmark as the rows before.
func (g *gbenchGroup) continues(row *gbenchRow) bool {
	if row.key != g.last.key || row.aggregate == "" && g.last.aggregate != "" {
		return false
	}
	return row.index == nil || g.last.index == nil || *row.index > *g.last.index
}

func (m *gbenchMetric) add(v gbenchValue, row *gbenchRow) {
	if row.aggregate == "" {
		m.numbers = append(m.numbers, v.number)
		if row.iterations != nil && *row.iterations > 0 {
			m.iterations = append(m.iterations, *row.iterations)
		}
		return
	}
	*statistic(&m.summary, row.aggregate) = v.number.Finite(v.unit)
	m.summary.N = row.iterations // of an aggregate: repetitions
}

// gbenchAggregates are the aggregates that are read. Users can add others, such as the statistic of a quartile.
var gbenchAggregates = []string{"mean", "median", "p50", "stddev", "min", "max", "p90", "p95", "p99"}

// flush yields the run of the rows, and forgets them.
func (g *gbenchGroup) flush() error {
	b := g.gbenchRun
	g.gbenchRun = gbenchRun{}
	if b.first == nil {
		return nil
	}
	r := g.context.run(g.in)
	g.context.setName(&r, b.first.key.name)
	if threads := b.first.key.threads; threads != "" && threads != "1" && r.Params["threads"] == "" {
		foreign.SetParam(&r, "threads", threads)
	}
	if b.label != "" {
		r.Tags = map[string]string{"label": b.label}
	}
	if r.Status, r.Error = b.status, b.message; b.status == schema.StatusError {
		r.Stage = schema.StageMeasure
	}
	for i := range b.metrics {
		m, err := b.metrics[i].made()
		if err != nil {
			g.out.Refuse(b.first.where, err)
			return nil
		}
		foreign.Add(&r, m, b.metrics[i].unit)
	}
	for _, fact := range g.context.own {
		g.out.Also(fact.name, fact.text)
	}
	return g.out.Run(b.first.where, r)
}

// made returns the metric of the rows.
func (m *gbenchMetric) made() (schema.Metric, error) {
	if m.numbers == nil {
		made := foreign.Aggregate(m.metric, m.unit, m.summary)
		made.Better, made.Level = m.better, schema.LevelIteration
		return made, nil
	}
	series, err := foreign.SeriesOf(m.numbers, m.unit)
	if err != nil {
		return schema.Metric{}, err
	}
	made := series.Metric(m.metric, schema.LevelIteration)
	made.Better = m.better
	made.IterationsPerSample = iterationsOf(m.iterations, series.Len())
	return made, nil
}

// iterationsOf returns the iterations of samples for a metric: one number if all are equal, nothing if one is missing.
func iterationsOf(iterations []int64, samples int) []int64 {
	if len(iterations) != samples || samples == 0 {
		return nil
	}
	if len(slices.Compact(slices.Clone(iterations))) == 1 {
		return iterations[:1]
	}
	return iterations
}

// gbenchRow is a row of the results: a repetition, or an aggregate of repetitions.
type gbenchRow struct {
	where      string
	text       map[string]foreign.Text // the values of Google Benchmark itself
	key        gbenchKey
	aggregate  string // mean, median, cv; empty for a repetition
	index      *int64 // of the repetition
	iterations *int64
	values     []gbenchValue
}

// gbenchKey distinguishes the benchmarks of a file.
type gbenchKey struct {
	name, family, instance, threads string
}

// gbenchValue is one quantity of a row.
type gbenchValue struct {
	metric string
	unit   string
	better schema.Better
	number foreign.Number
}

// gbenchKnown are the members that are no counters.
var gbenchKnown = []string{
	"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions", "repetition_index",
	"threads", "iterations", "real_time", "cpu_time", "time_unit", "aggregate_name", "aggregate_unit", "error_occurred",
	"error_message", "skipped", "skip_message", "label", "big_o", "cpu_coefficient", "real_coefficient", "rms",
}

// gbenchCounters are the counters with a special meaning.
var gbenchCounters = map[string]gbenchValue{
	"bytes_per_second":      {metric: "bandwidth", unit: "B/s", better: schema.BetterHigher},
	"items_per_second":      {metric: "throughput", unit: "1/s", better: schema.BetterHigher},
	"allocs_per_iter":       {metric: "allocations", better: schema.BetterLower},
	"max_bytes_used":        {metric: "heap_peak", unit: "B", better: schema.BetterLower},
	"total_allocated_bytes": {metric: "heap_allocated", unit: "B", better: schema.BetterLower},
	"net_heap_growth":       {metric: "heap_growth", unit: "B", better: schema.BetterLower},
}

// read reads a row. If a name appears twice in it, the second one is a counter with that name.
func (row *gbenchRow) read(object jsontext.Value) error {
	if object.Kind() != jsontext.KindBeginObject {
		return refusal(row.where, "not an object")
	}
	members, err := jsonMembersOf(object)
	if err != nil {
		return err
	}
	row.text = map[string]foreign.Text{}
	var counters []gbenchValue
	for _, m := range members {
		_, twice := row.text[m.name]
		if slices.Contains(gbenchKnown, m.name) && !twice {
			row.text[m.name] = foreign.Text(foreign.TextOf(m.value))
			continue
		}
		c, err := gbenchCounter(m)
		if err != nil {
			return refusal(row.where+"/"+m.name, "%w", err)
		}
		counters = append(counters, c)
	}
	row.setAggregate()
	row.key = gbenchKey{
		row.runName(), string(row.text["family_index"]), string(row.text["per_family_instance_index"]), string(row.text["threads"]),
	}
	row.index = foreign.Number(row.text["repetition_index"]).Int64()
	row.iterations = foreign.Number(row.text["iterations"]).Int64()
	if row.key.name == "" {
		return refusal(row.where, "a benchmark without a name")
	}
	return row.setValues(counters)
}

// gbenchCounter returns a counter of a row. One with the name of a metric of Google Benchmark itself gets another name.
func gbenchCounter(m jsonMember) (gbenchValue, error) {
	c, ok := gbenchCounters[m.name]
	if !ok {
		c.metric = foreign.MetricName(m.name)
		kind, _ := schema.KindOfMetric(c.metric)
		c.better = kind.Better
		reserved := c.metric == schema.PrimaryMetric || c.metric == "cpu_time"
		for _, known := range gbenchCounters {
			reserved = reserved || known.metric == c.metric
		}
		if reserved {
			c.metric = "custom." + c.metric
		}
		if strings.HasSuffix(m.name, "_per_second") {
			c.unit, c.better = "1/s", schema.BetterHigher
		}
	}
	err := c.number.UnmarshalJSON(m.value)
	return c, err
}

// setAggregate sets the kind of aggregate of a row. Old versions have it only in the name.
func (row *gbenchRow) setAggregate() {
	row.aggregate = string(row.text["aggregate_name"])
	if row.text["run_type"] == "iteration" || row.aggregate != "" {
		return
	}
	for _, name := range []string{"mean", "median", "stddev", "cv", "BigO", "RMS"} {
		if strings.HasSuffix(string(row.text["name"]), "_"+name) {
			row.aggregate = name
		}
	}
}

// runName returns the name of the benchmark, without the suffix of an aggregate.
func (row *gbenchRow) runName() string {
	name := string(row.text["name"])
	if row.aggregate != "" {
		name = strings.TrimSuffix(name, "_"+row.aggregate)
	}
	return cmp.Or(string(row.text["run_name"]), name)
}

// isFit reports whether a row is about the complexity of a family of benchmarks.
func (row *gbenchRow) isFit() bool { return row.aggregate == "BigO" || row.aggregate == "RMS" }

// setValues sets the times and the counters. A row with an error, and one of a skipped benchmark, has none.
func (row *gbenchRow) setValues(counters []gbenchValue) error {
	if row.text["error_occurred"] == "true" || row.text["skipped"] == "true" || row.isFit() {
		return nil
	}
	unit := cmp.Or(string(row.text["time_unit"]), "ns")
	if stored, _, known := schema.StoredUnit(unit); !known || stored != "ns" {
		return refusal(row.where+"/time_unit", "time unit %q: want ns, us, ms or s", unit)
	}
	if row.text["real_time"] == "" {
		return refusal(row.where, "it has neither a real_time nor an error")
	}
	for _, name := range [][2]string{{"real_time", "latency"}, {"cpu_time", "cpu_time"}} {
		v := gbenchValue{name[1], unit, schema.BetterLower, foreign.Number(row.text[name[0]])}
		if v.number != "" && v.number.Float64() == nil {
			return refusal(row.where+"/"+name[0], "%.40q is not a number", v.number)
		}
		row.values = append(row.values, v)
	}
	for _, c := range counters {
		for slices.ContainsFunc(row.values, func(v gbenchValue) bool { return v.metric == c.metric }) {
			c.metric += "_"
		}
		row.values = append(row.values, c)
	}
	row.values = slices.DeleteFunc(row.values, func(v gbenchValue) bool { return v.number == "" || v.metric == "" })
	return nil
}
