package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/schema"
)

func FuzzJSONLines(f *testing.F) { foreigntest.Fuzz(f, jsonLines(), root, "jsonl") }

// read reads a text of a format.
func read(t *testing.T, format foreign.Format, text string) ([]schema.Run, foreign.Report, error) {
	t.Helper()
	in, err := foreign.FromReader(strings.NewReader(text), "text", nil)
	if err != nil {
		t.Fatal(err)
	}
	var runs []schema.Run
	report, err := foreign.NewReader(foreign.Added{}, nil).Read(in, &format, func(valid schema.Valid) bool { runs = append(runs, valid.Run()); return true })
	return runs, report, err
}

// TestMisspeltColumn: a mapping that names a column which the table has not is no mapping of that table.
func TestMisspeltColumn(t *testing.T) {
	format, err := Mapped(CSV, []byte("benchmark: b\nfields: {bacth: batch_size}\nmetrics: {t: {metric: latency, unit: us}}\nignore: ['*']\n"))
	if err != nil {
		t.Fatal(err)
	}
	runs, _, err := read(t, format, "batch,t\n1,2\n")
	if len(runs) > 0 || err == nil || !strings.Contains(err.Error(), `did you mean "batch"?`) {
		t.Errorf("%+v, %v", runs, err)
	}
}

// TestOwnID: a run that has an id of its own keeps it, and all that it is.
func TestOwnID(t *testing.T) {
	const line = `{"run_id": "01M803WFHRY38F8GJ8TH75NQVV", "started_at": "2026-11-21T22:33:28.888437Z", "time_source": "clock", "purpose": "profile",
		"source": "neurolens", "benchmark": "b", "params": {}, "status": "ok", "metric": "latency", "samples": [{"metric": "latency", "unit": "ns", "tick": 1, "ticks": []}]}`
	runs, report, err := read(t, jsonLines(), line)
	if err != nil || len(runs) != 1 || report.Refused > 0 {
		t.Fatalf("%v, %+v", err, report)
	}
	r := runs[0]
	if r.RunID != "01M803WFHRY38F8GJ8TH75NQVV" || r.Params == nil || r.Metrics[0].Ticks == nil || r.Purpose != schema.PurposeProfile || r.TimeSource != schema.TimeClock {
		t.Errorf("%+v", r)
	}
	_, report, _ = read(t, jsonLines(), strings.Replace(line, `, "samples": [{"metric": "latency", "unit": "ns", "tick": 1, "ticks": []}]`, "", 1))
	if report.Refused != 1 || !strings.Contains(report.Refusals[0].Why, "without its samples") {
		t.Errorf("a run without its samples: %+v", report)
	}
}

// TestExample: a run in a page about the format is an example.
func TestExample(t *testing.T) {
	const run = `{"benchmark": "b", "samples": [{"metric": "latency", "unit": "us", "values": [1]}]}` + "\n"
	for text, want := range map[string]bool{run: true, "\ufeff\n " + run: true, "# Title\n\nOne run a line:\n" + run: false} {
		in, err := foreign.FromReader(strings.NewReader(text), "README.md", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := isRunLine(in.Head); got != want {
			t.Errorf("%q: recognised %t", text, got)
		}
	}
}

// TestFailedRequests: failed requests are a warning wherever the metric comes from, unless the record has it, or says that they are allowed.
func TestFailedRequests(t *testing.T) {
	const head = `{"benchmark": "b", "samples": [{"metric": "latency", "unit": "ms", "values": [1]}, {"metric": "requests_failed", "better": "lower", "level": "process", "values": [`
	for record, want := range map[string]string{
		head + `16]}]}`: "16 requests failed",
		head + `0]}]}`:  "",
		head + `16]}], "env": {"requests.completed": "8"}}`:                             "16 of 24 requests failed",
		head + `16]}], "warnings": ["16 requests failed"]}`:                             "16 requests failed",
		head + `16]}], "warnings": ["16 requests failed, as allow_failed: 20 allows"]}`: "16 requests failed, as allow_failed: 20 allows",
	} {
		runs, _, err := read(t, jsonLines(), record+"\n")
		if err != nil || len(runs) != 1 {
			t.Errorf("%s: %d runs, %v", record, len(runs), err)
			continue
		}
		if got := strings.Join(runs[0].Warnings, "; "); got != want {
			t.Errorf("%s: %q, want %q", record, got, want)
		}
	}
}

// TestManyMembers: an object with very many members is refused, whichever it is. A list of as many numbers is not.
func TestManyMembers(t *testing.T) {
	var members strings.Builder
	for i := range maxMembers + 1 {
		fmt.Fprintf(&members, `,"k%d":1`, i)
	}
	many := "an object of more than 100000 members"
	for text, want := range map[string]string{
		`{"benchmark":"x","status":"ok"` + members.String() + `}`:                                                         many,
		`{"benchmark":"x","status":"ok","params":{` + members.String()[1:] + `}}`:                                         "params: " + many,
		`{"benchmark":"x","status":"ok","samples":[{"metric":"m"` + members.String() + `}]}`:                              "samples: " + many,
		`{"benchmark":"x","status":"ok","samples":[{}` + strings.Repeat(",{}", maxMembers) + `]}`:                         "samples: a list of more than 100000 rows",
		`{"benchmark":"x","status":"ok","ops":[{}` + strings.Repeat(",{}", maxMembers) + `]}`:                             "ops: a list of more than 100000 rows",
		`{"benchmark":"x","status":"ok","samples":[{"metric":"m","values":[1` + strings.Repeat(",1", maxMembers) + `]}]}`: "",
	} {
		if _, _, err := runOfLine([]byte(text)); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
}
