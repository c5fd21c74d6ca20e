package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// BenchmarkProcess measures whole processes over a store of 1,000 runs of 1,000 samples each, sealed as they come, in turns
// with a process that only opens DuckDB, and reports how many times as long they take (medians).
//
//	go test ./cmd/neurolens -run XXX -bench Process -benchtime 40x
func BenchmarkProcess(b *testing.B) {
	dir := b.TempDir()
	program, bare := filepath.Join(dir, "neurolens"), filepath.Join(dir, "bare")
	for path, pkg := range map[string]string{program: ".", bare: "./testdata/bare"} {
		if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
			b.Fatalf("building %s: %v\n%s", pkg, err, out)
		}
	}
	store := filepath.Join(dir, "store")
	programtest.FillStore(b, store, 1000, 1000)

	commands := []struct {
		name string
		argv []string
	}{
		{"bare", []string{bare}},
		{"ls", []string{program, "ls", "--store", store, "--format", "table"}},
		{"filter", []string{program, "ls", "--store", store, "--format", "table", "p99>1ns", "batch_size>=2"}},
		{"filter-param", []string{program, "ls", "--store", store, "--format", "table", "dim=64"}},
		{"query", []string{program, "query", "--store", store, "SELECT batch_size, median(p50) FROM runs GROUP BY ALL ORDER BY ALL"}},
		{"version", []string{program, "version"}},
		{"true", []string{"true"}},
	}
	times := make([][]float64, len(commands))
	for b.Loop() {
		for i, c := range commands {
			begin := time.Now()
			if out, err := exec.Command(c.argv[0], c.argv[1:]...).CombinedOutput(); err != nil {
				b.Fatalf("%v: %v\n%s", c.argv, err, out)
			}
			times[i] = append(times[i], float64(time.Since(begin)))
		}
	}
	floor := median(times[0])
	b.ReportMetric(floor/1e6, "bare-ms")
	took := map[string]float64{}
	for i, c := range commands[1:] {
		took[c.name] = median(times[i+1])
		b.ReportMetric(took[c.name]/floor, c.name+"/bare")
	}
	b.ReportMetric(took["version"]/took["true"], "version/true")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// TestLargeListing lists 2,000 runs in every format, whole, and 20 of them as a table.
func TestLargeListing(t *testing.T) {
	t.Parallel()
	runs := 100
	if programtest.Long() {
		runs = 2000
	}
	dir := filepath.Join(t.TempDir(), "store")
	programtest.FillStore(t, dir, runs, 3)
	for format, want := range map[string]int{term.FormatPlain: runs + 1, term.FormatCSV: runs + 1, term.FormatJSONL: runs, term.FormatTable: 25} {
		var out, errs countingWriter
		a := &app{stdout: &out, stderr: &errs, getenv: func(string) string { return "" }, now: time.Now, width: 80}
		if code := a.run([]string{"ls", "--store", dir, "--format", format}); code != 0 || errs.lines > 0 {
			t.Errorf("%s: exit %d, %d lines of errors", format, code, errs.lines)
		}
		valuetest.Equal(t, out.lines, want, format)
	}
}

type countingWriter struct{ lines int }

func (w *countingWriter) Write(p []byte) (int, error) {
	for _, c := range p {
		if c == '\n' {
			w.lines++
		}
	}
	return len(p), nil
}
