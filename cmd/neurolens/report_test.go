package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestReportOfHarness: of a result file whose own summary leaves out what became slower, the report counts all.
func TestReportOfHarness(t *testing.T) {
	t.Parallel()
	samples := os.Getenv("NEUROLENS_SAMPLES")
	if samples == "" {
		t.Skip("NEUROLENS_SAMPLES, the folder of real result files, is not set")
	}
	dir := t.TempDir()
	programtest.Output(t, dir, "ingest", filepath.Join(samples, "seed1_benchmark_harness", "benchmark_test_results_20251105_28ebcda8.json"))
	programtest.Output(t, dir, "report", "--md", "report.md", "--json", "report.json")
	var report struct {
		Counts struct {
			Runs     int
			ByStatus map[string]int `json:"by_status"`
		}
		Comparisons []struct {
			All struct {
				Compared, Slower int
				GeometricMean    float64 `json:"geometric_mean"`
				Median, Worst    float64
			}
		}
	}
	valuetest.OK(t, json.Unmarshal(fileText(t, dir, "report.json"), &report))
	sum := 0
	for _, n := range report.Counts.ByStatus {
		sum += n
	}
	valuetest.Equal(t, sum, 503, "counts", report.Counts)
	valuetest.Equal(t, report.Counts.Runs, sum, "counts", report.Counts)
	valuetest.Equal(t, len(report.Comparisons), 1, "comparisons", report.Comparisons)
	all := report.Comparisons[0].All
	rounded := func(v float64, digits int) float64 {
		unit := math.Pow10(digits)
		return math.Round(v*unit) / unit
	}
	if all.Compared != 222 || all.Slower != 102 || rounded(all.GeometricMean, 2) != 1.54 || rounded(all.Median, 2) != 1.05 || rounded(all.Worst, 4) != .0065 {
		t.Errorf("speed-ups are %+v", all)
	}
}
