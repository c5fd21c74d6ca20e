package views

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
)

// TestAboutOperators: the lines below the operators say what their times are totals of, and whether rows contain others.
func TestAboutOperators(t *testing.T) {
	t.Parallel()
	profiled := &schema.Run{Env: schema.Env{Facts: map[string]string{"profile.iterations": "30"}}}
	const total, nested = "TIME is the total of 30 iterations under the profiler", "some rows contain or start others (ranges, calls), and SHARE counts the time of both; plot ops does not"
	for kind, want := range map[string][]string{"kernel": {total}, "NVTX": {total, nested}, "cpu_op": {total, nested}} {
		if got := aboutOperators(profiled, []summary.Operator{{Name: "a", Type: kind, DurationNS: new(int64(1))}}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	slow := &schema.Run{Warnings: []string{"load", "profile_cut"}, Env: schema.Env{Facts: map[string]string{
		"profile.iterations": "3310", "profile.latency_ns": "3390000", "profile.unprofiled_ns": "189000",
	}}}
	got := aboutOperators(slow, []summary.Operator{{Name: "a", Type: "Sin", DurationNS: new(int64(1))}})
	if len(got) != 3 || got[1] != "an iteration took 3.39 ms under the profiler and 189 µs without it: 17.9x" || !strings.HasPrefix(got[2], "profile_cut: the profile has fewer iterations") {
		t.Errorf("%q", got)
	}
	for _, facts := range []map[string]string{{"profile.latency_ns": "5"}, {"profile.latency_ns": "5", "profile.unprofiled_ns": "0"}, {"profile.latency_ns": "5", "profile.unprofiled_ns": "a"}} {
		if text := slowdown(facts); text != "" {
			t.Errorf("%v: %s", facts, text)
		}
	}
	if got := noOperators(&schema.Run{RunID: "01JESKVTNA8241VY8C7CQ591QS", Source: schema.SourceNeuroLens}); got != "run 7CQ591QS has no operators: bench --profile measures them, in a separate run" {
		t.Error(got)
	}
}

// TestOperatorsLongNames: the name of a template does not push its type out of a terminal, nor out of sight where nothing is cut.
func TestOperatorsLongNames(t *testing.T) {
	t.Parallel()
	all := []summary.Operator{{Name: "void " + strings.Repeat("gemm<float, ", 40), Type: "kernel", Device: "gpu 0", Count: new(int64(1)), DurationNS: new(int64(1))}}
	for _, page := range []term.Page{{Width: 80}, {Width: 80, Whole: true}} {
		var b bytes.Buffer
		Operators(&schema.Run{}, all).Render(&b, page)
		_, row, _ := strings.Cut(b.String(), "\n")
		if row, _, _ = strings.Cut(row, "\n"); !strings.Contains(row, "…  kernel ") || term.Width(row) > 120 {
			t.Errorf("%+v: %s", page, row)
		}
	}
}
