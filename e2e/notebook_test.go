//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// generatedNotebook is what a notebook that was written for a filter is about, and what its charts show.
type generatedNotebook struct {
	Runs   []string
	Charts []struct {
		Title, X, Y string
		Bars        [][]any // label, x, y, low, high
		Lines       [][]any // label, xs, ys
	}
	Pictures int
}

// runGenerated writes a notebook for arguments of the command, and executes it in another directory and without a network.
func runGenerated(t *testing.T, dir string, args ...string) (g generatedNotebook) {
	t.Helper()
	python := programtest.PythonWith(t, "notebook", "nbclient, nbformat, ipykernel, matplotlib, duckdb, pandas, pytz")
	out := t.TempDir()
	p := programtest.Program(t, dir, append([]string{"notebook", "-o", filepath.Join(out, "new.ipynb")}, args...)...)
	p.MustRun(t)
	cmd := withoutNetwork(pythonScript(t, python, out, "generated.py", "new.ipynb", "executed.ipynb"))
	cmd.Env = notebookEnviron(t)
	valuetest.OK(t, json.Unmarshal([]byte(ends(t, cmd)), &g))
	return g
}

// lsIDs returns the ids of the runs that ls lists.
func lsIDs(t *testing.T, dir string, args ...string) (ids []string) {
	t.Helper()
	for _, row := range answers(t, dir, append([]string{"ls", "--columns", "run_id"}, args...)...) {
		ids = append(ids, row["run_id"].(string))
	}
	slices.Sort(ids)
	return ids
}

// TestNotebookCommand executes notebooks that were written for filters: their runs are those that ls lists, also where some were removed,
// are not sealed yet, or are in two stores, and what they draw is what query says.
func TestNotebookCommand(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "runs_store")
	notebookStore(t, store)
	programtest.Program(t, dir, "store", "init", "--store", "other").MustRun(t)
	programtest.Program(t, dir, "store", "merge", "runs_store", "--store", "other").MustRun(t) // every run is in both
	all := lsIDs(t, dir)
	programtest.Program(t, dir, "rm", "batch_size=4 backend=torch").MustRun(t)
	s := valuetest.Must(ingest.Open(store, "test"))
	defer s.Close()
	random, last := rand.New(rand.NewPCG(5, 6)), time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	for i := range 8 {
		r := programtest.MadeUpRun(random, last.Add(time.Duration(i)*time.Second), schema.NewULID(last).String(), schema.Env{Machine: "lab3"}, i, 20)
		if i == 7 { // nor has every run parameters
			r.Params, r.BatchSize = nil, nil
			r.PointID = schema.PointID(&r)
		}
		if err := s.Append(r); err != nil { // it stays live
			t.Fatal(err)
		}
	}
	before := programtest.FilesIn(t, dir)
	for _, args := range [][]string{
		nil,
		{"precision=fp32", "batch_size=1,2 or batch_size=8", "machine=lab3"},
		{"latency.p99<3ms", "peak_memory>1MiB", "--store", "runs_store", "--store", "other"},
		{"session=last"},
		{"status=timeout"},
	} {
		want := lsIDs(t, dir, args...)
		g := runGenerated(t, dir, args...)
		slices.Sort(g.Runs)
		if !slices.Equal(g.Runs, want) || len(want) == 0 || len(want) >= len(all) {
			t.Errorf("%q: %d runs, and ls lists %d", args, len(g.Runs), len(want))
		}
	}
	checkGeneratedNumbers(t, dir)
	valuetest.DeepEqual(t, before, programtest.FilesIn(t, dir), "the store has changed")
}

