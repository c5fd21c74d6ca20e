package benchmarks

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// goText returns a text of go test -bench with so many lines of each benchmark (-count), over packages of 100 benchmarks.
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

// pytestJSON returns a file of pytest-benchmark of benchmarks with 100,000 rounds each.
func pytestJSON(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	text.WriteString(`{"machine_info": {"node": "lab3", "cpu": {"count": 8}}, "commit_info": {"id": "0123"}, "benchmarks": [`)
	for i := 0; text.Len() < size; i++ {
		if i > 0 {
			text.WriteString(",")
		}
		fmt.Fprintf(&text, "\n{\"group\": null, \"name\": \"test_%d\", \"fullname\": \"t.py::test_%d\", \"params\": null, \"param\": null,", i, i)
		text.WriteString(` "options": {"timer": "perf_counter"}, "stats": {"min": 1e-06, "mean": 1.5e-06, "rounds": 100000, "iterations": 1, "data": [`)
		for k := range 100_000 {
			if k > 0 {
				text.WriteString(",")
			}
			fmt.Fprintf(&text, "\n                    %.17g", 1e-6*(1+random.Float64()))
		}
		text.WriteString("\n]}}")
	}
	text.WriteString(`], "datetime": "2026-01-02T03:04:05+00:00", "version": "5.3.1"}`)
	return text.Bytes()
}
