package formats

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// fieldNames are the names that columns of texts have in tables of people, by the field that they are. Earlier names win.
var fieldNames = map[string][]string{
	"benchmark": {
		"benchmark", "bench", "benchmark_name", "bench_name", "test", "test_name", "testcase", "test_case", "case", "workload", "kernel",
		"kernel_name",
		"method", "function", "func", "operator", "op", "operation", "task", "scenario", "query", "program", "command", "name",
	},
	"variant": {"variant", "impl", "implementation", "provider", "algorithm", "algo"},
	"backend": {"backend", "framework", "engine", "library"},
	"model":   {"model", "model_name", "model_id"},
	"machine": {"machine", "machine_name", "host", "hostname", "host_name", "node", "runner"},
	"suite":   {"suite", "test_suite", "category"},
	"git_commit": {
		"git_commit", "commit", "commit_id", "commit_sha", "commit_hash", "git_sha", "git_hash", "git_rev", "sha", "revision", "rev",
	},
	"git_branch":     {"git_branch", "branch"},
	"gpu_name":       {"gpu_name", "gpu", "gpu_model", "device_name"},
	"cpu_model":      {"cpu_model", "cpu", "cpu_name", "processor"},
	"driver_version": {"driver_version", "driver"},
	"cuda_version":   {"cuda_version", "cuda"},
	"python_version": {"python_version", "python"},
	"status":         {"status", "result", "outcome", "state", "success", "passed", "ok"},
	"error":          {"error", "error_message", "err"},
	"session_id":     {"session_id", "session", "run_group", "job_id", "build_id", "build", "build_number", "pipeline_id", "pipeline"},
	"started_at": {
		"started_at", "start_time", "timestamp", "datetime", "date_time", "time", "date", "when", "ts", "created_at", "start", "run_at",
		"measured_at", "created",
	},
	fieldRun: {"run", "run_id", "run_number", "run_no", "repeat", "rep", "repetition", "trial", "attempt", "round", "replicate", "seed"},
}

// numericFields are the columns whose numbers are ids and sizes, too. Other columns of numbers are no fields.
var numericFields = []string{"started_at", "session_id", fieldRun}

// processors are the fields that decide how fast a run is. A column with several of them in one table is an axis.
var processors = []string{"gpu_name", "cpu_model"}

// notes are the names of columns with texts that say nothing about what was measured.
var notes = []string{
	"note", "notes", "comment", "comments", "description", "remark", "remarks", "uuid", "guid", "id", "url", "link", "path", "file",
	"filename", "unnamed_0", "index",
}

// samplesOf are the names of columns that count the samples of a run.
var samplesOf = []string{"iteration", "iter", "sample", "sample_id", "sample_index", "i", "request", "request_id", "measurement_id"}

// label returns the words of the name of a column, of which a member of an object has the last part alone.
func (c *guessedColumn) label() string {
	return strings.Join(wordsOf(c.name[strings.LastIndexByte(c.name, '.')+1:]), "_")
}

// fieldOf returns the field whose name a column has; empty if there is none, or another column has the field.
func (g *guessed) fieldOf(c *guessedColumn) string {
	name := c.label()
	for field, names := range fieldNames {
		rank := slices.Index(names, name)
		if rank < 0 {
			continue
		}
		for _, other := range g.columns {
			if at := slices.Index(names, other.label()); other != c && at >= 0 && at < rank && other.filled > 0 && g.fits(field, other) {
				return ""
			}
		}
		if g.fits(field, c) {
			return field
		}
	}
	return ""
}

var (
	hexadecimal = regexp.MustCompile(`^[0-9a-fA-F]{4,64}$`)
	beginsDay   = regexp.MustCompile(`^[0-9]{4}[-/.][0-9]|^[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4}`)
)

