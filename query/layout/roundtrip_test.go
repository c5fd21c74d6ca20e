package layout_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/query/layout"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// readBack returns the runs that ingest reads in a directory. A file that no format reads has to be Markdown.
func readBack(t *testing.T, dir string) []schema.Run {
	t.Helper()
	folder := os.DirFS(dir)
	var all []schema.Run
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		format, report, runs, err := one(t, folder, name)
		switch {
		case path.Ext(name) == ".md":
			return nil
		case err != nil || report.Refused > 0:
			t.Errorf("%s: %v, refused %+v", name, err, report.Refusals)
		case format.Read != nil:
			all = append(all, runs...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// one reads a file of a folder. format is nil where not exactly one format is its own.
func one(t *testing.T, folder fs.FS, name string) (format *foreign.Format, report foreign.Report, runs []schema.Run, err error) {
	t.Helper()
	in, err := foreign.Open(t.Context(), folder, name, nil)
	if err != nil {
		return nil, report, nil, err
	}
	defer in.Close()
	format, err = in.Format(formats.All())
	if err != nil || format.Read == nil {
		return format, report, nil, err
	}
	report, err = foreign.NewReader(foreign.Added{}, nil).Read(in, format, func(v schema.Valid) bool {
		runs = append(runs, v.Run())
		return true
	})
	return format, report, runs, err
}

// said summarizes a run, with a line for each metric: its point, its status, locations and the samples of the time.
func said(r *schema.Run, samples bool) string {
	stat.Complete(r)
	lines := []string{fmt.Sprintf("%s %s %s %s %s %q %q", r.PointID, r.Purpose, r.Status, r.Stage, r.ErrorKind, r.Error, r.Suite)}
	if r.Status != schema.StatusOK {
		return lines[0]
	}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		location := m.Summary.P50
		if location == nil {
			location = m.Summary.Mean
		}
		line := fmt.Sprintf("%s %s %s %s %.12g", m.Name, m.Unit, m.Clock, m.Level, *location)
		if samples && m.Name == "latency" {
			line += fmt.Sprint(" ", m.Values())
		}
		lines = append(lines, line)
	}
	slices.Sort(lines[1:])
	return strings.Join(append(lines, r.Primary), "\n")
}

// checkBack compares runs with those that were read in the folder that they were written to.
func checkBack(t *testing.T, l layout.Layout, runs, back []schema.Run, samples bool) {
	t.Helper()
	var want, got []string
	for i := range runs {
		want = append(want, said(&runs[i], samples))
	}
	for i := range back {
		got = append(got, said(&back[i], samples))
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) != len(got) {
		t.Errorf("%s: %d runs became %d", l, len(want), len(got))
	}
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Fatalf("%s: a run is\n%s\nwant\n%s", l, got[i], want[i])
		}
	}
}

// TestRoundTrip: files that were written in a layout give the same points, values and samples when they are read.
func TestRoundTrip(t *testing.T) {
	for l, runs := range selections() {
		dir := t.TempDir()
		write(t, l, dir, runs...)
		back := readBack(t, dir)
		if l == layout.Matrix { // its files have the times as medians: the latency is no training
			for _, list := range [][]schema.Run{runs, back} {
				for i := range list {
					forgetClocks(&list[i])
				}
			}
		}
		if l == layout.Grid || l == layout.Kernels {
			for _, list := range [][]schema.Run{runs, back} {
				for i := range list {
					forgetLevels(&list[i])
				}
			}
		}
		checkBack(t, l, runs, back, l != layout.Matrix)
		for i := range back {
			if at := back[i].Env.Facts["source.run_id"]; !slices.ContainsFunc(runs, func(r schema.Run) bool { return r.RunID == at && r.StartedAt.Equal(back[i].StartedAt) }) {
				t.Errorf("%s: a run is of %q, which began at %s", l, at, back[i].StartedAt)
			}
		}
	}
}

// forgetClocks and forgetLevels remove the clock and level of metrics that have a member in the layout: there they are those of the tool.
func forgetClocks(r *schema.Run) {
	for i := range r.Metrics {
		r.Metrics[i].Clock = ""
	}
}

func forgetLevels(r *schema.Run) {
	for i := range r.Metrics {
		if r.Metrics[i].Name != "latency" {
			r.Metrics[i].Level = ""
		}
	}
}

// TestReportAlone: the report of the Swift scripts has everything that the files beside it have.
func TestReportAlone(t *testing.T) {
	runs := selections()[layout.Matrix]
	dir, whole := t.TempDir(), t.TempDir()
	f := folderOf(layout.Matrix, runs...)
	f.JSON, f.Markdown, f.SummaryOnly = filepath.Join(dir, "all.json"), filepath.Join(dir, "all.md"), true
	if paths, err := f.Write(whole); err != nil || len(paths) != 2 || len(texts(t, whole)) > 0 {
		t.Fatalf("%q, %v", paths, err)
	}
	back := readBack(t, dir)
	for _, list := range [][]schema.Run{runs, back} {
		for i := range list {
			forgetClocks(&list[i])
		}
	}
	checkBack(t, layout.Matrix, runs, back, false)
}

// TestSamplesBack: the real files of each system, read, written and read again, are the same points with the same values.
func TestSamplesBack(t *testing.T) {
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder of the sample files, is not set")
	}
	for _, test := range []struct {
		layout layout.Layout
		path   string
		runs   int
	}{
		{layout.Chapters, "seed1_benchmark_harness/benchmark_test_results_20251105_28ebcda8.json", 503},
		{layout.Kernels, "seed2_quasim/reports_1bccf0f5/summary.json", 3},
		{layout.Kernels, "seed2_quasim/generated/summary_with_failure.json", 4},
		{layout.Matrix, "seed3_swift_mnist/benchmarks", 5},
		{layout.Grid, "seed4_cuda_triton/benchmark_results.json", 288},
	} {
		runs := readSamples(t, filepath.Join(samples, test.path))
		if len(runs) != test.runs {
			t.Errorf("%s has %d runs, want %d", test.path, len(runs), test.runs)
		}
		for i := range runs {
			stat.Complete(&runs[i])
		}
		dir := t.TempDir()
		write(t, test.layout, dir, runs...)
		valid(t, dir, test.layout)
		checkBack(t, test.layout, runs, readBack(t, dir), true)
	}
}

func readSamples(t *testing.T, name string) []schema.Run {
	t.Helper()
	sources, err := foreign.Sources([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []schema.Run
	for _, s := range sources {
		in, err := s.Open(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		format, err := in.Format(formats.All())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := foreign.NewReader(foreign.Added{}, nil).Read(in, format, func(v schema.Valid) bool {
			all = append(all, v.Run())
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestSuiteOfSamples: for the real suite file, the report has the number of slower optimizations and the true worst speedup.
func TestSuiteOfSamples(t *testing.T) {
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder of the sample files, is not set")
	}
	dir := t.TempDir()
	runs := readSamples(t, filepath.Join(samples, "seed1_benchmark_harness/benchmark_test_results_20251105_28ebcda8.json"))
	write(t, layout.Chapters, dir, runs...)
	text := texts(t, dir)["benchmark_test_results.md"]
	for _, want := range []string{
		"- **Chapters tested:** 20/20\n", "- **Total benchmarks:** 257\n", "- **Slower than their baseline:** 102 of 222\n", "- **Worst speedup:** 0.0065x (",
		"- **Geometric mean speedup:** 1.54x\n", "- **Best speedup:** 21822.68x (",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q:\n%s", want, text[:min(1200, len(text))])
		}
	}
}
