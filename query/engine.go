package query

import bindings "github.com/duckdb/duckdb-go-bindings"

// DuckDBVersion returns the version of DuckDB, such as "v1.5.6". DuckDB is part of the program; no library of the machine is used.
func DuckDBVersion() string { return bindings.LibraryVersion() }
