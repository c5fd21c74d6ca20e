package export_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

var update = flag.Bool("update", false, "write the golden files anew; look at the difference")

// hostile is a value that has to be escaped.
const hostile = "a\"b\\c\nd\\ne\x1b#}"

// metricsStore makes a store with repeats, failed runs, points without an ok run, removed runs, and names that are not those of labels.
func metricsStore(t *testing.T) string {
	metric := func(name, unit string, values ...float64) schema.Metric {
		return schema.Metric{Name: name, Unit: unit, Tick: 0, Reals: values, Summary: stat.Summarize(values)}
	}
	n := 0
	var runs []schema.Run
	add := func(benchmark string, edit func(*schema.Run)) {
		n++
		runs = append(runs, querytest.NewRun(n, 1000, func(r *schema.Run) {
			r.Benchmark, r.BatchSize = benchmark, nil
			r.Params = map[string]string{"dim": "64"}
			edit(r)
		}))
	}
	failed := func(r *schema.Run) {
		r.Status, r.Stage, r.Error = schema.StatusTimeout, schema.StageMeasure, "too slow"
	}
	add("repeated", func(r *schema.Run) {
		r.Metrics = []schema.Metric{metric("latency", "ns", 5, 7)}
		r.Env.GitCommit = "old"
	})
	add("repeated", func(r *schema.Run) { // it names no commit
		r.Metrics = []schema.Metric{
			metric("latency", "ns", 1500, 2500), metric("power", "mW", 2500), metric("clock_sm", "MHz", 1.5), metric("energy", "mJ", 0),
			metric("tokens", "tokens/s", 10), metric("bandwidth", "B/s", 1e300), metric("gpu.util", "ratio", 0.25), metric("gpu_util", "ratio", 0.75), metric("loss", "", math.NaN()),
		}
		r.Primary = "latency"
	})
	add("repeated", failed)
	add("failed", failed)
	add("hostile", func(r *schema.Run) {
		r.Variant, r.Env.GitCommit = hostile, "0123abc"
		r.Params = map[string]string{"machine": hostile, "a.b": "1", "a_b": "2", "0": "3", "__x": "4", "größe": "5"}
	})
	add("empty", func(r *schema.Run) { r.Params = map[string]string{"a_b": ""} })
	add("empty", func(r *schema.Run) { r.Params = nil })
	add("elsewhere", func(r *schema.Run) { r.Env.Machine = "lab4" })
	add("elsewhere", func(*schema.Run) {})
	add("aggregates", func(r *schema.Run) { // of an imported file without samples
		r.Metrics = []schema.Metric{{Name: "latency", Unit: "ns", Summary: schema.Summary{N: new(int64(9)), Mean: new(3.5)}}}
	})
	add("startless", func(r *schema.Run) { r.StartedAt = time.Time{}; r.TimeSource = "" })
	add("profile", func(r *schema.Run) { r.Purpose = schema.PurposeProfile })
	add("removed", func(*schema.Run) {})
	store := querytest.NewStore(t, runs...)
	querytest.Annotate(t, store, ingest.Annotation{Kind: schema.EventRemove, Runs: []string{runs[len(runs)-1].RunID}})
	return store
}

// openMetrics exports the newest results of a store.
func openMetrics(t *testing.T, filter string) (text []byte, rows int64) {
	t.Helper()
	var out bytes.Buffer
	done, err := export.Write(t.Context(), querytest.Open(t, metricsStore(t)), export.Request{Dest: "-", Format: export.OpenMetrics, Filter: filter, Stdout: &out})
	valuetest.OK(t, err)
	return out.Bytes(), done.Files[0].Rows
}

// TestOpenMetrics: the text of a store is the golden one.
func TestOpenMetrics(t *testing.T) {
	t.Parallel()
	const golden = "testdata/openmetrics.prom"
	text, _ := openMetrics(t, "")
	if *update {
		valuetest.OK(t, os.WriteFile(golden, text, 0o666))
	}
	valuetest.Equal(t, string(text), string(valuetest.Must(os.ReadFile(golden))))
	some, _ := openMetrics(t, "benchmark=failed")
	valuetest.Equal(t, strings.Count(string(some), "\n"), 4, string(some))
	none, rows := openMetrics(t, "benchmark=nothing")
	valuetest.Equal(t, string(none), "# EOF\n")
	valuetest.Equal(t, rows, 0)
}

// parsedMetrics is a program that prints the samples of a text, which it reads as OpenMetrics and in the older format of Prometheus.
const parsedMetrics = `import json, sys
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics
text = sys.stdin.buffer.read().decode()
def families(read): return [[f.name, f.documentation, f.type, [[s.name, s.labels, repr(s.value)] for s in f.samples]] for f in read(text)]
new, old = families(openmetrics.text_string_to_metric_families), families(parser.text_string_to_metric_families)
assert new == old, (new, old)
json.dump([s for f in new for s in f[3]], sys.stdout)
`

// TestOpenMetricsParsed: the parser of the specification reads every line, and gives back the labels of stored names.
func TestOpenMetricsParsed(t *testing.T) {
	t.Parallel()
	python := valuetest.Python(t, "prometheus_client", "prometheus_client")
	text, rows := openMetrics(t, "")
	cmd := exec.Command(python, "-c", parsedMetrics)
	cmd.Stdin = bytes.NewReader(text)
	var samples [][]any
	valuetest.OK(t, json.Unmarshal([]byte(valuetest.Run(t, cmd)), &samples))
	valuetest.Equal(t, int64(len(samples)), rows)
	series, escaped := map[string]bool{}, 0
	for _, s := range samples {
		labels, _ := s[1].(map[string]any)
		if labels["benchmark"] == "hostile" {
			valuetest.DeepEqual(t, []any{labels["variant"], labels["param_machine"], labels["machine"]}, []any{hostile, hostile, "lab3"})
			escaped++
		}
		key := string(valuetest.Must(json.Marshal(s[:2])))
		if series[key] {
			t.Errorf("the series %s is there twice", key)
		}
		series[key] = true
	}
	valuetest.Equal(t, escaped, 5, "series with values that are escaped")
}