// fits reports whether the values of a column can be values of a field.
func (g *guessed) fits(field string, c *guessedColumn) bool {
	all := func(is func(value string) bool) bool {
		return !slices.ContainsFunc(c.order, func(value string) bool { return !is(value) })
	}
	switch {
	case field == "benchmark" && c.filled < g.rows:
		return false
	case field == "status":
		_, known := statusesOf(c)
		return known
	case field == "started_at":
		return g.isTime(c)
	case field == "git_commit":
		return all(hexadecimal.MatchString)
	}
	return !g.isNumeric(c) || slices.Contains(numericFields, field)
}

// statusWords are the words of columns that say how a run ended.
var statusWords = map[schema.Status][]string{
	schema.StatusOK: {
		"ok", "pass", "passed", "success", "succeeded", "successful", "true", "completed", "complete", "done", "finished", "1", "yes",
		"good", "valid",
	},
	schema.StatusError:   {"error", "err", "fail", "failed", "failure", "false", "0", "no", "invalid", "bad", "broken"},
	schema.StatusTimeout: {"timeout", "timed out", "timed_out", "timedout"},
	schema.StatusCrashed: {"crash", "crashed", "segfault"},
	schema.StatusOOM:     {"oom", "out of memory", "out_of_memory"},
	schema.StatusSkipped: {"skip", "skipped"},

	schema.StatusUnsupported: {"unsupported", "not supported", "not_supported"},
	schema.StatusCancelled:   {"cancelled", "canceled", "aborted", "interrupted"},
}

// statusOf returns the status that a word says; empty if it says none.
func statusOf(word string) schema.Status {
	for status, words := range statusWords {
		if slices.Contains(words, strings.ToLower(strings.TrimSpace(word))) {
			return status
		}
	}
	return ""
}

// statusesOf translates the words of a column to statuses. It reports whether it knows all of them.
func statusesOf(c *guessedColumn) (map[string]string, bool) {
	statuses := map[string]string{}
	for _, value := range c.order {
		if status := statusOf(value); status != "" {
			statuses[value] = string(status)
		}
	}
	return statuses, len(statuses) == len(c.order) && !c.more
}

// timeLayouts are the layouts of times that are not ISO 8601.
var timeLayouts = []string{
	"2006-01-02", "2006-01-02 15:04", "2006/01/02 15:04:05", "2006/01/02 15:04", "2006/01/02", "02.01.2006 15:04:05",
	"02.01.2006 15:04", "02.01.2006",
	"01/02/2006 15:04:05", "01/02/2006 15:04", "01/02/2006", "02/01/2006 15:04:05", "02/01/2006 15:04", "02/01/2006",
	"20060102-150405", "20060102_150405",
	"2006-01-02 15:04:05 -0700", "2006.01.02 15:04:05 -0700", time.RFC1123, time.RFC1123Z, time.ANSIC,
}

// timeOf returns how the times of a column are written; empty for ISO 8601.
func (g *guessed) timeOf(c *guessedColumn) (format string, known bool) {
	if g.isNumeric(c) {
		const year2000, year2100 = 946684800, 4102444800
		scale := 1.0
		for _, unit := range []string{"unix_s", "unix_ms", "unix_us", "unix_ns"} {
			if c.read[0].min >= year2000*scale && c.read[0].max < year2100*scale {
				return unit, true
			}
			scale *= 1000
		}
		return "", false
	}
	if len(c.order) == 0 {
		return "", false
	}
	if _, fits := g.starts(c, ""); fits {
		return "", true
	}
	for _, layout := range timeLayouts {
		if _, fits := g.starts(c, layout); fits {
			return layout, true
		}
	}
	return "", false
}

// starts reads the values of a column as times in a layout; empty: in ISO 8601. fits is false if one is no such time.
func (g *guessed) starts(c *guessedColumn, layout string) (starts []time.Time, fits bool) {
	t := mappedTable{mapping: &mapping{layout: layout}, in: g.in}
	for _, value := range c.order {
		var r schema.Run
		if t.setStart(&r, value) != nil {
			return nil, false
		}
		starts = append(starts, r.StartedAt)
	}
	return starts, true
}

