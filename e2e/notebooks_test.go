//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// notebookModules are what the notebooks of the fixtures import, by their names.
var notebookModules = map[string]string{
	"duckdb": "duckdb, pandas, pytz", "pandas": "pandas, pyarrow, altair, vl_convert", "polars": "polars",
}

// TestNotebooks executes the notebooks of the fixtures over a store, without writing to it and, where that can be had, without a network: their tables and the
// numbers of their charts are what `neurolens query` says to questions that are asked in other words.
func TestNotebooks(t *testing.T) {
	t.Parallel()
	files := valuetest.Must(filepath.Glob(filepath.Join(programtest.Fixtures(t), "notebooks", "*.ipynb")))
	valuetest.Equal(t, len(files), len(notebookModules), "notebooks", files)
	dir := t.TempDir()
	notebookStore(t, filepath.Join(dir, "runs_store"))
	before, want := programtest.FilesIn(t, dir), notebookAnswers(t, dir)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ipynb")
		t.Run(name, func(t *testing.T) {
			if name != "duckdb" { // the usual tests execute one
				programtest.NeedsLong(t)
			}
			python := programtest.PythonWith(t, "notebook", "nbclient, nbformat, ipykernel, matplotlib, "+notebookModules[name])
			own := map[string]any{}
			for key, value := range want {
				if own[key] = value; key == "marks" && name != "pandas" {
					delete(own, key)
				}
			}
			text := valuetest.Must(json.Marshal(own))
			out := t.TempDir()
			programtest.WriteFile(t, out, "want.json", string(text))
			cmd := withoutNetwork(pythonScript(t, python, out, "notebook.py", file, filepath.Join(out, "want.json"), filepath.Join(out, "out.ipynb")))
			cmd.Env = append(notebookEnviron(t), "NEUROLENS_STORE="+filepath.Join(dir, "runs_store"))
			t.Log(ends(t, cmd))
		})
	}
	valuetest.Equal(t, fmt.Sprint(programtest.FilesIn(t, dir)), fmt.Sprint(before), "the store has changed")
}

// TestNotebooksWithoutBatchSize executes the notebooks over a store in which no run has a batch size, as runs of programs have none.
func TestNotebooksWithoutBatchSize(t *testing.T) {
	t.Parallel()
	programtest.NeedsLong(t)
	store := filepath.Join(t.TempDir(), "runs_store")
	var runs []schema.Run
	random, at := rand.New(rand.NewPCG(5, 6)), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i := range 8 {
		r := programtest.MadeUpRun(random, at.Add(time.Duration(i)*time.Second), schema.NewULID(at).String(), schema.Env{Machine: "lab3"}, i, 20)
		r.BatchSize = nil
		r.PointID = schema.PointID(&r)
		runs = append(runs, r)
	}
	programtest.NewSealedStore(t, store, runs...)
	for name, modules := range notebookModules {
		t.Run(name, func(t *testing.T) {
			python := programtest.PythonWith(t, "notebook", "nbclient, nbformat, ipykernel, matplotlib, "+modules)
			out := t.TempDir()
			programtest.WriteFile(t, out, "want.json", "{}")
			file := filepath.Join(programtest.Fixtures(t), "notebooks", name+".ipynb")
			cmd := withoutNetwork(pythonScript(t, python, out, "notebook.py", file, filepath.Join(out, "want.json"), filepath.Join(out, "out.ipynb")))
			cmd.Env = append(notebookEnviron(t), "NEUROLENS_STORE="+store)
			t.Log(ends(t, cmd))
		})
	}
}

// withoutNetwork has a command run where there is no network, if this machine lets it.
func withoutNetwork(cmd *exec.Cmd) *exec.Cmd {
	if unshare, err := exec.LookPath("unshare"); err == nil && exec.Command(unshare, "-n", "true").Run() == nil {
		cmd.Path, cmd.Args = unshare, append([]string{"unshare", "-n"}, cmd.Args...)
	}
	return cmd
}

