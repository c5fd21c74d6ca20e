package formats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// mappedTable makes runs from the rows of a table.
type mappedTable struct {
	*mapping
	in      *foreign.Input
	out     *foreign.Output
	pending *mappedRun // the current run, to which the next rows may belong
}

// mappedRun is a run whose rows are being read.
type mappedRun struct {
	where  string
	key    string // the text of all fields
	run    schema.Run
	values map[string]*mappedValues
	order  []string // names of the metrics in their order
	lacks  bool     // a row of it was refused
}

// mappedValues are the values of a metric so far.
type mappedValues struct {
	mappedMetric
	samples  []foreign.Number
	summary  schema.Summary
	gathered bool // there is at least one aggregate
}

func newMappedTable(m *mapping, in *foreign.Input, out *foreign.Output) *mappedTable {
	return &mappedTable{mapping: m, in: in, out: out}
}

// add adds a row: it continues the run before, or begins one.
func (t *mappedTable) add(row mappedRow) error {
	for column, text := range row.cells {
		if slices.Contains(t.Missing, text) {
			row.cells[column] = ""
		}
	}
	key := t.key(row)
	together := t.Rows == rowsSamples || t.Long != nil
	if t.pending == nil || !together || t.pending.key != key {
		if err := t.flush(); err != nil {
			return err
		}
		run, err := t.begin(row)
		if err != nil {
			t.out.Refuse(row.where, err)
			return nil
		}
		t.pending = &mappedRun{where: row.where, key: key, run: run, values: map[string]*mappedValues{}}
	}
	switch err := t.measure(row); {
	case err == nil:
	case !together && t.pending.failed():
		t.out.Note("failed runs with a value that cannot be read, which have no value", 1)
	default:
		t.out.Refuse(row.where, err)
		if t.pending.lacks = true; !together { // an ok run without what could not be read would be another one
			t.pending = nil
		}
	}
	return nil
}

// failed reports whether a run needs no value.
func (p *mappedRun) failed() bool { return p.run.Status != "" && p.run.Status != schema.StatusOK }

// key distinguishes rows of different runs: it is the text of all fields.
func (t *mappedTable) key(row mappedRow) string {
	var b strings.Builder
	for _, column := range slices.Sorted(maps.Keys(t.Fields)) {
		fmt.Fprintf(&b, "%q", row.cells[column])
	}
	return b.String()
}

// begin makes a run with the fields of a row.
func (t *mappedTable) begin(row mappedRow) (schema.Run, error) {
	r := schema.Run{Benchmark: t.Benchmark}
	for _, field := range slices.Sorted(maps.Keys(t.Set)) {
		if err := t.setField(&r, field, field, t.Set[field]); err != nil {
			return r, err
		}
	}
	for _, column := range slices.Sorted(maps.Keys(t.Fields)) {
		if list, ok := row.lists[column]; ok {
			row.cells[column] = foreign.TextOf(list)
		}
		if err := t.setField(&r, t.Fields[column], column, row.cells[column]); err != nil {
			return r, fmt.Errorf("column %s: %w", column, err)
		}
	}
	if r.Benchmark == "" {
		return r, fmt.Errorf("the benchmark is empty")
	}
	return r, nil
}

// setField sets a field of a run. An empty text is NULL.
func (t *mappedTable) setField(r *schema.Run, field, column, text string) error {
	if text == "" {
		return nil
	}
	if first, name, _ := strings.Cut(field, "."); slices.Contains(mapFields, first) {
		if name == "" {
			name = column
		}
		setEntry(r, first, name, text)
		return nil
	}
	switch field = schema.CanonicalAlias(field); field {
	case fieldRun:
		return nil
	case "status":
		return t.setStatus(r, text)
	case "started_at":
		return t.setStart(r, text)
	}
	if schema.IsAxisColumn(field) {
		foreign.SetAxis(r, field, foreign.Canonical(text))
		return nil
	}
	return setColumn(r, field, text)
}

func setEntry(r *schema.Run, column, name, text string) {
	into := map[string]*map[string]string{"tags": &r.Tags, "env": &r.Env.Facts, "applied": &r.Applied}[column]
	if into == nil {
		foreign.SetAxis(r, name, foreign.Canonical(text))
		return
	}
	if *into == nil {
		*into = map[string]string{}
	}
	(*into)[name] = text
}

// setColumn sets a column of the table of runs.
func setColumn(r *schema.Run, field, text string) error {
	row := schema.RunRow(r, "")
	i := schema.Runs.Place(field)
	var err error
	switch schema.Runs.Columns[i].Kind {
	case schema.KindInt:
		n := foreign.Number(text).Int64()
		if n == nil {
			return fmt.Errorf("%q is not an integer", text)
		}
		row[i] = *n
	case schema.KindReal:
		row[i], err = strconv.ParseFloat(text, 64)
	case schema.KindBool:
		row[i], err = strconv.ParseBool(text)
	default:
		row[i] = text
	}
	if err != nil {
		return fmt.Errorf("%q is not a value of %s", text, field)
	}
	*r = schema.RunOf(row)
	return nil
}

