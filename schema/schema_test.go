package schema

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema/valuetest"
)

func TestColumnsAreNumberedAsIcebergNumbersATable(t *testing.T) {
	for _, c := range []struct {
		table    *Table
		columns  int
		largest  int
		children map[string]int
	}{
		{Runs, 84, 100, map[string]int{"params": 85, "applied": 87, "tags": 89, "warnings": 91, "artifacts": 92, "env": 97, "env_missing": 99}},
		{Samples, 29, 35, map[string]int{"ticks": 30, "iterations_per_sample": 35}},
		{Ops, 10, 13, map[string]int{"kernels": 11, "counters": 12}},
	} {
		largest := 0
		var walk func(*Column)
		seen := map[int]string{}
		walk = func(col *Column) {
			if seen[col.ID] != "" {
				t.Errorf("%s: id %d is both %s and %s", c.table.Name, col.ID, seen[col.ID], col.Name)
			}
			seen[col.ID] = col.Name
			largest = max(largest, col.ID)
			for _, child := range col.Children {
				walk(child)
			}
		}
		for i, col := range c.table.Columns {
			if col.ID != i+1 {
				t.Errorf("%s.%s has id %d, want %d", c.table.Name, col.Name, col.ID, i+1)
			}
			walk(col)
			if want, ok := c.children[col.Name]; ok && col.Children[0].ID != want {
				t.Errorf("%s.%s: first child has id %d, want %d", c.table.Name, col.Name, col.Children[0].ID, want)
			}
		}
		if len(c.table.Columns) != c.columns || largest != c.largest {
			t.Errorf("%s has %d columns and ids to %d, want %d and %d", c.table.Name, len(c.table.Columns), largest, c.columns, c.largest)
		}
	}
}

// TestFormatListsEveryColumn holds FORMAT.md and the registry together.
func TestFormatListsEveryColumn(t *testing.T) {
	document := valuetest.Must(os.ReadFile("FORMAT.md"))
	for _, table := range []*Table{Runs, Samples, Ops} {
		if want := formatTable(table); !strings.Contains(string(document), want) {
			t.Errorf("FORMAT.md does not hold the table of %s:\n%s", table.Name, want)
		}
	}
}

