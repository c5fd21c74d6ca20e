package formats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-strftime"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// The kinds of tables that a mapping can describe.
const (
	CSV   = "csv"
	jsonl = "jsonl"
)

// Mapped returns the format of tables with one layout: comma-separated values (a header and rows; also tabs, semicolons or bars), or
// JSON lines, or an array of JSON objects. The columns of JSON are the members of the objects; members of nested objects are joined by a
// dot: "config.batch".
func Mapped(table string, mapping []byte) (foreign.Format, error) {
	m, err := parseMapping(mapping)
	if err != nil {
		return foreign.Format{}, err
	}
	f := foreign.Format{Name: cmp.Or(m.Source, table), Log: true}
	switch table {
	case CSV:
		f.Read = m.readCSV
	case jsonl:
		f.Read = m.readJSONLines
	default:
		return foreign.Format{}, fmt.Errorf("a mapping needs --from csv or jsonl, got %q", table)
	}
	return f, nil
}

// mappedRow is a row of a table: the text of its columns, and its place.
type mappedRow struct {
	where string
	cells map[string]string
	lists map[string]jsontext.Value // columns of JSON lines that are arrays
}

// separators may separate the values of a table. The one that is most frequent in the header is used.
const separators = ",\t;|"

func (m *mapping) readCSV(in *foreign.Input, out *foreign.Output) error {
	c, _ := m.csv(in)
	header, err := c.Record()
	if err != nil {
		return fmt.Errorf("reading the header: %w", err)
	}
	columns := make([]string, len(header))
	for i, name := range header {
		columns[i] = strings.TrimSpace(name)
	}
	if err := errors.Join(m.checkColumns(columns), m.checkNames(columns)); err != nil {
		return err
	}
	t := &mappedTable{mapping: m, in: in, out: out}
	for record, err := range c.Records() {
		if err != nil {
			return errors.Join(t.flush(), err)
		}
		row := mappedRow{where: fmt.Sprintf("line %d", c.Line()), cells: make(map[string]string, len(columns))}
		if len(record) != len(columns) {
			out.Refuse(row.where, fmt.Errorf("%d values for %d columns", len(record), len(columns)))
			continue
		}
		for i, text := range record {
			row.cells[columns[i]] = strings.TrimSpace(text)
		}
		if err := t.add(row); err != nil {
			return err
		}
	}
	return t.flush()
}

// csv returns the records of a table, and what separates their values.
func (m *mapping) csv(in *foreign.Input) (*foreign.CSV, rune) {
	c := in.CSV()
	if m.Comment != "" {
		c.Comment(rune(m.Comment[0]))
	}
	separator, count := ',', 0
	heading := m.heading(in.Head)
	for _, s := range separators {
		if n := strings.Count(heading, string(s)); n > count {
			separator, count = s, n
		}
	}
	c.Separator(separator)
	return c, separator
}

// heading returns the first line of a table that is no comment.
func (m *mapping) heading(head *foreign.Head) string {
	for line := range bytes.Lines(head.Bytes) {
		if text := strings.TrimSpace(string(line)); text != "" && (m.Comment == "" || !strings.HasPrefix(string(line), m.Comment)) {
			return text
		}
	}
	return ""
}

func (m *mapping) readJSONLines(in *foreign.Input, out *foreign.Output) error {
	t := &mappedTable{mapping: m, in: in, out: out}
	var added error
	err := eachObject(in, func(n int, text jsontext.Value) error {
		row := mappedRow{where: fmt.Sprintf("object %d", n), cells: map[string]string{}, lists: map[string]jsontext.Value{}}
		if err := row.flatten("", text, 0); err != nil {
			out.Refuse(row.where, err)
			return nil
		}
		columns := slices.AppendSeq(slices.Sorted(maps.Keys(row.cells)), maps.Keys(row.lists))
		if err := m.checkColumns(columns); err != nil {
			out.Refuse(row.where, err)
			return nil
		}
		added = t.add(row)
		return added
	})
	if added != nil {
		return added
	}
	return errors.Join(t.flush(), err)
}

