package runner

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/profiler"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// profilerRun measures a sweep with the profilers of testdata, which end as fake says, and returns its passes. Whatever they leave, no file is
// left in the temporary directory.
func profilerRun(t *testing.T, text, fake string) (passes []schema.Run, kept map[string]string) {
	t.Helper()
	t.Setenv("PATH", valuetest.Must(filepath.Abs("testdata/profilers"))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("FAKE", fake)
	t.Setenv("COUNT", filepath.Join(t.TempDir(), "count"))
	kept = map[string]string{}
	keep := func(content io.Reader) (string, int64, error) {
		read := valuetest.Must(io.ReadAll(content))
		hash := hex.EncodeToString(fmt.Appendf(nil, "%032d", len(kept)))
		kept[hash] = string(read)
		return hash, int64(len(read)), nil
	}
	s := valuetest.Must(sweep.Read("s.yaml", strings.NewReader(text), sweep.Overrides{}))
	_ = valuetest.Must(Run(t.Context(), s, Options{Machine: "lab3", Locks: t.TempDir(), Keep: keep, Results: readFake}, func(r schema.Run) error {
		if r.Purpose == schema.PurposeProfile {
			passes = append(passes, r)
		} else if r.Status != schema.StatusOK || len(r.Metrics) == 0 || len(r.Metrics[0].Values()) == 0 {
			t.Errorf("measured: %s, %s", r.Status, r.Error)
		}
		return nil
	}))
	if left := valuetest.Must(filepath.Glob(filepath.Join(temporary, "*"))); len(left) > 0 {
		t.Errorf("%s: left in the temporary directory: %v", fake, left)
	}
	return passes, kept
}

// readFake reads what the profilers of testdata export: a word.
func readFake(_ context.Context, format, file string, outputs map[string]*io.SectionReader) ([]schema.Run, error) {
	text := string(valuetest.Must(io.ReadAll(outputs[file])))
	if strings.TrimSpace(text) == "unreadable" {
		return nil, errors.New("reading it as nsys: no process has a kernel")
	}
	if format == "ncu" {
		return []schema.Run{{
			Benchmark: "python/void k<float>(int)", Params: map[string]string{"device": "0"},
			Metrics: []schema.Metric{
				{Name: "latency", Unit: "ns", Ticks: []int64{100, 300}, Tick: 1},
				{Name: "sm__throughput.avg.pct_of_peak_sustained_elapsed", Unit: "ratio", Reals: []float64{0.2, 0.4}},
				{Name: "lts__t_sector_hit_rate.pct", Unit: "ratio", Reals: []float64{0.5}},
			},
		}}, nil
	}
	op := func(name, kind, device string, time int64) schema.Op {
		return schema.Op{Name: name, Type: kind, Device: device, DurationNS: new(time), Count: new(int64(2)), Counters: map[string]float64{"bytes": 8}}
	}
	times := func(time int64) []schema.Metric {
		return []schema.Metric{{Name: "kernel_time", Unit: "ns", Ticks: []int64{time}, Tick: 1}}
	}
	return []schema.Run{
		{
			Ops:     []schema.Op{op("k", "kernel", "cuda:0", 40), op(profiler.RangeMeasure, "nvtx", "cpu", 90), op(profiler.RangeIteration, "nvtx", "cpu", 80)},
			Metrics: times(40),
		},
		{Ops: []schema.Op{op("k", "kernel", "cuda:0", 20)}, Metrics: times(20)},
	}, nil
}

// TestPasses: a pass is judged by the report that its profiler leaves, in the profiler's own words where there is none.
func TestPasses(t *testing.T) {
	for name, c := range map[string]struct {
		command, tool, fake string
		want                string // status, kind, error
		files               string
	}{
		"a report":              {"true", "nsys", "ok", "ok", "profile.nsys-rep: whole"},
		"the program fails":     {`test -z "$PASS"`, "nsys", "ok", "ok", "profile.nsys-rep: whole"},
		"no report":             {"true", "nsys", "nothing", "error profiler: nsys left no report: Generated:", ""},
		"no report by chance":   {"true", "nsys", "chance", "ok", "profile.nsys-rep: whole"},
		"no importer":           {"true", "nsys", "importer", "unsupported not_applied: nsys: The importer binary and its dependencies were not found.; install the whole of Nsight Systems: its host part makes the report", "nsys-report-1.qdstrm: raw"},
		"it does not start":     {"true", "nsys", "start", "error profiler: nsys left no report: nsys: no such option", ""},
		"nothing in the report": {"true", "nsys", "unreadable", "ok", "profile.nsys-rep: whole"},
		"a deadline":            {`test -z "$PASS" || sleep 600`, "nsys", "ok", "timeout timeout: profile took more than LIMIT; raise timeouts.profile, or the timeout of the profiler", "profile.nsys-rep: half"},
		"no driver":             {"true", "ncu", "driver", "unsupported not_applied: ncu: Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] on path?).", ""},
		"no permission":         {"true", "ncu", "permission", "unsupported not_applied: ncu: ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.; run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0", ""},
		"no kernels":            {"true", "ncu", "kernels", "unsupported not_applied: ncu: No kernels were profiled.", ""},
		"it ends the program":   {`test -z "$PASS" && exit; touch "$COUNT"; sleep 600`, "ncu", "kill", "ok", "profile.ncu-rep: whole"},
	} {
		t.Run(name, func(t *testing.T) {
			limits := []string{"30s"}
			if strings.HasPrefix(c.want, "timeout") {
				limits = []string{"500ms", "5s", "30s"} // a profiler that has hardly begun when it is interrupted writes no report
			}
			var r schema.Run
			var files []string
			for i := 0; i < len(limits) && len(files) == 0; i++ {
				passes, kept := profilerRun(t, fmt.Sprintf("command: [sh, -c, '%s']\nwarmup: 0\niterations: 1\nprofile: [{tool: %s, timeout: %s}]\n", c.command, c.tool, limits[i]), c.fake)
				if len(passes) != 1 {
					t.Fatalf("%d passes", len(passes))
				}
				r = passes[0]
				got := string(r.Status)
				if r.Status != schema.StatusOK {
					got += " " + r.ErrorKind + ": " + r.Error
				}
				valuetest.DeepEqual(t, got, strings.Replace(c.want, "LIMIT", limits[i], 1))
				for _, a := range r.Artifacts {
					if a.Kind == schema.ArtifactProfile {
						files = append(files, a.Path+": "+strings.TrimSpace(kept[a.SHA256]))
					}
				}
			}
			valuetest.DeepEqual(t, strings.Join(files, " "), c.files)
			if slices.Contains(r.Warnings, "left_running") || r.Metric("latency") != nil {
				t.Errorf("warnings %v, metrics %v", r.Warnings, r.Metrics)
			}
		})
	}
}

// TestPassRanges: of a worker, only the iterations are recorded. If the profiler sees no ranges, another attempt records everything, which
// counts for no iteration.
func TestPassRanges(t *testing.T) {
	path := valuetest.Python(t, "os", "os")
	dir := t.TempDir()
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "b.py"), []byte(`import os, time
def bench_b():
    if "PASS" in os.environ and os.environ["FAKE"] == "kill":
        open(os.environ["COUNT"], "w").close()
        time.sleep(600)
`), 0o600))
	valuetest.OK(t, os.WriteFile(filepath.Join(dir, "nvtx.py"), []byte("import contextlib\ndef annotate(name, domain): return contextlib.nullcontext()\n"), 0o600))
	text := "file: b.py\ncwd: " + dir + "\npython: " + path + "\nwarmup: 0\niterations: 4\nenv: {PYTHONPATH: " + dir + "}\nprofile: %s\n"
	for _, c := range []struct{ tool, fake, iterations, ranges, kernel string }{
		{"nsys", "ok", "4", "nvtx", "15"},
		{"nsys", "unmarked", "", "the profiler saw none: nsys 2023.4 sees those of nvtx 0.2.11 and earlier; pip install nvtx==0.2.11", "none"},
		{"ncu", "kill", "", "nvtx", "none"},
	} {
		passes, _ := profilerRun(t, fmt.Sprintf(text, c.tool), c.fake)
		r := passes[0]
		ranges := r.Env.Facts["profile.ranges"] + r.Env.Missing["profile.ranges"]
		valuetest.DeepEqual(t, len(PassNotes(&r)) == 1, c.iterations == "" && c.tool == "nsys", "notes", PassNotes(&r))
		kernel := "none"
		if m := r.Metric("kernel_time"); m != nil {
			kernel = fmt.Sprint(m.Values()[0])
		}
		valuetest.DeepEqual(t, []string{string(r.Status), r.Env.Facts["profile.iterations"], ranges, kernel}, []string{"ok", c.iterations, c.ranges, c.kernel}, c.tool, c.fake, r.Error)
	}
}