// decideTime takes a column as the start of the runs. Whether 03/04/2026 is in March or in April is in doubt, unless another value decides.
func (g *guessed) decideTime(c *guessedColumn) {
	g.Time, _ = g.timeOf(c)
	rest, monthFirst := strings.CutPrefix(g.Time, "01/02/")
	if !monthFirst {
		return
	}
	dayFirst := "02/01/" + rest
	asMonth, _ := g.starts(c, g.Time)
	if asDay, fits := g.starts(c, dayFirst); fits && !slices.EqualFunc(asMonth, asDay, time.Time.Equal) {
		g.doubts[c.name] = fmt.Sprintf("day first or month first? time: %s, or %s", dayFirst, g.Time)
	}
}

// isTime reports whether the values of a column can be times.
func (g *guessed) isTime(c *guessedColumn) bool {
	_, known := g.timeOf(c)
	return known
}

// decideText decides what a column of texts is.
func (g *guessed) decideText(c *guessedColumn) {
	field := g.fieldOf(c)
	if field == "" && len(c.order) > 0 && beginsDay.MatchString(c.order[0]) && !g.has("started_at") {
		if g.isTime(c) {
			field = "started_at"
		}
	}
	name := c.label()
	switch {
	case g.has(field):
		field = ""
	case field == "started_at":
		g.decideTime(c)
	case field == "status":
		g.Statuses, _ = statusesOf(c)
	}
	switch {
	case slices.Contains(processors, field) && len(c.order) > 1: // runs that it tells apart are no repeats
		g.Fields[c.name] = g.param(c)
	case field != "":
		g.Fields[c.name] = field
	case slices.Contains([]string{"batch_size", "seq_len", "precision"}, schema.CanonicalAlias(name)):
		g.Fields[c.name] = schema.CanonicalAlias(name)
	case slices.Contains(notes, name):
		g.Ignore = append(g.Ignore, c.name)
	case c.more && len(c.order) == maxDistinct && g.unique(c), len(c.order) > 7 && len(c.order) == c.filled && !c.more:
		g.Ignore = append(g.Ignore, c.name)
		g.doubts[c.name] = "each row has another: if it is an axis, move it to fields, as params"
	default:
		g.Fields[c.name] = g.param(c)
	}
}

// unique reports whether no value of a column was seen twice.
func (g *guessed) unique(c *guessedColumn) bool {
	for _, n := range c.distinct {
		if n > 1 {
			return false
		}
	}
	return true
}

// has reports whether a column has a field.
func (g *guessed) has(field string) bool {
	for _, of := range g.Fields {
		if of == field {
			return true
		}
	}
	return false
}

