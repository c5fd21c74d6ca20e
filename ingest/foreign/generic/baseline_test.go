package generic

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestBaseline(t *testing.T) { foreigntest.Golden(t, Formats(), root, "neurolens-baseline") }

func FuzzBaseline(f *testing.F) { foreigntest.Fuzz(f, baselineFile(), root, "neurolens-baseline") }
