//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
)

// samplesView are the columns of the view samples.
func samplesView() []*schema.Column {
	return append(slices.Clone(schema.Samples.Columns), &schema.Column{
		Name: "values", Kind: schema.KindList, Children: []*schema.Column{{Name: "element", Kind: schema.KindReal}},
	})
}

// TestArrowPipe has pyarrow and polars read the streams of `query` and `export` in a pipe: every value is the one that
// `neurolens query` prints, to the bit, and of the same type. Some runs are sealed and some are live.
func TestArrowPipe(t *testing.T) {
	dir := sealedStore(t)
	s, err := ingest.Open(filepath.Join(dir, "runs_store"), "test")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Append(runtest.Full()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	samplesLong := []*schema.Column{
		{Name: "run_id", Kind: schema.KindString},
		{Name: "metric", Kind: schema.KindString},
		{Name: "unit", Kind: schema.KindString},
		{Name: "i", Kind: schema.KindInt},
		{Name: "value", Kind: schema.KindReal},
	}
	tables := []struct {
		name    string
		columns []*schema.Column
	}{{"runs", schema.Runs.Columns}, {"samples", samplesView()}, {"samples_long", samplesLong}, {"ops", schema.Ops.Columns}}
	for _, module := range []string{"pyarrow", "polars"} {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			python := pythonWith(t, module, module)
			for _, table := range tables {
				want, types := wanted(t, dir, table.name, table.columns)
				for _, argv := range [][]string{
					{"query", "FROM " + table.name, "--format", "arrow"},
					{"export", "-", "--table", table.name, "--format", "arrow"},
				} {
					reader := pythonScript(t, python, dir, "equal.py", "arrow-"+module, table.name, want, types)
					t.Log(argv[:2], pipe(t, program(t, dir, argv...), reader))
				}
			}
		})
	}
}

// pipe runs a call of the program with its output going to a reader, whose output it gives.
func pipe(t *testing.T, from *process, to *exec.Cmd) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from.Stdout, to.Stdin = w, r
	if err := from.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close() // the process has it
	out := ends(t, to)
	_ = r.Close()
	if err := from.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", from.Args[1:], err, from.stderr.String())
	}
	return out
}

// TestArrowTerminal: a terminal gets no stream.
func TestArrowTerminal(t *testing.T) {
	dir := t.TempDir()
	fillStore(t, dir+"/store", 1, 3)
	for _, argv := range [][]string{{"query", "FROM runs"}, {"export", "-"}} {
		var out, errs strings.Builder
		a := &app{stdout: &out, stderr: &errs, getenv: func(string) string { return "" }, now: time.Now, terminal: true, width: 80}
		code := a.run(append(argv, "--format", "arrow", "--store", dir+"/store"))
		if code != exitInput || out.Len() > 0 || !strings.Contains(errs.String(), "does not belong on a terminal") {
			t.Errorf("%v: exit %d, %d bytes, %s", argv, code, out.Len(), errs.String())
		}
	}
}

// TestNotebook executes the notebook of the fixtures over a store, without writing to it: each of its pictures shows
// something, and its table of latencies is what `neurolens query` says to the same question.
func TestNotebook(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "notebook", "nbclient, nbformat, ipykernel, matplotlib, duckdb, pandas, pytz")
	notebook := filepath.Join(fixtures(t), "notebooks", "history.ipynb")
	before, err := os.ReadFile(notebook)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store := filepath.Join(dir, "runs_store")
	if err := ingest.Init(store); err != nil {
		t.Fatal(err)
	}
	s, err := ingest.Open(store, "test")
	if err != nil {
		t.Fatal(err)
	}
	sweep := runtest.NewSweep(1, 100)
	sweep.Step = time.Hour
	done, err := s.AppendAll(func(yield func(schema.Valid, error) bool) {
		for range 2000 {
			if !yield(schema.Check(sweep.Next())) {
				return
			}
		}
	})
	if err != nil || done.Added != 2000 || s.Close() != nil {
		t.Fatalf("%+v, %v", done, err)
	}
	query := program(t, dir, "query", "--format", "jsonl", notebookQuestion(t, before))
	query.run(t)
	write(t, dir, "want.jsonl", query.stdout.String())
	cmd := pythonScript(t, python, dir, "notebook.py", notebook, filepath.Join(dir, "want.jsonl"), filepath.Join(dir, "out.ipynb"))
	cmd.Env = append(cmd.Env, "NEUROLENS_STORE="+store, "IPYTHONDIR="+t.TempDir(), "JUPYTER_CONFIG_DIR="+t.TempDir(),
		"JUPYTER_DATA_DIR="+t.TempDir(), "JUPYTER_RUNTIME_DIR="+t.TempDir(), "MPLCONFIGDIR="+t.TempDir())
	t.Log(ends(t, cmd))
	if after, err := os.ReadFile(notebook); err != nil || string(after) != string(before) {
		t.Errorf("the notebook was changed: %v", err)
	}
}

// notebookQuestion is the SQL behind the notebook's table by_batch.
func notebookQuestion(t *testing.T, notebook []byte) string {
	t.Helper()
	var content struct {
		Cells []struct {
			Source []string
		}
	}
	if err := json.Unmarshal(notebook, &content); err != nil {
		t.Fatal(err)
	}
	for _, cell := range content.Cells {
		_, rest, ok := strings.Cut(strings.Join(cell.Source, ""), `by_batch = duckdb.sql("""`)
		if text, _, whole := strings.Cut(rest, `"""`); ok && whole {
			return text
		}
	}
	t.Fatal("the notebook has no by_batch")
	return ""
}
