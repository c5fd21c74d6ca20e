package formats

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func FuzzBaseline(f *testing.F) { foreigntest.Fuzz(f, baselineFile(), root, "neurolens-baseline") }
