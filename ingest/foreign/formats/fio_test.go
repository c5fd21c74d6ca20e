package formats

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/schema"
)

func FuzzFIO(f *testing.F) { foreigntest.Fuzz(f, fio(), root, "fio") }

// TestFIOFailedAtOnce: a job that moved nothing before it failed has no rates of 0.
func TestFIOFailedAtOnce(t *testing.T) {
	const text = `{"fio version":"fio-3.33","jobs":[{"jobname":"z","error":25,"job options":{"rw":"trim"},
		"trim":{"io_bytes":0,"total_ios":1,"iops":0.0,"bw_bytes":0,"bw":0,"runtime":1}}]}`
	runs, report, err := readMachine(t, fio(), text)
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
		_, _, runs, err := foreigntest.One(All(), fstest.MapFS{"x.json": {Data: []byte(c.text)}}, "x.json")
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
