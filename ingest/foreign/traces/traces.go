// Package traces reads profiles and traces, which show where a run spent its time.
package traces

import "github.com/neurolens/neurolens/ingest/foreign"

// Formats gives the formats of this package.
func Formats() []foreign.Format {
	return []foreign.Format{onnxRuntime(), torchProfiler(), nsysSQLite(), nsysStats(), ncuCSV()}
}
