package query

import (
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// Keys of a filter that stand for more than the column's value.
const (
	keyRun      = "run"      // run_id; a prefix or suffix that no other run has will do
	keySession  = "session"  // session_id; likewise, or last, last~1 ...
	keyBaseline = "baseline" // run_id: those of the baseline of that name
	keyCommit   = "commit"   // git_commit; a prefix that no other commit has will do
)

// standsForIDs tells whether the values of a key stand for ids that have to be looked up.
func standsForIDs(key string) bool {
	return key == keyRun || key == keySession || key == keyBaseline || key == keyCommit
}

// field is what a key of a filter means: a column, or what a map has under a name.
type field struct {
	column *schema.Column
	entry  string // of the map in column; empty for the column itself
	bare   bool   // written without a prefix, so possibly a slip of the pen
}

// mapPrefixes are what the keys of a map's entries begin with.
var mapPrefixes = map[string]string{"param": "params", "tag": "tags", "env": "env", "env_missing": "env_missing", "applied": "applied"}

// fieldOf resolves a key: a column of runs or an alias of one, param.k, tag.k, env.k, env_missing.k, applied.k; every other
// key is a parameter.
func fieldOf(key string) field {
	switch key {
	case keyRun, keyBaseline:
		return field{column: runColumn("run_id")}
	case keySession:
		return field{column: runColumn("session_id")}
	case keyCommit:
		return field{column: runColumn("git_commit")}
	}
	if c, ok := schema.Runs.Column(schema.CanonicalAlias(key)); ok {
		return field{column: c}
	}
	prefix, entry, _ := strings.Cut(key, ".")
	if column, ok := mapPrefixes[prefix]; ok && entry != "" {
		return field{column: runColumn(column), entry: entry}
	}
	return field{column: runColumn("params"), entry: key, bare: true}
}

// ParameterKey is the key by which filters find a parameter: its name, or param.NAME where the name means something else.
func ParameterKey(name string) string {
	if fieldOf(name).bare {
		return name
	}
	return paramPrefix + name
}

// kind is the kind of the field's value.
func (f field) kind() schema.Kind {
	if f.entry != "" {
		return schema.KindString
	}
	return f.column.Kind
}
