package check

import "github.com/neurolens/neurolens/ingest/internal/runfile"

// Loss counts runs and rows that are lost to damage.
type Loss = runfile.Loss
