package formats

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// mlflowRuns reads the runs of a database or a folder and returns a text of each, in the order of texts.
func mlflowRuns(t *testing.T, dir, name string, text func(r *schema.Run) string) (texts []string) {
	t.Helper()
	valuetest.OK(t, fs.WalkDir(os.DirFS(dir), name, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".db") && d.Name() != "meta.yaml" {
			return err
		}
		format, _, runs, err := One(All(), os.DirFS(dir), name)
		if err != nil || format.Read == nil {
			return err
		}
		for _, r := range runs {
			texts = append(texts, text(&r))
		}
		return nil
	}))
	slices.Sort(texts)
	return texts
}

// mlflowText returns what MLflow knows of a run: name, status, batch size, commit, and each metric with its values and times.
func mlflowText(r *schema.Run) string {
	text := fmt.Sprint(r.Tags["run_name"], " ", r.Status, " ", *r.BatchSize, " ", r.Env.GitCommit)
	for _, m := range r.Metrics {
		text += fmt.Sprint(" ", m.Name, m.Values(), m.AtNS)
	}
	return text
}

// TestMLflowStores: the runs of a database and of a folder are the same.
func TestMLflowStores(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(root, "fixtures", "results", "mlflow")
	database, folder := mlflowRuns(t, dir, "mlflow.db", mlflowText), mlflowRuns(t, dir, "mlruns", mlflowText)
	valuetest.DeepEqual(t, database, folder)
	valuetest.DeepEqual(t, database, []string{
		"failed error 16 0123abcd loss[2] [0]", "finished ok 8 0123abcd big[+Inf] [0] latency_ms[12.5] [0] loss[1.5 0.75 NaN] [0 1000000000 2000000000]",
		"killed cancelled 32 0123abcd loss[2.5] [0]",
	})
}

// mlflowScript logs runs into a store, and prints what MLflow's own search finds: name, status and last value of a metric.
const mlflowScript = `import json, sys, mlflow
mlflow.set_tracking_uri(sys.argv[1])
client = mlflow.MlflowClient()
experiment = client.create_experiment("lab")
for name, status, losses in ("a", "FINISHED", [3, 0.1]), ("b", "FAILED", [1e-9]), ("c", "KILLED", [-2.5]), ("d", "RUNNING", [7]):
    run = client.create_run(experiment, run_name=name, start_time=1764000000000).info.run_id
    client.log_param(run, "batch_size", len(losses))
    for step, loss in enumerate(losses):
        client.log_metric(run, "loss", loss, timestamp=1764000000000 + step, step=step)
    if status != "RUNNING":
        client.set_terminated(run, status)
found = mlflow.search_runs([experiment])
json.dump([[r["tags.mlflow.runName"], r["status"], r["metrics.loss"]] for _, r in found.iterrows()] if hasattr(found, "iterrows") else
    [[r.info.run_name, r.info.status, r.data.metrics["loss"]] for r in found], sys.stdout)
`

// TestMLflowSearch: of stores that MLflow makes, the runs that have ended are those of its own search, with its values.
func TestMLflowSearch(t *testing.T) {
	if !long() {
		t.Skip("MLflow takes seconds to make a database: set NEUROLENS_LONG")
	}
	t.Parallel()
	python := valuetest.Python(t, "mlflow", "mlflow,sqlalchemy,pandas")
	for name, scheme := range map[string]string{"mlflow.db": "sqlite:///", "mlruns": "file://"} {
		dir := t.TempDir()
		cmd := exec.Command(python, "-c", mlflowScript, scheme+filepath.Join(dir, name))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "MLFLOW_ALLOW_FILE_STORE=true")
		out, err := cmd.Output()
		valuetest.OK(t, err, name)
		var found [][]any
		valuetest.OK(t, json.Unmarshal(out, &found), string(out))
		valuetest.Equal(t, len(found), 4, name)
		var want []string
		for _, r := range found {
			if status := mlflowStatuses[fmt.Sprint(r[1])]; status != "" {
				want = append(want, fmt.Sprint(r[0], " ", status, " ", r[2]))
			}
		}
		slices.Sort(want)
		got := mlflowRuns(t, dir, name, func(r *schema.Run) string {
			values := r.Metric("loss").Values()
			return fmt.Sprint(r.Tags["run_name"], " ", r.Status, " ", values[len(values)-1])
		})
		valuetest.DeepEqual(t, got, want, name)
	}
}
