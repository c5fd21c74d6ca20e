// Command bare opens DuckDB in memory and answers `select 1`: the floor for every command that answers from a store.
package main

import (
	"database/sql"
	"fmt"
	"os"

	_ "github.com/duckdb/duckdb-go/v2"
)

func main() {
	db, err := sql.Open("duckdb", "")
	if err == nil {
		var one int
		err = db.QueryRow("SELECT 1").Scan(&one)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
