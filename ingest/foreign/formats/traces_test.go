package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/schema"
)

const root = "../../.."

func FuzzONNXRuntime(f *testing.F) { foreigntest.Fuzz(f, onnxRuntime(), root, "onnxruntime") }
func FuzzNsys(f *testing.F)        { foreigntest.Fuzz(f, nsysSQLite(), root, "nsys") }
func FuzzNsysStats(f *testing.F)   { foreigntest.Fuzz(f, nsysStats(), root, "nsys-stats") }
func FuzzNCU(f *testing.F)         { foreigntest.Fuzz(f, ncuCSV(), root, "ncu") }
func FuzzTorch(f *testing.F)       { foreigntest.Fuzz(f, torchProfiler(), root, "torch-profiler") }

// readTrace reads a file that is to be of one format.
func readTrace(t *testing.T, name string, content []byte) (foreign.Report, []schema.Run, error) {
	t.Helper()
	format, report, runs, err := foreigntest.One(All(), fstest.MapFS{name: {Data: content}}, name)
	if format == nil {
		t.Fatalf("%.200q: %v", content, err)
	}
	return report, runs, err
}

// TestOtherTraces: traces of other programs are nobody's.
func TestOtherTraces(t *testing.T) {
	for _, text := range []string{
		`[{"ph": "X", "cat": "blink", "name": "Layout", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {}}]`,
		`{"traceEvents": [{"ph": "X", "cat": "blink", "name": "Layout", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {"data": {}}}], "metadata": {}}`,
		`{"displayTimeUnit": "ns", "metadata": {"highres-ticks": true}, "traceEvents": [{"ph": "X", "pid": 3, "tid": 5, "name": "fusion.1", "ts": 1, "dur": 2, "args": {"hlo_op": "fusion"}}]}`,
		`[{"name": "a", "ph": "B", "ts": 1}, {"name": "a", "ph": "E", "ts": 2}]`,
		sqliteMagic + "a database of something else",
		"ID,Process ID,Name\n1,2,x\n",
	} {
		if format, _, _, _ := foreigntest.One(All(), fstest.MapFS{"file": {Data: []byte(text)}}, "file"); format != nil {
			t.Errorf("%.60q is taken as %s", text, format.Name)
		}
	}
}

// TestHostileTraces: whatever the types, there is no panic, and what can be understood is read.
func TestHostileTraces(t *testing.T) {
	const good = `{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "ts": 10, "dur": 5, "args": {"device": 0}}`
	for _, c := range []struct {
		name, text  string
		runs        int
		refused     int
		wantsReason string
	}{
		{"no events", `{"schemaVersion": 1, "traceEvents": []}`, 0, 1, "no event has a duration"},
		{"events that are no list", `{"schemaVersion": 1, "traceEvents": {"a": 1}}`, 0, 2, "an object, want an array"},
		{"an event that is no object", `{"schemaVersion": 1, "traceEvents": [7, null, [], ` + good + `]}`, 1, 3, "the event is not an object"},
		{"a name that is no string", `{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": 5, "ts": 1, "dur": 1}, ` + good + `]}`, 1, 1, "without a name"},
		{"times that are none", `{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "a", "ts": NaN, "dur": 1}, {"ph": "X", "cat": "kernel", "name": "a", "ts": 1, "dur": 1e300}, {"ph": "X", "cat": "kernel", "name": "a", "ts": 1, "dur": {}}, ` + good + `]}`, 1, 3, "is not a time"},
		{"facts of other types", `{"schemaVersion": [], "deviceProperties": 5, "distributedInfo": [1], "host_name": {}, "baseTimeNanoseconds": "soon", "traceEvents": [` + good + `]}`, 1, 4, "deviceProperties"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, runs, _ := readTrace(t, "trace.json", []byte(c.text))
			if len(runs) != c.runs || report.Refused != c.refused {
				t.Errorf("%d runs, %d refused: %v; want %d, %d", len(runs), report.Refused, report.Refusals, c.runs, c.refused)
			}
			if !strings.Contains(fmt.Sprint(report.Refusals), c.wantsReason) {
				t.Errorf("refused: %v; want %s", report.Refusals, c.wantsReason)
			}
		})
	}
}

// TestNanoseconds: decimal digits of µs stay exact.
func TestNanoseconds(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"0", 0},
		{"7", 7000},
		{"1.5", 1500},
		{"0.001", 1},
		{"4203669604595.407", 4203669604595407},
		{"1682725898236567", 1682725898236567000},
		{"1e3", 1_000_000},
		{"-5", -5000},
		{`"12.25"`, 12250},
		{"1.0004", 1000},
		{"1.00000000000000000001", 1000},
	} {
		if got, err := traceNanoseconds([]byte(c.text)); err != nil || got != c.want {
			t.Errorf("%s: %d, %v; want %d", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", `"NaN"`, "1e300", "{}", "null", "-1e17", `""`, "9999999999999999", "9999999999999999.5"} {
		if got, err := traceNanoseconds([]byte(text)); err == nil {
			t.Errorf("%s is read as %d", text, got)
		}
	}
}

func TestScan(t *testing.T) {
	text := `{ "a\"b" : "x\\" ,"args":{"c":[1,{"d":"}]"}],"e":-1.5e3}, "name" : null,"n":[]}`
	var got []string
	if err := scanObject([]byte(text), func(name, value []byte) { got = append(got, string(name)+"="+string(value)) }); err != nil {
		t.Fatal(err)
	}
	want := []string{`"a\"b"="x\\"`, `"args"={"c":[1,{"d":"}]"}],"e":-1.5e3}`, `"name"=null`, `"n"=[]`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if v := traceMember([]byte(text), "args"); string(traceMember(v, "e")) != "-1.5e3" {
		t.Errorf("the member of a member is %q", traceMember(v, "e"))
	}
}

// TestRoom: operators of ever new names are counted from some point on, not kept.
func TestRoom(t *testing.T) {
	o := newOps()
	o.room = 3 * (perName + 10)
	kept := 0
	for i := range 100 {
		if o.find(fmt.Appendf(nil, "%d", i%50), func() opKey { return opKey{name: "k"} }) != nil {
			kept++
		}
	}
	if kept != 6 || len(o.all) != 3 {
		t.Errorf("%d calls of %d operators are kept, want 6 of 3", kept, len(o.all))
	}
}
