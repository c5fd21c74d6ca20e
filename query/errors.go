package query

import "github.com/neurolens/neurolens/query/answer"

// Errors of this package and its subpackages wrap one of these. A message is one line and complete by itself.
var (
	// ErrInput means that the user has to change something: a filter, an SQL text, a column, or a destination.
	ErrInput = answer.ErrInput
	// ErrStore means that a store cannot be read: it does not exist, has an unknown format, is damaged, or the file system
	// refuses. The cause is wrapped too.
	ErrStore = answer.ErrStore
)
