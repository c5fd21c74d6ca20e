package layout_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestNames: no two runs, and in kernels no two points, share a file, ignoring case, and no name leaves the directory.
func TestNames(t *testing.T) {
	var m maker
	runs := []schema.Run{}
	for range 2 { // the id of a point can be any text
		runs = append(runs, m.run([]int64{1}, func(r *schema.Run) { r.Benchmark = "point" }))
		runs[len(runs)-1].PointID = "/../../x"
	}
	points := 1
	for _, name := range []string{"a", "A", "a_cpu", "../../etc/passwd", "a/b", "a_b", ".hidden", "", "ü", "é", strings.Repeat("long", 80)} {
		points++
		for range 2 {
			runs = append(runs, m.run([]int64{1}, func(r *schema.Run) { r.Benchmark, r.Backend = name, "cpu" }))
		}
	}
	for n := 120; n <= 150; n += 30 { // parts that are short enough, but not together
		points++
		for range 2 {
			runs = append(runs, m.run([]int64{1}, func(r *schema.Run) {
				r.Benchmark, r.Backend, r.Precision = strings.Repeat("b", n), strings.Repeat("c", n), strings.Repeat("p", n)
				r.Params = map[string]string{"hidden_size": strings.Repeat("h", n)}
			}))
		}
	}
	for _, l := range []layout.Layout{layout.Kernels, layout.Matrix} {
		around := t.TempDir()
		write(t, l, filepath.Join(around, "dir"), runs...)
		seen := map[string]bool{}
		files := 0
		for name := range texts(t, around) {
			if !strings.HasPrefix(name, "dir/") || seen[strings.ToLower(name)] || strings.Contains(name, "/.") {
				t.Errorf("%s: a file is called %s", l, name)
			}
			seen[strings.ToLower(name)] = true
			if strings.Contains(name, "kernels/") || l == layout.Matrix && !strings.Contains(name, "report/") {
				files++
			}
		}
		valuetest.Equal(t, files, map[layout.Layout]int{layout.Kernels: points, layout.Matrix: len(runs)}[l], l, len(runs))
	}
}

// FuzzNumbers: a time written in ms gives the same number of ns when it is read.
func FuzzNumbers(f *testing.F) {
	for _, v := range []float64{0, 1, 1.5, 12345678901, 1e-9, 44498574.000044755, math.MaxInt64, 1e300, 3e-300, 0.1} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || v != 0 && v < 1e-290 {
			t.Skip()
		}
		m := maker{}
		r := m.run(nil, func(r *schema.Run) {
			r.Metrics = []schema.Metric{{Name: "latency", Unit: "ns", Reals: []float64{v, v}}}
		})
		dir := t.TempDir()
		write(t, layout.Grid, dir, r)
		var rows []struct {
			Own struct {
				Raw jsontext.Value `json:"raw_times_ms"`
			} `json:"neurolens"`
		}
		valuetest.OK(t, foreign.Decode([]byte(texts(t, dir)["benchmark_results.json"]), &rows))
		series, err := foreign.ReadSeries(rows[0].Own.Raw, "ms")
		valuetest.OK(t, err, v)
		metric := series.Metric("latency", "")
		if got := metric.Values(); len(got) != 2 || got[0] != v {
			t.Errorf("%v became %v", v, got)
		}
	})
}

// TestHonest: a failed run has no number anywhere, and a slower one is reported as slower.
func TestHonest(t *testing.T) {
	var m maker
	zeros := func(variant string, status schema.Status) schema.Run {
		return m.run([]int64{5}, func(r *schema.Run) {
			r.Benchmark, r.Variant, r.Backend = "ch1/x", variant, "cpu"
			r.Metrics = append(r.Metrics, single("peak_memory", "B", 77<<20), single("accuracy", "ratio", .77), single("device_memory_peak", "B", 77<<20),
				single("training_time", "ns", 77e9), single("rmse", "", 77), single("bandwidth", "B/s", 77<<30), single("gpu_efficiency", "ratio", .77))
			if status != schema.StatusOK {
				failed(r, status, "check", "wrong")
			}
		})
	}
	for _, status := range schema.Statuses {
		if status == schema.StatusOK {
			continue
		}
		for _, l := range layout.All {
			dir := t.TempDir()
			write(t, l, dir, zeros("baseline", status), zeros("fast", status))
			for name, text := range texts(t, dir) {
				if strings.Contains(text, "77") {
					t.Errorf("%s, %s: %s shows what a run measured that is not ok:\n%s", l, status, name, text)
				}
			}
			valid(t, dir, l)
		}
	}
	dir := t.TempDir()
	write(t, layout.Chapters, dir, zeros("baseline", schema.StatusOK), m.run([]int64{500}, func(r *schema.Run) {
		r.Benchmark, r.Variant, r.Backend = "ch1/x", "slow", "cpu"
	}))
	var suite struct {
		Results []struct {
			Summary map[string]any `json:"summary"`
		} `json:"results"`
	}
	valuetest.OK(t, json.Unmarshal([]byte(texts(t, dir)["benchmark_test_results.json"]), &suite))
	for name, want := range map[string]any{"min_speedup": .01, "max_speedup": .01, "average_speedup": .01, "slower": 1., "successful": 1., "total_speedups": 1.} {
		valuetest.Equal(t, suite.Results[0].Summary[name], want, name)
	}
}

