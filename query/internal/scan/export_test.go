package scan

import "github.com/neurolens/neurolens/query/internal/duck"

// SessionFromLast is sessionFromLast.
var SessionFromLast = (*Reader).sessionFromLast

// Direct is direct.
var Direct = (*Sources).direct

// StartBy makes questions start their engine by a function.
func (s *Stores) StartBy(engine func() (*duck.Engine, error)) { s.engine = engine }