// notebookEnviron returns the environment of a notebook that calls this program by its name.
func notebookEnviron(t *testing.T) []string {
	t.Helper()
	bin := t.TempDir()
	programtest.Link(t, bin)
	environ := append(programtest.Environ(t), "PATH="+bin+":"+os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1")
	for _, name := range []string{"IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"} {
		environ = append(environ, name+"="+t.TempDir())
	}
	return environ
}

// notebookStore makes a store of three sessions of 32 points on two backends, the last on another machine, and after them runs that are
// no measurements: a failed one and a pass of a profiler.
func notebookStore(t *testing.T, store string) {
	t.Helper()
	var runs []schema.Run
	random, at := rand.New(rand.NewPCG(3, 4)), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	add := func(session string, machine, i int, change func(r *schema.Run)) {
		at = at.Add(time.Second)
		env := schema.Env{Machine: []string{"lab3", "lab4"}[machine], Facts: map[string]string{"os.name": "linux"}}
		r := programtest.MadeUpRun(random, at, session, env, i, 20)
		r.Backend = []string{"builtin", "torch"}[i/32%2]
		r.PointID = schema.PointID(&r)
		change(&r)
		runs = append(runs, r)
	}
	for n := range 3 {
		session := schema.NewULID(at).String()
		for i := range 128 {
			add(session, n/2, i, func(*schema.Run) {})
		}
		at = at.Add(24 * time.Hour)
	}
	add("", 1, 0, func(r *schema.Run) {
		r.Status, r.Stage, r.Error = schema.StatusTimeout, schema.StageMeasure, "it took too long"
	})
	add("", 1, 0, func(r *schema.Run) { r.Purpose = schema.PurposeProfile })
	programtest.NewSealedStore(t, store, runs...)
}

// notebookAnswers returns what the tables and charts of the notebooks have to show.
func notebookAnswers(t *testing.T, dir string) map[string]any {
	t.Helper()
	const good = `status = 'ok' AND purpose = 'measure' AND metric = 'latency' AND unit = 'ns'`
	const newest = `(SELECT * FROM runs WHERE ` + good + ` ORDER BY run_id DESC LIMIT 1) n`
	overview := answers(t, dir, "query", `SELECT count(*) AS runs, count(DISTINCT point_id) AS points, count(DISTINCT session_id) AS sessions,
		count(DISTINCT machine) AS machines FROM runs`)[0]
	want := map[string]any{"overview": overview}
	want["contents"] = rowsOf(answers(t, dir, "query", `SELECT suite, benchmark, metric, unit, status, count(*) AS runs, count(DISTINCT point_id) AS points
		FROM runs GROUP BY ALL ORDER BY ALL`), "suite", "benchmark", "metric", "unit", "status", "runs", "points")
	want["by_batch"] = rowsOf(answers(t, dir, "query", `SELECT r.backend AS label, r.batch_size::DOUBLE AS x, median(r.p50) / 1e9 AS y,
			quantile_cont(r.p50, 0.25) / 1e9 AS low, quantile_cont(r.p50, 0.75) / 1e9 AS high
		FROM runs r, `+newest+` WHERE r.`+strings.ReplaceAll(good, "AND ", "AND r.")+` AND r.benchmark = n.benchmark AND r.precision = n.precision
			AND r.seq_len = n.seq_len AND r.params['dim'] = n.params['dim'] AND r.machine = n.machine
		GROUP BY ALL ORDER BY ALL`), "label", "x", "y", "low", "high")
	want["history"] = rowsOf(answers(t, dir, "query", `SELECT r.machine AS label, round(epoch(r.started_at), 3) AS x, r.p50 / 1e9 AS y, r.p25 / 1e9 AS low, r.p75 / 1e9 AS high
		FROM runs r, `+newest+` WHERE r.`+strings.ReplaceAll(good, "AND ", "AND r.")+` AND r.point_id = n.point_id ORDER BY label, x`), "label", "x", "y", "low", "high")
	want["marks"] = rowsOf(answers(t, dir, "plot", "lines", "--x", "batch_size", "--metric", "latency"), "series", "x", "y")
	samples := []any{}
	for _, row := range answers(t, dir, "query", `SELECT s.value / 1e9 AS value FROM samples_long s, `+newest+` WHERE s.run_id = n.run_id AND s.metric = 'latency' ORDER BY s.i`) {
		samples = append(samples, row["value"])
	}
	want["samples"] = samples
	if len(samples) != 20 || len(want["by_batch"].([][]any)) != 8 || len(want["history"].([][]any)) < 4 {
		t.Fatalf("the store has too little: %v", want)
	}
	return want
}

// answers returns the rows of an answer, by the names of their columns.
func answers(t *testing.T, dir string, args ...string) (all []map[string]any) {
	t.Helper()
	p := programtest.Program(t, dir, append(args, "--format", "jsonl")...)
	p.MustRun(t)
	for line := range strings.Lines(p.Printed.String()) {
		var row map[string]any
		valuetest.OK(t, json.Unmarshal([]byte(line), &row), args)
		all = append(all, row)
	}
	return all
}

// rowsOf returns some columns of rows, in an order.
func rowsOf(rows []map[string]any, columns ...string) [][]any {
	all := make([][]any, len(rows))
	for i, row := range rows {
		for _, c := range columns {
			all[i] = append(all[i], row[c])
		}
	}
	return all
}
