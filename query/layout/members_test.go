package layout_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// members returns the names of the members of an object, in order.
func members(t *testing.T, text []byte) (names []string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		t.Fatalf("%v, %v: want an object", token, err)
	}
	for d.More() {
		name := valuetest.Must(d.Token())
		names = append(names, fmt.Sprint(name))
		var value json.RawMessage
		valuetest.OK(t, d.Decode(&value))
	}
	return names
}

// at returns a part of a file: members and indices, separated by slashes.
func at(t *testing.T, text []byte, path string) []byte {
	t.Helper()
	for word := range strings.SplitSeq(path, "/") {
		if word == "" {
			continue
		}
		var next json.RawMessage
		if i, err := strconv.Atoi(word); err == nil {
			var list []json.RawMessage
			if err := json.Unmarshal(text, &list); err != nil || i >= len(list) {
				t.Fatalf("%s: %v of %d elements", path, err, len(list))
			}
			next = list[i]
		} else {
			var object map[string]json.RawMessage
			if err := json.Unmarshal(text, &object); err != nil || object[word] == nil {
				t.Fatalf("%s: %s: %v", path, word, err)
			}
			next = object[word]
		}
		text = next
	}
	return text
}

// TestDeadlines: the deadline that was missed and the time until then are facts of a run; without them they are those of its stage.
func TestDeadlines(t *testing.T) {
	var m maker
	for want, facts := range map[string]map[string]string{
		"5 5.25":  {"runner.timeout_limit_ns": "5000000000", "runner.timeout_elapsed_ns": "5250000000", "runner.timeouts": "setup=30s measure=15s"},
		"1.5 2.0": {"runner.timeouts": "setup=30s measure=1.5s"},
		" 2.0":    {"runner.timeouts": "measure=soon", "runner.timeout_limit_ns": "x"},
	} {
		r := m.run(nil, func(r *schema.Run) {
			r.Benchmark = "ch1/x"
			failed(r, schema.StatusTimeout, "", "late")
			r.Stage, r.Stages.Measure = schema.StageMeasure, new(int64(2e9))
			for name, text := range facts {
				r.Env.Facts[name] = text
			}
		})
		dir := t.TempDir()
		write(t, layout.Chapters, dir, r)
		var suite struct {
			Results []struct {
				Benchmarks []struct {
					Runs []struct {
						Limit    json.RawMessage `json:"timeout_limit_seconds"`
						Duration json.RawMessage `json:"timeout_duration_seconds"`
					} `json:"runs"`
				} `json:"benchmarks"`
			} `json:"results"`
		}
		valuetest.OK(t, json.Unmarshal([]byte(texts(t, dir)["benchmark_test_results.json"]), &suite))
		run := suite.Results[0].Benchmarks[0].Runs[0]
		valuetest.Equal(t, string(run.Limit)+" "+string(run.Duration), want, facts)
	}
}

// TestOneStatistic: the values of a row belong together, however the samples spread: speed and throughput are those of its mean time.
func TestOneStatistic(t *testing.T) {
	var m maker
	times := []int64{1_000_000, 1_100_000, 900_000, 40_000_000}
	const bytes, items = 3 << 30, 7.
	r := m.run(times, func(r *schema.Run) {
		r.Benchmark, r.Variant, r.Backend = "ch1/x", "baseline", "cpu"
		for name, amount := range map[string]float64{"bandwidth": bytes, "throughput": items, "compute": 5} {
			unit := map[string]string{"bandwidth": "B/s", "throughput": "1/s", "compute": "flop/s"}[name]
			rate := schema.Metric{Name: name, Unit: unit, Level: schema.LevelIteration}
			for _, ns := range times {
				rate.Reals = append(rate.Reals, amount/(float64(ns)/1e9))
			}
			r.Metrics = append(r.Metrics, rate)
		}
	})
	const mean = 10.75 // ms
	for l, want := range map[layout.Layout]map[string]float64{
		layout.Grid: {"0/time_ms": mean, "0/inference_speed": 1000 / mean, "0/throughput_gbps": 3 / (mean / 1000)},
		layout.Kernels: {
			"results/0/timing/latency_ms_mean": mean, "results/0/timing/throughput_ops_per_sec": 1000 / mean, "results/0/timing/latency_ms_p50": 1.05,
		},
		layout.Chapters: {
			"results/0/benchmarks/0/baseline_time_ms": mean, "results/0/benchmarks/0/baseline_throughput/latency_ms": mean,
			"results/0/benchmarks/0/baseline_throughput/bytes_per_s":        bytes / (mean / 1000),
			"results/0/benchmarks/0/baseline_throughput/custom_unit_per_s":  items / (mean / 1000),
			"results/0/benchmarks/0/baseline_custom_metrics/compute_tflops": 5 / (mean / 1000) / 1e12,
		},
	} {
		dir := t.TempDir()
		paths := write(t, l, dir, r)
		text := valuetest.Must(os.ReadFile(paths[len(paths)-1]))
		for path, want := range want {
			valuetest.Near(t, valuetest.Must(strconv.ParseFloat(string(at(t, text, path)), 64))/want, 1, 1e-12, l, path, want)
		}
	}
}

