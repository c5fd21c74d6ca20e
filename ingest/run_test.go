package ingest

import (
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
)

func smallRun() schema.Run     { return runtest.Small() }
func fullRun() schema.Run      { return runtest.Full() }
func realisticRun() schema.Run { return runtest.Realistic() }
