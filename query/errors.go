package query

import "github.com/neurolens/neurolens/query/internal/fault"

// What errors wrap. Their messages are one line and say on their own what is wrong.
var (
	// ErrInput is the asker's to mend: a filter, an SQL text, a column, or a destination that cannot be written.
	ErrInput = fault.ErrInput
	// ErrStore is a store that cannot be read: none, of an unknown format, damaged, or refused by the file system. The
	// cause is wrapped too.
	ErrStore = fault.ErrStore
)
