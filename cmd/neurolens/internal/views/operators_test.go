package views

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/term"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestAboutOperators: the lines below the operators say what their times are totals of, and whether rows contain others.
func TestAboutOperators(t *testing.T) {
	t.Parallel()
	profiled := &schema.Run{Env: schema.Env{Facts: map[string]string{"profile.iterations": "30"}}}
	const total, nested = "COUNT and TIME are of one iteration: the mean of 30 under the profiler", "some rows contain or start others (ranges, calls), and SHARE counts the time of both; plot ops does not"
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

// TestPassNotes: show names what a pass lacks and why, and so do the places of its operators and stacks.
func TestPassNotes(t *testing.T) {
	t.Parallel()
	run := schema.Run{
		RunID: "01JESKVTNA8241VY8C7CQ591QS", Source: schema.SourceNeuroLens, Purpose: schema.PurposeProfile, Status: schema.StatusOK,
		Env: schema.Env{Facts: map[string]string{"runner.profile": "nsys"}, Missing: map[string]string{"profile.ranges": "absent: install nvtx"}},
	}
	const note = "no ranges (NVTX), so set-up and warm-up are in the report: absent: install nvtx"
	if got := headline(&run); !slices.Contains(got, note) {
		t.Errorf("%q", got)
	}
	valuetest.Equal(t, WhyNothing(&run), "its profiler, nsys, reports none; "+note)
	run.Env.Missing["ops"] = "no reader"
	valuetest.Equal(t, WhyNothing(&run), "no reader")
	run.Error = "nsys: no importer"
	valuetest.Equal(t, WhyNothing(&run), run.Error)
	valuetest.Equal(t, WhyNothing(&schema.Run{Source: schema.SourceNeuroLens, Purpose: schema.PurposeMeasure}), "")
}

// TestOperatorsLongNames: the name of a template does not push its type out of a terminal, nor out of sight where nothing is cut.
func TestOperatorsLongNames(t *testing.T) {
	t.Parallel()
	all := []summary.Operator{{Name: "void " + strings.Repeat("gemm<float, ", 40), Type: "kernel", Device: "gpu 0", Count: new(int64(1)), DurationNS: new(int64(1))}}
	for _, page := range []term.Page{{Width: 80}, {Width: 80, Whole: true}} {
		var b bytes.Buffer
		Operators(&schema.Run{}, all).Render(&b, page)
		_, row, _ := strings.Cut(b.String(), "\n")
		if row, _, _ = strings.Cut(row, "\n"); !strings.Contains(row, "…") || !strings.Contains(row, "  kernel ") || term.Width(row) > 120 {
			t.Errorf("%+v: %s", page, row)
		}
	}
}

// TestOperatorsOfAnIteration: counts and times are of one iteration, names are without template arguments where that tells them apart, and
// what was measured of kernels stands beside them.
func TestOperatorsOfAnIteration(t *testing.T) {
	t.Parallel()
	run := &schema.Run{Env: schema.Env{Facts: map[string]string{"profile.iterations": "20"}}}
	kernel := func(name string, counters map[string]float64) summary.Operator {
		return summary.Operator{Name: name, Type: "kernel", Count: new(int64(30)), DurationNS: new(int64(2e6)), CountEach: new(1.5), DurationEach: new(1e5), Counters: counters}
	}
	all := []summary.Operator{
		kernel("void reduce<512, float>(float*)", map[string]float64{"sm_throughput": .226, "occupancy": .939}), kernel("void gemm<float>(int)", nil), kernel("void gemm<half>(int)", nil),
	}
	var b bytes.Buffer
	Operators(run, all).Render(&b, term.Page{Width: 100})
	want := `OPERATOR               TYPE    COUNT    TIME      SM  OCCUPANCY
reduce<…>              kernel   1.50  100 µs  22.6 %     93.9 %
void gemm<float>(int)  kernel   1.50  100 µs       –          –
void gemm<half>(int)   kernel   1.50  100 µs       –          –

COUNT and TIME are of one iteration: the mean of 20 under the profiler
<…> stands for template arguments: --format csv has whole names
`
	valuetest.Equal(t, b.String(), want)
}
