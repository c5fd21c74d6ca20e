package formats

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// mapping describes the columns of a table. Users write it for --map. Every column of the table must be listed once: a
// forgotten column could be an axis, and without it different points would become one.
type mapping struct {
	Source    string            `yaml:"source"`    // runs.source; csv or jsonl by default
	Benchmark string            `yaml:"benchmark"` // of all rows, unless fields has a column for it
	Set       map[string]string `yaml:"set"`       // fields that are the same in all rows
	// Fields maps columns to fields of a run: a column of the table of runs (variant, backend, batch_size, hostname,
	// started_at, status ...), params or params.NAME, tags or tags.NAME, env or env.NAME, run. Rows with different values
	// of run belong to different runs. session_id can be any name of a session.
	Fields map[string]string `yaml:"fields"`
	// Metrics maps columns to metrics, with one value or aggregate per row: the wide layout.
	Metrics map[string]mappedMetric `yaml:"metrics"`
	// Long is the long layout: a row has one value of one metric.
	Long    *longLayout `yaml:"long"`
	Primary string      `yaml:"primary"` // the primary metric; latency by default, if there is one
	// Rows is the meaning of a row: runs (one run, or in the long layout a part of one) or samples (one sample). With samples, and in
	// the long layout, consecutive rows with equal fields are one run.
	Rows     string            `yaml:"rows"`
	Level    schema.Level      `yaml:"level"`    // of the samples; iteration by default
	Time     string            `yaml:"time"`     // format of started_at: unix_s, unix_ms, unix_us, unix_ns, or a layout of Go or strftime; ISO 8601 by default
	Statuses map[string]string `yaml:"statuses"` // translates words of the status column to statuses
	Ignore   []string          `yaml:"ignore"`   // columns that are not read
	// The syntax of the text: the sign that begins lines to skip, the decimal mark of numbers (a point by default), the separator
	// between thousands, the words for units after numbers, and the words in cells without a value.
	Comment   string            `yaml:"comment"`
	Decimal   string            `yaml:"decimal"`
	Thousands string            `yaml:"thousands"`
	Units     map[string]string `yaml:"units"`
	Missing   []string          `yaml:"missing"`

	layout string // of started_at, in Go's form; empty for ISO 8601 and unix_*
}

// mappedMetric identifies the metric of a column.
type mappedMetric struct {
	Metric string        `yaml:"metric"`
	Unit   string        `yaml:"unit"` // of the column; the unit of the metric by default
	Better schema.Better `yaml:"better"`
	As     string        `yaml:"as"` // sample, or an aggregate: mean median stddev min max p25 p75 p90 p95 p99 n
}

// longLayout names the columns of the long layout.
type longLayout struct {
	Metric string                  `yaml:"metric"` // column of the names of metrics
	Value  string                  `yaml:"value"`  // column of the values
	Unit   string                  `yaml:"unit"`   // column of their units, unless Names has them
	Names  map[string]mappedMetric `yaml:"names"`  // the metrics by name; a name that is not listed is the name of its metric
}

const (
	rowsRuns    = "runs"
	rowsSamples = "samples"
	fieldRun    = "run"
)

// parseMapping reads a mapping and checks what can be checked without the table.
func parseMapping(text []byte) (mapping, error) {
	var m mapping
	if err := checkShape(text); err != nil {
		return m, err
	}
	if err := yaml.Load(text, &m, yaml.WithKnownFields(true), yaml.WithUniqueKeys(true)); err != nil {
		return m, lineOf(err)
	}
	m.Rows, m.Level, m.Decimal = cmp.Or(m.Rows, rowsRuns), cmp.Or(m.Level, schema.LevelIteration), cmp.Or(m.Decimal, ".")
	return m, m.check()
}

// numerals returns the syntax of numbers.
func (m *mapping) numerals() numerals { return numerals{m.Decimal, m.Thousands, m.Units} }

func (m *mapping) check() error {
	switch {
	case m.Rows != rowsRuns && m.Rows != rowsSamples:
		return fmt.Errorf("rows: %q: want runs or samples", m.Rows)
	case m.Primary != "" && m.Long == nil && !m.measures(m.Primary):
		return fmt.Errorf("primary: %q is not one of the metrics", m.Primary)
	case m.Long == nil && len(m.Metrics) == 0:
		return errors.New("no metrics: want metrics (one column each) or long (one value per row)")
	case m.Long != nil && len(m.Metrics) > 0:
		return errors.New("metrics and long: want only one of them")
	case m.Long != nil && (m.Long.Metric == "" || m.Long.Value == ""):
		return errors.New("long: want the columns metric and value")
	case m.Benchmark == "" && m.Set["benchmark"] == "" && !slices.Contains(slices.Collect(maps.Values(m.Fields)), "benchmark"):
		return errors.New("benchmark: want a name, or a column for it under fields")
	case m.Comment != "" && (len(m.Comment) > 1 || strings.ContainsAny(m.Comment, separators+"\" \r\n") || m.Comment[0] < ' ' || m.Comment[0] > '~'):
		return fmt.Errorf("comment: %q: want one sign, such as #", m.Comment)
	}
	if err := m.numerals().check(); err != nil {
		return err
	}
	if _, unix := unixUnits[m.Time]; !unix && m.Time != "" {
		var err error
		if m.layout, err = layoutOf(m.Time); err != nil {
			return fmt.Errorf("time: %q: %w", m.Time, err)
		}
	}
	for column, field := range m.Fields {
		if err := checkField(field); err != nil {
			return fmt.Errorf("%s: %w", column, err)
		}
	}
	for field := range m.Set {
		if err := checkField(field); err != nil {
			return fmt.Errorf("set: %s: %w", field, err)
		}
	}
	metrics := m.Metrics
	if m.Long != nil { // and no columns of metrics
		metrics = m.Long.Names
	}
	for _, column := range slices.Sorted(maps.Keys(metrics)) {
		if err := metrics[column].check(); err != nil {
			return fmt.Errorf("%s: %w", column, err)
		}
	}
	for word, status := range m.Statuses {
		if !slices.Contains(schema.Statuses, schema.Status(status)) {
			return fmt.Errorf("statuses: %s: %q is not a status: want one of %v", word, status, schema.Statuses)
		}
	}
	return nil
}

