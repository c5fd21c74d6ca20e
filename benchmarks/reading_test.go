package benchmarks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/schema"
)

// inputBytes returns how large the inputs are. NEUROLENS_BENCH_MIB says otherwise: the rule is for 200.
func inputBytes(b *testing.B) int {
	mib := 20
	if text := os.Getenv("NEUROLENS_BENCH_MIB"); text != "" {
		if _, err := fmt.Sscan(text, &mib); err != nil {
			b.Fatal(err)
		}
	}
	return mib << 20
}

// timeReading reads a file with the format that is its own and says how long it took.
func timeReading(b *testing.B, folder, name string) time.Duration {
	b.Helper()
	start := time.Now()
	in, err := foreign.Open(context.Background(), os.DirFS(folder), name, nil)
	must(b, err)
	defer in.Close()
	format, err := in.Format(formats.All())
	must(b, err)
	report, err := foreign.NewReader(foreign.Added{}, nil).Read(in, format, func(schema.Valid) bool { return true })
	if err != nil || report.Refused > 0 || report.Runs == 0 {
		b.Fatal(report, err)
	}
	return time.Since(start)
}

// benchmarkReading reports how long reading takes, over what a bare reader of the same file takes, and how much memory it
// needs.
func benchmarkReading(b *testing.B, text []byte, bare func(*os.File) error) {
	folder := b.TempDir()
	file := filepath.Join(folder, "input")
	must(b, os.WriteFile(file, text, 0o644))
	size := int64(len(text))
	text = nil
	b.SetBytes(size)
	var ours, theirs time.Duration
	for b.Loop() {
		runtime.GC()
		theirs += timed(b, file, bare)
		runtime.GC()
		stop, peak := watchHeap()
		ours += timeReading(b, folder, "input")
		close(stop)
		b.ReportMetric(float64(<-peak)/(1<<20), "peak-MiB")
	}
	b.ReportMetric(ours.Seconds()/theirs.Seconds(), "ratio")
	b.ReportMetric(float64(b.N)*float64(size)/1e6/ours.Seconds(), "ours-MB/s")
}

// watchHeap looks at the heap until it is stopped, and then says the most that it was.
func watchHeap() (stop chan struct{}, peak chan uint64) {
	stop, peak = make(chan struct{}), make(chan uint64, 1)
	go func() {
		var most uint64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return stop, peak
}

// BenchmarkReadGoText compares with golang.org/x/perf/benchfmt on the same lines. That makes no runs: what a run takes counts
// less where each has more lines.
func BenchmarkReadGoText(b *testing.B) {
	for _, count := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("count=%d", count), func(b *testing.B) {
			benchmarkReading(b, goText(inputBytes(b), count), scanBenchmarks)
		})
	}
}

// BenchmarkReadPytest compares with encoding/json decoding the same bytes.
func BenchmarkReadPytest(b *testing.B) {
	benchmarkReading(b, pytestJSON(inputBytes(b)), decodeAny)
}