// param returns the target of a column that is a parameter: of a member of an object the last part of its name, if no other has it.
func (g *guessed) param(c *guessedColumn) string {
	last := func(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
	leaf := last(c.name)
	taken := slices.ContainsFunc(g.columns, func(other *guessedColumn) bool { return other != c && strings.EqualFold(last(other.name), leaf) })
	if leaf == c.name || leaf == "" || taken {
		return "params"
	}
	return "params." + leaf
}

// axisWords are words in the names of columns of numbers that are axes, unless the numbers have a unit.
var axisWords = []string{
	"batch", "bs", "size", "sizes", "len", "length", "seq", "seqlen", "isl", "osl", "threads", "thread", "workers", "worker",
	"concurrency", "clients", "users", "cores",
	"cpus", "gpus", "nodes", "ranks", "procs", "processes", "dim", "dims", "heads", "head", "layers", "hidden", "width", "height",
	"depth", "channels", "stride", "block",
	"tile", "m", "n", "k", "x", "y", "tokens", "tp", "pp", "dp", "ep", "epochs", "rows", "cols", "columns", "level", "degree", "num",
	"requests", "prompts", "connections",
	"streams", "stream", "window", "port", "queue", "qd", "iodepth", "numjobs", "stages", "warps", "elements", "nelem", "count",
}

// configWords are words in the names of columns of times and rates that were asked for, not measured.
var configWords = []string{
	"timeout", "warmup", "interval", "delay", "sleep", "limit", "target", "budget", "requested", "offered", "deadline",
}

// guessedAggregates are the statistics that no axis has in its name; max_batch_size is one.
var guessedAggregates = []string{"mean", "avg", "average", "median", "p50", "p90", "p95", "p99", "std", "stddev", "stdev"}

// timeOfDay are words in the names of columns with times, endOf words in the names of columns with the times of an end.
var (
	timeOfDay = []string{"timestamp", "timestamps", "ts", "start", "started", "begin", "epoch", "unix", "date", "at"}
	endOf     = []string{"end", "ended", "ack", "finish", "finished", "stop", "stopped"}
)

// counts are the names of columns with the number of samples of a row.
var counts = []string{
	"n", "samples", "n_samples", "num_samples", "runs", "n_runs", "repetitions", "repeats", "reps", "rounds", "iterations", "iters",
	"count",
}

// decideNumber decides what a column of numbers is that is no metric, and reports whether it did.
func (g *guessed) decideNumber(c *guessedColumn) bool {
	name := c.label()
	integers := c.read[0].integers == c.read[0].count
	field := schema.CanonicalAlias(name)
	of := g.fieldOf(c)
	_, unit := c.unitOf()
	isMetric := unit != "" || len(c.statistic()) > 0 || c.hasAny(metricWords)
	switch {
	case field == "batch_size" && integers, field == "seq_len" && integers:
		g.Fields[c.name] = field
	case of != "" && !g.has(of):
		g.Fields[c.name] = of
		switch of {
		case "started_at":
			g.decideTime(c)
		case "status":
			g.Statuses, _ = statusesOf(c)
		}
	case (c.hasAny(timeOfDay) || c.hasAny(endOf)) && g.isTime(c):
		g.decideStart(c)
	case integers && slices.Contains(samplesOf, name) && c.resets > 0:
		g.Ignore, g.Rows = append(g.Ignore, c.name), rowsSamples
		g.doubts[c.name] = "it counts the samples of a run"
	case integers && slices.Contains(samplesOf, name), slices.Contains(notes, name):
		g.Ignore = append(g.Ignore, c.name)
	case slices.Contains(counts, name) && integers && name != "n" && !g.repeats(c) && g.rows > 3:
		g.Ignore = append(g.Ignore, c.name)
		g.doubts[c.name] = "a number of repetitions? If it is an axis, move it to fields, as params"
	case c.hasAny(configWords), name == "request_rate":
		g.Fields[c.name] = g.param(c)
	case g.isUnixTime(c):
		g.doubts[c.name] = "Unix time, by its values"
		g.decideStart(c)
	case integers && c.hasAny(axisWords) && !c.hasAny(guessedAggregates) && (unit == "" || storedUnitOf(unit) == "B" && !c.hasAny(memoryWords)):
		g.Fields[c.name] = g.param(c)
	case isMetric:
		return false
	case integers, g.repeats(c) && c.filled > 3:
		g.Fields[c.name] = g.param(c)
	default:
		return false
	}
	return true
}

// isUnixTime reports whether the numbers of a column are the times of rows by their size and order: from 2015 to 2038, and ascending. Numbers
// that its name calls an amount or a duration are not, unless they would be a duration of decades.
func (g *guessed) isUnixTime(c *guessedColumn) bool {
	const year2015, year2038 = 1420070400, 1 << 31
	format, known := g.timeOf(c)
	seconds, r := unixUnits[format].Seconds(), c.read[0]
	if !known || r.min*seconds < year2015 || r.max*seconds >= year2038 || c.falls || r.min == r.max && c.filled > 1 {
		return false
	}
	_, unit := c.unitOf()
	return "unix_"+unit == format || unit == "" && !c.hasAny(metricWords) && !c.hasAny(axisWords)
}

// decideStart makes a column of times the start of the runs, unless another one is.
func (g *guessed) decideStart(c *guessedColumn) {
	named := func(other *guessedColumn) bool { return other != c && g.fieldOf(other) == "started_at" }
	if c.hasAny(endOf) || g.has("started_at") || slices.ContainsFunc(g.columns, named) {
		g.Ignore = append(g.Ignore, c.name)
		g.doubts[c.name] = "a time of day"
		return
	}
	g.Fields[c.name] = "started_at"
	g.decideTime(c)
}

// hasAny reports whether the name of a column has one of some words.
func (c *guessedColumn) hasAny(words []string) bool {
	return slices.ContainsFunc(c.words, func(word string) bool {
		return slices.Contains(words, word) || slices.Contains(words, strings.TrimRight(word, "0123456789")) // metric1
	})
}

// decideLong reads a table with one value per row: a column names the metric, or its unit, of the value in another column.
func (g *guessed) decideLong(numbers *[]*guessedColumn) {
	find := func(names ...string) *guessedColumn {
		for _, c := range g.columns {
			if slices.Contains(names, strings.Join(c.words, "_")) && !c.more && c.filled > 0 {
				return c
			}
		}
		return nil
	}
	unit := find("unit", "units", "value_unit", "metric_unit")
	if unit != nil && g.isNumeric(unit) {
		unit = nil
	}
	metric := find("metric", "metric_name", "measure", "measurement", "measurement_name", "counter", "kpi", "statistic")
	if name := find("name"); metric == nil && name != nil && g.Fields[name.name] != "benchmark" {
		metric = name
	}
	if metric == nil || g.isNumeric(metric) {
		metric = unit
	}
	at := slices.IndexFunc(*numbers, func(c *guessedColumn) bool {
		return slices.Contains([]string{"value", "val", "amount", "score", "measurement", "result", "metric_value"}, strings.Join(c.words, "_"))
	})
	if at < 0 || metric == nil {
		return
	}
	value := (*numbers)[at]
	if metric == unit && len(unit.order) == 1 { // the unit of a column
		g.Ignore = append(g.Ignore, unit.name)
		delete(g.Fields, unit.name)
		value.units = []string{unit.order[0]}
		return
	}
	g.Long = &longLayout{Metric: metric.name, Value: value.name, Names: map[string]mappedMetric{}}
	*numbers = slices.Delete(slices.Clone(*numbers), at, at+1)
	for _, c := range *numbers {
		g.Fields[c.name] = g.param(c)
	}
	*numbers = nil
	delete(g.Fields, metric.name)
	units, several := g.unitsBy(metric, unit)
	if unit != nil && unit != metric {
		delete(g.Fields, unit.name)
		if several {
			g.Long.Unit = unit.name
		} else {
			g.Ignore = append(g.Ignore, unit.name)
			g.doubts[unit.name] = "the units stand under names"
		}
	}
	taken := map[string]mappedMetric{}
	for _, name := range metric.order {
		c := newGuessedColumn(name)
		if units[name] != "" {
			c.units = []string{units[name]}
		}
		if metric == unit {
			c.words, c.units = nil, []string{name}
		}
		if m := g.meaning(c, taken); !several || m.Metric != name {
			g.Long.Names[name] = m
		}
	}
}

// unitsBy returns the unit of each metric of a table with one value per row, and whether a metric has several.
func (g *guessed) unitsBy(metric, unit *guessedColumn) (units map[string]string, several bool) {
	units = map[string]string{}
	if unit == nil {
		return units, false
	}
	for _, row := range g.first {
		name, of := row[metric.name], row[unit.name]
		if before, known := units[name]; known && before != of {
			several = true
		}
		units[name] = of
	}
	return units, several
}
