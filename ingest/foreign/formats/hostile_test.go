package formats

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/schema"
)

// readMachine reads a text as one format and gives the runs.
func readMachine(t *testing.T, format foreign.Format, text string) ([]schema.Run, foreign.Report, error) {
	t.Helper()
	in, err := foreign.FromReader(strings.NewReader(text), "results", nil)
	if err != nil {
		t.Fatal(err)
	}
	var runs []schema.Run
	report, err := foreign.NewReader(foreign.Added{}, nil).Read(in, &format, func(valid schema.Valid) bool {
		r := valid.Run()
		runs = append(runs, r)
		return true
	})
	return runs, report, err
}

// TestHostile: what no tool writes is refused or left away; it takes neither long nor much memory.
func TestHostile(t *testing.T) {
	deep := strings.Repeat(`[`, 20_000)
	wide := strings.Repeat("1.5 ", 200_000)
	for name, tt := range map[string]struct {
		format foreign.Format
		text   string
		runs   int
	}{
		"nccl: deep":      {ncclTests(), `{"nccl_version":1,"config":{"nthreads":1,"ngpus":1},"results":` + deep, 0},
		"nccl: wide":      {ncclTests(), "# size count type time algbw busbw #wrong\n 8 2 float " + wide + "\n 8 2 float 1 1 1 0 1 1 1 0", 2},
		"nccl: huge":      {ncclTests(), "# size count type time algbw busbw #wrong\n 8 2 float 1e999 1 1 0 1 1 1 0", 2},
		"nccl: ranks":     {ncclTests(), `{"nccl_version":1,"config":{"nthreads":9e18,"ngpus":9e18,"devices":[{}]},"results":[{"in_place":{"time":1}}]}`, 1},
		"nvb: wide":       {nvbandwidth(), "nvbandwidth Version: v1\nRunning x.\ncopy GPU(column) (GB/s)\n0 " + wide + "\n0 " + wide, 0},
		"nvb: parts":      {nvbandwidth(), `{"nvbandwidth":{"testcases":[{"name":"x","bandwidth_description":"a Total bandwidth","bandwidth_matrix":[[],[],[]]}]}}`, 0},
		"fio: deep":       {fio(), "{\n\"fio version\":\"fio-3\",\"jobs\":" + deep, 0},
		"fio: times":      {fio(), `{"fio version":"fio-3","timestamp":9e18,"jobs":[{"elapsed":-9e18,"read":{"iops":1,"runtime":1e300}}]}`, 1},
		"fio: no end":     {fio(), "{\n\"fio version\":\"fio-3\",\"jobs\":[{\"read\":{\"iops\":1}}", 1},
		"sysbench: wide":  {sysbench(), "sysbench 1.0.20 (using system LuaJIT)\n[ 1s ] " + wide + "\n[ 2s ] thds: 1 eps: 5.0 lat (ms,95%): 1.0", 1},
		"sysbench: huge":  {sysbench(), "sysbench 1.0.20 (using system LuaJIT)\n    total time:    99999999999999999999999999999999999999.0s", 1},
		"reframe: deep":   {reframe()[0], `{"session_info":{"data_version":"4.1"},"runs":` + deep, 0},
		"reframe: times":  {reframe()[0], `{"session_info":{"data_version":"4.1"},"runs":[{"testcases":[{"name":"x","result":"pass","job_submit_time":1e300,"time_run":1e300}]}]}`, 1},
		"perflog: params": {reframe()[1], "2024-01-02T03:04:05|reframe 4|x" + strings.Repeat(" %a=1", 20_000) + " on a:b using c|jobid=1|v=1|s", 1},
	} {
		t.Run(name, func(t *testing.T) {
			runs, report, err := readMachine(t, tt.format, tt.text)
			if len(runs) != tt.runs {
				t.Errorf("%d runs, want %d\n%s", len(runs), tt.runs, foreigntest.Report(report, err))
			}
		})
	}
}

// TestNCCLEnvironment: the environment of the process, which the JSON has, is nowhere in its runs.
func TestNCCLEnvironment(t *testing.T) {
	runs, _, err := readMachine(t, ncclTests(), `{"env":["TOKEN=do-not-store"],"nccl_version":22903,"config":{"nthreads":1,"ngpus":1},
		"results":[{"size":8,"type":"float","in_place":{"time":1.5}}]}`)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	if text := foreigntest.Run(&runs[0]); strings.Contains(text, "TOKEN") || strings.Contains(text, "do-not-store") {
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
			runs, r, err := readMachine(t, fio(), tt.text)
			if err != nil || len(runs) != tt.runs {
				t.Errorf("%d runs, want %d\n%s", len(runs), tt.runs, foreigntest.Report(r, err))
			}
		})
	}
}
