//go:build linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestFlatReaders: pandas, polars and Spark group the runs of a flat export by a parameter, also if another one differs from it in case
// alone.
func TestFlatReaders(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "runs.jsonl", `{"benchmark": "b", "params": {"impl": "old", "N": 1, "n": 2, "a.b c": "x"}, "samples": [{"metric": "latency", "unit": "s", "values": [0.5]}]}
{"benchmark": "b", "params": {"impl": "old", "N": 2}, "samples": [{"metric": "latency", "unit": "s", "values": [1.5]}]}
{"benchmark": "b", "params": {"impl": "new"}, "samples": [{"metric": "latency", "unit": "s", "values": [0.25]}]}
`)
	programtest.Output(t, dir, "ingest", "runs.jsonl")
	programtest.Output(t, dir, "export", "flat", "--flat", "--si")
	for _, module := range []string{"pandas", "polars", "pyspark"} {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			python := programtest.PythonWith(t, module, module)
			if module == "pyspark" {
				programtest.Needs(t, "pyspark", javaIsThere())
			}
			out := ends(t, pythonScript(t, python, dir, "flat.py", module, filepath.Join(dir, "flat", "runs.parquet")))
			lines := strings.Split(out, "\n")
			valuetest.Equal(t, lines[len(lines)-1], `{"new": 0.25, "old": 2.0}`)
		})
	}
}