// TestSides: a side has the rates of its measured runs without those of wrong points, a side with only profiled runs is skipped, and a run that
// was skipped has no errors.
func TestSides(t *testing.T) {
	var m maker
	example := func(variant string, rate float64, edits ...func(*schema.Run)) schema.Run {
		return m.run([]int64{1e6}, func(r *schema.Run) {
			r.Benchmark, r.Variant, r.Metrics = "ch1/x", variant, append(r.Metrics, single("throughput", "1/s", rate))
			for _, edit := range edits {
				edit(r)
			}
		})
	}
	profiled := func(r *schema.Run) { r.Purpose = schema.PurposeProfile }
	skipped := func(r *schema.Run) { failed(r, schema.StatusSkipped, "skip_if", "no GPU") }
	wrong := func(r *schema.Run) { failed(r, schema.StatusError, schema.KindCheck, "wrong") }
	dir := t.TempDir()
	write(t, layout.Chapters, dir, example("baseline", 1000), example("baseline", 10, profiled), example("traced", 10, profiled),
		example("cuda", 10, skipped), example("wrong", 10), example("wrong", 10, wrong))
	valid(t, dir, layout.Chapters)
	one := at(t, []byte(texts(t, dir)["benchmark_test_results.json"]), "results/0/benchmarks/0")
	for path, want := range map[string]string{
		"baseline_throughput/custom_unit_per_s": "1000.0", "baseline_custom_metrics/throughput_per_s": "1000.0",
		"optimizations/1/status": `"skipped"`, "optimizations/1/skip_reason": `"only profiled runs"`, "optimizations/0/skip_reason": `"no GPU"`,
	} {
		valuetest.Equal(t, string(at(t, one, path)), want, path)
	}
	for path, not := range map[string]string{"optimizations/0/runs/0": "errors", "optimizations/2": "throughput"} {
		if slices.Contains(members(t, at(t, one, path)), not) {
			t.Errorf("%s has the member %s", path, not)
		}
	}
}

// TestPoints: the runs of a point of a kernel are one result with the statistics of all their samples, one row and one file.
func TestPoints(t *testing.T) {
	var m maker
	point := func(precision string, ms ...int64) schema.Run {
		var times []int64
		for _, one := range ms {
			times = append(times, one*1e6)
		}
		return m.run(times, func(r *schema.Run) { r.Benchmark, r.Backend, r.Precision = "acck", "cpu", precision })
	}
	late := point("fp32")
	failed(&late, schema.StatusTimeout, "", "measure took more than 15s")
	dir := t.TempDir()
	write(t, layout.Kernels, dir, point("fp32", 1, 3), point("fp16", 9), point("fp32", 5, 7), late)
	all := texts(t, dir)
	one := []byte(all["kernels/acck_cpu_fp32.json"])
	for path, want := range map[string]string{
		"timing/latency_ms_p50": "4.0", "timing/latency_ms_mean": "4.0", "timing/throughput_ops_per_sec": "250.0", "timing/iterations": "4",
		"success": "false", "error_message": `"1 of 3 runs: measure took more than 15s"`, "runs/2/timing/latency_ms_p50": "6.0", "runs/0/neurolens/status": `"timeout"`,
	} {
		valuetest.Equal(t, string(at(t, one, path)), want, path)
	}
	for _, want := range []string{
		"- **Total Kernels**: 2\n- **Successful**: 1\n- **Failed**: 1\n", "| acck | cpu | fp32 | 4.000 | 6.400 | 250.00 |  |\n| acck | cpu | fp16 | 9.000 | 9.000 | 111.11 |  |\n\n##",
	} {
		valuetest.Contains(t, all["summary.md"], want, "the summary has no")
	}
	if none := write(t, layout.Kernels, t.TempDir(), point("", 1)); !strings.HasSuffix(none[0], "/acck.json") {
		t.Errorf("a kernel without a precision is in %s", none[0])
	} else if text, err := os.ReadFile(none[0]); err != nil || string(at(t, text, "precision")) != "null" {
		t.Errorf("its precision is %s, %v", at(t, text, "precision"), err)
	}
}

