package formats

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func FuzzBenchmarkHarness(f *testing.F) {
	foreigntest.Fuzz(f, benchmarkHarness(), root, "benchmark-harness")
}
