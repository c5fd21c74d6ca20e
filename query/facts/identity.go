package facts

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
)

// Identity are what makes a point, and the machine: what has to be equal for two points to match. Parameters come
// after them.
var Identity = []string{"benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "machine"}

// IdentityColumns are the columns of what makes a point: Identity without the machine, and params.
func IdentityColumns() []string {
	return append(slices.Clone(Identity[:len(Identity)-1]), "params")
}

// IdentitySQL are the aggregates of what a point is.
func IdentitySQL() string {
	var names []string
	for _, name := range IdentityColumns() {
		names = append(names, "any_value("+duck.Identifier(name)+")")
	}
	return strings.Join(names, ", ")
}
