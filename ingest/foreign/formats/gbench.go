package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

func googleBenchmark() foreign.Format {
	return foreign.Format{
		Name:  "google-benchmark",
		About: "Google Benchmark: JSON of --benchmark_out or --benchmark_format=json",
		Level: "a run is a benchmark of a process, a sample is a repetition: the mean of its iterations",
		Recognize: func(h *foreign.Head) bool {
			return h.HasAny("benchmarks[].real_time", "benchmarks[].error_occurred", "benchmarks[].real_coefficient") ||
				h.Has("context.num_cpus", "context.library_build_type", "benchmarks")
		},
		Read: readGoogleBenchmark,
	}
}

func readGoogleBenchmark(in *foreign.Input, out *foreign.Output) error {
	contexts, err := headers(in, out, (*gbenchContext).member, "context")
	if err != nil {
		return err
	}
	j := in.JSON()
	for i := 0; i == 0 || another(j); i++ {
		g := gbenchGroup{context: headerAt(contexts, i), in: in, out: out}
		if err := out.RefuseMismatch(g.read(j, i < len(contexts))); err != nil {
			return err
		}
		out.LeaveOutNamed("members of the context that are no text", g.context.leftOut...)
		if g.context.secrets > 0 {
			out.LeaveOut("members of the context whose names look like secrets", g.context.secrets)
		}
	}
	return nil
}

// read reads the output of a process. Its context may be known already.
func (g *gbenchGroup) read(j *foreign.JSON, known bool) error {
	g.out.Version(g.context.version())
	err := j.Members(func(name string) error {
		switch {
		case name == "benchmarks":
			return g.out.RefuseMismatch(j.Elements(func(int) error {
				var row gbenchRow
				if err := row.read(j); err != nil {
					return g.out.RefuseMismatch(err)
				}
				return g.add(&row)
			}))
		case known:
			return j.Skip()
		}
		return g.out.RefuseMismatch(g.context.member(j, name))
	})
	if flushed := g.flush(); flushed != nil {
		return flushed
	}
	return err
}

// gbenchContext is the context of all benchmarks of a file.
type gbenchContext struct {
	Date         foreign.Text   `json:"date"`
	Host         foreign.Text   `json:"host_name"`
	Executable   foreign.Text   `json:"executable"`
	CPUs         foreign.Number `json:"num_cpus"`
	MHz          foreign.Text   `json:"mhz_per_cpu"`
	Scaling      foreign.Text   `json:"cpu_scaling_enabled"`
	ASLR         foreign.Text   `json:"aslr_enabled"`
	LoadAverage  foreign.Text   `json:"load_avg"`
	Library      foreign.Text   `json:"library_version"`
	LibraryBuild foreign.Text   `json:"library_build_type"`
	Schema       foreign.Text   `json:"json_schema_version"`

	own     []gbenchFact // that users added: AddCustomContext, --benchmark_context
	leftOut []string     // members of these that are no text
	secrets int          // number of these that look like secrets
}

// gbenchFact is a member of the context that Google Benchmark does not write itself.
type gbenchFact struct{ name, text string }

// gbenchMembers are the members of the context that Google Benchmark writes.
var gbenchMembers = []string{
	"date", "host_name", "executable", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "aslr_enabled", "caches", "load_avg", "library_version",
	"library_build_type", "json_schema_version",
}

// Limits of the members that users add to the context.
const (
	maxOwnFacts      = 100
	maxOwnFactLength = 1000
)

// addOwn keeps what users added.
func (c *gbenchContext) addOwn(context jsontext.Value) error {
	members, err := jsonMembersOf(context)
	if err != nil {
		return err
	}
	for _, m := range members {
		if slices.Contains(gbenchMembers, m.name) {
			continue
		}
		if foreign.Secret(m.name) {
			c.secrets++
			continue
		}
		kind, text := m.value.Kind(), foreign.TextOf(m.value)
		if kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray || len(c.own) == maxOwnFacts || len(text) > maxOwnFactLength || m.name == "" {
			c.leftOut = append(c.leftOut, m.name)
			continue
		}
		c.own = append(c.own, gbenchFact{"context." + strings.Join(strings.Fields(m.name), "_"), text})
	}
	return nil
}