// eachObject calls f with each value of JSON lines, or each element of an array, from 1.
func eachObject(in *foreign.Input, f func(n int, text jsontext.Value) error) error {
	j := in.JSON()
	j.Strict()
	n := 0
	next := func(int) error {
		n++
		text, err := j.Value()
		if err != nil {
			return fmt.Errorf("object %d: %w", n, err)
		}
		return f(n, text)
	}
	for j.More() {
		read := func() error { return next(0) }
		if j.Kind() == jsontext.KindBeginArray {
			read = func() error { return j.Elements(next) }
		}
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// maxDepth limits the nesting of objects.
const maxDepth = 16

// flatten takes the members of an object as columns.
func (r *mappedRow) flatten(prefix string, text jsontext.Value, depth int) error {
	if depth == maxDepth {
		return fmt.Errorf("%s: its objects are nested more than %d levels deep", prefix, depth)
	}
	members, err := membersOf(text)
	if err != nil {
		return err
	}
	for name, value := range members {
		switch value.Kind() {
		case jsontext.KindBeginObject:
			if err := r.flatten(prefix+name+".", value, depth+1); err != nil {
				return err
			}
		case jsontext.KindBeginArray:
			r.lists[prefix+name] = value
		default:
			r.cells[prefix+name] = foreign.TextOf(value)
		}
	}
	return nil
}

// checkColumns returns an error if the table has a column that the mapping does not list.
func (m *mapping) checkColumns(columns []string) error {
	var forgotten []string
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c] {
			return fmt.Errorf("column %q appears twice", c)
		}
		seen[c] = true
		if !m.has(c) {
			forgotten = append(forgotten, c)
		}
	}
	if len(forgotten) > 0 {
		const maxShown = 10
		shown := forgotten[:min(len(forgotten), maxShown)]
		return fmt.Errorf("the mapping does not list the columns %q: add them to fields, metrics or ignore", shown)
	}
	return nil
}

