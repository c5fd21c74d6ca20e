package layout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// compared is regressions.md of runs, compared with others.
func compared(t *testing.T, base, head []schema.Run) string {
	t.Helper()
	f := folderOf(layout.Kernels, head...)
	f.Against()
	for _, r := range base {
		f.AddBase(r)
	}
	dir := t.TempDir()
	valuetest.Must(f.Write(dir))
	return texts(t, dir)["regressions.md"]
}

// TestRegressions: a p50 that is more than a tenth longer, or an error that has grown by more than 0.001, of a point with equal axes.
func TestRegressions(t *testing.T) {
	var m maker
	kernel := func(ms float64, edits ...func(*schema.Run)) schema.Run {
		return m.run([]int64{int64(ms * 1e6)}, func(r *schema.Run) {
			r.Benchmark, r.Backend, r.Params = "solve", "cpu", map[string]string{"size": "8"}
			for _, edit := range edits {
				edit(r)
			}
		})
	}
	with := func(name string, v float64) func(*schema.Run) {
		return func(r *schema.Run) { r.Metrics = append(r.Metrics, single(name, "", v)) }
	}
	size := func(r *schema.Run) { r.Params = map[string]string{"size": "16"} }
	bad := func(r *schema.Run) { failed(r, schema.StatusError, "check", "wrong") }
	skipped := func(r *schema.Run) { failed(r, schema.StatusSkipped, "skip_if", "no GPU") }
	none := "No regressions detected. ✅\n"
	for name, test := range map[string]struct {
		base, head []schema.Run
		want, not  string
	}{
		"slower":           {[]schema.Run{kernel(1)}, []schema.Run{kernel(1.11)}, "- **solve**: Latency increased by 11.0% (1.000 ms → 1.110 ms)\n", none},
		"a tenth":          {[]schema.Run{kernel(1)}, []schema.Run{kernel(1.1)}, none, "increased"},
		"from nothing":     {[]schema.Run{kernel(0)}, []schema.Run{kernel(1)}, "- **solve**: Latency increased (0.000 ms → 1.000 ms)\n", none},
		"to nothing":       {[]schema.Run{kernel(1)}, []schema.Run{kernel(0)}, "- **solve**: Latency decreased by 100.0% (1.000 ms → 0.000 ms)\n", "Detected"},
		"faster":           {[]schema.Run{kernel(2)}, []schema.Run{kernel(1)}, "## Improvements\n\n- **solve**: Latency decreased by 50.0%", "Detected"},
		"median of runs":   {[]schema.Run{kernel(1)}, []schema.Run{kernel(1), kernel(9), kernel(1.05)}, none, "increased"},
		"among the runs":   {[]schema.Run{kernel(1), kernel(1.5)}, []schema.Run{kernel(1.4), kernel(2)}, none + "\n## Changes Within The Spread Of The Runs\n\n- **solve**: by 36.0% (1.250 ms → 1.700 ms)\n", "increased"},
		"apart":            {[]schema.Run{kernel(1), kernel(1.5)}, []schema.Run{kernel(1.6), kernel(2)}, "- **solve**: Latency increased by 44.0% (1.250 ms → 1.800 ms)\n", "Spread"},
		"faster, among":    {[]schema.Run{kernel(1), kernel(2)}, []schema.Run{kernel(.5), kernel(1)}, none + "\n## Changes Within", "decreased"},
		"wrong":            {[]schema.Run{kernel(1)}, []schema.Run{kernel(.1, bad)}, "## Detected Regressions\n\n- **solve**: no result any more, the baseline took 1.000 ms\n", none},
		"skipped":          {[]schema.Run{kernel(1)}, []schema.Run{kernel(1, skipped)}, "Nothing was compared.\n\n## Not Compared\n\n- **solve**: no time on the new side\n", none},
		"baseline failed":  {[]schema.Run{kernel(1, bad)}, []schema.Run{kernel(1)}, "- **solve**: no time on the baseline\n", "increased"},
		"another size":     {[]schema.Run{kernel(1)}, []schema.Run{kernel(100, size)}, "- **solve**: new, the baseline does not have it\n- **solve**: missing, only the baseline has it\n", "increased"},
		"error has grown":  {[]schema.Run{kernel(1, with("rmse", .001))}, []schema.Run{kernel(1, with("rmse", .0025))}, "- **solve**: Accuracy drift of rmse by 0.0015", none},
		"error has not":    {[]schema.Run{kernel(1, with("rmse", .001))}, []schema.Run{kernel(1, with("rmse", .002))}, none, "drift"},
		"error has shrunk": {[]schema.Run{kernel(1, with("max_error", 1))}, []schema.Run{kernel(1, with("max_error", 0))}, none, "drift"},
		"failed before, with error": {
			[]schema.Run{kernel(1, with("rmse", 0)), kernel(1, bad)}, []schema.Run{kernel(1, with("rmse", 1))}, "0 of 1 points of the baseline were compared", "drift",
		},
		"of nothing":        {nil, []schema.Run{kernel(1)}, "0 of 0 points of the baseline were compared", "increased"},
		"what was compared": {[]schema.Run{kernel(1), kernel(1, size)}, []schema.Run{kernel(1)}, "1 of 2 points of the baseline were compared", "increased"},
	} {
		if text := compared(t, test.base, test.head); !strings.Contains(text, test.want) || strings.Contains(text, test.not) {
			t.Errorf("%s: %s, want %s, not %s", name, text, test.want, test.not)
		}
	}
}

// TestBaseSide: in a session with two sides the base is what the head is compared with, and is not a result.
func TestBaseSide(t *testing.T) {
	var m maker
	side := func(name string, ms int64) schema.Run {
		return m.run([]int64{ms * 1e6}, func(r *schema.Run) { r.Benchmark, r.Backend, r.Side = "solve", "cpu", name })
	}
	base, head := side("base", 1), side("head", 2)
	dir := t.TempDir()
	write(t, layout.Kernels, dir, base, head)
	all := texts(t, dir)
	valuetest.Contains(t, all["regressions.md"], "increased by 100.0% (1.000 ms → 2.000 ms)")
	if text := all["summary.json"]; strings.Contains(text, base.RunID) || !strings.Contains(text, head.RunID) || !strings.Contains(text, `"total_kernels": 1`) {
		t.Error(text)
	}
}

// TestSampleRegressions: the tools themselves found a regression of 206.9 % between two of their reports, of problems of different size.
// There is none.
func TestSampleRegressions(t *testing.T) {
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder of the sample files, is not set")
	}
	read := func(name string) []schema.Run {
		runs := readSamples(t, filepath.Join(samples, "seed2_quasim", name, "summary.json"))
		for i := range runs {
			stat.Complete(&runs[i])
		}
		return runs
	}
	text := compared(t, read("reports_ee8da844"), read("reports_1bccf0f5"))
	valuetest.Contains(t, text, "No regressions detected. ✅")
	valuetest.Contains(t, text, "- **quasim_runtime**: missing, only the baseline has it")
}
