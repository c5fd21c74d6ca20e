package micro

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestGoogleBenchmark(t *testing.T) {
	foreigntest.Golden(t, Formats(), root, "google-benchmark")
}

func FuzzGoogleBenchmark(f *testing.F) {
	foreigntest.Fuzz(f, googleBenchmark(), root, "google-benchmark")
}