// checkNames returns an error if the mapping names a column that the table does not have: a misspelt one could be an
// axis.
func (m *mapping) checkNames(columns []string) error {
	names := slices.Sorted(maps.Keys(m.Fields))
	names = slices.AppendSeq(names, maps.Keys(m.Metrics))
	if m.Long != nil {
		names = append(names, m.Long.Metric, m.Long.Value)
		if m.Long.Unit != "" {
			names = append(names, m.Long.Unit)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if slices.Contains(columns, name) {
			continue
		}
		if near := schema.Nearest(name, columns); near != "" {
			return fmt.Errorf("the table has no column %q, which the mapping names; did you mean %q?", name, near)
		}
		return fmt.Errorf("the table has no column %q, which the mapping names", name)
	}
	return nil
}

func (m *mapping) has(column string) bool {
	if _, ok := m.Fields[column]; ok {
		return true
	}
	if _, ok := m.Metrics[column]; ok {
		return true
	}
	if m.Long != nil && slices.Contains([]string{m.Long.Metric, m.Long.Value, m.Long.Unit}, column) {
		return true
	}
	return slices.Contains(m.Ignore, column) || slices.Contains(m.Ignore, "*")
}

// numerals is the syntax of the numbers of a table.
type numerals struct {
	decimal   string            // the decimal mark
	thousands string            // between thousands; empty: none
	units     map[string]string // units by the words for them after numbers
}

func (n numerals) check() error {
	switch {
	case n.decimal != "." && n.decimal != ",":
		return fmt.Errorf(`decimal: %q: want "." or ","`, n.decimal)
	case n.thousands != "" && !strings.Contains(".,' _\u00a0\u202f\u2019", n.thousands):
		return fmt.Errorf(`thousands: %q: want one of . , ' _ or a space`, n.thousands)
	case n.thousands == n.decimal:
		return fmt.Errorf("thousands: %q is the decimal mark", n.thousands)
	}
	for word, unit := range n.units {
		if _, _, known := schema.StoredUnit(unit); !known {
			return fmt.Errorf("units: %s: unknown unit %q", word, unit)
		}
	}
	return nil
}

// numberWithUnit is a number, and the text after it.
var numberWithUnit = regexp.MustCompile(`^([-+]?[0-9.,][0-9.,'_\x{a0}\x{202f}\x{2019} ]*(?:[eE][-+]?[0-9]+)?)(?:[ \x{a0}\x{202f}]*([^-+0-9.,'_ \x{a0}\x{202f}\x{2019}].*))?$`)

// read reads a number with the text after it. The number has a decimal point and nothing between thousands.
func (n numerals) read(text string) (number, unit string, err error) {
	if _, err := strconv.ParseFloat(text, 64); err == nil && n.decimal == "." {
		return text, "", nil
	}
	m := numberWithUnit.FindStringSubmatch(text)
	if m == nil {
		if _, err := strconv.ParseFloat(text, 64); err == nil { // NaN, Inf
			return text, "", nil
		}
		return "", "", fmt.Errorf("%q is not a number", foreign.Brief(text))
	}
	digits := strings.TrimRight(m[1], " \u00a0\u202f")
	if n.thousands != "" {
		if digits, err = n.withoutThousands(digits); err != nil {
			return "", "", fmt.Errorf("%q: %w", foreign.Brief(text), err)
		}
	}
	if n.decimal == "," {
		if strings.Contains(digits, ".") {
			return "", "", fmt.Errorf(`%q is not a number whose decimal mark is a comma`, foreign.Brief(text))
		}
		digits = strings.Replace(digits, ",", ".", 1)
	}
	if _, err := strconv.ParseFloat(digits, 64); err != nil {
		why := ""
		if strings.ContainsAny(digits, ",'_ \u00a0\u202f\u2019") {
			why = "; decimal and thousands of the mapping say how numbers are written"
		}
		return "", "", fmt.Errorf("%q is not a number%s", foreign.Brief(text), why)
	}
	return digits, strings.TrimSpace(m[2]), nil
}

// withoutThousands removes the separators of thousands.
func (n numerals) withoutThousands(digits string) (string, error) {
	whole, rest, marked := strings.Cut(digits, n.decimal)
	groups := strings.Split(strings.TrimLeft(whole, "+-"), n.thousands)
	for i, g := range groups {
		if i > 0 && len(g) != 3 || i == 0 && len(groups) > 1 && (len(g) == 0 || len(g) > 3) {
			return "", fmt.Errorf("%q does not separate thousands", n.thousands)
		}
	}
	if strings.Contains(rest, n.thousands) {
		return "", fmt.Errorf("%q stands after the decimal mark", n.thousands)
	}
	whole = strings.ReplaceAll(whole, n.thousands, "")
	if marked {
		whole += n.decimal + rest
	}
	return whole, nil
}

// rateOfWords matches the unit of a rate that names the counted things: tokens/s, ops/ms, jobs per min.
var rateOfWords = regexp.MustCompile(`^[A-Za-z]+(?: ?/ ?| per )(ns|us|ms|s|sec|second|min|minute|h|hour)$`)

// periods has, for the period of a rate, the unit of the stored rate, and the divisor for that unit.
var periods = map[string]struct {
	unit    string
	divisor float64
}{
	"ns": {"G/s", 1}, "us": {"M/s", 1}, "ms": {"k/s", 1}, "s": {"1/s", 1}, "sec": {"1/s", 1}, "second": {"1/s", 1},
	"min": {"1/s", 60}, "minute": {"1/s", 60}, "h": {"1/s", 3600}, "hour": {"1/s", 3600},
}

// stored returns the unit of the stored values of a column, and their divisor: words in the unit of a rate name the counted objects.
func (m mappedMetric) stored() (unit string, divisor float64) {
	kind, _ := schema.KindOfMetric(m.Metric)
	if m.Unit == "" {
		return kind.Unit, 1
	}
	if rate := rateOfWords.FindStringSubmatch(m.Unit); rate != nil && kind.Unit == "1/s" {
		if _, _, known := schema.StoredUnit(m.Unit); !known {
			p := periods[rate[1]]
			return p.unit, p.divisor
		}
	}
	return m.Unit, 1
}

// number reads a cell as a number in the stored unit of its column. A unit in the cell is converted.
func (m mappedMetric) number(n numerals, cell string) (string, error) {
	digits, own, err := n.read(cell)
	if err != nil {
		return "", err
	}
	unit, divisor := m.stored()
	if word, ok := n.units[own]; ok {
		own = word
	}
	if own != "" && own != unit && own != m.Unit {
		shifted, err := converted(digits, own, unit)
		if err != nil {
			return "", fmt.Errorf("%q: %w", foreign.Brief(cell), err)
		}
		digits = shifted
	}
	if divisor != 1 {
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return "", err
		}
		digits = strconv.FormatFloat(v/divisor, 'g', -1, 64)
	}
	return digits, m.possible(digits)
}