func (c *gbenchContext) member(j *foreign.JSON, name string) error {
	if name != "context" {
		return j.Skip()
	}
	text, err := j.Value()
	if err != nil {
		return err
	}
	if err := foreign.DecodeAt(j.Where(), text, c); err != nil {
		return err
	}
	return c.addOwn(text)
}

func (c *gbenchContext) version() string {
	if c.Library == "" && c.Schema != "" {
		return "schema " + string(c.Schema)
	}
	return string(c.Library)
}

// run is a run with the values that all benchmarks of a file share.
func (c *gbenchContext) run(in *foreign.Input) schema.Run {
	r := schema.Run{Env: schema.Env{
		Machine: string(c.Host), Hostname: string(c.Host), CPUCount: c.CPUs.Int64(),
	}}
	for name, text := range map[string]foreign.Text{
		"mhz_per_cpu": c.MHz, "cpu_scaling_enabled": c.Scaling, "aslr_enabled": c.ASLR, "load_avg": c.LoadAverage,
		"library_version": c.Library, "library_build_type": c.LibraryBuild,
	} {
		foreign.SetFact(&r, name, string(text))
	}
	in.SetStart(&r, string(c.Date))
	return r
}

// gbenchSuffixes are what Google Benchmark itself adds to a name.
var gbenchSuffixes = map[string]bool{"real_time": true, "manual_time": true, "process_time": true}

// setName gives a run its benchmark and parameters by the name of a row: BM_x<int>/8/n:128/real_time/threads:2 is
// BM_x<int> with arg0, n, time and threads. Words among the arguments belong to the name; where a parameter would stand
// twice, all does.
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

// gbenchParts splits a name at its slashes, but for those inside of <> and ().
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
	if row.aggregate != "" && g.first != nil && g.first.aggregate == "" {
		g.out.LeaveOut("aggregates of repetitions", 1)
		return nil
	}
	if row.aggregate != "" && !slices.Contains(gbenchAggregates, row.aggregate) {
		g.out.LeaveOut("aggregates without a column: "+row.aggregate, 1)
		return nil
	}
	if g.first == nil {
		g.first = row
	}
	g.last = row
	g.setOutcome(row)
	for _, v := range row.values {
		g.metric(v).add(v, row)
	}
	return nil
}

// setOutcome reads from a row how it ended, and its label.
func (b *gbenchRun) setOutcome(row *gbenchRow) {
	if label := string(row.text["label"]); label != "" {
		b.label = label
	}
	switch {
	case row.text["error_occurred"] == "true":
		b.status, b.message = schema.StatusError, string(row.text["error_message"])
	case row.text["skipped"] == "true" && b.status == "":
		b.status, b.message = schema.StatusSkipped, string(row.text["skip_message"])
	}
}

// continues reports whether a row belongs to the same benchmark as the rows before.
func (g *gbenchGroup) continues(row *gbenchRow) bool {
	if row.key != g.last.key || row.aggregate == "" && g.last.aggregate != "" {
		return false
	}
	return row.index == nil || g.last.index == nil || *row.index > *g.last.index
}

