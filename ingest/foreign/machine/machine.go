// Package machine reads the results of tools that measure a machine: its network, memory, disks.
package machine

import (
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// Formats are the formats of this package.
func Formats() []foreign.Format {
	return slices.Concat([]foreign.Format{ncclTests(), nvbandwidth(), fio(), sysbench()}, reframe())
}
