package formats

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func FuzzGoogleBenchmark(f *testing.F) {
	foreigntest.Fuzz(f, googleBenchmark(), root, "google-benchmark")
}

// TestSecretContext: what users add to the context under the name of a secret is not stored, and counted.
func TestSecretContext(t *testing.T) {
	const text = `{"context": {"date": "2026-11-01T10:00:00+00:00", "num_cpus": 2, "library_build_type": "release", "SECRET_TOKEN": "hunter2", "api_key": "hunter2", "commit": "abc"},
		"benchmarks": [{"name": "BM_a", "run_name": "BM_a", "run_type": "iteration", "iterations": 10, "real_time": 5.0, "cpu_time": 5.0, "time_unit": "ns"}]}`
	_, report, runs, err := foreigntest.One(All(), fstest.MapFS{"x.json": {Data: []byte(text)}}, "x.json")
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	if facts := fmt.Sprint(runs[0].Env.Facts); strings.Contains(facts, "hunter2") || runs[0].Env.Facts["context.commit"] != "abc" {
		t.Error(facts)
	}
	if n := report.LeftOut["members of the context whose names look like secrets"]; n != 2 {
		t.Errorf("left out: %v, want 2 secrets", report.LeftOut)
	}
}
