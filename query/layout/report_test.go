package layout

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Update is the flag for the tests of both packages.
var Update = flag.Bool("update", false, "write the golden files anew; look at the difference")

var started = time.Date(2026, 11, 21, 6, 45, 12, 345678000, time.UTC)

// measured returns a run as onnxrt reports it on a machine without a GPU. n distinguishes runs.
func measured(n byte) schema.Run {
	run := schema.Run{
		RunID:       schema.ULIDFrom(started, [10]byte{9: n}).String(),
		RepeatIndex: new(int64(1)), Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens,
		Benchmark: "add", Backend: "onnxrt", BackendVersion: "1.31.1", Model: "add", Precision: "fp32",
		BatchSize: new(int64(4)), SeqLen: new(int64(128)),
		Applied: map[string]string{"provider": "CPUExecutionProvider"},
		Tags:    map[string]string{"experiment": "smoke <1>"},
		Work:    schema.Work{Bytes: new(int64(6144)), Flops: new(512.)},
		Status:  schema.StatusOK, StartedAt: started, TimeSource: schema.TimeClock,
		Primary: "latency",
		Metrics: []schema.Metric{{Name: "latency", Unit: "ns", Tick: 1, Ticks: []int64{2_000_000, 1_500_000, 2_500_000}}},
		Env: schema.Env{
			OS: "linux", OSKernel: "6.18.4", CPUModel: "EPYC 7B13", MemoryBytes: new(int64(8_000_000_000)), PythonVersion: "3.11.7",
		},
	}
	run.PointID = schema.PointID(&run)
	return run
}

// onGPU returns a profiling run on a GPU.
func onGPU(n byte) schema.Run {
	run := measured(n)
	run.Purpose, run.Applied, run.Metrics, run.Primary = schema.PurposeProfile, nil, nil, ""
	run.Work = schema.Work{}
	run.Env.GPUName, run.Env.GPUCount, run.Env.DriverVersion, run.Env.CUDAVersion = "NVIDIA H100", new(int64(2)), "570.1", "12.8"
	run.Env.Facts = map[string]string{"gpu.0.memory": "85899345920"}
	run.PointID = "another" // than that of measured
	run.Ops = []schema.Op{
		{Index: 0, Name: "MatMul_0", Type: "MatMul", StartNS: new(int64(1000)), DurationNS: new(int64(300_000)), Count: new(int64(3))},
		{Index: 1, Name: "Add_0", DurationNS: new(int64(500_000)), Kernels: []string{"vectorized_add"}},
		{Index: 2, Name: "Shape_0", Type: "Shape", StartNS: new(int64(0)), DurationNS: new(int64(0))},
	}
	return run
}

func runSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	s := valuetest.Must(compiler.Compile(filepath.Join("schemas", "runs-run.json")))
	return s
}

func validate(s *jsonschema.Schema, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	text := valuetest.Must(os.ReadFile(filepath.Join(path...)))
	return text
}

func open(t *testing.T, dir string) *BenchRuns {
	t.Helper()
	b, err := OpenBenchRuns(dir)
	if err == nil {
		err = b.Begin(nil, nil)
	}
	valuetest.OK(t, err)
	return b
}

func add(t *testing.T, b *BenchRuns, runs ...schema.Run) {
	t.Helper()
	for _, run := range runs {
		valuetest.OK(t, b.Add(run))
	}
}

// rows returns the rows of summary.csv, by column.
func rows(t *testing.T, dir string) []map[string]string {
	t.Helper()
	text := read(t, dir, "summary.csv")
	if lines := bytes.Count(text, []byte("\n")); bytes.Count(text, []byte("\r\n")) != lines {
		t.Fatalf("summary.csv has a line end that is not CRLF: %q", text)
	}
	all := valuetest.Must(csv.NewReader(bytes.NewReader(text)).ReadAll())
	var found []map[string]string
	for _, fields := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = fields[i]
		}
		found = append(found, row)
	}
	return found
}