// metric is the metric of a value. It is added if the run does not have it.
func (g *gbenchGroup) metric(v gbenchValue) *gbenchMetric {
	for i := range g.metrics {
		if g.metrics[i].metric == v.metric {
			return &g.metrics[i]
		}
	}
	g.metrics = append(g.metrics, gbenchMetric{gbenchValue: v})
	return &g.metrics[len(g.metrics)-1]
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

// made is the metric of the rows.
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

// iterationsOf are the iterations of samples as a metric has them: one number where all are equal, nothing where one is
// missing.
func iterationsOf(iterations []int64, samples int) []int64 {
	if len(iterations) != samples || samples == 0 {
		return nil
	}
	for _, n := range iterations {
		if n != iterations[0] {
			return iterations
		}
	}
	return iterations[:1]
}

// gbenchRow is a row of the results: a repetition, or an aggregate of repetitions.
type gbenchRow struct {
	where      string
	text       map[string]foreign.Text // what Google Benchmark itself says
	key        gbenchKey
	aggregate  string // mean, median, cv; empty for a repetition
	index      *int64 // of the repetition
	iterations *int64
	values     []gbenchValue
}

// gbenchKey tells apart the benchmarks of a file.
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

// gbenchCounters are the counters that have a meaning of their own.
var gbenchCounters = map[string]gbenchValue{
	"bytes_per_second":      {metric: "bandwidth", unit: "B/s", better: schema.BetterHigher},
	"items_per_second":      {metric: "throughput", unit: "1/s", better: schema.BetterHigher},
	"allocs_per_iter":       {metric: "allocations", better: schema.BetterLower},
	"max_bytes_used":        {metric: "heap_peak", unit: "B", better: schema.BetterLower},
	"total_allocated_bytes": {metric: "heap_allocated", unit: "B", better: schema.BetterLower},
	"net_heap_growth":       {metric: "heap_growth", unit: "B", better: schema.BetterLower},
}

// read reads a row. If a name appears twice in it, the second one is a counter with that name.
func (row *gbenchRow) read(j *foreign.JSON) error {
	object, err := j.Value()
	if err != nil {
		return err
	}
	row.where = j.Where()
	if object.Kind() != jsontext.KindBeginObject {
		return row.mismatch("", fmt.Errorf("not an object"))
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
			return row.mismatch("/"+m.name, err)
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
		return row.mismatch("", fmt.Errorf("a benchmark without a name"))
	}
	return row.setValues(counters)
}

func (row *gbenchRow) mismatch(where string, err error) error {
	return &foreign.Mismatch{Where: row.where + where, Err: err}
}

// gbenchCounter is a counter of a row.
func gbenchCounter(m jsonMember) (gbenchValue, error) {
	c, ok := gbenchCounters[m.name]
	if !ok {
		c.metric = foreign.MetricName(m.name)
		if kind, known := schema.KindOfMetric(c.metric); known {
			c.better = kind.Better
		}
		if gbenchReserved(c.metric) {
			c.metric = "custom." + c.metric
		}
		if strings.HasSuffix(m.name, "_per_second") {
			c.unit, c.better = "1/s", schema.BetterHigher
		}
	}
	err := c.number.UnmarshalJSON(m.value)
	return c, err
}

// gbenchReserved reports whether Google Benchmark itself measures a metric. A counter with that name is another one.
func gbenchReserved(metric string) bool {
	for _, c := range gbenchCounters {
		if c.metric == metric {
			return true
		}
	}
	return metric == schema.PrimaryMetric || metric == "cpu_time"
}

// setAggregate sets the kind of aggregate of a row. Old versions have it only in the name.
func (row *gbenchRow) setAggregate() {
	kind := row.text["run_type"]
	row.aggregate = string(row.text["aggregate_name"])
	if kind == "iteration" || row.aggregate != "" {
		return
	}
	for _, name := range []string{"mean", "median", "stddev", "cv", "BigO", "RMS"} {
		if strings.HasSuffix(string(row.text["name"]), "_"+name) {
			row.aggregate = name
		}
	}
}

// runName is the name of the benchmark, without the suffix of an aggregate.
func (row *gbenchRow) runName() string {
	if name := string(row.text["run_name"]); name != "" {
		return name
	}
	name := string(row.text["name"])
	if row.aggregate != "" {
		name = strings.TrimSuffix(name, "_"+row.aggregate)
	}
	return name
}

// failed reports whether there are no values, because of an error or because the benchmark was skipped.
func (row *gbenchRow) failed() bool {
	return row.text["error_occurred"] == "true" || row.text["skipped"] == "true"
}

// isFit reports whether a row is about the complexity of a family of benchmarks.
func (row *gbenchRow) isFit() bool { return row.aggregate == "BigO" || row.aggregate == "RMS" }

// setValues takes over the times and the counters.
func (row *gbenchRow) setValues(counters []gbenchValue) error {
	if row.failed() || row.isFit() {
		return nil
	}
	unit := string(row.text["time_unit"])
	if unit == "" {
		unit = "ns"
	}
	if stored, _, known := schema.StoredUnit(unit); !known || stored != "ns" {
		return row.mismatch("/time_unit", fmt.Errorf("time unit %q: want ns, us, ms or s", unit))
	}
	if row.text["real_time"] == "" {
		return row.mismatch("", fmt.Errorf("it has neither a real_time nor an error"))
	}
	for _, name := range [][2]string{{"real_time", "latency"}, {"cpu_time", "cpu_time"}} {
		member, metric := name[0], name[1]
		v := gbenchValue{metric, unit, schema.BetterLower, foreign.Number(row.text[member])}
		if v.number != "" && v.number.Float64() == nil {
			return row.mismatch("/"+member, fmt.Errorf("%.40q is not a number", v.number))
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
