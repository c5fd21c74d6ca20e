package formats

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// TestTritonPerfReportWithoutUnits: nobody recognises a table of numbers without units, but it can be read as one.
func TestTritonPerfReportWithoutUnits(t *testing.T) {
	folder, format := os.DirFS(filepath.Join(root, "fixtures", "results", "triton-perf-report")), tritonPerfReport
	in, err := foreign.Open(context.Background(), folder, "matmul.csv", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if format.Recognize(in.Head) {
		t.Error("recognised without units")
	}
	report, runs, err := Read(in, format)
	got := make([]string, len(runs))
	for i := range runs {
		got[i] = Point(&runs[i]) + " " + string(runs[i].Status)
		if len(runs[i].Metrics) > 0 {
			got[i] += " " + Metric(&runs[i].Metrics[0])
		}
	}
	want := []string{
		"matmul backend=cuBLAS param.K=256 param.M=256 param.N=256 ok metric value [] better= level= p50=4.5",
		"matmul backend=Triton param.K=256 param.M=256 param.N=256 ok metric value [] better= level= p50=5.25",
		"matmul backend=cuBLAS param.K=512 param.M=512 param.N=512 ok metric value [] better= level= p50=26",
		"matmul backend=Triton param.K=512 param.M=512 param.N=512 error",
		"matmul backend=Triton param.K=640 param.M=640 param.N=640 ok metric value [] better= level= p50=32",
	}
	if err != nil || report.Refused != 2 || len(got) != len(want) {
		t.Fatalf("%+v, %v, %d runs: %q", report, err, len(got), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("run %d:\n got %s\nwant %s", i, got[i], want[i])
		}
	}
}

// TestTritonPerfReportRecognised: units are not enough, all numbers have as many decimals.
func TestTritonPerfReportRecognised(t *testing.T) {
	for text, want := range map[string]bool{
		"N,Triton (ms)\n256.000000,1.500000\n": true,
		"N,Triton (ms)\n256.0,1.5\n512.0,\n":   true,
		"N,Triton (ms)\n256,1.5\n":             false,
		"N,Triton (ms)\n256.0,1.50\n":          false,
		"N,Triton (ms)\nmatmul,1.5\n":          false,
		"N,Triton (days)\n256.0,1.5\n":         false,
		"N,Triton (ms)\n":                      false,
		"N (ms)\n1.5\n":                        false,
		"":                                     false,
	} {
		in := Input(t, "plot.csv", text)
		if got := tritonPerfReport.Recognize(in.Head); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestTritonPerfReportLong: of a table longer than what formats are recognised by, the line that it is cut in does not count.
func TestTritonPerfReportLong(t *testing.T) {
	text := "N,Tr (ms)\n" + strings.Repeat("256.000000,1.500000\n", 20_000)
	in := Input(t, "plot.csv", text)
	if !bytes.HasSuffix(in.Head.Bytes, []byte(",1.5")) {
		t.Fatalf("%d bytes are not cut in a number, which has fewer decimals so", len(in.Head.Bytes))
	}
	if !tritonPerfReport.Recognize(in.Head) {
		t.Error("not recognised")
	}
}

// TestTritonPerfReportWhole: a column that names a unit is no axis, also where all its values are whole.
func TestTritonPerfReportWhole(t *testing.T) {
	in := Input(t, "plot.csv", "M,N,Triton (GB/s),Torch (GB/s)\n64.0,8.0,12.0,12.5\n128.0,8.0,24.0,24.5\n")
	_, runs, err := Read(in, tritonPerfReport)
	got := strings.Split(strings.TrimSpace(points(runs)), "\n")
	want := []string{
		"plot backend=Triton param.M=64 param.N=8", "plot backend=Torch param.M=64 param.N=8",
		"plot backend=Triton param.M=128 param.N=8", "plot backend=Torch param.M=128 param.N=8",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
