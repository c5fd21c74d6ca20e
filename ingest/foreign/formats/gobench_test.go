package formats

import (
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func FuzzGoBench(f *testing.F) { foreigntest.Fuzz(f, goBench(), root, "go-bench") }

// TestGoStamps: when a process ran, and who stored it where, is no axis: two such processes measure one point.
func TestGoStamps(t *testing.T) {
	const lines = "BenchmarkX-8 10 5.0 ns/op\n"
	monday, _ := readText(t, goBench(), "date: 2026-01-05\nrunstamp: 1\nupload: 20260105.1\ntoolchain: a\n"+lines)
	tuesday, _ := readText(t, goBench(), "date: 2026-01-06\nrunstamp: 2\nupload: 20260106.7\ntoolchain: a\n"+lines)
	if len(monday) != 1 || len(tuesday) != 1 || monday[0].PointID != tuesday[0].PointID || monday[0].Params["toolchain"] != "a" {
		t.Errorf("%s\n%s", points(monday), points(tuesday))
	}
}

// TestGoBreaksOff: the beginning of a unit is none, where the text may break off in it.
func TestGoBreaksOff(t *testing.T) {
	const line = "BenchmarkX-8 10 5.0 ns/op 7.5 p99-ns 16 B/op"
	for end := 1; end <= len(line); end++ {
		for before, want := range map[string]int{"": 0, line + "\n": 1} {
			runs, _ := readText(t, goBench(), "PASS\nok  \tx\t0.1s\n"+before+line[:end])
			words := strings.Fields(line[:end])
			unit := words[len(words)-1]
			if len(words) > 3 && len(words)%2 == 0 && (unit == "ns/op" || unit == "B/op" || unit == "p99-ns" && want > 0) {
				want++
			}
			got := 0
			for _, r := range runs {
				got += len(r.Metrics[0].Ticks) + len(r.Metrics[0].Reals)
			}
			if got != want {
				t.Errorf("%q: %d samples, want %d", before+line[:end], got, want)
			}
		}
	}
}

// TestGoShared: what the runs of a process share is that of this process, with the units that each run has.
func TestGoShared(t *testing.T) {
	runs, _ := readText(t, goBench(), "goos: linux\nbuilder_type: a\n"+
		"BenchmarkA-8 10 5.0 sec/op\nBenchmarkB-8 10 6.0 sec/op\nBenchmarkC-8 10 6.0 ns/op\n"+
		"goos: plan9\nbuilder_type: b\x00\nBenchmarkD-8 10 6.0 ns/op\nBenchmarkE-8 10 6.0 ns/op\n--- FAIL: BenchmarkF\n")
	want := []struct{ os, builder, unit string }{
		{"linux", "a", "sec"}, {"linux", "a", "sec"}, {"linux", "a", ""}, {"plan9", "b", ""}, {"plan9", "b", ""}, {"plan9", "b", ""},
	}
	if len(runs) != len(want) {
		t.Fatalf("%d runs, want %d", len(runs), len(want))
	}
	for i, r := range runs {
		w := want[i]
		unit := strings.TrimSuffix(r.Env.Facts["source.unit.latency"], "/op")
		if r.Env.OS != w.os || r.Env.Facts["builder_type"] != w.builder || (unit == "sec") != (w.unit == "sec") {
			t.Errorf("run %d, %s: %s, facts %v; want %v", i, r.Benchmark, r.Env.OS, r.Env.Facts, w)
		}
		if removed := strings.Contains(strings.Join(r.Warnings, " "), "NUL"); removed != (w.builder == "b") {
			t.Errorf("run %d: warnings %q", i, r.Warnings)
		}
	}
}
