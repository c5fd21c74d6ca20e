package formats

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func FuzzJMH(f *testing.F) { foreigntest.Fuzz(f, jmh(), root, "jmh") }
