package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// longTrace is a trace of about so many bytes: steps of operators, with their shapes, launches and kernels.
func longTrace(size int) []byte {
	var b bytes.Buffer
	b.Grow(size + 4<<10)
	b.WriteString(`{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Lab GPU"}], "baseTimeNanoseconds": 1790000000000000000, "traceEvents": [`)
	at := 4203669600000.125
	for i := 0; b.Len() < size; i++ {
		if i%1000 == 0 {
			fmt.Fprintf(&b, "\n  {\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", \"pid\": 9001, \"tid\": 9001,\n"+
				"    \"ts\": %.3f, \"dur\": 9000.250,\n    \"args\": {\n      \"External id\": 1,\"Record function id\": 0, \"Ev Idx\": %d\n    }\n  },", i/1000, at, i)
		}
		fmt.Fprintf(&b, "\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op_%d\", \"pid\": 9001, \"tid\": 9001,\n"+
			"    \"ts\": %.3f, \"dur\": 34.024,\n    \"args\": {\n      \"External id\": %d,\"Record function id\": 0, \"Sequence number\": %d, "+
			"\"Input Dims\": [[64, 128], [128, 256], []], \"Input type\": [\"float\", \"float\", \"Scalar\"], \"Ev Idx\": %d\n    }\n  },", i%300, at, i, i, i)
		fmt.Fprintf(&b, "\n  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 9001, \"tid\": 9001,\n"+
			"    \"ts\": %.3f, \"dur\": 6.204,\n    \"args\": {\n      \"External id\": %d, \"cbid\": 211, \"correlation\": %d\n    }\n  },", at+10, i, i)
		fmt.Fprintf(&b, "\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void gemm_%d<float, 128, 4>(float const*, float*, int)\", \"pid\": 0, \"tid\": 7,\n"+
			"    \"ts\": %.3f, \"dur\": 12.5,\n    \"args\": {\n      \"External id\": %d, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": %d, "+
			"\"registers per thread\": 27, \"shared memory\": 0, \"blocks per SM\": 22.222221, \"grid\": [2400, 1, 1], \"block\": [256, 1, 1], "+
			"\"est. achieved occupancy %%\": 100\n    }\n  },", i%80, at+20, i, i)
		fmt.Fprintf(&b, "\n  {\n    \"ph\": \"s\", \"id\": %d, \"pid\": 9001, \"tid\": 9001, \"ts\": %.3f,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },", i, at)
		at += 40.125
	}
	b.Truncate(b.Len() - 1)
	b.WriteString("\n  ], \"traceName\": \"trace.json\"}\n")
	return b.Bytes()
}

// readAll reads a trace as ingest does, and gives its runs.
func readAll(tb testing.TB, r io.Reader) []schema.Run {
	tb.Helper()
	in, err := foreign.FromReader(r, "trace.json", nil)
	if err != nil {
		tb.Fatal(err)
	}
	format := torchProfiler()
	if !format.Recognize(in.Head) {
		tb.Fatal("the trace is not recognised")
	}
	var runs []schema.Run
	if _, err := foreign.NewReader(foreign.Added{}, nil).Read(in, &format, func(valid schema.Valid) bool {
		r := valid.Run()
		runs = append(runs, r)
		return true
	}); err != nil {
		tb.Fatal(err)
	}
	return runs
}

// BenchmarkTorchTrace reads a trace of 200 MB. ratio is its time to that of encoding/json, decoding the same bytes into
// an any.
func BenchmarkTorchTrace(b *testing.B) {
	trace := longTrace(200 << 20)
	b.SetBytes(int64(len(trace)))
	var ours, bare time.Duration
	for b.Loop() {
		began := time.Now()
		runs := readAll(b, bytes.NewReader(trace))
		ours += time.Since(began)
		if len(runs) != 1 || len(runs[0].Ops) != 381 {
			b.Fatalf("%d runs", len(runs))
		}
		b.StopTimer()
		runtime.GC()
		began = time.Now()
		var v any
		if err := json.NewDecoder(bytes.NewReader(trace)).Decode(&v); err != nil {
			b.Fatal(err)
		}
		bare += time.Since(began)
		v = nil
		runtime.GC()
		b.StartTimer()
	}
	b.ReportMetric(float64(ours)/float64(bare), "ratio")
}

// TestTorchTraceMemory: what a trace takes does not grow with it.
func TestTorchTraceMemory(t *testing.T) {
	took := func(size int) uint64 {
		trace := longTrace(size)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		readAll(t, bytes.NewReader(trace))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	small, large := took(2<<20), took(32<<20)
	if large > small+2<<20 {
		t.Errorf("a trace of 2 MiB allocates %d bytes, one of 32 MiB %d", small, large)
	}
}