func (t *mappedTable) setStatus(r *schema.Run, text string) error {
	if word, ok := t.Statuses[text]; ok {
		text = word
	}
	if !slices.Contains(schema.Statuses, schema.Status(text)) {
		return fmt.Errorf("%q is not a status: translate it under statuses", text)
	}
	r.Status = schema.Status(text)
	return nil
}

var unixUnits = map[string]time.Duration{"unix_s": time.Second, "unix_ms": time.Millisecond, "unix_us": time.Microsecond, "unix_ns": 1}

func (t *mappedTable) setStart(r *schema.Run, text string) error {
	unit, ok := unixUnits[t.Time]
	if !ok {
		layouts := foreign.ISO
		if t.layout != "" {
			layouts = []string{t.layout}
		}
		at, source, err := t.in.Time(text, layouts...)
		if err == nil {
			foreign.SetStart(r, at, source)
		}
		return err
	}
	ns := foreign.Number(text).In(map[string]string{"unix_s": "s", "unix_ms": "ms", "unix_us": "us", "unix_ns": "ns"}[t.Time])
	if n := foreign.Number(text).Int64(); n != nil && unit == 1 {
		foreign.SetStart(r, time.Unix(0, *n), schema.TimeFile)
		return nil
	}
	if ns == nil || !(*ns >= 0 && *ns < 1<<62) {
		return fmt.Errorf("%q is not a time in %s", text, t.Time)
	}
	foreign.SetStart(r, time.Unix(0, int64(*ns)).Round(time.Microsecond), schema.TimeFile)
	return nil
}

// measure adds the metrics of a row to the run, or none of them.
func (t *mappedTable) measure(row mappedRow) error {
	if t.Long != nil {
		return t.measureLong(row)
	}
	var columns []string // that have a value
	lists, units := map[string][]foreign.Number{}, map[string]string{}
	for _, column := range slices.Sorted(maps.Keys(t.Metrics)) {
		var numbers []foreign.Number
		var err error
		if list, ok := row.lists[column]; ok {
			err = foreign.Decode(list, &numbers)
		}
		if err == nil && row.cells[column] == "" && len(numbers) == 0 {
			continue
		}
		err = cmp.Or(err, t.pending.checkUnit(t.Metrics[column], units))
		if err == nil && row.cells[column] != "" {
			row.cells[column], err = t.Metrics[column].number(t.numerals(), row.cells[column])
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", column, err)
		}
		columns, lists[column] = append(columns, column), numbers
	}
	for _, column := range columns {
		v := t.pending.of(t.Metrics[column])
		v.samples = append(v.samples, lists[column]...)
		v.add(t.Metrics[column], row.cells[column])
	}
	return nil
}

func (t *mappedTable) measureLong(row mappedRow) error {
	name := row.cells[t.Long.Metric]
	metric, ok := t.Long.Names[name]
	if !ok {
		metric = mappedMetric{Metric: foreign.MetricName(name)}
	}
	if metric.Metric == "" {
		return fmt.Errorf("the name of the metric is empty")
	}
	if unit := row.cells[t.Long.Unit]; unit != "" {
		metric.Unit = unit
		if err := metric.checkUnit(); err != nil {
			return fmt.Errorf("column %s: %w", t.Long.Unit, err)
		}
	}
	text := row.cells[t.Long.Value]
	if text == "" {
		return nil
	}
	text, err := metric.number(t.numerals(), text)
	if err := cmp.Or(t.pending.checkUnit(metric, map[string]string{}), err); err != nil {
		return err
	}
	t.pending.of(metric).add(metric, text)
	return nil
}

// checkUnit checks that a metric has the unit that it has in the rows before, and in units of the same row, which it adds to.
func (p *mappedRun) checkUnit(m mappedMetric, units map[string]string) error {
	unit, known := units[m.Metric]
	if v, before := p.values[m.Metric]; before {
		unit, known = v.Unit, true
	}
	if known && unit != m.Unit {
		return fmt.Errorf("metric %s has two units in one run, %s and %s", m.Metric, unit, m.Unit)
	}
	units[m.Metric] = m.Unit
	return nil
}

// of gives the values of a metric in the run.
func (p *mappedRun) of(m mappedMetric) *mappedValues {
	v, ok := p.values[m.Metric]
	if !ok {
		v = &mappedValues{mappedMetric: m}
		p.values[m.Metric] = v
		p.order = append(p.order, m.Metric)
	}
	return v
}
