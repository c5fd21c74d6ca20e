package query

import (
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// Keys of a filter that stand for more than the column's value.
const (
	keyRun     = "run"     // run_id; a prefix or suffix that no other run has will do
	keySession = "session" // session_id; likewise, or last, last~1 ...
)

// field is what a key of a filter means: a column, or what a map has under a name.
type field struct {
	column *schema.Column
	entry  string // of the map in column; empty for the column itself
	bare   bool   // written without a prefix, so possibly a slip of the pen
}

// mapPrefixes are what the keys of a map's entries begin with.
var mapPrefixes = map[string]string{"param": "params", "tag": "tags", "env": "env", "applied": "applied"}

// fieldOf resolves a key: a column of runs or an alias of one, param.k, tag.k, env.k, applied.k; every other key is a
// parameter.
func fieldOf(key string) field {
	switch key {
	case keyRun:
		return field{column: runColumn("run_id")}
	case keySession:
		return field{column: runColumn("session_id")}
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

// kind is the kind of the field's value.
func (f field) kind() schema.Kind {
	if f.entry != "" {
		return schema.KindString
	}
	return f.column.Kind
}

// nearest finds the candidate that a misspelt word probably means; empty where none is near.
func nearest(word string, candidates []string) string {
	best, least := "", len(word)/3+2
	for _, c := range candidates {
		if d := editDistance(word, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// editDistance counts the bytes to insert, delete, replace or swap with their neighbour to make b of a.
func editDistance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
