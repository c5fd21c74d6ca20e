//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// samplesView returns the columns of the view samples.
func samplesView() []*schema.Column {
	return append(slices.Clone(schema.Samples.Columns), &schema.Column{
		Name: "values", Kind: schema.KindList, Children: []*schema.Column{{Name: "element", Kind: schema.KindReal}},
	})
}

// TestArrowPipe has pyarrow and polars read the streams of `query` and `export` in a pipe: every value is the one that
// `neurolens query` prints, to the bit, and of the same type. Some runs are sealed and some are live.
func TestArrowPipe(t *testing.T) {
	dir := programtest.SealedStore(t)
	programtest.NewStore(t, filepath.Join(dir, "runs_store"), runtest.Full(), runtest.Full(), runtest.Full())
	samplesLong := []*schema.Column{
		{Name: "run_id", Kind: schema.KindString},
		{Name: "metric", Kind: schema.KindString},
		{Name: "unit", Kind: schema.KindString},
		{Name: "i", Kind: schema.KindInt},
		{Name: "value", Kind: schema.KindReal},
		{Name: "at_ns", Kind: schema.KindInt},
	}
	tables := []struct {
		name    string
		columns []*schema.Column
	}{{"runs", schema.Runs.Columns}, {"samples", samplesView()}, {"samples_long", samplesLong}, {"ops", schema.Ops.Columns}}
	for _, module := range []string{"pyarrow", "polars"} {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			python := programtest.PythonWith(t, module, module)
			for _, table := range tables {
				want, types := wanted(t, dir, table.name, table.columns)
				for _, argv := range [][]string{
					{"query", "FROM " + table.name, "--format", "arrow"},
					{"export", "-", "--table", table.name, "--format", "arrow"},
				} {
					reader := pythonScript(t, python, dir, "equal.py", "arrow-"+module, table.name, want, types)
					t.Log(argv[:2], pipe(t, programtest.Program(t, dir, argv...), reader))
				}
			}
		})
	}
}

// pipe runs a call of the program with its output going to a reader, whose output it gives.
func pipe(t *testing.T, from *programtest.Process, to *exec.Cmd) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from.Stdout, to.Stdin = w, r
	valuetest.OK(t, from.Start())
	_ = w.Close() // the process has it
	out := ends(t, to)
	_ = r.Close()
	if err := from.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", from.Args[1:], err, from.Messages.String())
	}
	return out
}
