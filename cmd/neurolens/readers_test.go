//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
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
			python := pythonWith(t, r.module, strings.TrimSuffix(r.module+", "+r.also, ", "))
			test(t, func(dir, script string, args ...string) *exec.Cmd {
				return pythonScript(t, python, dir, script, args...)
			}, r.module)
		})
	}
}

// pythonWith is the interpreter of the tests if it has some modules; word is what NEUROLENS_TEST_REQUIRE calls them.
func pythonWith(t *testing.T, word, modules string) string {
	t.Helper()
	python := testInterpreter()
	out, err := exec.Command(python, "-c", "import "+modules).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s does not import %s (NEUROLENS_TEST_PYTHON names another interpreter): %w: %.200s", python, modules, err, out)
	}
	needs(t, word, err)
	return python
}

// pythonScript is a call of a script of testdata/readers in a directory.
func pythonScript(t *testing.T, python, dir, script string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "readers", script))
	if err != nil {
		t.Fatal(err)
	}
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

// readersPage is the page with the readers.
func readersPage(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "docs", "notebooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// sealedStore makes a store of several sealed files in a new directory, with every column and every edge of a value, and
// gives the directory.
func sealedStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	store := filepath.Join(dir, "runs_store")
	if err := ingest.Init(store); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		sweep := runtest.NewSweep(uint64(i), 20)
		sweep.Start = sweep.Start.AddDate(0, i, 0)
		s, err := ingest.Open(store, "test")
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			if err := s.Append(sweep.Next()); err != nil {
				t.Fatal(err)
			}
		}
		for _, run := range []schema.Run{runtest.Full(), runtest.Small()} {
			if err := s.Append(run); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := s.Seal(context.Background()); n != 32 || err != nil {
			t.Fatalf("sealed %d runs: %v", n, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// wanted writes the rows of a table as `neurolens query` prints them, and gives the file and the types of the columns,
// as JSON in their order.
func wanted(t *testing.T, dir, name string, columns []*schema.Column) (file, types string) {
	t.Helper()
	var names, kinds []string
	for _, c := range columns {
		names = append(names, `"`+c.Name+`"`)
		kind, err := json.Marshal(c.SQLType())
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, `"`+c.Name+`": `+string(kind))
	}
	query := program(t, dir, "query", "--format", "jsonl", "SELECT "+strings.Join(names, ", ")+" FROM "+name)
	query.run(t)
	file = filepath.Join(t.TempDir(), name+".jsonl")
	write(t, filepath.Dir(file), name+".jsonl", query.stdout.String())
	return file, "{" + strings.Join(kinds, ", ") + "}"
}

// TestReaders has each reader read sealed files as the page says: every value of every column is what `neurolens query`
// says, to the bit, and of the same type.
func TestReaders(t *testing.T) {
	needsLong(t)
	t.Parallel()
	dir := sealedStore(t)
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
	pythonWith(t, "pyarrow", "pyarrow")
	eachReader(t, func(t *testing.T, run func(dir, script string, args ...string) *exec.Cmd, module string) {
		for _, old := range []string{"0", "1"} {
			t.Log(ends(t, run(sealedStore(t), "evolve.py", module, readersPage(t), old)))
		}
	})
}
