// Package micro reads the results of tools that measure functions and commands: microbenchmarks.
package micro

import (
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// Formats are the formats of this package.
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
