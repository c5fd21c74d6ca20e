//go:build linux

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// loadViews loads what store views prints and prints the rows of a query, a line each.
const loadViews = `
import duckdb, sys
c = duckdb.connect()
c.execute("SET TimeZone = 'UTC'")
c.execute("SET enable_progress_bar = false")
c.execute(open(sys.argv[1]).read())
for row in c.execute(sys.argv[2]).fetchall():
    print(row[0])
`

// TestStoreViewsPython loads the views into DuckDB for Python, over sealed and live runs with tags and removed ones, and
// compares whole rows with those of query.
func TestStoreViewsPython(t *testing.T) {
	t.Parallel()
	python := programtest.PythonWith(t, "duckdb", "duckdb, pytz")
	dir := programtest.SealedStore(t)
	runs := []schema.Run{runtest.Full(), runtest.Small(), runtest.Small()}
	store := programtest.OpenStore(t, filepath.Join(dir, "runs_store"), runs...)
	for _, a := range []ingest.Annotation{
		{Kind: schema.EventRemove, Runs: []string{runs[1].RunID}},
		{Kind: schema.EventTag, Runs: []string{runs[0].RunID, runs[2].RunID}, Key: "it's", Value: "a 'value'"},
		{Kind: schema.EventUntag, Runs: []string{runs[0].RunID}, Key: "a"},
	} {
		valuetest.Must(store.Annotate(a))
	}
	valuetest.OK(t, store.Close())
	program := func(args ...string) string { return strings.TrimSpace(programtest.Output(t, dir, args...)) }
	views := filepath.Join(dir, "views.sql")
	programtest.WriteFile(t, dir, "views.sql", program("store", "views"))
	for table, rows := range map[string]int{"runs": 162, "samples": 180, "samples_long": 2000, "ops": 12} {
		text := "SELECT to_json(t)::VARCHAR AS row FROM " + table + " t ORDER BY 1"
		cmd := exec.Command(python, "-c", loadViews, views, text)
		got := ends(t, cmd)
		_, want, _ := strings.Cut(program("query", "--format", "plain", strings.Replace(text, "to_json(t)::VARCHAR", `replace(to_json(t)::VARCHAR, '\', '§')`, 1)), "\n")
		// Versions of DuckDB print a backslash through query's plain format, and a negative zero, in ways of their own.
		same := strings.NewReplacer(`\`, "§", "-0.0", "0.0")
		if got, want = same.Replace(got), same.Replace(want); got != want {
			t.Errorf("%s: %s", table, programtest.FirstDifference(got, want))
		}
		if n := strings.Count(got, "\n") + 1; n < rows {
			t.Errorf("%s has %d rows, want %d or more", table, n, rows)
		}
	}
}
