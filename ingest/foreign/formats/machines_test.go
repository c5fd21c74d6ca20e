package formats

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// TestFIOFailedAtOnce: a job that moved nothing before it failed has no rates of 0.
func TestFIOFailedAtOnce(t *testing.T) {
	const text = `{"fio version":"fio-3.33","jobs":[{"jobname":"z","error":25,"job options":{"rw":"trim"},
		"trim":{"io_bytes":0,"total_ios":1,"iops":0.0,"bw_bytes":0,"bw":0,"runtime":1}}]}`
	runs, report, err := readTextOf(t, fio, text)
	if err != nil || len(runs) != 1 || runs[0].Status != schema.StatusError || len(runs[0].Metrics) > 0 {
		t.Errorf("%+v, %+v, %v", runs, report, err)
	}
}

// TestEnds: where a file says when a job or a test ended, the run began as long before as it took.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"fio of a client": {`{"fio version": "fio-3.36", "timestamp": 1700000000, "client_stats": [{"jobname": "w", "error": 0, "hostname": "lab3", ` +
			`"read": {"io_bytes": 4096, "iops": 1.0, "runtime": 4000, "total_ios": 1}, "write": {"io_bytes": 4096, "iops": 1.0, "runtime": 10250, "total_ios": 1}}]}`, "2023-11-14T22:13:09.75Z"},
		"fio that says how much time has elapsed": {`{"fio version": "fio-3.36", "timestamp": 1700000000, "jobs": [{"jobname": "w", "error": 0, "elapsed": 11, ` +
			`"write": {"io_bytes": 4096, "iops": 1.0, "runtime": 10250, "total_ios": 1}}]}`, "2023-11-14T22:13:09Z"},
		"fio without a runtime": {`{"fio version": "fio-3.36", "timestamp": 1700000000, "client_stats": [{"jobname": "w", "error": 0, ` +
			`"write": {"io_bytes": 4096, "iops": 1.0, "total_ios": 1}}]}`, "2023-11-14T22:13:20Z"},
		"ReFrame without the time of submission": {`{"session_info": {"data_version": "3.0", "version": "4.0.0"}, "runs": [{"testcases": [{"name": "T", "system": "s:p", "environment": "gnu", ` +
			`"result": "success", "job_completion_time_unix": 1700000000, "time_run": 20.25, "perfvars": [{"name": "x", "value": 2, "unit": "s"}]}]}]}`, "2023-11-14T22:12:59.75Z"},
	} {
		_, _, runs, err := One(All(), fstest.MapFS{"x.json": {Data: []byte(c.text)}}, "x.json")
		if err != nil || len(runs) == 0 {
			t.Errorf("%s: %d runs, %v", name, len(runs), err)
			continue
		}
		for _, r := range runs {
			if got := r.StartedAt.Format(time.RFC3339Nano); got != c.want {
				t.Errorf("%s: began at %s, want %s", name, got, c.want)
			}
		}
	}
}