// formatTable prints a table of columns as FORMAT.md shows it.
func formatTable(t *Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| id | %s | type | unit | digest | meaning |\n|---|---|---|---|---|---|\n", t.Name)
	for _, c := range t.Columns {
		ids := fmt.Sprint(c.ID)
		if n := len(c.Children); n > 0 {
			last := c.Children[n-1]
			for len(last.Children) > 0 {
				last = last.Children[len(last.Children)-1]
			}
			ids = fmt.Sprintf("%d (%d-%d)", c.ID, c.Children[0].ID, last.ID)
		}
		kind := c.SQLType()
		if c.Required {
			kind += " NOT NULL"
		}
		digest := "yes"
		if c.Derived || t == Runs && c.Name == "warnings" || t != Runs && c.Name == "run_id" {
			digest = "no"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s |\n", ids, c.Name, kind, c.Unit, digest, c.Doc)
	}
	return b.String()
}

func TestRowsFillEveryColumn(t *testing.T) {
	r := fullRun()
	check := func(table string, columns []*Column, row []any) {
		t.Helper()
		if len(row) != len(columns) {
			t.Fatalf("%s: %d values for %d columns", table, len(row), len(columns))
		}
		for i, c := range columns {
			if row[i] == nil {
				t.Errorf("%s.%s is NULL in a run that has everything", table, c.Name)
			} else if !kindMatches(c.Kind, row[i]) {
				t.Errorf("%s.%s holds a %T", table, c.Name, row[i])
			}
		}
	}
	check("runs", Runs.Columns, RunRow(&r, DigestOf(&r)))
	m := r.Metrics[0]
	m.Reals, m.WarmupReals = []float64{1}, []float64{1}
	check("samples", Samples.Columns[1:], MetricRow(&m))
	check("ops", Ops.Columns[1:], OpRow(&r.Ops[0]))

	empty := RunRow(&Run{}, "")
	for i, c := range Runs.Columns {
		if empty[i] != nil {
			t.Errorf("runs.%s of an empty run is %v, want NULL", c.Name, empty[i])
		}
	}
}

// TestRowsBack: what a row was made of is made of it again, with every field and with none.
func TestRowsBack(t *testing.T) {
	full := fullRun()
	for _, r := range []Run{full, {}} {
		got := RunOf(RunRow(&r, "digest"))
		for i := range r.Metrics {
			got.Metrics = append(got.Metrics, MetricOf(MetricRow(&r.Metrics[i])))
		}
		for i := range r.Ops {
			got.Ops = append(got.Ops, OpOf(OpRow(&r.Ops[i])))
		}
		if !reflect.DeepEqual(got, r) {
			t.Errorf("got %+v\nwant %+v", got, r)
		}
	}
}

func kindMatches(k Kind, value any) bool {
	switch value.(type) {
	case string:
		return k == KindString
	case int64:
		return k == KindInt
	case float64:
		return k == KindReal
	case bool:
		return k == KindBool
	case time.Time:
		return k == KindTime
	case map[string]string, map[string]float64:
		return k == KindMap
	default:
		return k == KindList
	}
}

// fullRun returns a run that has a value, different from its neighbours', in every field.
func fullRun() Run {
	at := time.Date(2026, 11, 21, 6, 45, 12, 345_678_000, time.UTC)
	n := func(v int64) *int64 { return &v }
	f := func(v float64) *float64 { return &v }
	r := Run{
		RunID: ULIDFrom(at, [10]byte{1}).String(), SessionID: ULIDFrom(at, [10]byte{2}).String(), Resumes: ULIDFrom(at, [10]byte{3}).String(),
		RepeatIndex: n(0), BlockIndex: n(1), PositionIndex: n(2), Side: "head", Purpose: PurposeMeasure, Source: SourceNeuroLens,
		Suite: "quickstart", Benchmark: "tiny_linear", Variant: "baseline", Executor: ExecutorBuiltin, Backend: "builtin", BackendVersion: "1",
		Model: "builtin:tiny_linear", ModelSHA256: "ab", Precision: "fp32", BatchSize: n(8), SeqLen: n(128),
		Params: map[string]string{"dim": "64"}, Applied: map[string]string{"dim": "64"}, Tags: map[string]string{"note": ""},
		Work:      Work{Bytes: n(4096), Flops: f(8192), Items: f(8)},
		StartedAt: at, TimeSource: TimeClock, Stages: Stages{n(1), n(2), n(3), n(4), n(5), n(6), n(7)},
		Status: StatusError, Stage: StageValidate, ErrorKind: "mismatch", Error: "off by one", ExitCode: n(3), Signal: "SIGSEGV",
		Warnings: []string{"load"}, Artifacts: []Artifact{{"profile", "p.json", "cd", n(5)}},
		Env: Env{
			HostID: "h", Machine: "m", Hostname: "lab3", OS: "linux", OSKernel: "6.18", CPUModel: "EPYC", CPUCount: n(2), MemoryBytes: n(1 << 34),
			GPUName: "H100", GPUCount: n(1), DriverVersion: "570", CUDAVersion: "13", PythonVersion: "3.11", GitCommit: "9f3c1d2",
			GitBranch: "main", GitDirty: new(false), Facts: map[string]string{"os.kernel": "6.18"}, Missing: map[string]string{"gpu": "absent"},
		},
		Primary: PrimaryMetric,
		Metrics: []Metric{{
			Name: PrimaryMetric, Unit: "ns", Better: BetterLower, Clock: "monotonic", Level: LevelIteration, Tick: 1,
			Ticks: []int64{3, 1, 2}, WarmupTicks: []int64{9}, AtNS: []int64{0, 3, 4}, IterationsPerSample: []int64{1},
			Summary: Summary{n(3), f(1), f(3), f(2), f(1), f(1.5), f(2), f(2.5), f(2.8), f(2.9), f(2.98), f(1), f(.69), f(3), n(0), n(1)},
		}},
		Ops: []Op{{0, "mm", "Gemm", "cpu", n(0), n(5), n(1), []string{"k"}, map[string]float64{"flops": 1}}},
	}
	r.PointID = PointID(&r)
	return r
}

// TestDigestGolden pins the digest to a value computed outside Go from FORMAT.md's description.
func TestDigestGolden(t *testing.T) {
	r := Run{
		RunID: "01KAJMPKXS0000000000000000", PointID: "p", Purpose: PurposeMeasure, Params: map[string]string{"dim": "64", "act": ""},
		Work: Work{Bytes: new(int64(4096))}, StartedAt: time.UnixMicro(1763707512345678), Status: StatusOK, Warnings: []string{"load"},
		Artifacts: []Artifact{{Kind: "trace", Path: "a", Bytes: new(int64(0))}}, Env: Env{GitDirty: new(false)},
		Metrics: []Metric{
			{Name: "b", Reals: []float64{1.5, math.NaN()}, Summary: Summary{N: new(int64(2))}},
			{Name: "a", Unit: "ns", Tick: 1, Ticks: []int64{3, -1}},
		},
		Ops: []Op{{Index: 7, Name: "mm", Counters: map[string]float64{"f": 2}}},
	}
	if got, want := DigestOf(&r), "5b6f10197050c60298a1938c9bd1dee9"; got != want {
		t.Errorf("digest is %s, want %s", got, want)
	}
}

func TestDigestCoversWhatWasMeasured(t *testing.T) {
	base := DigestOf(new(fullRun()))
	change := func(name string, same bool, edit func(*Run)) {
		t.Helper()
		r := fullRun()
		edit(&r)
		if got := DigestOf(&r); (got == base) != same {
			t.Errorf("%s: digest %s, before %s", name, got, base)
		}
	}
	change("a sample", false, func(r *Run) { r.Metrics[0].Ticks[2]++ })
	change("order of samples", false, func(r *Run) { r.Metrics[0].Ticks = []int64{1, 3, 2} })
	change("a tag", false, func(r *Run) { r.Tags["note"] = "x" })
	change("empty, not NULL", false, func(r *Run) { r.Tags = nil })
	change("started_at", false, func(r *Run) { r.StartedAt = r.StartedAt.Add(time.Microsecond) })
	change("an op", false, func(r *Run) { r.Ops[0].Kernels = []string{} })
	change("an artifact", false, func(r *Run) { r.Artifacts[0].Kind = "trace" })
	change("false is not NULL", false, func(r *Run) { r.Env.GitDirty = nil })
	change("the summary", true, func(r *Run) { r.Metrics[0].Summary.P50 = nil })
	change("the primary", true, func(r *Run) { r.Primary = "" })
	change("warnings", true, func(r *Run) { r.Warnings = nil })
	change("below a microsecond", true, func(r *Run) { r.StartedAt = r.StartedAt.Add(time.Nanosecond) })

	aggregates := func(p50 float64) string {
		r := fullRun()
		r.Metrics[0].Ticks, r.Metrics[0].AtNS, r.Metrics[0].IterationsPerSample = nil, nil, nil
		r.Metrics[0].Summary.P50 = &p50
		return DigestOf(&r)
	}
	if aggregates(1) == aggregates(2) {
		t.Error("the summary of a metric without samples is not covered")
	}
	if aggregates(math.NaN()) != aggregates(math.Float64frombits(0x7ff8_0000_0000_0001)) {
		t.Error("two NaNs give two digests")
	}
}

// TestPointIDGolden pins the identity: these values may never change.
func TestPointIDGolden(t *testing.T) {
	b, s := int64(8), int64(128)
	for want, r := range map[string]Run{
		"3bfc269594ef649228e9a74bab00f042": {},
		"2820e5a5b7151c594ce14d2e5cd87f29": {Benchmark: "tiny_linear", Backend: "builtin", Model: "builtin:tiny_linear", Precision: "fp32", BatchSize: &b, SeqLen: &s},
		"8fd4377feb6d726a0687e11d4b52c388": {Benchmark: "tiny_linear", Backend: "builtin", Model: "builtin:tiny_linear", Precision: "fp32", BatchSize: &b, SeqLen: &s, Params: map[string]string{"dim": "64", "act": ""}},
		"9ed7e122060a1e4b577126a780bc6590": {Benchmark: "LayerNorm", Variant: "CUDA"},
	} {
		if got := PointID(&r); got != want {
			t.Errorf("point_id of %+v is %s, want %s", r, got, want)
		}
	}
	// Neither the suite nor the machine, the tags or the schedule belong to a point.
	r := fullRun()
	before := r.PointID
	r.Suite, r.Env, r.Tags, r.RepeatIndex, r.Executor, r.ModelSHA256, r.Side = "", Env{}, nil, nil, "", "", ""
	if PointID(&r) != before {
		t.Error("a label or a circumstance changed the point_id")
	}
	// A parameter cannot be mistaken for a field, nor a value for a key.
	if PointID(&Run{Params: map[string]string{"a": "bc"}}) == PointID(&Run{Params: map[string]string{"ab": "c"}}) {
		t.Error("keys and values run together")
	}
}

func TestULIDRoundTrip(t *testing.T) {
	for range 1000 {
		at := time.UnixMilli(rand.Int64N(1 << 48)).UTC()
		u := NewULID(at)
		back, err := ParseULID(u.String())
		if err != nil || back != u {
			t.Fatalf("%s parses as %s, %v", u, back, err)
		}
		if !u.Time().Equal(at) {
			t.Fatalf("%s has the time %s, want %s", u, u.Time(), at)
		}
	}
	if got := ULIDFrom(time.UnixMilli(1469922850259), [10]byte{}).String()[:10]; got != "01ARZ3NDEK" {
		t.Errorf("the time prints as %s, want 01ARZ3NDEK (the specification's example)", got)
	}
	if NewULID(time.Time{}).Time().UnixMilli() != 0 {
		t.Error("no time is not 0")
	}
	for _, bad := range []string{"", "01arz3ndektsv4rrffq69g5fav", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01ARZ3NDEKTSV4RRFFQ69G5FA"} {
		if _, err := ParseULID(bad); err == nil {
			t.Errorf("%q is taken for a ULID", bad)
		}
	}
}

func TestLiveFileRoundTrip(t *testing.T) {
	for range 100 {
		f := LiveFile{Segment: NewULID(time.Now()), Run: NewULID(time.Now())}
		back, err := ParseLiveFile(f.Path())
		if err != nil || back != f {
			t.Fatalf("%s parses as %v, %v", f.Path(), back, err)
		}
	}
	id := NewULID(time.Now()).String()
	for _, bad := range []string{"", "live/" + id, "runs/" + id + "/" + id + ".parquet", "live/" + id + "/" + id + ".part", "live/x/" + id + ".parquet", "live/" + id + "/../" + id + ".parquet"} {
		if _, err := ParseLiveFile(bad); err == nil {
			t.Errorf("%q is taken for a live file", bad)
		}
	}
}

// TestStagesOf: each stage has a duration of its own.
func TestStagesOf(t *testing.T) {
	var s Stages
	for i, stage := range StageNames {
		*s.Of(stage) = new(int64(i + 1))
	}
	if got := []int64{*s.Build, *s.Setup, *s.Warmup, *s.Measure, *s.Validate, *s.Teardown, *s.Profile}; !slices.Equal(got, []int64{1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("the durations are %v", got)
	}
	if s.Of("") != nil {
		t.Error("no stage has a duration")
	}
}
