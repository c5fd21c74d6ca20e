//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestTrino: a server of Trino reads a compacted store out of a bucket. The views that store views prints have the rows that query has, after
// removals, restores and tags, and the selection of the page about Spark becomes a store of the same runs.
func TestTrino(t *testing.T) {
	t.Parallel()
	programtest.NeedsLong(t)
	programtest.Needs(t, "trino", javaIsThere())
	folder := os.Getenv("NEUROLENS_TEST_TRINO")
	jars, err := filepath.Glob(filepath.Join(folder, "trino-main-*.jar"))
	if err == nil && len(jars) == 0 {
		err = fmt.Errorf("NEUROLENS_TEST_TRINO=%q: want a folder that .ci/trino has filled, 262 MB", folder)
	}
	programtest.Needs(t, "trino", err)
	s := startObjectStore(t)
	dir := t.TempDir()
	sparkStore(t, filepath.Join(dir, "runs_store"), true)
	place := fmt.Sprint(s.run(t, dir, "store", "push", team, "--compacted")["compacted"])
	page := programtest.RepositoryFile(t, "docs/spark.md")
	views := programtest.Output(t, dir, "store", "views", "--dialect", "trino", "--location", place)
	statements := []string{"CREATE SCHEMA hive.bench"}
	for _, text := range []string{views, strings.ReplaceAll(selectionOf(t, page, 1), "s3://bench/selection", "s3://bench/selected")} {
		statements = append(statements, strings.Split(strings.TrimRight(text, ";\n"), ";\n")...)
	}
	var questions []string
	for _, view := range []string{"runs", "samples", "samples_long", "ops"} {
		questions = append(questions, "SELECT * FROM "+view)
	}
	answers := trinoAnswers(t, filepath.Join(folder, "*"), map[string]any{"statements": statements, "questions": questions, "catalog": map[string]string{
		"hive.metastore":                        "file",
		"hive.metastore.catalog.dir":            "s3://bench/metastore",
		"hive.security":                         "allow-all",
		"hive.non-managed-table-writes-enabled": "true",
		"hive.recursive-directories":            "true",
		"hive.timestamp-precision":              "MICROSECONDS",
		"hive.parquet.time-zone":                "UTC",
		"fs.hadoop.enabled":                     "false",
		"fs.native-s3.enabled":                  "true",
		"s3.endpoint":                           s.proxy.URL,
		"s3.region":                             "us-east-1",
		"s3.path-style-access":                  "true",
		"s3.aws-access-key":                     "AKIDTEST",
		"s3.aws-secret-key":                     s3Secret,
	}})
	for i, got := range answers {
		want := jsonRows(t, programtest.Output(t, dir, "query", "--format", "jsonl", questions[i]))
		if len(got) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, query has %d\n%s", questions[i], len(got), len(want), programtest.FirstDifference(strings.Join(got, "\n"), strings.Join(want, "\n")))
		}
	}
	checkSelection(t, dir, filepath.Join(s.dir, "data", "bench", "selected"))
}

// trinoAnswers returns the rows of each question of a job, as testdata/readers/Trino.java has it.
func trinoAnswers(t *testing.T, classpath string, job map[string]any) [][]string {
	t.Helper()
	cmd := exec.Command("java", valuetest.Must(filepath.Abs("testdata/readers/Trino.java")))
	cmd.Env = append(os.Environ(), "CLASSPATH="+classpath, "JDK_JAVA_OPTIONS=-Xmx2g -XX:TieredStopAtLevel=1 -Djdk.attach.allowAttachSelf=true")
	cmd.Dir, cmd.Stdin = t.TempDir(), bytes.NewReader(valuetest.Must(json.Marshal(job)))
	var rows [][]json.RawMessage
	valuetest.OK(t, json.Unmarshal([]byte(ends(t, cmd)), &rows))
	return answersIn(t, rows)
}
