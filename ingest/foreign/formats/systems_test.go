package formats

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func FuzzQuasim(f *testing.F)     { foreigntest.Fuzz(f, quasim()[0], root, "quasim") }
func FuzzSwiftMNIST(f *testing.F) { foreigntest.Fuzz(f, swiftMNIST(), root, "swift-mnist") }
func FuzzOperationGrid(f *testing.F) {
	foreigntest.Fuzz(f, operationGrid(), root, "operation-grid")
}
