package filter

import (
	"strings"

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

// Field is what a key of a filter means: a column, or what a map has under a name.
type Field struct {
	Column *schema.Column
	Entry  string // of the map in column; empty for the column itself
	Bare   bool   // written without a prefix, so possibly a slip of the pen
}

// mapPrefixes are what the keys of a map's entries begin with.
var mapPrefixes = map[string]string{"param": "params", "tag": "tags", "env": "env", "env_missing": "env_missing", "applied": "applied"}

// FieldOf resolves a key: a column of runs or an alias of one, param.k, tag.k, env.k, env_missing.k, applied.k; every other
// key is a parameter.
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

// Kind is the kind of the field's value.
func (f Field) Kind() schema.Kind {
	if f.Entry != "" {
		return schema.KindString
	}
	return f.Column.Kind
}
