package formats

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/schema"
)

// TestSecretContext: a member of the context with the name of a secret is counted, and not stored.
func TestSecretContext(t *testing.T) {
	const text = `{"context": {"date": "2026-11-01T10:00:00+00:00", "num_cpus": 2, "library_build_type": "release", "SECRET_TOKEN": "hunter2", "api_key": "hunter2", "commit": "abc"},
		"benchmarks": [{"name": "BM_a", "run_name": "BM_a", "run_type": "iteration", "iterations": 10, "real_time": 5.0, "cpu_time": 5.0, "time_unit": "ns"}]}`
	_, report, runs, err := One(All(), fstest.MapFS{"x.json": {Data: []byte(text)}}, "x.json")
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

// TestGoogleNames: names are split into the benchmark and its parameters.
func TestGoogleNames(t *testing.T) {
	for name, want := range map[string]string{
		"BM_x": "BM_x", "BM_x/8/-3": "BM_x param.arg0=8 param.arg1=-3", "suite/alloc/8": "suite/alloc param.arg0=8",
		"BM_x/8/word/9": "BM_x/8/word param.arg0=9", "BM_x<a/b, std::less<int>>/4": "BM_x<a/b, std::less<int>> param.arg0=4",
		"BM_x/process_time/real_time/threads:4":       "BM_x param.threads=4 param.time=process_time/real_time",
		"BM_x/dtype:int7/model:m/min_warmup_time:0.5": "BM_x model=m param.dtype=int7 param.min_warmup_time=0.5",
		"BM_x/bs:1/batch:2":                           "BM_x/bs:1/batch:2",
		"ns::call/iterations:7/repeats:2/manual_time": "ns::call param.iterations=7 param.repeats=2 param.time=manual_time",
		"BM_x/":          "BM_x/",
		"BM_(a/b)/k:v/8": "BM_(a/b) param.arg1=8 param.k=v",
	} {
		var c gbenchContext
		var r schema.Run
		c.setName(&r, name)
		if got := Point(&r); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestHeaderBehind: a header after the records applies to them, also in a large file.
func TestHeaderBehind(t *testing.T) {
	rows := strings.Repeat(`{"name": "BM_x", "iterations": 1, "real_time": 2, "cpu_time": 1, "time_unit": "ns"},`, 10_000)
	text := `{"benchmarks": [` + strings.TrimSuffix(rows, ",") + `], "context": {"host_name": "lab3", "date": "2026-01-02T03:04:05+00:00"}}`
	runs, _ := readText(t, googleBenchmark, text)
	if len(runs) != 1 || len(runs[0].Metrics[0].Ticks) != 10_000 || runs[0].Env.Hostname != "lab3" || runs[0].StartedAt.IsZero() {
		t.Errorf("got %d runs", len(runs))
	}
}

// TestGbenchCounters: a counter that is called as a metric of Google Benchmark is another metric.
func TestGbenchCounters(t *testing.T) {
	runs, _ := readText(t, googleBenchmark, `{"context":{},"benchmarks":[{"name":"BM_a","run_type":"iteration","iterations":10,
"real_time":5,"cpu_time":4,"time_unit":"us","latency":77,"throughput":3.5,"items_per_second":10,"cpu_time":8,"a b":1,"a_b":2}]}`)
	var got []string
	for i := range runs[0].Metrics {
		m := &runs[0].Metrics[i]
		got = append(got, fmt.Sprint(m.Name, m.Values(), m.Better))
	}
	want := "latency[5000]lower cpu_time[4000]lower custom.latency[77]lower custom.throughput[3.5]higher throughput[10]higher custom.cpu_time[8] a_b[1] a_b_[2]"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}
