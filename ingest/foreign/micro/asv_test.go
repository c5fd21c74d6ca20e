package micro

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestASV(t *testing.T) { foreigntest.Golden(t, Formats(), root, "asv") }

func FuzzASV(f *testing.F) { foreigntest.Fuzz(f, asv()[0], root, "asv") }
