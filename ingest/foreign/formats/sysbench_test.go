package formats

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func FuzzSysbench(f *testing.F) { foreigntest.Fuzz(f, sysbench(), root, "sysbench") }
