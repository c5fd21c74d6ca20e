package micro

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/schema"
)

// inputBytes is how large the inputs are. NEUROLENS_BENCH_MIB says otherwise: the rule is for 200.
func inputBytes(b *testing.B) int {
	mib := 20
	if text := os.Getenv("NEUROLENS_BENCH_MIB"); text != "" {
		if _, err := fmt.Sscan(text, &mib); err != nil {
			b.Fatal(err)
		}
	}
	return mib << 20
}

// measured reads a file with a format and says how long it took and how much memory the heap has at most.
func measured(b *testing.B, format foreign.Format, folder, name string) time.Duration {
	b.Helper()
	start := time.Now()
	in, err := foreign.Open(os.DirFS(folder), name, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	if !format.Recognize(in.Head) {
		b.Fatalf("%s is not recognised", name)
	}
	report, err := foreign.Read(in, &format, foreign.Added{}, func(schema.Run) bool { return true })
	if err != nil || report.Refused > 0 || report.Runs == 0 {
		b.Fatal(report, err)
	}
	return time.Since(start)
}

// ratio reports how long reading takes, over what a bare reader of the same file takes, and how much memory it needs.
func ratio(b *testing.B, format foreign.Format, text []byte, bare func(*os.File) error) {
	folder := b.TempDir()
	if err := os.WriteFile(folder+"/input", text, 0o644); err != nil {
		b.Fatal(err)
	}
	size := int64(len(text))
	text = nil
	b.SetBytes(size)
	var ours, theirs time.Duration
	for b.Loop() {
		runtime.GC()
		start := time.Now()
		f, err := os.Open(folder + "/input")
		if err != nil {
			b.Fatal(err)
		}
		if err := bare(f); err != nil {
			b.Fatal(err)
		}
		f.Close()
		theirs += time.Since(start)
		runtime.GC()
		stop, peak := watchHeap()
		ours += measured(b, format, folder, "input")
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

// BenchmarkGoText compares with golang.org/x/perf/benchfmt on the same lines. That makes no runs: what a run takes counts
// less where each has more lines.
func BenchmarkGoText(b *testing.B) {
	for _, count := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("count=%d", count), func(b *testing.B) {
			ratio(b, goBench(), foreigntest.GoText(inputBytes(b), count), func(f *os.File) error {
				r := benchfmt.NewReader(f, "input")
				for r.Scan() {
					if err, ok := r.Result().(*benchfmt.SyntaxError); ok {
						return err
					}
				}
				return r.Err()
			})
		})
	}
}

// BenchmarkPytest compares with encoding/json decoding the same bytes.
func BenchmarkPytest(b *testing.B) {
	ratio(b, pytestBenchmark(), foreigntest.PytestJSON(inputBytes(b)), func(f *os.File) error {
		var v any
		return json.NewDecoder(f).Decode(&v)
	})
}
