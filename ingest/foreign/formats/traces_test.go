package formats

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// readTrace reads a file that is to be of one format.
func readTrace(t *testing.T, name string, content []byte) (foreign.Report, []schema.Run, error) {
	t.Helper()
	format, report, runs, err := One(All(), fstest.MapFS{name: {Data: content}}, name)
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
		if format, _, _, _ := One(All(), fstest.MapFS{"file": {Data: []byte(text)}}, "file"); format != nil {
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

// longTrace makes a trace of about this size: steps of operators, with their shapes, launches and kernels.
func longTrace(size int) []byte {
	var b bytes.Buffer
	b.Grow(size + 4<<10)
	b.WriteString(`{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Lab GPU"}], "baseTimeNanoseconds": 1790000000000000000, "traceEvents": [`)
	at := 4203669600000.125
	for i := 0; b.Len() < size; i++ {
		if i%1000 == 0 {
			fmt.Fprintf(&b, "\n  {\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", \"pid\": 9001, \"tid\": 9001,\n"+
				"    \"ts\": %.3f, \"dur\": 9000.250,\n    \"args\": {\n      \"External id\": 1,\"Record function id\": 0, \"Ev Idx\": %d\n    }\n  },", i/1000, at, i)
		}
		fmt.Fprintf(&b, "\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op_%d\", \"pid\": 9001, \"tid\": 9001,\n"+
			"    \"ts\": %.3f, \"dur\": 34.024,\n    \"args\": {\n      \"External id\": %d,\"Record function id\": 0, \"Sequence number\": %d, "+
			"\"Input Dims\": [[64, 128], [128, 256], []], \"Input type\": [\"float\", \"float\", \"Scalar\"], \"Ev Idx\": %d\n    }\n  },", i%300, at, i, i, i)
		fmt.Fprintf(&b, "\n  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 9001, \"tid\": 9001,\n"+
			"    \"ts\": %.3f, \"dur\": 6.204,\n    \"args\": {\n      \"External id\": %d, \"cbid\": 211, \"correlation\": %d\n    }\n  },", at+10, i, i)
		fmt.Fprintf(&b, "\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void gemm_%d<float, 128, 4>(float const*, float*, int)\", \"pid\": 0, \"tid\": 7,\n"+
			"    \"ts\": %.3f, \"dur\": 12.5,\n    \"args\": {\n      \"External id\": %d, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": %d, "+
			"\"registers per thread\": 27, \"shared memory\": 0, \"blocks per SM\": 22.222221, \"grid\": [2400, 1, 1], \"block\": [256, 1, 1], "+
			"\"est. achieved occupancy %%\": 100\n    }\n  },", i%80, at+20, i, i)
		fmt.Fprintf(&b, "\n  {\n    \"ph\": \"s\", \"id\": %d, \"pid\": 9001, \"tid\": 9001, \"ts\": %.3f,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },", i, at)
		at += 40.125
	}
	b.Truncate(b.Len() - 1)
	b.WriteString("\n  ], \"traceName\": \"trace.json\"}\n")
	return b.Bytes()
}

// readAll reads a trace as ingest does, and gives its runs.
func readAll(tb testing.TB, r io.Reader) []schema.Run {
	tb.Helper()
	in, err := foreign.FromReader(r, "trace.json", nil)
	if err != nil {
		tb.Fatal(err)
	}
	format := torchProfiler
	if !format.Recognize(in.Head) {
		tb.Fatal("the trace is not recognised")
	}
	_, runs, err := Read(in, format)
	if err != nil {
		tb.Fatal(err)
	}
	return runs
}

// BenchmarkTorchTrace reads a trace of 200 MB. ratio is its time to that of encoding/json, decoding the same bytes into
// an any.
func BenchmarkTorchTrace(b *testing.B) {
	trace := longTrace(200 << 20)
	b.SetBytes(int64(len(trace)))
	var ours, bare time.Duration
	for b.Loop() {
		began := time.Now()
		runs := readAll(b, bytes.NewReader(trace))
		ours += time.Since(began)
		if len(runs) != 1 || len(runs[0].Ops) != 381 {
			b.Fatalf("%d runs", len(runs))
		}
		b.StopTimer()
		runtime.GC()
		began = time.Now()
		var v any
		if err := json.NewDecoder(bytes.NewReader(trace)).Decode(&v); err != nil {
			b.Fatal(err)
		}
		bare += time.Since(began)
		v = nil
		runtime.GC()
		b.StartTimer()
	}
	b.ReportMetric(float64(ours)/float64(bare), "ratio")
}

// TestTorchTraceMemory: the memory for reading does not grow with the trace.
func TestTorchTraceMemory(t *testing.T) {
	took := func(size int) uint64 {
		trace := longTrace(size)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		readAll(t, bytes.NewReader(trace))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	small, large := took(2<<20), took(32<<20)
	if large > small+2<<20 {
		t.Errorf("a trace of 2 MiB allocates %d bytes, one of 32 MiB %d", small, large)
	}
}

// made returns a database that SQL makes.
func made(t *testing.T, statements ...string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "made.sqlite")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

const exported = `CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)`

// TestDatabaseAnywhere: a report is the same by whatever name, and where it is compressed; nothing is left of the copy.
func TestDatabaseAnywhere(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	content, err := os.ReadFile(filepath.Join(root, "fixtures", "results", "nsys", "two_ranks.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	_, want, err := readTrace(t, "report.sqlite", content)
	if err != nil || len(want) != 2 {
		t.Fatalf("%d runs, %v", len(want), err)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(content); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"a folder/b?c%20d#e&mode=rwc.sqlite": content, "report.sqlite.gz": zipped.Bytes()} {
		_, runs, err := readTrace(t, name, content)
		if err != nil || len(runs) != len(want) {
			t.Fatalf("%s: %d runs, %v", name, len(runs), err)
		}
		for i := range runs {
			if runs[i].RunID != want[i].RunID {
				t.Errorf("%s: run %d is %s, want %s", name, i, Run(&runs[i]), Run(&want[i]))
			}
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestHostileDatabase: tables that compute their rows are not read, and a damaged file is an error.
func TestHostileDatabase(t *testing.T) {
	endless := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS start, i AS "end", i AS demangledName FROM n`
	events := `CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, "end", demangledName GENERATED ALWAYS AS (17), shortName)`
	report, runs, err := readTrace(t, "report.sqlite", made(t, exported, `CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS `+endless, events,
		`INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, "end", shortName) VALUES (1, 2, 5), (3, 9, 'axpy'), (3, 4, 1.5), (4, 6, NULL), (-9223372036854775807, 9223372036854775807, 5)`))
	if err != nil || len(runs) != 1 || report.Refused != 4 {
		t.Fatalf("%d runs, %d refused %v, %v", len(runs), report.Refused, report.Refusals, err)
	}
	if got := runs[0].Metric(kernelTime).Ticks; len(got) != 1 || got[0] != 7 {
		t.Errorf("kernels take %v ns, want 7", got)
	}
	content := made(t, exported, `CREATE TABLE NVTX_EVENTS (start, "end", text, globalTid)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO NVTX_EVENTS SELECT i, i + 5, 'range', 77 FROM n`)
	for _, cut := range []int{120, 5000, len(content) / 2} {
		report, runs, err := readTrace(t, "report.sqlite", append(content[:cut:cut], exported...))
		if err == nil && report.Refused == 0 {
			t.Errorf("cut at %d: %d runs, nothing refused", cut, len(runs))
		}
	}
}

// TestJournal: a report that was left in another journal's mode is read, too.
func TestJournal(t *testing.T) {
	content := made(t, `PRAGMA journal_mode = WAL`, exported, `CREATE TABLE NVTX_EVENTS (start, "end", text)`, `INSERT INTO NVTX_EVENTS VALUES (5, 8, 'step')`)
	_, runs, err := readTrace(t, "report.sqlite", content)
	if err != nil || len(runs) != 1 || len(runs[0].Ops) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
}

func TestNCUNumber(t *testing.T) {
	for text, want := range map[string]string{
		"12": "12", "1,234,567": "1234567", "1,234.5": "1234.5", "1.234,5": "1234.5", "12,5": "12.5", "0.74": "0.74", "-3": "-3", "nan": "nan",
		"508,757": "508757", "1.234.567,0": "1234567.0", "9007199254740993": "9007199254740993",
	} {
		if got, ok := ncuNumber(text); !ok || string(got) != want {
			t.Errorf("%s: %s %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "PolicySpread", "(1, 2, 3)", "1 234", "0x10p"} {
		if got, ok := ncuNumber(text); ok {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

// TestNCUProcesses: launches of two processes are two runs of one point, and a row that does not fit is refused.
func TestNCUProcesses(t *testing.T) {
	const header = `"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value"` + "\n"
	row := func(id, pid, value string) string {
		return `"` + id + `","` + pid + `","app","lab3","axpy","1","7","SOL","Duration","usecond","` + value + `"` + "\n"
	}
	text := header + row("0", "1", "10") + row("1", "1", "11") + "==PROF== Disconnected\n" + header + row("0", "2", "20") + `"0","2"` + "\n" +
		strings.Repeat(`"x",`, 20) + "\n" + `"an open text` + "\n"
	report, runs, err := readTrace(t, "ncu.csv", []byte(text))
	if err != nil || len(runs) != 2 || report.Refused != 2 {
		t.Fatalf("%d runs, refused %v, %v", len(runs), report.Refusals, err)
	}
	if runs[0].PointID != runs[1].PointID || runs[0].RunID == runs[1].RunID {
		t.Errorf("the runs are %s and %s, of the points %s and %s", runs[0].RunID, runs[1].RunID, runs[0].PointID, runs[1].PointID)
	}
	if got := runs[0].Metric("latency").Ticks; len(got) != 2 || got[1] != 11000 {
		t.Errorf("latencies are %v", got)
	}
}

// TestNCURawPage: a raw page has several clocks, which only their own names tell apart. Units stand below the header.
func TestNCURawPage(t *testing.T) {
	const page = `"ID","Process ID","Process Name","Host Name","Kernel Name","Block Size","Grid Size","Device","CC",` +
		`"gpc__cycles_elapsed.avg.per_second","gpu__time_duration.sum","smsp__cycles_elapsed.avg.per_second"` + "\n" +
		`"","","","","","","","","","cycle/nsecond","nsecond","cycle/nsecond"` + "\n" +
		`"0","12","app","127.0.0.1","k(int)","(1, 1, 1)","(1, 1, 1)","0","8.6","1.05","1000","1.06"` + "\n" +
		`"1","12","app","127.0.0.1","k(int)","(1, 1, 1)","(1, 1, 1)","0","8.6","1.07","1002","1.07"` + "\n"
	report, runs, err := readTrace(t, "raw.csv", []byte(page))
	if err != nil || len(runs) != 1 || report.Refused != 0 {
		t.Fatalf("%d runs, refused %v, %v", len(runs), report.Refusals, err)
	}
	for name, want := range map[string][]float64{
		"latency": {1000, 1002}, "clock_sm": {1050, 1070}, "smsp__cycles_elapsed.avg.per_second": {1060},
	} {
		m := runs[0].Metric(name)
		if m == nil {
			t.Errorf("no metric %s", name)
			continue
		}
		valuetest.DeepEqual(t, m.Values(), want, name)
	}
}

func TestNCUBetter(t *testing.T) {
	for name, want := range map[string]schema.Better{
		"warp_cycles_per_issued_instruction":                         schema.BetterLower,
		"warp_cycles_per_executed_instruction":                       schema.BetterLower,
		"no_eligible":                                                schema.BetterLower,
		"eligible_warps_per_scheduler":                               schema.BetterHigher,
		"issued_warp_per_scheduler":                                  schema.BetterHigher,
		"issued_ipc_active":                                          schema.BetterHigher,
		"issued_instructions":                                        "",
		"sm__cycles_elapsed.avg.per_second":                          schema.BetterHigher,
		"sm__cycles_elapsed.max":                                     schema.BetterLower,
		"dram__bytes_read.sum.per_second":                            schema.BetterHigher,
		"sm__throughput.avg.pct_of_peak_sustained_elapsed":           schema.BetterHigher,
		"smsp__average_warps_issue_stalled_barrier_per_issue_active": schema.BetterLower,
		"l1tex__data_bank_conflicts_pipe_lsu.sum":                    schema.BetterLower,
		"dram__bytes_read.sum":                                       "",
	} {
		valuetest.DeepEqual(t, ncuBetter(name), want, name)
	}
}

// TestNsysWithoutCUDA: a trace of ranges alone, of a machine without a driver, names neither a backend nor a driver.
func TestNsysWithoutCUDA(t *testing.T) {
	for _, c := range []struct{ events, backend string }{
		{"", ""},
		{`INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (15, 18, 16777217, 1)`, "cuda"},
	} {
		_, runs, err := readTrace(t, "report.sqlite", made(t, exported,
			`CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)`, `INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('NvDriverVersion', '0')`,
			`CREATE TABLE StringIds (id INTEGER, value TEXT)`, `INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel')`,
			`CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, "end" INTEGER, globalTid INTEGER, nameId INTEGER)`,
			`CREATE TABLE NVTX_EVENTS (start INTEGER, "end" INTEGER, globalTid INTEGER, text TEXT, textId INTEGER)`,
			`INSERT INTO NVTX_EVENTS VALUES (10, 20, 16777217, 'iteration', NULL)`, c.events))
		if err != nil || len(runs) != 1 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		if r := runs[0]; r.Backend != c.backend || r.Env.DriverVersion != "" {
			t.Errorf("backend %q, driver %q, want %q and none", r.Backend, r.Env.DriverVersion, c.backend)
		}
	}
}
