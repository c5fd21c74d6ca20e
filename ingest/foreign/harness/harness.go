// Package harness reads the results of five benchmark harnesses for ML models and GPU kernels.
package harness

import (
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// Formats gives the formats of this package.
func Formats() []foreign.Format {
	return slices.Concat(
		[]foreign.Format{neurolens(), benchmarkHarness()},
		quasim(),
		[]foreign.Format{swiftMNIST()},
		[]foreign.Format{operationGrid()},
	)
}
