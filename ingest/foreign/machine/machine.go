// Package machine reads the results of tools that measure networks, memory and disks of a machine.
package machine

import (
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// Formats gives the formats of this package.
func Formats() []foreign.Format {
	return slices.Concat([]foreign.Format{ncclTests(), nvbandwidth(), fio(), sysbench()}, reframe())
}
