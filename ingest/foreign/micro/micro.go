// Package micro reads the results of microbenchmark tools, which measure functions and commands.
package micro

import (
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// Formats gives the formats of this package.
func Formats() []foreign.Format {
	return slices.Concat([]foreign.Format{
		pytestBenchmark(),
		googleBenchmark(),
		hyperfine(),
		goBench(),
		pyperf(),
		jmh(),
	}, criterion(), asv())
}
