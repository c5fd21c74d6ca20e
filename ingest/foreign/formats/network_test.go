package formats

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func FuzzNCCLTests(f *testing.F)   { foreigntest.Fuzz(f, ncclTests(), root, "nccl-tests") }
func FuzzNVBandwidth(f *testing.F) { foreigntest.Fuzz(f, nvbandwidth(), root, "nvbandwidth") }
