package benchmarks

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// The most that loading the views of a compacted store may take in Spark, as a ratio to the first query of the same session, and how many
// sessions are measured.
const (
	sparkGoal   = 3
	sparkRounds = 3
)

// sparkSession is a session of Spark: it prints how long its first query takes, which asks nothing of a store, and then loading the views.
const sparkSession = `
import json, sys, time
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
text = sys.stdin.read()
begin = time.monotonic()
spark.sql("SELECT 1").collect()
first = time.monotonic()
for statement in text.split(";\n"):
    if statement.strip():
        spark.sql(statement)
loaded = time.monotonic()
spark.sql("SELECT count(*) FROM runs WHERE tags['kept'] = 'yes'").collect()
print(json.dumps({"first": first - begin, "load": loaded - first, "question": time.monotonic() - loaded}))
`

// BenchmarkSpark loads the views of compacted stores in Spark, in local mode on all processors, and asks how many runs have a tag that was
// added later.
func BenchmarkSpark(b *testing.B) {
	python := valuetest.Python(b, "pyspark", "pyspark")
	neurolens := program(b)
	for _, r := range recipes[2:3] {
		b.Run(r.name, func(b *testing.B) {
			views, err := exec.Command(neurolens, "--store", compactedOf(b, r), "store", "views", "--dialect", "spark").Output()
			must(b, err)
			load := line{name: "loading the views", goal: sparkGoal}
			question := line{name: "the first question about the store"}
			var loads, questions []float64
			for range sparkRounds {
				took := inSpark(b, python, string(views))
				load.ratios, question.ratios = append(load.ratios, took.Load/took.First), append(question.ratios, took.Question/took.First)
				loads, questions = append(loads, took.Load), append(questions, took.Question)
			}
			slices.Sort(loads)
			slices.Sort(questions)
			load.ms, question.ms = 1e3*loads[sparkRounds/2], 1e3*questions[sparkRounds/2]
			report(b, "the first query of a session of Spark, SELECT 1", load, question)
		})
	}
}

// sparkTimes are what sparkSession prints, in seconds.
type sparkTimes struct{ First, Load, Question float64 }

// inSpark loads views in a session of its own.
func inSpark(b *testing.B, python, views string) (took sparkTimes) {
	b.Helper()
	script := b.TempDir() + "/session.py"
	must(b, os.WriteFile(script, []byte(sparkSession), 0o666))
	cmd := exec.Command(python, script)
	cmd.Stdin = strings.NewReader(views)
	out, err := cmd.Output()
	must(b, err)
	must(b, json.Unmarshal(out, &took))
	return took
}
