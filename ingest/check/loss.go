package check

import "github.com/neurolens/neurolens/ingest/internal/runfile"

// Loss counts what damage takes.
type Loss = runfile.Loss
