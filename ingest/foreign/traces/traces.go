// Package traces reads profiles and traces: what a run spent its time in.
package traces

import "github.com/neurolens/neurolens/ingest/foreign"

// Formats are the formats of this package.
func Formats() []foreign.Format {
	return []foreign.Format{onnxRuntime(), torchProfiler(), nsysSQLite(), nsysStats(), ncuCSV()}
}
