package harness

import (
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

var root = filepath.Join("..", "..", "..")

func TestQuasim(t *testing.T)        { foreigntest.Golden(t, Formats(), root, "quasim") }
func TestSwiftMNIST(t *testing.T)    { foreigntest.Golden(t, Formats(), root, "swift-mnist") }
func TestOperationGrid(t *testing.T) { foreigntest.Golden(t, Formats(), root, "operation-grid") }

func FuzzQuasim(f *testing.F)        { foreigntest.Fuzz(f, quasim()[0], root, "quasim") }
func FuzzSwiftMNIST(f *testing.F)    { foreigntest.Fuzz(f, swiftMNIST(), root, "swift-mnist") }
func FuzzOperationGrid(f *testing.F) { foreigntest.Fuzz(f, operationGrid(), root, "operation-grid") }
