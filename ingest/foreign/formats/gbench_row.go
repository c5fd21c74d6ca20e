package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

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

// gbenchReserved reports whether a metric is what Google Benchmark itself measures, which a counter of that name is not.
func gbenchReserved(metric string) bool {
	for _, c := range gbenchCounters {
		if c.metric == metric {
			return true
		}
	}
	return metric == schema.PrimaryMetric || metric == "cpu_time"
}

// setAggregate tells what a row is an aggregate of repetitions by. Old versions only say so in the name.
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

// runName is the name of the benchmark, without that of an aggregate.
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
