package harness

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestNeurolens(t *testing.T) {
	foreigntest.Golden(t, []foreign.Format{neurolens()}, root, "neurolens-json")
}

func FuzzNeurolens(f *testing.F) { foreigntest.Fuzz(f, neurolens(), root, "neurolens-json") }