func TestGolden(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	failed := measured(3)
	failed.Status, failed.Precision, failed.Stage = schema.StatusTimeout, "", schema.StageMeasure
	add(t, b, measured(1), onGPU(2), failed)
	valuetest.OK(t, b.Close())
	s := runSchema(t)
	var found []string
	valuetest.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		found = append(found, name)
		golden := filepath.Join("testdata", "golden", name)
		text := read(t, path)
		if *Update {
			if err := os.MkdirAll(filepath.Dir(golden), 0o777); err != nil {
				return err
			}
			return os.WriteFile(golden, text, 0o666)
		}
		valuetest.DeepEqual(t, text, read(t, golden), name)
		if strings.HasPrefix(name, "runs") && !strings.HasSuffix(name, failedSuffix) {
			valuetest.NoError(t, validate(s, text), name)
		}
		if strings.HasSuffix(name, ".json") && !sortedMembers(t, text) {
			t.Errorf("%s has members out of order", name)
		}
		return nil
	}))
	valuetest.Equal(t, len(found), 5, "the files", found, "want two documents, one with a fingerprint, that of a failed run and a summary")
	if report, err := Check(dir); err != nil || len(report.Problems) > 0 || report.Layouts["runs"] != 5 {
		t.Errorf("%+v, %v", report, err)
	}
}

// sortedMembers compares a text with what its values give when every object's members are sorted.
func sortedMembers(t *testing.T, text []byte) bool {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	valuetest.OK(t, decoder.Decode(&v))
	sorted := valuetest.Must(files.JSON(v))
	return bytes.Equal(sorted, text)
}

