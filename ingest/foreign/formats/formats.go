// Package formats is the list of the formats that are read.
package formats

import (
	"slices"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/generic"
	"github.com/neurolens/neurolens/ingest/foreign/gpu"
	"github.com/neurolens/neurolens/ingest/foreign/harness"
	"github.com/neurolens/neurolens/ingest/foreign/machine"
	"github.com/neurolens/neurolens/ingest/foreign/micro"
	"github.com/neurolens/neurolens/ingest/foreign/serving"
	"github.com/neurolens/neurolens/ingest/foreign/traces"
)

// All are the formats, in the order in which people are told of them.
func All() []foreign.Format {
	return slices.Concat(generic.Formats(), harness.Formats(), micro.Formats(), gpu.Formats(), serving.Formats(), traces.Formats(), machine.Formats())
}
