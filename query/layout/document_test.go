package layout

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

func documentOf(t *testing.T, run schema.Run) *runDocument {
	t.Helper()
	id := valuetest.Must(schema.ParseULID(run.RunID))
	d := valuetest.Must(newDocument(&run, id))
	return d
}

// TestInexpressible: a run that the schema cannot express has no document, and the reason is reported.
func TestInexpressible(t *testing.T) {
	for _, test := range []struct {
		want   string
		change func(*schema.Run)
	}{
		{`backend "builtin" is not one of`, func(r *schema.Run) { r.Backend = "builtin" }},
		{"it needs a backend (onnxrt, tensorrt, torch), and a program has none", func(r *schema.Run) { r.Backend = "" }},
		{`precision "bf16" is not one of`, func(r *schema.Run) { r.Precision = "bf16" }},
		{`precision "" is not one of`, func(r *schema.Run) { r.Precision = "" }},
		{"its start time is not known", func(r *schema.Run) { r.StartedAt = time.Time{} }},
		{"the memory size of EPYC 7B13 is not known", func(r *schema.Run) { r.Env.MemoryBytes = nil }},
		{"the memory size of H100 is not known", func(r *schema.Run) { r.Env.GPUName, r.Applied = "H100", nil }},
		{"neither a latency above 0 nor", func(r *schema.Run) { r.Metrics = nil }},
		{"neither a latency above 0 nor", func(r *schema.Run) { r.Metrics[0].Ticks = []int64{0, 0, 1} }},
		{"neither a latency above 0 nor", func(r *schema.Run) { r.Metrics[0].Unit = "cycle" }},
		{"neither a latency above 0 nor", func(r *schema.Run) {
			r.Metrics[0].Ticks, r.Metrics[0].Reals = nil, []float64{math.NaN()}
		}},
		{"meta.config.batch_size 0 is below 1", func(r *schema.Run) { r.BatchSize = new(int64(0)) }},
		{"meta.config.repeat -1 is below 0", func(r *schema.Run) { r.RepeatIndex = new(int64(-1)) }},
	} {
		run := measured(1)
		test.change(&run)
		valuetest.Fails(t, valuetest.Error(newDocument(&run, schema.ULID{})), test.want, "the error")
	}
}

// TestOnlyFoldersWithFiles: if no run has a document, the directories are not made; a file in their place is refused at once.
func TestOnlyFoldersWithFiles(t *testing.T) {
	b := open(t, t.TempDir())
	other := measured(1)
	other.Backend = ""
	add(t, b, other)
	if found, err := os.ReadDir(b.dir); err != nil || len(found) != 1 || found[0].Name() != "summary.csv" {
		t.Errorf("the folder has %v, %v; want summary.csv alone", found, err)
	}
	path := filepath.Join(b.dir, "fp")
	valuetest.OK(t, os.WriteFile(path, nil, 0o666))
	if _, err := OpenBenchRuns(b.dir); err == nil || err.Error() != "making "+path+": it is a file" {
		t.Errorf("a file in place of a folder: %v", err)
	}
}

func TestWarnings(t *testing.T) {
	b := open(t, t.TempDir())
	half, other := measured(1), measured(2)
	half.Precision, other.Backend = "bf16", "cpu"
	failed := half
	failed.Status = schema.StatusError
	add(t, b, half, other, half, failed, measured(3))
	want := []string{
		b.dir + `: 2 runs have no run document: precision "bf16" is not one of fp16 fp32 int8`,
		b.dir + `: 1 run has no run document: backend "cpu" is not one of onnxrt tensorrt torch`,
	}
	valuetest.Equal(t, fmt.Sprint(b.Warnings()), fmt.Sprint(want), "warnings", want)
	found := rows(t, b.dir)
	if len(found) != 5 || found[0]["precision"] != "bf16" || found[0]["total_latency_ms"] != "2" {
		t.Errorf("rows are %v", found)
	}
	if found[3]["status"] != "error" || found[3]["total_latency_ms"] != "" || found[0]["gpu_utilization"] != "" {
		t.Errorf("row of the failed run is %v", found[3])
	}
}

