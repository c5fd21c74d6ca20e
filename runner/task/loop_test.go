package task

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// loopRows is how many iterations one pass of a loop has.
const loopRows = 100_000

// mapped is a column of a file of samples, as the worker has it.
func mapped(t testing.TB) []int64 {
	dir := t.TempDir()
	r, err := createSamples(filepath.Join(dir, samplesFile), shape{columns: 1, capacity: loopRows})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.close() })
	m, err := mapSamples(filepath.Join(dir, samplesFile))
	if err != nil {
		t.Fatal(err)
	}
	return m.column(columnLatency)
}

func nothing() {}

func BenchmarkWorkerLoopMapped(b *testing.B) { benchmarkLoop(b, mapped(b)) }

func BenchmarkWorkerLoopSlice(b *testing.B) { benchmarkLoop(b, make([]int64, loopRows)) }

func benchmarkLoop(b *testing.B, rows []int64) {
	for b.Loop() {
		measure(nothing, rows, math.MaxInt64, new(int64))
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/loopRows, "ns/iteration")
}

// BenchmarkWorkerLoopRatio runs both loops in turns and reports the ratio of their medians.
func BenchmarkWorkerLoopRatio(b *testing.B) {
	columns := [][]int64{mapped(b), make([]int64, loopRows)}
	var took [2][]int64
	pass := make([]int64, 1)
	for b.Loop() {
		for i, rows := range columns {
			measure(func() { measure(nothing, rows, math.MaxInt64, new(int64)) }, pass, math.MaxInt64, new(int64))
			took[i] = append(took[i], pass[0])
		}
	}
	b.ReportMetric(float64(median(took[0]))/float64(median(took[1])), "mapped/slice")
}

func median(values []int64) int64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// programsOfComparison are those that hyperfine measures too: one that does nothing, one that waits, and a start of Python with modules
// that takes up to 20 MB.
func programsOfComparison(b *testing.B) map[string][]string {
	return map[string][]string{
		"true": {need(b, "true")}, "sleep": {need(b, "sleep"), "0.01"},
		"python": {need(b, "python3"), "-c", "import json, decimal"},
	}
}

// BenchmarkCommandAgainstHyperfine runs NEUROLENS_COMPARE_RUNS (100) processes of a program a side, four times in turns,
// and reports the ratio of the medians.
func BenchmarkCommandAgainstHyperfine(b *testing.B) {
	hyperfine := need(b, "hyperfine")
	runs := 100
	if n, err := strconv.Atoi(os.Getenv("NEUROLENS_COMPARE_RUNS")); err == nil {
		runs = n
	}
	for name, program := range programsOfComparison(b) {
		b.Run(name, func(b *testing.B) { againstHyperfine(b, hyperfine, program, runs) })
	}
}

func againstHyperfine(b *testing.B, hyperfine string, program []string, runs int) {
	var ours, theirs []int64
	for b.Loop() {
		for range 4 {
			spec := commandSpec(program...)
			spec.Warmup, spec.Iterations = 3, runs
			ours = append(ours, metric(b, runSpec(b, b.Context(), spec, nil), "latency").Ticks...)
			theirs = append(theirs, hyperfineTimes(b, hyperfine, program, runs)...)
		}
	}
	b.ReportMetric(float64(median(ours))/float64(median(theirs)), "ours/hyperfine")
	b.ReportMetric(float64(slices.Min(ours))/float64(slices.Min(theirs)), "min-ours/hyperfine")
	b.ReportMetric(float64(median(ours)), "ns/process")
}

// hyperfineTimes are the times of processes in ns as hyperfine measures them.
func hyperfineTimes(b *testing.B, hyperfine string, program []string, runs int) (times []int64) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "times.json")
	cmd := exec.Command(hyperfine, "-N", "--warmup", "3", "--runs", strconv.Itoa(runs), "--export-json", file, "'"+strings.Join(program, "' '")+"'")
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("hyperfine: %v: %s", err, text)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	var doc struct {
		Results []struct{ Times []float64 }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		b.Fatal(err)
	}
	for _, seconds := range doc.Results[0].Times {
		times = append(times, int64(seconds*1e9))
	}
	return times
}
