//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestSparkS3: Spark reads compacted stores out of a bucket through s3a. It answers the questions of the page as query does, after removals and
// tags of two machines, and a push after the first compacted store. That one still has its own answer.
func TestSparkS3(t *testing.T) {
	t.Parallel()
	programtest.NeedsLong(t)
	python := programtest.PythonWith(t, "pyspark", "pyspark")
	programtest.Needs(t, "pyspark", javaIsThere())
	folder := os.Getenv("NEUROLENS_TEST_S3A")
	jars, err := filepath.Glob(filepath.Join(folder, "*.jar"))
	if err == nil && len(jars) == 0 {
		err = fmt.Errorf("NEUROLENS_TEST_S3A=%q: want a folder with the jars of org.apache.hadoop:hadoop-aws, 659 MB", folder)
	}
	programtest.Needs(t, "hadoop-aws", err)
	s := startObjectStore(t)
	a, b := t.TempDir(), t.TempDir()
	compacted := func() string {
		t.Helper()
		_, place, ok := strings.Cut(fmt.Sprint(s.run(t, a, "store", "push", team, "--compacted")["compacted"]), "s3://")
		valuetest.Equal(t, ok, true)
		return "s3a://" + place
	}
	const count = "SELECT count(*) AS n FROM runs"
	sparkStore(t, filepath.Join(a, "runs_store"), true)
	first, had := compacted(), jsonRows(t, programtest.Output(t, a, "query", "--format", "jsonl", count))
	s.run(t, b, "store", "pull", team)
	removed, kept := measured(t, b, 3), measured(t, b, 4)
	programtest.Output(t, b, "rm", "session="+removed)
	programtest.Output(t, b, "tag", "session="+kept, "cooling=water")
	s.run(t, b, "store", "push", team)
	s.run(t, a, "store", "pull", team)
	second := compacted()
	page := programtest.RepositoryFile(t, "docs/spark.md")
	questions := questionsAndViews(t, page)
	answers := sparkAnswers(t, python, sparkJob{dir: a, load: loadOf(t, page), stores: []sparkStoreJob{
		{[]string{"--location", first}, []string{count}}, {[]string{"--location", second}, sparkTexts(questions)},
	}, settings: map[string]string{
		"spark.driver.extraClassPath":                filepath.Join(folder, "*"), // spark.jars.packages would copy them once more
		"spark.hadoop.fs.s3a.access.key":             "AKIDTEST",
		"spark.hadoop.fs.s3a.secret.key":             s3Secret,
		"spark.hadoop.fs.s3a.endpoint":               s.proxy.URL,
		"spark.hadoop.fs.s3a.endpoint.region":        "us-east-1",
		"spark.hadoop.fs.s3a.path.style.access":      "true",
		"spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
	}})
	valuetest.DeepEqual(t, answers[0][0], had, "the first compacted store")
	answersOfQuery(t, a, questions, answers[1])
	valuetest.Contains(t, strings.Join(answers[1][10], ""), "water", "the tag of the second push")
}
