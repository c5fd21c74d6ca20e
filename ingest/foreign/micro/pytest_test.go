package micro

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestPytest(t *testing.T) { foreigntest.Golden(t, Formats(), root, "pytest-benchmark") }

func FuzzPytest(f *testing.F) { foreigntest.Fuzz(f, pytestBenchmark(), root, "pytest-benchmark") }