// TestFullDisk: wherever the space runs out, each existing file is complete, either the old or the new one, and there is no partial file.
func TestFullDisk(t *testing.T) {
	for l, runs := range selections() {
		dir, after := t.TempDir(), t.TempDir()
		old := slices.Clone(runs)
		for i := range old {
			old[i].Suite = "before"
		}
		write(t, l, dir, old...)
		write(t, l, after, runs...)
		before, whole := texts(t, dir), texts(t, after)
		failures := 0
		for size := 0; size < 60_000; size = size*3/2 + 150 {
			said := writeLimited(t, l, dir, size)
			if said == "" {
				break
			}
			failures++
			valuetest.Contains(t, said, "writing "+dir, l, size, "B")
			valuetest.Contains(t, said, syscall.EFBIG.Error(), l, size, "B")
			now := texts(t, dir)
			valuetest.Equal(t, len(now), len(before), l, size, "B")
			for name, text := range now {
				if text != before[name] && text != whole[name] {
					t.Errorf("%s at %d B: %s is half", l, size, name)
				}
			}
		}
		if failures < 3 {
			t.Errorf("%s failed %d times: the test says little", l, failures)
		}
		for name, text := range texts(t, dir) {
			valuetest.Equal(t, text, whole[name], l, name, "is not what was to be written")
		}
	}
}

// writeLimited writes the runs of a layout in a child process in which every write beyond size bytes of a file fails after a part of it.
// It returns the error; empty: there was none.
func writeLimited(t *testing.T, l layout.Layout, dir string, size int) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestWriteLimited$")
	cmd.Env = append(os.Environ(), "LAYOUT_LIMIT="+strconv.Itoa(size), "LAYOUT="+string(l), "LAYOUT_DIR="+dir)
	out, err := cmd.Output()
	said, found := "", false
	for line := range strings.Lines(string(out)) {
		if text, ok := strings.CutPrefix(line, "said: "); ok {
			said, found = strings.TrimSpace(text), true
		}
	}
	valuetest.DeepEqual(t, []any{err, found}, []any{nil, true}, out)
	return said
}

// TestWriteLimited is the process of writeLimited.
func TestWriteLimited(t *testing.T) {
	size, err := strconv.ParseUint(os.Getenv("LAYOUT_LIMIT"), 10, 64)
	if err != nil {
		t.Skip("this is a part of TestFullDisk")
	}
	signal.Ignore(syscall.SIGXFSZ)
	l := layout.Layout(os.Getenv("LAYOUT"))
	f := folderOf(l, selections()[l]...)
	valuetest.OK(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}))
	_, err = f.Write(os.Getenv("LAYOUT_DIR"))
	if err == nil {
		err = errors.New("")
	}
	fmt.Println("said:", err) // a pipe has no such limit
}

// TestUnwritable: an error names the path that cannot be written.
func TestUnwritable(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "taken")
	valuetest.OK(t, os.WriteFile(taken, nil, 0o666))
	if _, err := folderOf(layout.Grid, selections()[layout.Grid]...).Write(taken); err == nil || !strings.Contains(err.Error(), taken) {
		t.Errorf("a file in place of the folder: %v", err)
	}
	valuetest.Fails(t, valuetest.Error(folderOf("lines").Write(t.TempDir())), `"lines" is not a layout`, "a layout that is none")
	if _, err := layout.Named("lines", layout.All); err == nil || err.Error() != `layout "lines": want chapters, kernels, matrix or grid` {
		t.Errorf("the name of a layout that is none: %v", err)
	}
}

// TestWrongResults: a point with a wrong result in one run is in no ranking, no mean and no speedup, however fast its other
// runs were.
func TestWrongResults(t *testing.T) {
	var m maker
	of := func(variant string, ns int64, wrong bool) schema.Run {
		return m.run([]int64{ns}, func(r *schema.Run) {
			if r.Benchmark, r.Variant, r.Backend = "ch1/x", variant, "cpu"; wrong {
				failed(r, schema.StatusError, schema.KindCheck, "wrong")
				r.Stage = schema.StageValidate
			}
		})
	}
	runs := []schema.Run{of("baseline", 500e6, false), of("fast", 77e6, false), of("fast", 77e6, true)}
	for l, file := range map[layout.Layout]string{
		layout.Chapters: "benchmark_test_results.md", layout.Kernels: "summary.md", layout.Grid: "benchmark_results.md",
	} {
		dir := t.TempDir()
		write(t, l, dir, runs...)
		if text := texts(t, dir)[file]; strings.Contains(text, "77") || strings.Contains(text, "6.49x") || !strings.Contains(text, "500") {
			t.Errorf("%s: a wrong result is in it:\n%s", l, text)
		}
		valid(t, dir, l)
	}
}

// TestFailedRequests: a point in which more requests failed than are allowed has failed for that reason.
func TestFailedRequests(t *testing.T) {
	var m maker
	run := m.run([]int64{5}, func(r *schema.Run) {
		r.Benchmark, r.Variant, r.Warnings = "ch1/x", "baseline", []string{"load: 4.0", "16 of 24 requests failed"}
	})
	for l, want := range map[layout.Layout][]string{
		layout.Kernels:  {`"successful": 0`, `"success": false`, `"error_message": "16 of 24 requests failed"`},
		layout.Chapters: {`"status": "failed_error"`, `"error": "16 of 24 requests failed"`},
	} {
		dir := t.TempDir()
		paths := write(t, l, dir, run)
		text, err := os.ReadFile(paths[len(paths)-1])
		for _, want := range want {
			valuetest.DeepEqual(t, []any{err, strings.Contains(string(text), want)}, []any{nil, true}, l, "has no", want, text)
		}
		valid(t, dir, l)
	}
}
