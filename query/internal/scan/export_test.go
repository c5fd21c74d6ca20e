package scan

import "github.com/neurolens/neurolens/query/internal/duck"

// NewestSessions is newestSessions.
var NewestSessions = (*Reader).newestSessions

// Direct is direct.
var Direct = (*Sources).direct

// Newest is newest.
var Newest = (*Reader).newest

// FillMetricTable is fillMetricTable.
var FillMetricTable = (*Reader).fillMetricTable

// StartBy makes questions start their engine by a function.
func (s *Stores) StartBy(engine func() (*duck.Engine, error)) { s.engine = engine }

// ReadsSooner is readsSooner.
var ReadsSooner = readsSooner

// FewFiles is fewFiles.
const FewFiles = fewFiles

// IDs is ids.
var IDs = (*Reader).ids

// WithoutDuckDB is withoutDuckDB.
var WithoutDuckDB = (*Reader).withoutDuckDB