// TestJoin: for any runs, every row joins its document, if the run has one, and its fingerprint, if that has operators, and
// there are no other files.
func TestJoin(t *testing.T) {
	dir := t.TempDir()
	s := runSchema(t)
	b := open(t, dir)
	random := rand.New(rand.NewPCG(1, 2))
	ids := map[string]schema.Run{}
	for n := range byte(200) {
		run := randomRun(random, n)
		run.Purpose = schema.PurposeMeasure // a pass of a profiler has no row
		ids[run.RunID] = run
		add(t, b, run)
	}
	valuetest.OK(t, b.Close())
	documents, prints, failed := 0, 0, 0
	found := rows(t, dir)
	for _, row := range found {
		id := row["run_id"]
		run, known := ids[id]
		if !known {
			t.Fatalf("row %v is of no run", row)
		}
		delete(ids, id)
		if _, err := os.Stat(filepath.Join(dir, "runs", id+failedSuffix)); err == nil == (run.Status == schema.StatusOK) {
			t.Errorf("run %s is %s, its document as a failed one: %v", id, run.Status, err)
		} else if err == nil {
			failed++
		}
		text, err := os.ReadFile(filepath.Join(dir, "runs", id+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		valuetest.OK(t, err)
		documents++
		valuetest.Equal(t, run.Status, schema.StatusOK, "run", id)
		valuetest.NoError(t, validate(s, text), text)
		print, err := os.ReadFile(filepath.Join(dir, "fp", id+".fp.json"))
		if err == nil {
			prints++
			checkPair(t, row, text, print)
		}
		valuetest.Equal(t, len(run.Ops) > 0, (err == nil), "a run with", len(run.Ops), "operators has a fingerprint", err)
	}
	if len(ids) > 0 {
		t.Errorf("runs %v have no row", slices.Collect(maps.Keys(ids)))
	}
	if documents < 20 || documents > len(found)-20 || prints < 10 || prints > documents-10 {
		t.Errorf("%d of %d runs have documents: the test says little", documents, len(found))
	}
	for folder, want := range map[string]int{"runs": documents + failed, "fp": prints} {
		if files, _ := os.ReadDir(filepath.Join(dir, folder)); len(files) != want {
			t.Errorf("%s has %d files, want %d", folder, len(files), want)
		}
	}
	if report, err := Check(dir); err != nil || len(report.Problems) > 0 || failed == 0 {
		t.Errorf("%d failed, %+v, %v", failed, report, err)
	}
	counted := 0
	for _, n := range b.without {
		counted += n
	}
	ok := 0
	for _, row := range found {
		if row["status"] == "ok" {
			ok++
		}
	}
	valuetest.Equal(t, counted, ok-documents)
}

func checkPair(t *testing.T, row map[string]string, text, printText []byte) {
	t.Helper()
	var d runDocument
	var f fingerprint
	for _, err := range []error{json.Unmarshal(text, &d), json.Unmarshal(printText, &f)} {
		valuetest.OK(t, err)
	}
	sha := valuetest.Must(sourceSHA(text))
	if d.RunID != row["run_uuid"] || f.RunID != d.RunID || d.Meta.Tags["neurolens.run_id"] != row["run_id"] || f.SourceSHA != sha {
		t.Errorf("%v does not join its document %s and fingerprint %s (hash %s)", row, text, printText, sha)
	}
	if latency := row["total_latency_ms"]; latency != "" && latency != realText(&d.Summary.TotalDurationMS) {
		t.Errorf("the row has latency %s, the document %v", latency, d.Summary.TotalDurationMS)
	}
	if len(f.Ops) != len(d.Timeline) || f.Summary.NumOps != len(d.Timeline) || f.Summary.TotalLatencyMS != d.Summary.TotalDurationMS {
		t.Errorf("the fingerprint %s is not of %s", printText, text)
	}
}

// randomRun returns a run that a sweep could produce, sometimes without facts that documents need.
func randomRun(random *rand.Rand, n byte) schema.Run {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	run := measured(n)
	if random.IntN(2) == 0 {
		run = onGPU(n)
	}
	run.Backend = pick("onnxrt", "torch", "tensorrt", "onnxrt", "builtin", "")
	run.Precision = pick("fp32", "fp16", "int8", "fp32", "bf16", "")
	run.Applied = map[string]string{pick("precision", "x"): "fp32", pick("batch_size", "x"): "2", pick("device", "x"): "cpu"}
	run.Status = schema.Status(pick("ok", "ok", "ok", "timeout"))
	run.Tags = map[string]string{pick("neurolens.run_id", "a,b\n\"c\""): pick("é <&>\u2028", "")}
	run.Model = pick("m", "", "a,\"b\"\nc")
	switch random.IntN(8) {
	case 0:
		run.BatchSize, run.SeqLen, run.RepeatIndex = nil, nil, nil
	case 1:
		run.Env = schema.Env{GPUName: run.Env.GPUName}
	case 2:
		run.Ops, run.Metrics = nil, nil
	case 3:
		run.BatchSize = new(int64(random.IntN(2)))
	case 4:
		run.Metrics = append(run.Metrics, schema.Metric{Name: "gpu_utilization", Unit: "ratio", Reals: []float64{random.Float64() * 2}})
	}
	for i := range run.Metrics {
		for j := range run.Metrics[i].Ticks {
			run.Metrics[i].Ticks[j] = random.Int64N(1 << random.IntN(40))
		}
	}
	return run
}

// TestEarlierStays: a session into the folder of another one keeps its files and its rows, so that the table has a row for each document;
// also if the earlier one was killed before it wrote all of them, or if the harness itself wrote it.
func TestEarlierStays(t *testing.T) {
	dir := t.TempDir()
	whole := func(n int) {
		t.Helper()
		documents, err := os.ReadDir(filepath.Join(dir, "runs"))
		found := rows(t, dir)
		valuetest.DeepEqual(t, []any{err, len(found), len(documents)}, []any{nil, n, n})
		seen := map[string]bool{}
		for _, row := range found {
			seen[row["run_id"]] = true
		}
		for _, d := range documents {
			id, _ := strings.CutSuffix(strings.TrimSuffix(d.Name(), ".json"), ".failed")
			if !seen[id] {
				t.Errorf("%s has no row", d.Name())
			}
		}
	}
	failed, unsized := measured(2), measured(3)
	failed.Status, failed.Stage = schema.StatusTimeout, schema.StageMeasure
	unsized.BatchSize = nil
	first := open(t, dir)
	add(t, first, measured(1), failed, unsized)
	before := read(t, dir, "summary.csv")
	add(t, open(t, dir), measured(4), measured(5))
	whole(5)
	valuetest.OK(t, os.Remove(filepath.Join(dir, "summary.csv")))
	b := open(t, dir)
	whole(5)
	if again := read(t, dir, "summary.csv"); !bytes.HasPrefix(again, before) {
		t.Errorf("the rows of documents are\n%swant\n%s first", again, before)
	}
	add(t, b, measured(6))
	whole(6)

	harness := "run_id,backend,batch_size,seq_len,precision,total_latency_ms,gpu_utilization,model,gpu_name\r\n20261120T213319-0ee44feb-0ccfc0,onnxrt,1,64,fp32,0.5,0.25,add,unknown\r\n"
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "summary.csv"), []byte(harness), 0o666))
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "runs", "20261120T213319-0ee44feb-0ccfc0.json"), []byte("{}"), 0o666))
	open(t, dir)
	whole(7)
	if row := rows(t, dir)[0]; row["run_id"] != "01M7YDM4GS0000000000000001" || rows(t, dir)[6]["gpu_utilization"] != "0.25" {
		t.Errorf("%v", rows(t, dir))
	}
	for name, text := range map[string]string{"notes.txt": "text", "other.json": "[1]", "x.json": "{"} { // nothing of the kind
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, "runs", name), []byte(text), 0o666))
	}
	if open(t, dir); len(rows(t, dir)) != 7 {
		t.Errorf("%v", rows(t, dir))
	}
}

