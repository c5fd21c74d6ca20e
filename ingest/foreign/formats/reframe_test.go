package formats

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func FuzzReframe(f *testing.F)        { foreigntest.Fuzz(f, reframe()[0], root, "reframe") }
func FuzzReframePerflog(f *testing.F) { foreigntest.Fuzz(f, reframe()[1], root, "reframe") }