// TestPassProfile: operators of all processes are added up, without the range that has all others; kernels with the means of their launches,
// weighted by time.
func TestPassProfile(t *testing.T) {
	passes, _ := profilerRun(t, "command: ['true']\nwarmup: 0\niterations: 1\nprofile: [nsys, ncu]\n", "ok")
	var got []string
	for _, r := range passes {
		for _, op := range r.Ops {
			got = append(got, fmt.Sprint(op.Index, " ", op.Name, " ", op.Type, " ", op.Device, " ", *op.DurationNS, " ", *op.Count, " ", op.Counters))
		}
		for _, m := range r.Metrics {
			got = append(got, fmt.Sprint(m.Name, " ", m.Values(), " ", m.Level, " ", m.IterationsPerSample))
		}
	}
	valuetest.DeepEqual(t, got, []string{
		"0 k kernel cuda:0 60 4 map[bytes:16]", "1 neurolens:iteration nvtx cpu 80 2 map[bytes:8]", "kernel_time [60] mean [1]",
		"0 void k<float>(int) kernel cuda:0 400 2 map[sm_throughput:0.35]", "sm_throughput [0.35] mean []",
	})
}

// TestPassNotInstalled: one pass of each benchmark says that its profiler is missing. Another session does not repeat it, unless the profiler is
// there by then.
func TestPassNotInstalled(t *testing.T) {
	const whyAbsent = "nsys is not installed: no such program in PATH; install Nsight Systems"
	s := parse(t, "benchmarks: {a: {command: ['true']}, b: {command: ['true']}}\ngrid: {n: [1, 2]}\nenv: {N: '{n}'}\nwarmup: 0\niterations: 1\nprofile: nsys\n")
	k := &shelf{}
	passes := func() (texts []string) {
		before := len(k.runs)
		said := k.bench(t, s, 0, nil).Passes
		valuetest.DeepEqual(t, len(said) > 0 && said[0] == whyAbsent, before == 0, "the session says so", said)
		for _, r := range k.runs[before:] {
			if r.Purpose == schema.PurposeProfile {
				texts = append(texts, fmt.Sprint(r.Benchmark, " ", r.Status, " ", r.ErrorKind, " ", r.Error))
			}
		}
		return texts
	}
	const why = " unsupported not_installed " + whyAbsent
	t.Setenv("PATH", "/usr/bin:/bin")
	valuetest.DeepEqual(t, passes(), []string{"a" + why, "b" + why})
	t.Setenv("PATH", valuetest.Must(filepath.Abs("testdata/profilers"))+":/usr/bin:/bin")
	valuetest.DeepEqual(t, len(passes()), 4)
}

// TestCachegrind: the total in a report of cachegrind is a metric of the pass, which has no other.
func TestCachegrind(t *testing.T) {
	const text = "command: [\"true\"]\nwarmup: 0\niterations: 1\nrepeats: 1\nprofile: cachegrind\n"
	passes, kept := profilerRun(t, text, "ok")
	if len(passes) != 1 || passes[0].Status != schema.StatusOK || len(passes[0].Metrics) != 1 {
		t.Fatalf("passes %+v", passes)
	}
	m := passes[0].Metrics[0]
	if m.Name != "instructions" || m.Better != schema.BetterLower || m.Clock != "cachegrind" || m.Level != schema.LevelProcess {
		t.Errorf("metric %+v", m)
	}
	valuetest.DeepEqual(t, m.Values(), []float64{6124951})
	valuetest.DeepEqual(t, len(kept), 1)

	passes, _ = profilerRun(t, text, "unreadable")
	valuetest.DeepEqual(t, PassNotes(&passes[0]), []string{"no instructions: the report of cachegrind has no total"})
	valuetest.DeepEqual(t, len(passes[0].Metrics), 0)
	valuetest.DeepEqual(t, passes[0].Env.Missing["instructions"], "the report of cachegrind has no total")
}
