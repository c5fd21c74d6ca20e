// Package gpu reads the results of tools that measure kernels and models on an accelerator.
package gpu

import (
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// Formats gives the formats of this package.
func Formats() []foreign.Format {
	return slices.Concat(nvbench(), trexMetadata(), []foreign.Format{
		trtexecTimes(), trtexecProfile(), trtexecLog(), tritonPerfReport(),
	})
}
