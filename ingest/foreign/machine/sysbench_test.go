package machine

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestSysbench(t *testing.T) { foreigntest.Golden(t, Formats(), root, "sysbench") }

func FuzzSysbench(f *testing.F) { foreigntest.Fuzz(f, sysbench(), root, "sysbench") }
