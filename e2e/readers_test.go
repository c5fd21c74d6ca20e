//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// readers are the modules for which docs/notebooks.md shows how to read a store.
var readers = []reader{
	{"duckdb", "pytz"}, {"polars", ""}, {"pyarrow", ""}, {"pandas", "pyarrow"},
}

// reader is a module and another one that it needs.
type reader struct{ module, also string }

// eachReader runs a test with each of the modules, as far as Python has them.
func eachReader(t *testing.T, test func(t *testing.T, run func(dir, script string, args ...string) *exec.Cmd, module string)) {
	for _, r := range readers {
		t.Run(r.module, func(t *testing.T) {
			t.Parallel()
			python := programtest.PythonWith(t, r.module, strings.TrimSuffix(r.module+", "+r.also, ", "))
			test(t, func(dir, script string, args ...string) *exec.Cmd {
				return pythonScript(t, python, dir, script, args...)
			}, r.module)
		})
	}
}

// pythonScript returns a call of a script of testdata/readers in a directory.
func pythonScript(t *testing.T, python, dir, script string, args ...string) *exec.Cmd {
	t.Helper()
	path := valuetest.Must(filepath.Abs(filepath.Join("testdata", "readers", script)))
	cmd := exec.Command(python, append([]string{path}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	return cmd
}

// ends runs a script to its end, which has to be a good one, and gives what it prints.
func ends(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", filepath.Base(cmd.Args[1]), err, out, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// readersPage returns the page with the readers.
func readersPage(t *testing.T) string {
	t.Helper()
	path := valuetest.Must(filepath.Abs(filepath.Join("..", "docs", "notebooks.md")))
	return path
}

// wanted writes the rows of a table as `neurolens query` prints them, and gives the file and the types of the columns,
// as JSON in their order.
func wanted(t *testing.T, dir, name string, columns []*schema.Column) (file, types string) {
	t.Helper()
	var names, kinds []string
	for _, c := range columns {
		names = append(names, `"`+c.Name+`"`)
		kind := valuetest.Must(json.Marshal(c.SQLType()))
		kinds = append(kinds, `"`+c.Name+`": `+string(kind))
	}
	query := programtest.Program(t, dir, "query", "--format", "jsonl", "SELECT "+strings.Join(names, ", ")+" FROM "+name)
	query.MustRun(t)
	file = filepath.Join(t.TempDir(), name+".jsonl")
	programtest.WriteFile(t, filepath.Dir(file), name+".jsonl", query.Printed.String())
	return file, "{" + strings.Join(kinds, ", ") + "}"
}

// TestReaders has each reader read sealed files as the page says: every value of every column is what `neurolens query`
// says, to the bit, and of the same type.
func TestReaders(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	dir := programtest.SealedStore(t)
	eachReader(t, func(t *testing.T, run func(dir, script string, args ...string) *exec.Cmd, module string) {
		for _, table := range []*schema.Table{schema.Runs, schema.Samples, schema.Ops} {
			want, types := wanted(t, dir, table.Name, table.Columns)
			t.Log(table.Name, ends(t, run(dir, "equal.py", module, table.Name, want, types, readersPage(t))))
		}
	})
}

// TestReadersEvolution: files of versions with fewer and with more columns are read together, whichever is first.
func TestReadersEvolution(t *testing.T) {
	t.Parallel()
	programtest.PythonWith(t, "pyarrow", "pyarrow")
	eachReader(t, func(t *testing.T, run func(dir, script string, args ...string) *exec.Cmd, module string) {
		for _, old := range []string{"0", "1"} {
			t.Log(ends(t, run(programtest.SealedStore(t), "evolve.py", module, readersPage(t), old)))
		}
	})
}
