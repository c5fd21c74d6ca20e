package filter

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// Keys whose values are not compared literally with a column.
const (
	KeyRun      = "run"      // run_id, or a unique prefix or suffix of it
	KeySession  = "session"  // session_id, or a unique prefix or suffix of it, or last, last~1 ...
	KeyBaseline = "baseline" // name of a baseline: its runs
	KeyCommit   = "commit"   // git_commit, or a unique prefix of it
)

// ParamPrefix is the prefix of the key of a parameter whose bare name is another key.
const ParamPrefix = "param."

// StandsForIDs reports whether the values of a key have to be looked up as ids.
func StandsForIDs(key string) bool {
	return key == KeyRun || key == KeySession || key == KeyBaseline || key == KeyCommit
}

// LastButN parses last (0) and last~N: the number of sessions that came later.
func LastButN(value string) (int, bool) {
	if value == "last" {
		return 0, true
	}
	digits, ok := strings.CutPrefix(value, "last~")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0
}

// Field is the meaning of a key: a column, an entry of a map column, or a statistic of a metric.
type Field struct {
	Column *schema.Column
	Entry  string // key in the map column; empty: the column itself
	Bare   bool   // a parameter without prefix, so possibly a typo
	Metric string // Column is a statistic of this metric instead of the primary one
	middle bool   // of a metric: the median or, if unknown, the mean
}

// tags is the column of the tags of runs, which events change.
const tags = "tags"

// mapPrefixes are the prefixes of the keys of map columns.
var mapPrefixes = map[string]string{"param": "params", "tag": tags, "env": "env", "env_missing": "env_missing", "applied": "applied"}

// columnAliases are the names that tables of runs use for columns.
var columnAliases = map[string]*schema.Column{
	"median": schema.RunColumn("p50"), "when": schema.RunColumn("started_at"), "spread": {Name: "spread", Kind: schema.KindReal, Unit: "ratio"},
}

// spreadSQL is the robust spread of a run: 1.4826 MAD / |median|. It is NULL for a single sample.
var spreadSQL = "(1.4826 * " + ofSeveral("mad") + " / nullif(abs(p50), 0))"

// ofSeveral returns the SQL of a summary column that is NULL for a single sample: see schema.OfSeveral.
func ofSeveral(column string) string {
	return "CASE WHEN n_samples IS DISTINCT FROM 1 THEN " + column + " END"
}

// Names returns the keys that refer to a column by another name.
func Names() []string {
	return append(slices.Sorted(maps.Keys(columnAliases)), KeyRun, KeySession, KeyBaseline, KeyCommit)
}

// MetricPrefix is the prefix of the keys of metrics.
const MetricPrefix = "metric."

// metricField resolves NAME or NAME.STATISTIC, where STATISTIC is a summary column of samples. A name may contain dots.
func metricField(key string) Field {
	middle := Field{Column: schema.RunColumn("p50"), Metric: key, middle: true}
	dot := strings.LastIndex(key, ".")
	if dot <= 0 {
		return middle
	}
	number := key[dot+1:]
	column := columnAliases[number]
	if column == nil {
		column, _ = schema.Samples.Column(number)
	}
	if column == nil || column.Kind != schema.KindReal && column.Kind != schema.KindInt || number == "when" {
		return middle
	}
	return Field{Column: column, Metric: key[:dot], middle: number == "median"}
}

// FieldOf resolves a key: a column of runs, an alias or table name of one, param.k, tag.k, env.k, env_missing.k, applied.k or
// metric.k. Every other key is a parameter.
func FieldOf(key string) Field {
	switch key {
	case KeyRun, KeyBaseline:
		return Field{Column: schema.RunColumn("run_id")}
	case KeySession:
		return Field{Column: schema.RunColumn("session_id")}
	case KeyCommit:
		return Field{Column: schema.RunColumn("git_commit")}
	}
	if c, ok := schema.Runs.Column(schema.CanonicalAlias(key)); ok {
		return Field{Column: c}
	}
	if c := columnAliases[key]; c != nil {
		return Field{Column: c}
	}
	if name, ok := strings.CutPrefix(key, MetricPrefix); ok && name != "" {
		return metricField(name)
	}
	prefix, entry, _ := strings.Cut(key, ".")
	if column, ok := mapPrefixes[prefix]; ok && entry != "" {
		return Field{Column: schema.RunColumn(column), Entry: entry}
	}
	return Field{Column: schema.RunColumn("params"), Entry: key, Bare: true}
}

// ParameterKey returns the key of a parameter: its name, or param.NAME if the name alone means something else.
func ParameterKey(name string) string {
	if FieldOf(name).Bare {
		return name
	}
	return ParamPrefix + name
}

// Measured reports whether a field is a measured number.
func (f Field) Measured() bool {
	return f.Metric != "" || f.Column.Unit == schema.UnitOfRow || f.Column == columnAliases["spread"]
}

// valueSQL returns the SQL of a metric's field over a row of samples.
func (f Field) valueSQL() string {
	switch {
	case f.middle:
		return "coalesce(p50, mean)"
	case f.Column == columnAliases["spread"]:
		return spreadSQL
	case slices.Contains(schema.OfSeveral, f.Column.Name):
		return ofSeveral(f.Column.Name)
	}
	return duck.Identifier(f.Column.Name)
}

// Kind returns the kind of the field's value.
func (f Field) Kind() schema.Kind {
	if f.Entry != "" {
		return schema.KindString
	}
	return f.Column.Kind
}
