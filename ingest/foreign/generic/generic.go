// Package generic reads runs in the own form of NeuroLens, and tables of any program by a mapping that a user writes.
package generic

import "github.com/neurolens/neurolens/ingest/foreign"

// Formats are the formats of this package.
func Formats() []foreign.Format {
	return []foreign.Format{jsonLines(), baselineFile()}
}
