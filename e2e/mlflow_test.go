//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// mlflowRuns prints the runs that MLflow has: experiment, status, start of those with metrics, parameters, values of each metric by step, and two tags.
const mlflowRuns = `import json, mlflow
client = mlflow.MlflowClient("sqlite:///mlflow.db")
lines = []
for e in client.search_experiments():
    for r in client.search_runs([e.experiment_id]):
        metrics = {m: [v.value for v in sorted(client.get_metric_history(r.info.run_id, m), key=lambda v: v.step)] for m in r.data.metrics}
        lines.append([e.name, r.info.status, r.info.start_time if r.data.metrics else None, r.data.params, metrics, r.data.tags.get("unit.latency"), r.data.tags.get("cooling")])
print(json.dumps(sorted(lines, key=str)), end="")
`

// TestMLflowOut: the recipe for MLflow writes each run with its axes, samples, units and tags, once, however often it is run.
func TestMLflowOut(t *testing.T) {
	t.Parallel()
	programtest.NeedsLong(t)
	python := programtest.PythonWith(t, "mlflow", "mlflow, sqlalchemy")
	recipe := regexp.MustCompile("(?s)neurolens (export [^\n]*) > runs.jsonl\npython3 - <<'PYTHON'\n(import [^`]*mlflow.*?)\nPYTHON\n").
		FindStringSubmatch(programtest.RepositoryFile(t, "docs/recipes.md"))
	valuetest.Equal(t, len(recipe), 3, "the recipe")
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "in.jsonl", `{"benchmark": "lab", "params": {"impl": "old"}, "batch_size": 4, "started_at": "2026-02-01T00:00:00.5Z", "tags": {"cooling": "air"}, "samples": [{"metric": "latency", "unit": "ns", "values": [5, 7.5, 6]}, {"metric": "loss", "values": ["NaN", 0.1]}]}
{"benchmark": "lab", "params": {"impl": "new"}, "status": "error", "error": "no memory"}
`)
	programtest.Output(t, dir, "ingest", "in.jsonl")
	run := func(script string) string {
		t.Helper()
		cmd := exec.Command(python, "-c", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		return ends(t, cmd)
	}
	for range 2 {
		programtest.WriteFile(t, dir, "runs.jsonl", programtest.Output(t, dir, strings.Fields(recipe[1])...))
		run(recipe[2])
	}
	valuetest.Equal(t, run(mlflowRuns), `[["lab", "FAILED", null, {"impl": "new"}, {}, null, null], `+
		`["lab", "FINISHED", 1769904000500, {"impl": "old", "batch_size": "4"}, {"latency": [5.0, 7.5, 6.0], "loss": [NaN, 0.1]}, "ns", "air"]]`)
}