// TestPlaceholders: a required number that was not measured is listed, a measured one is not.
func TestPlaceholders(t *testing.T) {
	has := func(d *runDocument, path string) bool {
		return strings.Contains(","+d.Meta.Tags["neurolens.placeholders"]+",", ","+path+",")
	}
	bare := measured(1)
	bare.BatchSize, bare.SeqLen, bare.RepeatIndex = nil, nil, nil
	d := documentOf(t, bare)
	for _, path := range []string{
		"meta.config.batch_size", "model.batch_size", "meta.config.sequence_length", "meta.config.repeat",
		"summary.metrics.gpu_utilization", "summary.metrics.sm_efficiency", "timeline.kernels.l2_hit_rate",
	} {
		if !has(d, path) {
			t.Errorf("%s is not listed in %q", path, d.Meta.Tags)
		}
	}
	if d.Model.BatchSize != 1 || d.Meta.Config.SequenceLength != 1 || has(d, "timeline.start_ms") {
		t.Errorf("the document is %+v", d)
	}

	full := bare
	full.Applied = map[string]string{"batch_size": "8", "seq_len": "64", "device": "cpu"}
	full.RepeatIndex = new(int64(0))
	full.Metrics = append(full.Metrics,
		schema.Metric{Name: "gpu_utilization", Unit: "ratio", Reals: []float64{.2, .4, .3}},
		schema.Metric{Name: "sm_efficiency", Unit: "ratio", Reals: []float64{0}},
	)
	d = documentOf(t, full)
	want := strings.Join(kernelPlaceholders, ",")
	valuetest.Equal(t, d.Meta.Tags["neurolens.placeholders"], want, "placeholders")
	if d.Summary.Metrics.GPUUtilization != .3 || d.Model.BatchSize != 8 || d.Meta.Config.SequenceLength != 64 {
		t.Errorf("the document is %+v", d)
	}
	b := open(t, t.TempDir())
	add(t, b, full)
	if row := rows(t, b.dir)[0]; row["gpu_utilization"] != "0.3" || row["batch_size"] != "8" || row["seq_len"] != "64" {
		t.Errorf("the row is %v", row)
	}
}

func TestTimeline(t *testing.T) {
	d := documentOf(t, onGPU(1))
	if len(d.Timeline) != 2 || d.Meta.Tags["neurolens.ops_left_out"] != "1" {
		t.Fatalf("the timeline is %+v, tags %v", d.Timeline, d.Meta.Tags)
	}
	first, second := d.Timeline[0], d.Timeline[1]
	if first.StartMS != .001 || first.EndMS != .301 || first.Metrics.LatencyMS != .1 || first.Metrics.TotalLatencyMS != .3 {
		t.Errorf("the first op is %+v", first)
	}
	if second.OpType != "unknown" || second.Kernels[0].Name != "vectorized_add" || d.Summary.TopBottleneck != "Add_0" {
		t.Errorf("the second op is %+v", second)
	}
	valuetest.Equal(t, d.Summary.TotalDurationMS, .8, "the summary", d.Summary)
	valuetest.Equal(t, d.Summary.TotalKernels, 2, "the summary", d.Summary)
	valuetest.Equal(t, d.Hardware, (hardware{"570.1", 2, "NVIDIA H100", 85.89934592, "NVIDIA"}), "the hardware")

	ten := onGPU(1)
	ten.Env.Facts = maps.Clone(ten.Env.Facts)
	ten.Env.Facts[factProfiledIterations] = "10"
	per := documentOf(t, ten)
	if op := per.Timeline[0]; op.DurationMS != .03 || op.Metrics.TotalLatencyMS != .03 || op.Metrics.LatencyMS != .1 {
		t.Errorf("of ten iterations the first op is %+v", op)
	}
	valuetest.Equal(t, per.Summary.TotalDurationMS, .08, "of ten iterations the summary")

	// The machine has a GPU, but the run says that it computed elsewhere.
	elsewhere := onGPU(1)
	elsewhere.Applied = map[string]string{"provider": "CPUExecutionProvider"}
	valuetest.Equal(t, documentOf(t, elsewhere).Hardware, (hardware{"6.18.4", 1, "EPYC 7B13", 8, "CPU"}), "the hardware")

	whole := documentOf(t, measured(1)).Timeline
	if len(whole) != 1 || whole[0].OpName != "add" || whole[0].OpType != "iteration" || whole[0].DurationMS != 2 {
		t.Fatalf("the timeline is %+v", whole)
	}
	if m := whole[0].Metrics; *m.P50MS != 2 || *m.P95MS != 2.45 {
		t.Errorf("p50 is %v, p95 %v", *m.P50MS, *m.P95MS)
	}
}

