package formats_test

import (
	"testing"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
)

// named is one of the formats.
func named(t testing.TB, name string) foreign.Format {
	t.Helper()
	for _, f := range formats.All() {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no format %s", name)
	return foreign.Format{}
}

func FuzzVLLM(f *testing.F) { foreigntest.Fuzz(f, named(f, "vllm"), root, "vllm") }
func FuzzVLLMLatency(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "vllm-latency"), root, "vllm")
}

func FuzzVLLMThroughput(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "vllm-throughput"), root, "vllm")
}

func FuzzVLLMPyTorch(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "vllm-pytorch"), root, "vllm")
}

func FuzzVLLMSweep(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "vllm-sweep-csv"), root, "vllm")
}

func FuzzServedText(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "vllm-text"), root, "vllm-text")
}

func FuzzSGLangOffline(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "sglang-offline"), root, "sglang-offline")
}
func FuzzSGLang(f *testing.F) { foreigntest.Fuzz(f, named(f, "sglang"), root, "sglang") }
func FuzzLlamaBench(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "llama-bench"), root, "llama-bench")
}

func FuzzLlamaCSV(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "llama-bench-csv"), root, "llama-bench")
}

func FuzzLlamaText(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "llama-bench-text"), root, "llama-bench")
}
func FuzzAIPerf(f *testing.F) { foreigntest.Fuzz(f, named(f, "aiperf"), root, "aiperf") }
func FuzzAIPerfSummary(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "aiperf-summary"), root, "aiperf")
}

func FuzzAIPerfCSV(f *testing.F) { foreigntest.Fuzz(f, named(f, "aiperf-csv"), root, "aiperf") }

func FuzzAIPerfGPU(f *testing.F) { foreigntest.Fuzz(f, named(f, "aiperf-gpu"), root, "aiperf") }

func FuzzGenAI(f *testing.F) { foreigntest.Fuzz(f, named(f, "genai-perf"), root, "genai-perf") }

func FuzzGenAISummary(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "genai-perf-summary"), root, "genai-perf")
}

func FuzzGenAICSV(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "genai-perf-csv"), root, "genai-perf")
}

func FuzzPerfCSV(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "perf-analyzer-csv"), root, "perf-analyzer")
}

func FuzzPerfText(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "perf-analyzer"), root, "perf-analyzer")
}

func FuzzModelAnalyzer(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "model-analyzer"), root, "model-analyzer")
}

func FuzzLoadgenSummary(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "mlperf-summary"), root, "mlperf")
}
func FuzzLoadgenDetail(f *testing.F) { foreigntest.Fuzz(f, named(f, "mlperf"), root, "mlperf") }
func FuzzOptimum(f *testing.F) {
	foreigntest.Fuzz(f, named(f, "optimum-benchmark"), root, "optimum-benchmark")
}
