package query

import _ "embed"

// ColumnsPage is the page that describes the columns of each answer.
//
//go:embed COLUMNS.md
var ColumnsPage string