// possible returns an error for a number that the metric cannot have: a time, a rate or an amount below 0 often stands for a failure.
func (m mappedMetric) possible(digits string) error {
	kind, known := schema.KindOfMetric(m.Metric)
	if v, err := strconv.ParseFloat(digits, 64); err == nil && v < 0 && known && kind.Scale == schema.ScaleRatio {
		return fmt.Errorf("%s is below 0, which %s cannot be: list it under missing, or under statuses if the run failed", foreign.Brief(digits), m.Metric)
	}
	return nil
}

// converted converts a number between units of one kind: exactly, if only its decimal point moves.
func converted(digits, from, to string) (string, error) {
	stored, factor, known := schema.StoredUnit(from)
	into, toFactor, toKnown := schema.StoredUnit(to)
	switch {
	case !known:
		return "", fmt.Errorf("unknown unit %s: translate it under units", foreign.Brief(from))
	case to == "":
		return "", fmt.Errorf("the column has no unit: add unit: %s", from)
	case !toKnown || stored != into:
		return "", fmt.Errorf("the column is in %s, not in %s", to, foreign.Brief(from))
	}
	ratio := factor / toFactor
	if point := math.Round(math.Log10(ratio)); math.Pow(10, point) == ratio && !strings.ContainsAny(digits, "eEnN") {
		return digits + "e" + strconv.Itoa(int(point)), nil
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return "", err
	}
	return strconv.FormatFloat(v*ratio, 'g', -1, 64), nil
}

// errLayout lists the valid values of time.
var errLayout = errors.New(`want unix_s, unix_ms, unix_us or unix_ns, or how a time is written: "2006/01/02 15:04:05" as in Go, or "%Y/%m/%d %H:%M:%S" as in strftime; leave it out for ISO 8601`)

// fraction is the part of a layout for fractions of a second. Without it, any number of digits is read.
var fraction = regexp.MustCompile(`([05])[.,][09]+`)

// layoutOf converts the format of a time, in the syntax of Go or strftime, to a layout of Go.
func layoutOf(text string) (string, error) {
	layout := text
	if strings.Contains(text, "%") {
		var err error
		if layout, err = strftime.Layout(text); err != nil {
			return "", fmt.Errorf("%w: %w", err, errLayout)
		}
	}
	layout = fraction.ReplaceAllString(layout, "$1")
	day := time.Date(2033, 11, 28, 0, 0, 0, 0, time.UTC)
	if read, err := time.Parse(layout, day.Format(layout)); err != nil || !read.Equal(day) {
		return "", errLayout
	}
	return layout, nil
}

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
		if t.pending.lacks = true; !together { // an ok run without the unreadable values would be another run
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
	foreign.Put(into, name, text)
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
	text = cmp.Or(t.Statuses[text], text)
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
	var refused error // a later column may have the word of a failed run
	for _, column := range slices.Sorted(maps.Keys(t.Metrics)) {
		var numbers []foreign.Number
		var err error
		if list, ok := row.lists[column]; ok {
			err = foreign.Decode(list, &numbers)
			for _, n := range numbers {
				err = cmp.Or(err, t.Metrics[column].possible(string(n)))
			}
		}
		if err == nil && row.cells[column] == "" && len(numbers) == 0 {
			continue
		}
		err = cmp.Or(err, t.pending.checkUnit(t.Metrics[column], units))
		if err == nil && row.cells[column] != "" {
			row.cells[column], err = t.number(t.Metrics[column], row.cells[column])
		}
		if err != nil {
			refused = cmp.Or(refused, fmt.Errorf("column %s: %w", column, err))
		}
		columns, lists[column] = append(columns, column), numbers
	}
	if refused != nil {
		return refused
	}
	for _, column := range columns {
		v := t.pending.of(t.Metrics[column])
		v.samples = append(v.samples, lists[column]...)
		v.add(t.Metrics[column], row.cells[column])
	}
	return nil
}

