package formats

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// readTextOf reads a text of a format.
func readTextOf(t *testing.T, format foreign.Format, text string) ([]schema.Run, foreign.Report, error) {
	t.Helper()
	report, runs, err := Read(Input(t, "text", text), format)
	return runs, report, err
}

// mappedFormat returns the format of a mapping.
func mappedFormat(tb testing.TB, table string, mapping []byte) foreign.Format {
	tb.Helper()
	format, err := Mapped(table, mapping)
	if err != nil {
		tb.Fatal(err)
	}
	return format
}

// TestMisspeltColumn: a mapping that names a column which the table has not is no mapping of that table.
func TestMisspeltColumn(t *testing.T) {
	format := mappedFormat(t, CSV, []byte("benchmark: b\nfields: {bacth: batch_size}\nmetrics: {t: {metric: latency, unit: us}}\nignore: ['*']\n"))
	runs, _, err := readTextOf(t, format, "batch,t\n1,2\n")
	if len(runs) > 0 || err == nil || !strings.Contains(err.Error(), `did you mean "batch"?`) {
		t.Errorf("%+v, %v", runs, err)
	}
}

// TestOwnID: a run that has an id of its own keeps it, and all that it is.
func TestOwnID(t *testing.T) {
	const line = `{"run_id": "01M803WFHRY38F8GJ8TH75NQVV", "started_at": "2026-11-21T22:33:28.888437Z", "time_source": "clock", "purpose": "profile",
		"source": "neurolens", "benchmark": "b", "params": {}, "status": "ok", "metric": "latency", "samples": [{"metric": "latency", "unit": "ns", "tick": 1, "ticks": []}]}`
	runs, report, err := readTextOf(t, jsonLines, line)
	if err != nil || len(runs) != 1 || report.Refused > 0 {
		t.Fatalf("%v, %+v", err, report)
	}
	r := runs[0]
	if r.RunID != "01M803WFHRY38F8GJ8TH75NQVV" || r.Params == nil || r.Metrics[0].Ticks == nil || r.Purpose != schema.PurposeProfile || r.TimeSource != schema.TimeClock {
		t.Errorf("%+v", r)
	}
	_, report, _ = readTextOf(t, jsonLines, strings.Replace(line, `, "samples": [{"metric": "latency", "unit": "ns", "tick": 1, "ticks": []}]`, "", 1))
	if report.Refused != 1 || !strings.Contains(report.Refusals[0].Why, "without its samples") {
		t.Errorf("a run without its samples: %+v", report)
	}
}

// TestExample: a run in a page about the format is an example.
func TestExample(t *testing.T) {
	const run = `{"benchmark": "b", "samples": [{"metric": "latency", "unit": "us", "values": [1]}]}` + "\n"
	for text, want := range map[string]bool{run: true, "\ufeff\n " + run: true, "# Title\n\nOne run a line:\n" + run: false} {
		in := Input(t, "README.md", text)
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
		runs, _, err := readTextOf(t, jsonLines, record+"\n")
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

// TestJSONSchema: the published schema matches the columns.
func TestJSONSchema(t *testing.T) {
	want, err := json.MarshalIndent(runSchemaOf(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	Compare(t, "run.schema.json", string(want)+"\n")
}

type object = map[string]any

func runSchemaOf() object {
	properties := propertiesOf(schema.Runs.Columns)
	samples := propertiesOf(schema.Samples.Columns[1:])
	samples["values"] = object{
		"description": "samples in the given unit (any that NeuroLens knows, such as us, ms, s, KiB, GB/s, %), instead of ticks and reals",
		"type":        "array", "items": number(),
	}
	properties[sessionMember] = object{
		"description": "the session of the run: a ULID, or any name, which means the same session within this file. Without it, the runs of one day (UTC) on one machine " +
			"are one session. Without started_at as well, the run belongs to no session and gets no verdict.",
		"type": []string{"string", "number", "null"},
	}
	properties[samplesMember] = object{
		"description": "the metrics of the run", "type": []string{"array", "null"},
		"items": object{"type": "object", "properties": samples, "required": []string{"metric"}, "additionalProperties": false},
	}
	properties[opsMember] = object{
		"description": "the operators and kernels of a profiled run", "type": []string{"array", "null"},
		"items": object{"type": "object", "properties": propertiesOf(schema.Ops.Columns[1:]), "additionalProperties": false},
	}
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "NeuroLens run",
		"description": "One line of the format jsonl. Unknown values are null or left out. Leave out run_id: it is computed from the content. " +
			"Digest, summary and warnings are computed again from the samples; a metric without samples keeps its summary.",
		"type": "object", "properties": properties, "required": []string{"benchmark"}, "additionalProperties": false,
	}
}

func propertiesOf(columns []*schema.Column) object {
	properties := object{}
	for _, c := range columns {
		p := typeOf(c)
		p["description"] = c.Doc
		if c.Unit != "" && c.Unit != schema.UnitOfRow {
			p["description"] = c.Doc + " [" + c.Unit + "]"
		}
		properties[c.Name] = p
	}
	return properties
}

func number() object {
	return object{"anyOf": []any{object{"type": "number"}, object{"enum": []string{"NaN", "Infinity", "-Infinity"}}}}
}

func typeOf(c *schema.Column) object {
	switch c.Kind {
	case schema.KindInt:
		return object{"type": []string{"integer", "null"}}
	case schema.KindReal:
		n := number()
		n["anyOf"] = append(n["anyOf"].([]any), object{"type": "null"})
		return n
	case schema.KindBool:
		return object{"type": []string{"boolean", "null"}}
	case schema.KindTime:
		return object{"type": []string{"string", "null"}, "format": "date-time"}
	case schema.KindList:
		return object{"type": []string{"array", "null"}, "items": elementOf(c.Children[0])}
	case schema.KindMap:
		values := object{"type": []string{"string", "number", "boolean", "null"}}
		if c.Children[1].Kind == schema.KindReal {
			values = number()
		}
		return object{"type": []string{"object", "null"}, "additionalProperties": values}
	}
	return object{"type": []string{"string", "null"}}
}

func elementOf(c *schema.Column) object {
	switch c.Kind {
	case schema.KindReal:
		return number()
	case schema.KindInt:
		return object{"type": "integer"}
	case schema.KindStruct:
		return object{"type": "object", "properties": propertiesOf(c.Children), "additionalProperties": false}
	}
	return object{"type": "string"}
}
