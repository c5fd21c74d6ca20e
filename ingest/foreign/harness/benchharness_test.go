package harness

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestBenchmarkHarness(t *testing.T) {
	foreigntest.Golden(t, []foreign.Format{benchmarkHarness()}, root, "benchmark-harness")
}

func FuzzBenchmarkHarness(f *testing.F) {
	foreigntest.Fuzz(f, benchmarkHarness(), root, "benchmark-harness")
}
