package micro

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestJMH(t *testing.T) { foreigntest.Golden(t, Formats(), root, "jmh") }

func FuzzJMH(f *testing.F) { foreigntest.Fuzz(f, jmh(), root, "jmh") }
