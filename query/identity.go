package query

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
)

// Identity are the columns that identify a point, and the machine. Two points are paired if they and all parameters are equal.
var Identity = []string{"benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "machine"}

// IdentityColumns returns the columns that identify a point: Identity without the machine, and params.
func IdentityColumns() []string {
	return append(slices.Clone(Identity[:len(Identity)-1]), "params")
}

// IdentitySQL returns the SQL of IdentityColumns as aggregates over the runs of a point. Params are returned as the list of their names
// and the list of their values, because the driver makes a map of each entry of a map.
func IdentitySQL() string {
	var all []string
	for _, name := range IdentityColumns() {
		value := "any_value(" + duck.Identifier(name) + ")"
		if name == "params" {
			all = append(all, "map_keys("+value+")", "map_values("+value+")")
			continue
		}
		all = append(all, value)
	}
	return strings.Join(all, ", ")
}
