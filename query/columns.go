package query

import _ "embed"

// ColumnsPage is the page that says what the columns of each answer mean.
//
//go:embed COLUMNS.md
var ColumnsPage string
