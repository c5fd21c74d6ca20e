package formats

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func FuzzNeurolens(f *testing.F) { foreigntest.Fuzz(f, neurolens(), root, "neurolens-json") }