// TestPointsWithoutSamples: the statistics of a row are of the same runs and of the same metric.
func TestPointsWithoutSamples(t *testing.T) {
	var m maker
	point := func(edits ...func(*schema.Run)) schema.Run {
		return m.run([]int64{1e6, 3e6}, func(r *schema.Run) {
			r.Benchmark = "acck"
			for _, edit := range edits {
				edit(r)
			}
		})
	}
	mean := func(r *schema.Run) {
		r.Metrics = []schema.Metric{{Name: "latency", Unit: "ns", Better: schema.BetterLower, Summary: schema.Summary{Mean: new(9e6)}}}
	}
	training := func(r *schema.Run) {
		r.Primary, r.Metrics = "training_time", []schema.Metric{single("training_time", "ns", 9e9)}
	}
	for name, test := range map[string]struct {
		other func(*schema.Run)
		want  map[string]string
	}{
		"a mean alone":   {mean, map[string]string{"latency_ms_p50": "null", "latency_ms_p90": "null", "latency_ms_std": "null", "latency_ms_mean": "5.5", "iterations": "null"}},
		"another metric": {training, map[string]string{"latency_ms_p50": "2.0", "latency_ms_mean": "2.0", "iterations": "2"}},
	} {
		dir := t.TempDir()
		write(t, layout.Kernels, dir, point(), point(test.other))
		text := []byte(texts(t, dir)["kernels/acck.json"])
		for member, want := range test.want {
			valuetest.Equal(t, string(at(t, text, "timing/"+member)), want, name, member)
		}
	}
}

// TestStale: the files of a point that an earlier call wrote under other names are replaced, and no others.
func TestStale(t *testing.T) {
	var m maker
	point := func(kernel, precision string) schema.Run {
		return m.run([]int64{5}, func(r *schema.Run) { r.Benchmark, r.Backend, r.Precision = kernel, "cpu", precision })
	}
	one, other, more := point("acck", "fp32"), point("acck", "fp16"), point("slow", "fp32")
	dir := t.TempDir()
	names := func() string {
		var all []string
		for name := range texts(t, filepath.Join(dir, "kernels")) {
			all = append(all, name)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	put := func(name, text string) {
		t.Helper()
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, "kernels", name), []byte(text), 0o666))
	}
	step := func(what, want string, runs ...schema.Run) {
		t.Helper()
		write(t, layout.Kernels, dir, runs...)
		valuetest.Equal(t, names(), want, what)
		seen := map[string]int{}
		for _, r := range readBack(t, dir) {
			seen[r.Env.Facts["source.run_id"]]++
		}
		for id, n := range seen {
			valuetest.Equal(t, n, 1, what, "run", id, "was read")
		}
	}
	step("one point", "acck.json", one)
	step("the other point", "acck.json acck_cpu_fp16.json", other)
	step("both", "acck_cpu_fp16.json acck_cpu_fp32.json slow.json", one, other, more)
	step("the first again", "acck_cpu_fp16.json acck_cpu_fp32.json slow.json", one)
	cuda := point("tma", "fp32")
	cuda.Backend = "cuda"
	cuda.PointID = schema.PointID(&cuda)
	failed(&cuda, schema.StatusSkipped, "skip_if", "no GPU")
	tma := []schema.Run{point("tma", ""), cuda}
	step("beside one that was skipped", "acck_cpu_fp16.json acck_cpu_fp32.json slow.json tma.json tma_cuda_fp32.json", tma...)
	step("the skipped one alone", "acck_cpu_fp16.json acck_cpu_fp32.json slow.json tma.json tma_cuda_fp32.json", cuda)
	step("the measured one alone", "acck_cpu_fp16.json acck_cpu_fp32.json slow.json tma.json tma_cuda_fp32.json", tma[0])
	for _, name := range []string{"tma.json", "tma_cuda_fp32.json"} {
		valuetest.OK(t, os.Remove(filepath.Join(dir, "kernels", name)))
	}

	// What an earlier version wrote: a file for each run, with its point at the top.
	put("acck_cpu_fp32_00000000_00000001.json", `{"kernel_name": "acck", "neurolens": {"run_id": "`+one.RunID+`", "point_id": "`+one.PointID+`", "point": {"benchmark": "acck"}}}`)
	// What others wrote stays, whatever it is called.
	for name, text := range map[string]string{
		"theirs.json": `{"kernel_name": "acck", "backend": "cpu", "precision": "fp32"}`, "damaged.json": `{"kernel_name`, "notes.md": "text",
		"foreign.json": `{"neurolens": {"run_id": "` + one.RunID + `", "point_id": "` + one.PointID + `"}}`,
	} {
		put(name, text)
	}
	valuetest.OK(t, os.Mkdir(filepath.Join(dir, "kernels", "folder.json"), 0o777))
	write(t, layout.Kernels, dir, one, other, more)
	if got, want := names(), "acck_cpu_fp16.json acck_cpu_fp32.json damaged.json foreign.json notes.md slow.json theirs.json"; got != want {
		t.Errorf("among others: %s, want %s", got, want)
	}

	// The results that were not measured, and the report where it was before.
	grid := t.TempDir()
	skipped := other
	failed(&skipped, schema.StatusSkipped, "skip_if", "no GPU")
	write(t, layout.Grid, grid, one, skipped)
	valuetest.NoError(t, valuetest.Error(os.Stat(filepath.Join(grid, "benchmark_results.failed.json"))))
	write(t, layout.Grid, grid, one)
	if _, err := os.Stat(filepath.Join(grid, "benchmark_results.failed.json")); err == nil {
		t.Error("nothing failed, and the file of failures is there")
	}
	for text, stays := range map[string]bool{
		`{"summary": {"total_benchmarks": 1}, "results": [{"executable": "MNISTMLX", "neurolens": {"run_id": "` + one.RunID + `"}}]}`: false,
		`{"summary": {"total_benchmarks": 1}, "results": [{"executable": "MNISTMLX"}]}`:                                               true,
	} {
		matrix := t.TempDir()
		valuetest.OK(t, os.WriteFile(filepath.Join(matrix, "report.json"), []byte(text), 0o666))
		write(t, layout.Matrix, matrix, one)
		if _, err := os.Stat(filepath.Join(matrix, "report.json")); (err == nil) != stays {
			t.Errorf("report.json with %s: %v", text, err)
		}
	}
}

