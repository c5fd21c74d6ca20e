package machine

import (
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

var root = filepath.Join("..", "..", "..")

func TestNCCLTests(t *testing.T)   { foreigntest.Golden(t, Formats(), root, "nccl-tests") }
func TestNVBandwidth(t *testing.T) { foreigntest.Golden(t, Formats(), root, "nvbandwidth") }

func FuzzNCCLTests(f *testing.F)   { foreigntest.Fuzz(f, ncclTests(), root, "nccl-tests") }
func FuzzNVBandwidth(f *testing.F) { foreigntest.Fuzz(f, nvbandwidth(), root, "nvbandwidth") }