// TestCertainDigits: times have the measured digits, without rounding errors of a sum or a quantile.
func TestCertainDigits(t *testing.T) {
	between := measured(1)
	between.Metrics = []schema.Metric{{Name: "latency", Unit: "ns", Reals: []float64{173.904, 173.92}}}
	d := documentOf(t, between)
	if ms, op := d.Summary.TotalDurationMS, d.Timeline[0]; ms != .000173912 || op.DurationMS != ms || *op.Metrics.P95MS != .0001739192 {
		t.Errorf("the summary has %v ms, the op is %+v", ms, op)
	}

	sum := onGPU(1)
	for i, ns := range []int64{100_000, 200_000} {
		sum.Ops[i].DurationNS = &ns
	}
	valuetest.Equal(t, documentOf(t, sum).Summary.TotalDurationMS, .3, "0.1 and 0.2 ms")
}

// TestSchemaRefuses: the copy of the schema that the other tests use refuses wrong documents.
func TestSchemaRefuses(t *testing.T) {
	s := runSchema(t)
	text := valuetest.Must(files.JSON(documentOf(t, onGPU(1))))
	for _, change := range [][2]string{
		{`"fp32"`, `"bf16"`},
		{`"backend": "onnxrt"`, `"backend": "builtin"`},
		{`"created_at": "2026`, `"created_at": "26`},
		{`"vendor"`, `"maker"`},
		{`"name": "MatMul_0",`, ``},
		{`"name": "MatMul_0",`, `"name": "MatMul_0", "extra": 1,`},
		{`"l2_hit_rate": 0`, `"l2_hit_rate": 1.5`},
		{`"dram_read_gb": 0`, `"dram_read_gb": null`},
		{`"gpu_utilization": 0,`, ``},
		{`"duration_ms": 0.3`, `"duration_ms": 0`},
		{`"run_id": "`, `"run_id": "../`},
	} {
		changed := strings.ReplaceAll(string(text), change[0], change[1])
		if changed == string(text) {
			t.Errorf("%s is not in the document", change[0])
		} else if !json.Valid([]byte(changed)) || validate(s, []byte(changed)) == nil {
			t.Errorf("a document with %s passes", change[1])
		}
	}
	valuetest.NoError(t, validate(s, text))
}

// TestUtilization: readings of the utilisation while a run measured are their median in the table of runs and in the document. Without any,
// the cell is empty.
func TestUtilization(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	run, without := measured(1), measured(2)
	run.Metrics = append(run.Metrics, schema.Metric{
		Name: "gpu_utilization", Unit: "ratio", Level: schema.LevelInterval, Tick: 1e-2, Ticks: []int64{10, 97, 90}, AtNS: []int64{1e8, 2e8, 3e8},
	})
	stat.Complete(&run)
	add(t, b, run)
	add(t, b, without)
	rows := valuetest.Must(csv.NewReader(bytes.NewReader(read(t, dir, "summary.csv"))).ReadAll())
	column := slices.Index(rows[0], "gpu_utilization")
	valuetest.DeepEqual(t, []string{rows[1][column], rows[2][column]}, []string{"0.9", ""}, "gpu_utilization")
}
