// Package generic reads runs in NeuroLens's own format, and tables of any program with a mapping that the user writes.
package generic

import "github.com/neurolens/neurolens/ingest/foreign"

// Formats gives the formats of this package.
func Formats() []foreign.Format {
	return []foreign.Format{jsonLines(), baselineFile()}
}