// measures reports whether a column is a metric of that name.
func (m *mapping) measures(name string) bool {
	for _, metric := range m.Metrics {
		if metric.Metric == name {
			return true
		}
	}
	return false
}

// mappedAggregates are the kinds of columns that are not samples.
var mappedAggregates = []string{"mean", "median", "stddev", "min", "max", "p25", "p75", "p90", "p95", "p99", "n"}

func (m mappedMetric) check() error {
	if m.Metric == "" {
		return errors.New("metric is missing")
	}
	if m.As != "" && m.As != "sample" && !slices.Contains(mappedAggregates, m.As) {
		return fmt.Errorf("as: %q: want sample, %s", m.As, strings.Join(mappedAggregates, ", "))
	}
	if m.Better != "" && m.Better != schema.BetterLower && m.Better != schema.BetterHigher {
		return fmt.Errorf("better: %q: want lower or higher", m.Better)
	}
	return m.checkUnit()
}

// checkUnit refuses a unit that the metric cannot have, and a word that is probably another spelling of a unit. Other words are custom
// units.
func (m mappedMetric) checkUnit() error {
	kind, _ := schema.KindOfMetric(m.Metric)
	stored, _, known := schema.StoredUnit(m.Unit)
	near := schema.NearestUnit(m.Unit)
	if unit, _ := m.stored(); unit != m.Unit { // a rate of words
		return nil
	}
	switch {
	case m.Unit == "":
	case !known && near != "":
		return fmt.Errorf("unit: unknown unit %q: did you mean %s?", m.Unit, near)
	case kind.Unit != "" && stored != kind.Unit:
		return fmt.Errorf("unit: %s is in %s, not in %s: convert the column, or give it a metric of another name, such as %s_%s", m.Metric, kind.Unit, m.Unit, m.Metric, foreign.MetricName(m.Unit))
	}
	return nil
}

// mapFields are the map columns of runs, in which a field names an entry.
var mapFields = []string{"params", "tags", "env", "applied"}

func checkField(field string) error {
	if first, _, ok := strings.Cut(field, "."); slices.Contains(mapFields, first) && (ok || first == field) {
		return nil
	}
	if field == fieldRun {
		return nil
	}
	c, ok := schema.Runs.Column(schema.CanonicalAlias(field))
	if ok && !c.Derived && c.Kind != schema.KindList && c.Kind != schema.KindMap && !slices.Contains([]string{"run_id", "point_id", "digest", "purpose"}, field) {
		return nil
	}
	names := append([]string{fieldRun}, mapFields...)
	for _, c := range schema.Runs.Columns {
		names = append(names, c.Name)
	}
	if near := schema.Nearest(field, names); near != "" && near != field {
		return fmt.Errorf("unknown field %q: did you mean %s?", field, near)
	}
	return fmt.Errorf("unknown field %q: want a column of runs, params, params.NAME, tags.NAME, env.NAME or run", field)
}

// LineError is an error in a mapping at a line, from 1.
type LineError struct {
	Line int
	Err  error
}

// Error returns the line and the cause.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// checkShape refuses metrics that are no maps, which YAML would refuse with the names of Go's types.
func checkShape(text []byte) error {
	var document yaml.Node
	if err := yaml.Load(text, &document); err != nil {
		return lineOf(err)
	}
	root := &document
	if root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
		root = root.Content[0]
	}
	for path, metrics := range map[string]*yaml.Node{"metrics": member(root, "metrics"), "long.names": member(member(root, "long"), "names")} {
		if metrics == nil || metrics.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(metrics.Content); i += 2 {
			if name, metric := metrics.Content[i], metrics.Content[i+1]; metric.Kind == yaml.ScalarNode {
				return &LineError{metric.Line, fmt.Errorf("%s.%s: want a map such as {metric: latency, unit: us}", path, name.Value)}
			}
		}
	}
	return nil
}

// member returns the value of a key in a map; nil if there is none.
func member(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// lineOf returns an error of YAML with its line, if it has one.
func lineOf(err error) error {
	if all, is := errors.AsType[*yaml.LoadErrors](err); is && len(all.Errors) > 0 {
		err = all.Errors[0]
	}
	if detail, is := errors.AsType[*yaml.LoadError](err); is && detail.Mark.Line > 0 {
		message := unknownField.ReplaceAllString(detail.Message, "unknown key $1")
		if m := wrongShape.FindStringSubmatch(message); m != nil {
			message = "want " + shapeOf(m[2]) + ", got " + shapeOf(m[1])
		}
		return &LineError{detail.Mark.Line, errors.New(message)}
	}
	return err
}

// The YAML library names types of Go in its messages.
var (
	unknownField = regexp.MustCompile(`^field (.*) not found in type \S+$`)
	wrongShape   = regexp.MustCompile(`^cannot construct !!(\w+) .*into (\S+)$`)
)

// shapeOf returns the description for users of a type of Go or a tag of YAML.
func shapeOf(name string) string {
	switch {
	case name == "seq", strings.HasPrefix(name, "[]"):
		return "a list"
	case name == "map", strings.HasPrefix(name, "map["), strings.HasPrefix(strings.TrimPrefix(name, "*"), "formats."):
		return "a map"
	}
	return "a value"
}