// TestStaleKernels: a point counts as measured if any of its runs was, whatever the first one in its file is.
func TestStaleKernels(t *testing.T) {
	var m maker
	point := func(backend string, status schema.Status) schema.Run {
		return m.run([]int64{5}, func(r *schema.Run) {
			if r.Benchmark, r.Backend = "tma", backend; status != schema.StatusOK {
				failed(r, status, "skip_if", "no GPU")
			}
		})
	}
	dir := t.TempDir()
	write(t, layout.Kernels, dir, point("cuda", schema.StatusSkipped), point("cuda", schema.StatusOK), point("cpu", schema.StatusOK))
	write(t, layout.Kernels, dir, point("cpu", schema.StatusSkipped))
	all := texts(t, filepath.Join(dir, "kernels"))
	valuetest.DeepEqual(t, slices.Sorted(maps.Keys(all)), []string{"tma_cpu.json", "tma_cuda.json"}, "the files")
}

// TestStaleMatrix: each run is in one file, also of calls about other runs and files of earlier versions, and no file of others is replaced.
func TestStaleMatrix(t *testing.T) {
	var m maker
	training := func(edits ...func(*schema.Run)) schema.Run {
		return m.run([]int64{5}, func(r *schema.Run) {
			r.Benchmark, r.Model, r.Backend = "MNISTClassic", "mlp", "cpu"
			for _, edit := range edits {
				edit(r)
			}
		})
	}
	undated := func(r *schema.Run) { r.StartedAt = time.Time{} }
	first, second, later := training(), training(), training(func(r *schema.Run) { r.SessionID = "later" })
	later.StartedAt = first.StartedAt // two sessions that began within a second
	noTime, norAny := training(undated), training(undated)
	late := training(func(r *schema.Run) { failed(r, schema.StatusTimeout, "", "late") })
	for name, calls := range map[string][][]schema.Run{
		"all, then some":         {{first, second}, {first}, {second}},
		"some, then all":         {{first}, {first, second}},
		"in two calls":           {{first}, {second}},
		"sessions at one time":   {{first}, {later}},
		"without times":          {{noTime}, {norAny}},
		"some failed":            {{late, first}, {late}, {first, late, second}},
		"others, then all again": {{second}, {late, first}, {noTime}, {first, second, late, later, noTime, norAny}},
	} {
		dir, want := t.TempDir(), map[string]int{}
		for _, runs := range calls {
			write(t, layout.Matrix, dir, runs...)
			for _, r := range runs {
				want[r.RunID] = 1
			}
		}
		got := map[string]int{}
		for _, r := range readBack(t, dir) {
			got[r.Env.Facts["source.run_id"]]++
		}
		for file, text := range texts(t, dir) {
			if strings.HasSuffix(file, ".json") && path.Dir(file) != "report" {
				got[string(at(t, []byte(text), "neurolens/run_id"))]++
			}
		}
		for id := range want {
			if got[id] != 1 || got[strconv.Quote(id)] != 1 {
				t.Errorf("%s: run %s is read %d times, and in %d files", name, id, got[id], got[strconv.Quote(id)])
			}
		}
	}

	// Earlier versions wrote runs that are not ok beside the others. Files of others stay, with the name that a run would have.
	dir := t.TempDir()
	name := path.Base(filepath.ToSlash(write(t, layout.Matrix, t.TempDir(), first)[0]))
	for file, text := range map[string]string{"classic_old.json": `{"executable": "MNISTClassic", "neurolens": {"run_id": "` + late.RunID + `"}}`, name: `{"executable": "MNISTClassic"}`} {
		valuetest.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666))
	}
	write(t, layout.Matrix, dir, first, late)
	all := texts(t, dir)
	if all["classic_old.json"] != "" || all[name] != `{"executable": "MNISTClassic"}` || len(all) != 5 {
		t.Errorf("the folder has %q", slices.Sorted(maps.Keys(all)))
	}
}

