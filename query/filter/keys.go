package filter

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// Keys of a filter that stand for more than the column's value.
const (
	KeyRun      = "run"      // run_id; a prefix or suffix that no other run has will do
	KeySession  = "session"  // session_id; likewise, or last, last~1 ...
	KeyBaseline = "baseline" // run_id: those of the baseline of that name
	KeyCommit   = "commit"   // git_commit; a prefix that no other commit has will do
)

// ParamPrefix is what the keys of parameters begin with, where the name alone means something else.
const ParamPrefix = "param."

// StandsForIDs tells whether the values of a key stand for ids that have to be looked up.
func StandsForIDs(key string) bool {
	return key == KeyRun || key == KeySession || key == KeyBaseline || key == KeyCommit
}

// LastButN reads how many sessions came after one that is named so: last (0) and last~N.
func LastButN(value string) (int, bool) {
	if value == "last" {
		return 0, true
	}
	digits, ok := strings.CutPrefix(value, "last~")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0
}

// Field is what a key of a filter means: a column, what a map has under a name, or a number of a metric.
type Field struct {
	Column *schema.Column
	Entry  string // of the map in column; empty for the column itself
	Bare   bool   // written without a prefix, so possibly a slip of the pen
	Metric string // column is of this metric's samples, not of the primary one's
	middle bool   // of a metric: the median or, where none is known, the mean
}

// mapPrefixes are what the keys of a map's entries begin with.
var mapPrefixes = map[string]string{"param": "params", "tag": "tags", "env": "env", "env_missing": "env_missing", "applied": "applied"}

// heads are the columns that tables of runs show under another name.
var heads = map[string]*schema.Column{
	"median": schema.RunColumn("p50"), "when": schema.RunColumn("started_at"), "spread": {Name: "spread", Kind: schema.KindReal, Unit: "ratio"},
}

// spreadSQL is the robust spread of a run: its standard deviation, made of the MAD, in relation to the median. One sample does
// not vary.
const spreadSQL = "(1.4826 * CASE WHEN n_samples IS DISTINCT FROM 1 THEN mad END / nullif(p50, 0))"

// Names are the keys that are no columns but stand for one.
func Names() []string {
	return append(slices.Sorted(maps.Keys(heads)), KeyRun, KeySession, KeyBaseline, KeyCommit)
}

// MetricPrefix is what the keys of metrics begin with.
const MetricPrefix = "metric."

// metricField is NAME or NAME.NUMBER of a metric, where NUMBER is a column that sums samples up. A name may have dots.
func metricField(key string) Field {
	middle := Field{Column: schema.RunColumn("p50"), Metric: key, middle: true}
	dot := strings.LastIndex(key, ".")
	if dot <= 0 {
		return middle
	}
	number := key[dot+1:]
	column := heads[number]
	if column == nil {
		column, _ = schema.Samples.Column(number)
	}
	if column == nil || column.Kind != schema.KindReal && column.Kind != schema.KindInt || number == "when" {
		return middle
	}
	return Field{Column: column, Metric: key[:dot], middle: number == "median"}
}

// FieldOf resolves a key: a column of runs, an alias of one or the name it has in tables, param.k, tag.k, env.k,
// env_missing.k, applied.k, metric.k; every other key is a parameter.
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
	if c := heads[key]; c != nil {
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

// ParameterKey is the key by which filters find a parameter: its name, or param.NAME where the name means something else.
func ParameterKey(name string) string {
	if FieldOf(name).Bare {
		return name
	}
	return ParamPrefix + name
}

// Measured tells whether a field is a number of what was measured, which runs have not in common.
func (f Field) Measured() bool {
	return f.Metric != "" || f.Column.Unit == schema.UnitOfRow || f.Column == heads["spread"]
}

// valueSQL is the SQL of what a metric's field is, over a row of samples.
func (f Field) valueSQL() string {
	switch {
	case f.middle:
		return "coalesce(p50, mean)"
	case f.Column == heads["spread"]:
		return spreadSQL
	}
	return duck.Identifier(f.Column.Name)
}

// Kind is the kind of the field's value.
func (f Field) Kind() schema.Kind {
	if f.Entry != "" {
		return schema.KindString
	}
	return f.Column.Kind
}
