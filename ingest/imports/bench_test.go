package imports_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/ingest/imports"
)

// BenchmarkInto imports 20 MB of Go benchmarks, with so many lines of each.
func BenchmarkInto(b *testing.B) {
	for _, count := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "input")
			text := goText(20<<20, count)
			if err := os.WriteFile(file, text, 0o644); err != nil {
				b.Fatal(err)
			}
			runs := 0
			for b.Loop() {
				runs = importInto(b, file)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*runs), "us/run")
		})
	}
}

func importInto(b *testing.B, file string) int {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "store")
	if err := ingest.Init(dir); err != nil {
		b.Fatal(err)
	}
	store, err := ingest.Open(dir, "test")
	if err != nil {
		b.Fatal(err)
	}
	sources, err := foreign.Sources([]string{file}, nil)
	if err != nil {
		b.Fatal(err)
	}
	done, err := imports.New(sources, imports.Options{Formats: formats.All()}, watcher{}).Into(b.Context(), store)
	if err != nil {
		b.Fatal(err)
	}
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	return done.Added
}

type watcher struct{}

func (watcher) Add(foreign.Source)     {}
func (watcher) File(int)               {}
func (watcher) Reading(*foreign.Input) {}
func (watcher) Run()                   {}

// goText is a text of go test -bench with so many lines of each benchmark, over packages of 100 benchmarks.
func goText(size, count int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	for pkg := 0; text.Len() < size; pkg++ {
		fmt.Fprintf(&text, "goos: linux\ngoarch: amd64\npkg: example.com/vec/p%d\ncpu: Example CPU @ 2.10GHz\n", pkg)
		for i := range 100 {
			for range count {
				ns := 100 + 900*random.Float64()
				fmt.Fprintf(&text, "BenchmarkScale/rows=%d/kind=f32-8         \t%8d\t%10.4g ns/op\t%7.2f MB/s\t%8d B/op\t%8d allocs/op\n",
					64+i, int(1e9/ns), ns, 512e3/ns, 128, 2)
			}
		}
		fmt.Fprintf(&text, "PASS\nok  \texample.com/vec/p%d\t12.345s\n", pkg)
	}
	return text.Bytes()
}
