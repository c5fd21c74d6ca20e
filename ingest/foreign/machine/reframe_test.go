package machine

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestReframe(t *testing.T) { foreigntest.Golden(t, Formats(), root, "reframe") }

func FuzzReframe(f *testing.F)        { foreigntest.Fuzz(f, reframe()[0], root, "reframe") }
func FuzzReframePerflog(f *testing.F) { foreigntest.Fuzz(f, reframe()[1], root, "reframe") }
