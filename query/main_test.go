package query_test

import (
	"os"
	"testing"

	"github.com/neurolens/neurolens/ingest/runtest"
)

func TestMain(m *testing.M) { os.Exit(runtest.InMemory{M: m}.Run()) }
