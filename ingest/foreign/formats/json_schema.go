package formats

import (
	_ "embed"
)

//go:embed run.schema.json
var runSchema string

// JSONSchema is the JSON Schema (draft 2020-12) of one line of the format jsonl.
func JSONSchema() string { return runSchema }