// TestHostile: input that no tool writes is refused or left out, in little time and memory.
func TestHostile(t *testing.T) {
	deep := strings.Repeat(`[`, 20_000)
	wide := strings.Repeat("1.5 ", 200_000)
	for name, tt := range map[string]struct {
		format foreign.Format
		text   string
		runs   int
	}{
		"nccl: deep":      {ncclTests, `{"nccl_version":1,"config":{"nthreads":1,"ngpus":1},"results":` + deep, 0},
		"nccl: wide":      {ncclTests, "# size count type time algbw busbw #wrong\n 8 2 float " + wide + "\n 8 2 float 1 1 1 0 1 1 1 0", 2},
		"nccl: huge":      {ncclTests, "# size count type time algbw busbw #wrong\n 8 2 float 1e999 1 1 0 1 1 1 0", 2},
		"nccl: ranks":     {ncclTests, `{"nccl_version":1,"config":{"nthreads":9e18,"ngpus":9e18,"devices":[{}]},"results":[{"in_place":{"time":1}}]}`, 1},
		"nvb: wide":       {nvbandwidth, "nvbandwidth Version: v1\nRunning x.\ncopy GPU(column) (GB/s)\n0 " + wide + "\n0 " + wide, 0},
		"nvb: parts":      {nvbandwidth, `{"nvbandwidth":{"testcases":[{"name":"x","bandwidth_description":"a Total bandwidth","bandwidth_matrix":[[],[],[]]}]}}`, 0},
		"fio: deep":       {fio, "{\n\"fio version\":\"fio-3\",\"jobs\":" + deep, 0},
		"fio: times":      {fio, `{"fio version":"fio-3","timestamp":9e18,"jobs":[{"elapsed":-9e18,"read":{"iops":1,"runtime":1e300}}]}`, 1},
		"fio: no end":     {fio, "{\n\"fio version\":\"fio-3\",\"jobs\":[{\"read\":{\"iops\":1}}", 1},
		"sysbench: wide":  {sysbench, "sysbench 1.0.20 (using system LuaJIT)\n[ 1s ] " + wide + "\n[ 2s ] thds: 1 eps: 5.0 lat (ms,95%): 1.0", 1},
		"sysbench: huge":  {sysbench, "sysbench 1.0.20 (using system LuaJIT)\n    total time:    99999999999999999999999999999999999999.0s", 1},
		"reframe: deep":   {reframe[0], `{"session_info":{"data_version":"4.1"},"runs":` + deep, 0},
		"reframe: times":  {reframe[0], `{"session_info":{"data_version":"4.1"},"runs":[{"testcases":[{"name":"x","result":"pass","job_submit_time":1e300,"time_run":1e300}]}]}`, 1},
		"perflog: params": {reframe[1], "2024-01-02T03:04:05|reframe 4|x" + strings.Repeat(" %a=1", 20_000) + " on a:b using c|jobid=1|v=1|s", 1},
	} {
		t.Run(name, func(t *testing.T) {
			runs, report, err := readTextOf(t, tt.format, tt.text)
			if len(runs) != tt.runs {
				t.Errorf("%d runs, want %d\n%s", len(runs), tt.runs, Report(report, err))
			}
		})
	}
}

// TestNCCLEnvironment: the environment of the process, which the JSON has, is nowhere in its runs.
func TestNCCLEnvironment(t *testing.T) {
	runs, _, err := readTextOf(t, ncclTests, `{"env":["TOKEN=do-not-store"],"nccl_version":22903,"config":{"nthreads":1,"ngpus":1},
		"results":[{"size":8,"type":"float","in_place":{"time":1.5}}]}`)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	if text := Run(&runs[0]); strings.Contains(text, "TOKEN") || strings.Contains(text, "do-not-store") {
		t.Error(text)
	}
}

// TestFIOConcatenated: two reports of one launch are one, of two launches two.
func TestFIOConcatenated(t *testing.T) {
	report := func(second, elapsed, ios string) string {
		return `{"fio version":"fio-3.33","timestamp":17000000` + second + `,"jobs":[{"jobname":"a","elapsed":` + elapsed +
			`,"read":{"iops":1.5,"total_ios":` + ios + `}}]}` + "\n"
	}
	for name, tt := range map[string]struct {
		text string
		runs int
	}{
		"later report":  {report("10", "5", "100") + report("20", "15", "300"), 1},
		"later launch":  {report("10", "5", "100") + report("20", "5", "100"), 2},
		"less was done": {report("10", "5", "100") + report("11", "6", "50"), 2},
		"text between":  {"starting\n" + report("10", "5", "100"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			runs, r, err := readTextOf(t, fio, tt.text)
			if err != nil || len(runs) != tt.runs {
				t.Errorf("%d runs, want %d\n%s", len(runs), tt.runs, Report(r, err))
			}
		})
	}
}
