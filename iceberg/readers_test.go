package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// question is a question in SQL of an engine and of neurolens query.
type question struct{ engine, query string }

// questions returns what readers are asked: counts, sums, quantiles, whole columns of each kind, values of maps, and the SQL of the page
// about tags.
func questions(t *testing.T) []question {
	t.Helper()
	both := func(text string) question { return question{text, text} }
	page := string(valuetest.Must(os.ReadFile(filepath.Join("..", "docs", "iceberg.md"))))
	tags := regexp.MustCompile("(?s)\n## Tags\n.*?```sql\n(.*?)```").FindStringSubmatch(page)
	if tags == nil {
		t.Fatal("docs/iceberg.md has no SQL about tags")
	}
	return []question{
		both("SELECT status, count(*) AS runs, count(p50) AS measured, sum(n_samples) AS samples FROM runs GROUP BY status ORDER BY status"),
		both("SELECT params['dim'] AS dim, count(DISTINCT point_id) AS points, min(p50) AS least, max(p99) AS most FROM runs GROUP BY params['dim'] ORDER BY dim NULLS LAST"),
		both("SELECT batch_size, percentile_disc(0.5) WITHIN GROUP (ORDER BY p50) AS p50, percentile_disc(0.9) WITHIN GROUP (ORDER BY p50) AS p90 FROM runs GROUP BY batch_size ORDER BY batch_size NULLS LAST"),
		both("SELECT run_id, session_id, repeat_index, env['load1'] AS load, cardinality(env) AS facts, git_dirty, p50, mad, warnings FROM runs ORDER BY run_id"),
		both("SELECT run_id, metric, tick, ticks, warmup_ticks, at_ns FROM samples ORDER BY run_id, metric"),
		both("SELECT r.batch_size, count(*) AS n, sum(s.n_samples) AS samples FROM samples AS s JOIN runs AS r ON r.run_id = s.run_id WHERE s.metric = 'latency' GROUP BY r.batch_size ORDER BY r.batch_size NULLS LAST"),
		both("SELECT run_id, op, name, duration_ns, kernels FROM ops ORDER BY run_id, op"),
		{tags[1], "SELECT run_id, tags['cooling'] AS cooling FROM runs ORDER BY run_id"},
		{strings.ReplaceAll(tags[1], "cooling", "branch"), "SELECT run_id, tags['branch'] AS branch FROM runs ORDER BY run_id"},
	}
}

// neurolens builds the program, unless NEUROLENS_TEST_BINARY names one.
func neurolens(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("NEUROLENS_TEST_BINARY"); path != "" {
		return path
	}
	path := filepath.Join(t.TempDir(), "neurolens")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/neurolens")
	cmd.Dir = ".."
	valuetest.Run(t, cmd)
	return path
}

// compareReaders asks engines, by their names, after each change of a store.
func compareReaders(t *testing.T, answers map[string]func(dir string, questions []string) string) {
	t.Helper()
	program, all := neurolens(t), questions(t)
	texts := make([]string, len(all))
	for i, q := range all {
		texts[i] = q.engine
	}
	dir := filepath.Join(t.TempDir(), "store")
	ids := madeStore(t, dir, 24, 30)
	check := func(what string) {
		t.Helper()
		updatedTables(t, dir)
		var want [][]map[string]any
		for _, q := range all {
			cmd := exec.Command(program, "--store", dir, "query", "--format", "jsonl", q.query)
			var rows []map[string]any
			for d := json.NewDecoder(strings.NewReader(valuetest.Run(t, cmd))); ; {
				var row map[string]any
				if err := d.Decode(&row); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(q.query, err)
				}
				rows = append(rows, row)
			}
			want = append(want, rows)
		}
		for reader, answer := range answers {
			var got [][]map[string]any
			valuetest.OK(t, json.Unmarshal([]byte(answer(dir, texts)), &got), reader)
			for i, q := range all {
				if a, b := fmt.Sprint(got[i]), fmt.Sprint(want[i]); a != b || len(want[i]) == 0 {
					t.Errorf("%s, %s: %s\n got %.1500s\nwant %.1500s", what, reader, q.engine, a, b)
				}
			}
		}
	}
	check("made")
	annotate(t, dir, schema.EventRemove, "", "", ids[1], ids[5], ids[30])
	annotate(t, dir, schema.EventTag, "cooling", "air", ids[2], ids[5], ids[6])
	annotate(t, dir, schema.EventUntag, "branch", "", ids[3])
	check("removed and tagged")
	annotate(t, dir, schema.EventRestore, "", "", ids[5])
	annotate(t, dir, schema.EventTag, "cooling", "water", ids[6], ids[0])
	sweep := runtest.NewSweep(2, 10)
	appendRuns(t, dir, sweep.Next(), sweep.Next())
	check("updated again")
}

// script returns a function that gives a script of testdata a job, and returns what it prints.
func script(t *testing.T, python, name, reader string) func(dir string, questions []string) string {
	return func(dir string, questions []string) string {
		t.Helper()
		cmd := exec.Command(python, filepath.Join("testdata", name))
		cmd.Stdin = bytes.NewReader(valuetest.Must(json.Marshal(map[string]any{"store": dir, "reader": reader, "questions": questions})))
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", reader, err, said.Bytes())
		}
		return string(out)
	}
}

// TestReaders: pyiceberg and DuckDB answer from the tables what neurolens query answers from the store, after removals, tags, and runs that
// were added later.
func TestReaders(t *testing.T) {
	python := valuetest.Python(t, "pyiceberg", "pyiceberg, duckdb, duckdb_extension_iceberg, duckdb_extension_avro")
	compareReaders(t, map[string]func(string, []string) string{
		"pyiceberg": script(t, python, "read.py", "pyiceberg"),
		"duckdb":    script(t, python, "read.py", "duckdb"),
	})
}

// TestSpark: the same of Spark 4.1, the latest for which there is an Iceberg runtime. It downloads that, 48 MB, the first time.
func TestSpark(t *testing.T) {
	python := valuetest.Python(t, "iceberg-spark", "pyspark; assert pyspark.__version__.startswith('4.1.'), pyspark.__version__")
	compareReaders(t, map[string]func(string, []string) string{"Spark": script(t, python, "spark.py", "Spark")})
}