// TestProfiled: the operators of a profiled run are the timeline of every document of its point, which keeps its latency, and only then
// there is a fingerprint. A profiled run without such documents has one, and a row.
func TestProfiled(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	profiled, alone := onGPU(3), onGPU(4)
	profiled.PointID, alone.PointID = measured(1).PointID, "alone"
	add(t, b, measured(1), measured(2))
	valuetest.Fails(t, valuetest.Error(os.Stat(filepath.Join(dir, "fp"))), "", "runs without operators have fingerprints")
	resumed, err := OpenBenchRuns(dir)
	if err == nil {
		err = resumed.Begin([]schema.Run{measured(1), measured(2)}, nil)
	}
	valuetest.OK(t, err)
	head := profiled // of the other side of a comparison of two commits
	head.Side, head.RunID = "head", onGPU(5).RunID
	add(t, resumed, profiled, alone, head)
	if err := os.Remove(filepath.Join(dir, "runs", head.RunID+".json")); err != nil {
		t.Errorf("a profile of another side is in the documents of this one: %v", err)
	}
	s := runSchema(t)
	for n := range byte(2) {
		id := measured(n + 1).RunID
		text := read(t, dir, "runs", id+".json")
		var d runDocument
		valuetest.OK(t, json.Unmarshal(text, &d))
		valuetest.NoError(t, validate(s, text))
		if len(d.Timeline) != 2 || d.Timeline[0].OpName != "MatMul_0" || d.Summary.TotalDurationMS != 2 || d.Summary.TopBottleneck != "Add_0" || d.Summary.TotalKernels != 2 ||
			d.Meta.Tags[tagProfile] != profiled.RunID || d.Meta.Tags[tagLeftOut] != "1" || !strings.Contains(d.Meta.Tags[tagPlaceholders], "timeline.start_ms") {
			t.Errorf("the document is %s", text)
		}
		checkPair(t, map[string]string{"run_uuid": d.RunID, "run_id": id}, text, read(t, dir, "fp", id+".fp.json"))
	}
	found := rows(t, dir)
	if len(found) != 4 || found[2]["run_id"] != alone.RunID || found[2]["total_latency_ms"] != "" || found[0]["total_latency_ms"] != "2" {
		t.Errorf("summary.csv has %v", found)
	}
	if documents, err := os.ReadDir(filepath.Join(dir, "runs")); err != nil || len(documents) != 3 {
		t.Errorf("%v, %v", documents, err)
	}
	changed := filepath.Join(dir, "runs", measured(2).RunID+".json")
	valuetest.OK(t, os.WriteFile(changed, []byte("{"), 0o666))
	add(t, resumed, profiled)
	if got := resumed.Warnings(); len(got) != 1 || !strings.HasSuffix(got[0], ": 1 run has no profile in its document: the document was changed") || string(read(t, changed)) != "{" {
		t.Errorf("beside a changed document: %q", got)
	}
	valuetest.OK(t, os.Remove(changed))
	add(t, resumed, profiled) // nobody misses what was removed

	before := read(t, dir, "summary.csv")
	valuetest.OK(t, os.Remove(filepath.Join(dir, "summary.csv")))
	open(t, dir)
	for _, row := range rows(t, dir) {
		if !bytes.Contains(before, []byte(row["run_id"]+","+row["backend"]+",4,128,fp32,"+row["total_latency_ms"]+",,add,")) {
			t.Errorf("the row of a document is %v, it was in\n%s", row, before)
		}
	}
	valuetest.Equal(t, len(rows(t, dir)), 2)
}

