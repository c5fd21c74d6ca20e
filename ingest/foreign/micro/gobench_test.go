package micro

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestGoBench(t *testing.T) { foreigntest.Golden(t, Formats(), root, "go-bench") }

func FuzzGoBench(f *testing.F) { foreigntest.Fuzz(f, goBench(), root, "go-bench") }
