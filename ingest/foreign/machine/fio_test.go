package machine

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestFIO(t *testing.T) { foreigntest.Golden(t, Formats(), root, "fio") }

func FuzzFIO(f *testing.F) { foreigntest.Fuzz(f, fio(), root, "fio") }
