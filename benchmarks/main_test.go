// Package benchmarks measures NeuroLens on stores of a thousand to a million runs and on large files of other tools, side
// by side with what it stands on and with its peers: a bare DuckDB, SQLite, benchstat, other ways to keep runs. Every time
// that it reports is a ratio to something that was measured in between. The command table of this module runs all of them and prints one
// table. To run some, in this folder:
//
//	NEUROLENS_SCALE_DIR=/var/tmp/scale go test -run '^$' -bench 'Commands/1M' -benchtime 1x -timeout 2h
//
// The first time makes the stores, which takes minutes. Without the variable what needs them is skipped.
//
// It is a module of its own, so that who builds, vets or tests NeuroLens compiles none of the peers.
package benchmarks

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/duckdb/duckdb-go/v2"
)

// bareRole is the variable that makes the test binary a bare DuckDB process.
const bareRole = "NEUROLENS_SCALE_BARE"

// TestMain makes the test binary one of the processes that are measured.
func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(measureRole) != "": // before the role of what it starts
		err = errors.Join(os.Unsetenv(measureRole), measure(os.Args[1:]))
	case os.Getenv(bareRole) != "":
		err = bare(strings.Join(os.Args[1:], " "))
	case os.Getenv(copyRole) != "":
		err = copyTables(os.Args[1], os.Args[2], os.Args[3])
	case os.Getenv(rewriteRole) != "":
		err = rewrite(os.Args[1], os.Args[2], os.Args[3])
	case os.Getenv(importRole) != "":
		err = importSQLite(os.Args[1], os.Args[2])
	case os.Getenv(sideRole) != "":
		err = answerSide(os.Args[1], os.Args[2], os.Args[3])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bare opens the engine and asks it for a number.
func bare(query string) error {
	connector, err := duckdb.NewConnector(":memory:", nil)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	var number int
	return db.QueryRowContext(context.Background(), query).Scan(&number)
}

// skip ends a benchmark for which this machine lacks something, unless it is required.
func skip(tb testing.TB, what, why string) {
	tb.Helper()
	if slices.Contains(strings.Split(os.Getenv("NEUROLENS_TEST_REQUIRE"), ","), what) {
		tb.Fatal(why)
	}
	tb.Skip(why)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
