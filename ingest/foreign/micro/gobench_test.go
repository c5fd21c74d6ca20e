package micro

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

func TestGoBench(t *testing.T) { foreigntest.Golden(t, Formats(), root, "go-bench") }

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