// number reads the cell of a metric. A word of a failed status in place of a number is no value: it is the error of the run.
func (t *mappedTable) number(m mappedMetric, cell string) (string, error) {
	digits, err := m.number(t.numerals(), cell)
	if status := schema.Status(t.Statuses[cell]); err != nil && status != "" && status != schema.StatusOK {
		if r := &t.pending.run; !t.pending.failed() {
			r.Status, r.Error = status, cmp.Or(r.Error, cell)
		}
		return "", nil
	}
	return digits, err
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
	text, err := t.number(metric, text)
	if err := cmp.Or(t.pending.checkUnit(metric, map[string]string{}), err); err != nil {
		return err
	}
	t.pending.of(metric).add(metric, text)
	return nil
}

// checkUnit checks that a metric has the same unit as in earlier rows, and as in units of the same row, to which it adds it.
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

// of returns the values of a metric in the run.
func (p *mappedRun) of(m mappedMetric) *mappedValues {
	v, ok := p.values[m.Metric]
	if !ok {
		v = &mappedValues{mappedMetric: m}
		p.values[m.Metric] = v
		p.order = append(p.order, m.Metric)
	}
	return v
}

// add adds a value that was checked.
func (v *mappedValues) add(m mappedMetric, text string) {
	if text == "" {
		return
	}
	number := foreign.Number(text)
	if m.As == "" || m.As == "sample" {
		v.samples = append(v.samples, number)
		return
	}
	v.gathered = true
	if m.As == "n" {
		v.summary.N = number.Int64()
		return
	}
	unit, _ := v.stored()
	setStatistic(&v.summary, m.As, number, unit)
}

// flush yields the current run.
func (t *mappedTable) flush() error {
	p := t.pending
	t.pending = nil
	if p == nil {
		return nil
	}
	for _, name := range p.order {
		if err := p.values[name].addTo(&p.run, t.Level); err != nil {
			t.out.Refuse(p.where, err)
			return nil
		}
	}
	if len(p.run.Metrics) == 0 && p.run.Status == "" && p.run.Error != "" {
		p.run.Status = statusOfError(p.run.Error)
	}
	if len(p.run.Metrics) == 0 && !p.failed() {
		if p.lacks { // already reported
			return nil
		}
		t.out.Refuse(p.where, fmt.Errorf("no value, and no status that explains it"))
		return nil
	}
	if p.run.Metric(schema.PrimaryMetric) != nil {
		p.run.Primary = schema.PrimaryMetric
	}
	if t.Primary == "" {
		return t.out.Run(p.where, p.run)
	}
	if p.run.Metric(t.Primary) != nil {
		p.run.Primary = t.Primary
		return t.out.Run(p.where, p.run)
	}
	return t.out.RunWith(p.where, p.run, t.withoutPrimary)
}

// withoutPrimary gives a run the primary metric of the mapping, of which it has no value. Earlier versions took another metric.
func (t *mappedTable) withoutPrimary(r *schema.Run) {
	if len(r.Metrics) == 0 {
		return
	}
	if r.Status == schema.StatusOK && r.Error != "" {
		r.Status = statusOfError(r.Error)
	}
	metric := mappedMetric{Metric: t.Primary}
	for _, m := range t.Metrics {
		if m.Metric == t.Primary {
			metric = m
		}
	}
	unit, _ := metric.stored()
	m := foreign.Aggregate(t.Primary, unit, schema.Summary{N: new(int64)})
	m.Better = cmp.Or(metric.Better, m.Better)
	r.Metrics, r.Primary = append(r.Metrics, m), t.Primary
}

// statusOfError returns how a run without a value ended that has an error but no status.
func statusOfError(text string) schema.Status {
	if status := statusOf(text); status != "" && status.Failed() {
		return status
	}
	return schema.StatusError
}

// addTo adds the metric to a run. If it has both samples and aggregates, the samples count.
func (v *mappedValues) addTo(r *schema.Run, level schema.Level) error {
	var m schema.Metric
	unit, _ := v.stored()
	switch {
	case len(v.samples) > 0:
		s, err := foreign.SeriesOf(v.samples, unit)
		if err != nil {
			return fmt.Errorf("metric %s: %w", v.Metric, err)
		}
		m = s.Metric(v.Metric, level)
	case v.gathered:
		m = foreign.Aggregate(v.Metric, unit, v.summary)
	default:
		return nil
	}
	m.Better = cmp.Or(v.Better, m.Better)
	foreign.Add(r, m, cmp.Or(v.Unit, unit))
	return nil
}