// TestReporter: every *.json in the folder of matrix is a run that was measured, with words for model and backend.
func TestReporter(t *testing.T) {
	dir := t.TempDir()
	write(t, layout.Matrix, dir, store()...)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text := valuetest.Must(os.ReadFile(name))
		var run struct {
			Model, Backend string
			Own            struct{ Status string } `json:"neurolens"`
		}
		if err := json.Unmarshal(text, &run); err != nil || run.Model == "" || run.Backend == "" || run.Own.Status != "ok" {
			t.Errorf("%s: %+v, %v", name, run, err)
		}
	}
}

// TestTimes: each row of benchmark_results.json has a time, and those without one are in the file beside it.
func TestTimes(t *testing.T) {
	dir := t.TempDir()
	write(t, layout.Grid, dir, store()...)
	all := texts(t, dir)
	for name, timed := range map[string]bool{"benchmark_results.json": true, "benchmark_results.failed.json": false} {
		var rows []struct {
			Time *float64 `json:"time_ms"`
		}
		if err := json.Unmarshal([]byte(all[name]), &rows); err != nil || len(rows) < 5 {
			t.Fatalf("%s: %d rows, %v", name, len(rows), err)
		}
		for i, r := range rows {
			valuetest.Equal(t, (r.Time != nil), timed, name, "the time of row", i, r.Time)
		}
	}
}

// TestEnvironment: env.json has the libraries of all runs, and the manifest the backends that were measured.
func TestEnvironment(t *testing.T) {
	var m maker
	run := func(status schema.Status, backend string, facts map[string]string) schema.Run {
		return m.run([]int64{5}, func(r *schema.Run) {
			if r.Benchmark, r.Backend = "solve", backend; status != schema.StatusOK {
				failed(r, status, "skip_if", "no GPU")
			}
			for name, text := range facts {
				r.Env.Facts[name] = text
			}
		})
	}
	dir := t.TempDir()
	write(t, layout.Kernels, dir,
		run(schema.StatusSkipped, "cuda", nil),
		run(schema.StatusOK, "cpu", map[string]string{"python.package.numpy": "2.4.5", "python.package.jax": "0.9"}),
		run(schema.StatusOK, "cpu", map[string]string{"python.package.numpy": "2.4.6", "cpu.architecture": "x86_64"}),
		run(schema.StatusOK, "cpu", nil))
	all := texts(t, dir)
	for path, want := range map[string]string{
		"numpy_version": `"2.4.6"`, "architecture": `"x86_64"`, "libraries/jax": `"0.9"`, "libraries/numpy": `"2.4.6"`,
	} {
		valuetest.Equal(t, string(at(t, []byte(all["env.json"]), path)), want, path)
	}
	write(t, layout.Kernels, dir, run(schema.StatusSkipped, "cuda", map[string]string{
		"discover.backend": "jax", "discover.imports": `["jax","numpy"]`, "discover.config": `{"problem_size":{"size":2048}}`,
	}))
	manifest := []byte(texts(t, dir)["kernel_manifest.json"])
	for path, want := range map[string]string{
		"0/backend": `"jax"`, "0/backends/0": `"cuda"`, "0/dependencies/1": `"numpy"`, "0/config/problem_size/size": "2048",
	} {
		valuetest.Equal(t, string(at(t, manifest, path)), want, path)
	}
	for path, want := range map[string]string{"0/backend": `"cpu"`, "0/backends/0": `"cpu"`} {
		valuetest.Equal(t, string(at(t, []byte(all["kernel_manifest.json"]), path)), want, path)
	}
}
