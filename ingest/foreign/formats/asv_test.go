package formats

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func FuzzASV(f *testing.F) { foreigntest.Fuzz(f, asv()[0], root, "asv") }
