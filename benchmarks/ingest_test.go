package benchmarks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
)

// ingestBytes is how large the files are.
const ingestBytes = 200 << 20

// BenchmarkIngest stores large files of other tools, by turns with a bare reader of the same bytes: encoding/json into an
// any, and benchfmt, which makes no runs. What a run takes counts less where it has more lines: count is how many each
// benchmark of the Go text has.
func BenchmarkIngest(b *testing.B) {
	neurolens := program(b)
	for _, c := range []struct {
		name string
		text func() []byte
		bare func(*os.File) error
	}{
		{"pytest", func() []byte { return pytestJSON(ingestBytes) }, decodeAny},
		{"go/count=10", func() []byte { return goText(ingestBytes, 10) }, scanBenchmarks},
		{"go/count=100", func() []byte { return goText(ingestBytes, 100) }, scanBenchmarks},
		{"go/count=1000", func() []byte { return goText(ingestBytes, 1000) }, scanBenchmarks},
	} {
		b.Run(c.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "input")
			must(b, os.WriteFile(file, c.text(), 0o644))
			var ours series
			var bare []time.Duration
			for n := 0; b.Loop(); n++ {
				for i := range 3 {
					bare = append(bare, timed(b, file, c.bare))
					store := filepath.Join(b.TempDir(), fmt.Sprintf("store%d-%d", n, i))
					ours.add(start(b, "NEUROLENS_FORMAT=", neurolens, "ingest", file, "--store", store))
				}
			}
			b.ReportMetric(ours.median()/medianOf(bare), "of-bare")
			b.ReportMetric(ours.cpu()/medianOf(bare), "cpu-of-bare")
			b.ReportMetric(float64(ours.peak)/1e6, "peak-MB")
		})
	}
}

func timed(tb testing.TB, file string, read func(*os.File) error) time.Duration {
	tb.Helper()
	began := time.Now()
	f, err := os.Open(file)
	must(tb, err)
	defer f.Close()
	must(tb, read(f))
	return time.Since(began)
}

func decodeAny(f *os.File) error {
	var v any
	return json.NewDecoder(f).Decode(&v)
}

func scanBenchmarks(f *os.File) error {
	r := benchfmt.NewReader(f, f.Name())
	for r.Scan() {
		if err, ok := r.Result().(*benchfmt.SyntaxError); ok {
			return err
		}
	}
	return r.Err()
}