// TestRefusedAndResumed: a refused session leaves summary.csv alone, and a resumed one has the rows of the earlier
// sessions, unchanged or, if the file does not have them, from the store.
func TestRefusedAndResumed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := measured(1)
	first.Metrics = append(first.Metrics, schema.Metric{Name: "gpu_utilization", Unit: "ratio", Reals: []float64{.5}})
	add(t, open(t, dir), first)
	before := read(t, dir, "summary.csv")
	refused := valuetest.Must(OpenBenchRuns(dir))
	if err := refused.Close(); err != nil || !bytes.Equal(read(t, dir, "summary.csv"), before) {
		t.Errorf("%v, and summary.csv is %s", err, read(t, dir, "summary.csv"))
	}
	stored := func(n byte) schema.Run { // as the store gives it: a summary, no samples
		run := measured(n)
		run.Metrics = []schema.Metric{{Name: schema.PrimaryMetric, Unit: "ns", Summary: schema.Summary{P50: new(2e6)}}}
		return run
	}
	resumed := valuetest.Must(OpenBenchRuns(dir))
	valuetest.OK(t, resumed.Begin([]schema.Run{stored(1), stored(2)}, func(ids []string, each func(schema.Run) error) error {
		valuetest.DeepEqual(t, ids, []string{measured(2).RunID}, "the runs")
		return each(stored(2))
	}))
	add(t, resumed, measured(3))
	found := rows(t, dir)
	valuetest.Equal(t, len(found), 3, "summary.csv", found)
	for i, row := range found {
		if row["run_id"] != measured(byte(i+1)).RunID || row["total_latency_ms"] != "2" || (row["gpu_utilization"] == "0.5") != (i == 0) {
			t.Errorf("row %d is %v", i, row)
		}
	}
}

// TestGrowth: each of the first rows is in the file at once, later ones for each hundredth, and Close writes the rest.
func TestGrowth(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	run := measured(1)
	run.Status = schema.StatusSkipped
	written := 0
	for n := range 351 {
		add(t, b, run)
		saved := len(rows(t, dir))
		if lag := n + 1 - saved; lag != 0 && (saved < 100 || lag > saved/100) {
			t.Fatalf("after %d rows the file has %d", n+1, saved)
		}
		if saved == n+1 {
			written++
		}
	}
	if saved := len(rows(t, dir)); written == 351 || saved == 351 {
		t.Errorf("%d rows made a new file, which has %d", written, saved)
	}
	valuetest.OK(t, b.Close())
	valuetest.Equal(t, len(rows(t, dir)), 351, "the closed file")
}

// FuzzRows: whatever stands in a table and in a document, each row has all columns.
func FuzzRows(f *testing.F) {
	dir := filepath.Join("testdata", "golden")
	table := valuetest.Must(os.ReadFile(filepath.Join(dir, "summary.csv")))
	for _, name := range []string{"runs/01M7YDM4GS0000000000000002.json", "runs/01M7YDM4GS0000000000000003.failed.json"} {
		text := valuetest.Must(os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))))
		f.Add(table, text)
	}
	f.Add([]byte("run_id,backend,batch_size,seq_len,precision,total_latency_ms,gpu_utilization\r\na,\"\r\n"), []byte(`{"run_id": "x", "software": {}, "timeline": [{}]}`))
	path := filepath.Join(f.TempDir(), "a.json")
	f.Fuzz(func(t *testing.T, table, document []byte) {
		known := map[string][]string{}
		_ = readRows(table, known)
		valuetest.OK(t, os.WriteFile(path, document, 0o666))
		if row := documentRow(path, "a"); row != nil {
			known["a"] = row
		}
		for id, row := range known {
			if len(row) != len(summaryHeader) || row[0] != id {
				t.Errorf("%q is the row of %q", row, id)
			}
		}
	})
}