// checkGeneratedNumbers compares the charts of a notebook with what query says.
func checkGeneratedNumbers(t *testing.T, dir string) {
	t.Helper()
	chosen := []string{"precision=fp32", "seq_len=64", "dim=64", "backend=builtin", "machine=lab3"}
	const where = `WHERE status = 'ok' AND precision = 'fp32' AND seq_len = 64 AND params['dim'] = '64' AND backend = 'builtin' AND machine = 'lab3'`
	const middle = `median(p50) / 1e6 AS y, quantile_cont(p50, 0.25) / 1e6 AS low, quantile_cont(p50, 0.75) / 1e6 AS high`
	g := runGenerated(t, dir, chosen...)
	valuetest.Equal(t, len(g.Charts), 3)
	byBatch := rowsOf(answers(t, dir, "query", "SELECT '' AS label, batch_size::DOUBLE AS x, "+middle+" FROM runs "+where+" GROUP BY ALL ORDER BY x"), "x", "y", "low", "high")
	sameNumbers(t, "by batch size", bars(g.Charts[0].Bars, 1), byBatch)
	if c := g.Charts[0]; c.X != "batch_size" || c.Y != "latency in ms" {
		t.Errorf("the axes are %q and %q", c.X, c.Y)
	}
	samples := answers(t, dir, "query", "SELECT batch_size, count(*) AS n, max(value) / 1e6 AS highest FROM samples_long JOIN runs USING (run_id) "+where+
		" AND samples_long.metric = 'latency' GROUP BY ALL ORDER BY batch_size")
	valuetest.Equal(t, len(g.Charts[1].Lines), len(samples))
	for i, line := range g.Charts[1].Lines {
		xs := line[1].([]any)
		if name, n := fmt.Sprint(samples[i]["batch_size"]), samples[i]["n"].(float64); line[0] != name || float64(len(xs)) != n+1 || !near(xs[len(xs)-1], samples[i]["highest"]) {
			t.Errorf("curve %v of %d values up to %v, want %v", line[0], len(xs)-1, xs[len(xs)-1], samples[i])
		}
	}
	history := rowsOf(answers(t, dir, "query", "SELECT session_id, "+middle+" FROM runs "+where+" AND batch_size = 1 GROUP BY ALL ORDER BY session_id"), "y", "low", "high")
	for _, size := range []string{"2", "4", "8"} { // whichever point is drawn: all were measured equally often
		if strings.Contains(g.Charts[2].Title, "batch_size = "+size) {
			history = rowsOf(answers(t, dir, "query", "SELECT session_id, "+middle+" FROM runs "+where+" AND batch_size = "+size+" GROUP BY ALL ORDER BY session_id"), "y", "low", "high")
		}
	}
	sameNumbers(t, "history", bars(g.Charts[2].Bars, 2), history)
}

// bars returns the numbers of bars from one of them on.
func bars(all [][]any, from int) [][]any {
	numbers := make([][]any, len(all))
	for i, bar := range all {
		numbers[i] = bar[from:]
	}
	return numbers
}

func near(got, want any) bool {
	a, b := got.(float64), want.(float64)
	return math.Abs(a-b) <= 1e-9*math.Abs(b)
}

func sameNumbers(t *testing.T, what string, got, want [][]any) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b []any) bool { return slices.EqualFunc(a, b, near) }) || len(want) < 2 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// hostile are names that would be code, markup or formulas if they were taken for more than text.
var hostile = []string{
	"\"\"\"); import os; os.abort() #", "it's\n%% code\nos.abort()", "```\n<script>alert(1)</script>", "$\\frac{$", "\u202e_gnp.exe", "{METRIC}%s\\",
}

// TestNotebookHostileNames: names of runs stay text, in the notebook and in its charts.
func TestNotebookHostileNames(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	dir := t.TempDir()
	var runs []schema.Run
	random, at := rand.New(rand.NewPCG(6, 7)), time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	for i := range 4 * len(hostile) {
		r := programtest.MadeUpRun(random, at.Add(time.Duration(i)*time.Hour), schema.NewULID(at).String(), schema.Env{Machine: hostile[2], Facts: map[string]string{"os.name": hostile[3]}}, 0, 20)
		r.Variant, r.Benchmark, r.SessionID = hostile[i%len(hostile)], hostile[1], schema.NewULID(at.Add(time.Duration(i/12)*time.Hour)).String()
		r.Params = map[string]string{hostile[0]: []string{"1", "2"}[i/len(hostile)%2]}
		r.PointID = schema.PointID(&r)
		runs = append(runs, r)
	}
	programtest.NewStore(t, filepath.Join(dir, "runs_store"), runs...)
	g := runGenerated(t, dir)
	if len(g.Runs) != 24 || len(g.Charts) != 3 || len(g.Charts[0].Bars) != 12 {
		t.Fatalf("%d runs, %d charts: %+v", len(g.Runs), len(g.Charts), g.Charts)
	}
	for _, bar := range g.Charts[0].Bars {
		if name := bar[0].(string); strings.ContainsAny(name, "\n\u202e") {
			t.Errorf("a line is called %q", name)
		}
	}
	if one := runGenerated(t, dir, `variant=`+strconv.Quote(hostile[0])); len(one.Runs) != 4 {
		t.Errorf("%d runs of %q", len(one.Runs), hostile[0])
	}
}
