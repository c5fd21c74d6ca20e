package formats

import (
	"testing"
)

// fuzz tries the reader of a format on variations of the files in a folder of fixtures/results.
func fuzz(f *testing.F, name, folder string) {
	format, err := Named(name)
	if err != nil {
		f.Fatal(err)
	}
	fuzzReader(f, *format, root, folder)
}

func FuzzAIPerf(f *testing.F)            { fuzz(f, "aiperf", "aiperf") }
func FuzzAIPerfCSV(f *testing.F)         { fuzz(f, "aiperf-csv", "aiperf") }
func FuzzAIPerfGPU(f *testing.F)         { fuzz(f, "aiperf-gpu", "aiperf") }
func FuzzAIPerfSummary(f *testing.F)     { fuzz(f, "aiperf-summary", "aiperf") }
func FuzzASV(f *testing.F)               { fuzz(f, "asv", "asv") }
func FuzzBaseline(f *testing.F)          { fuzz(f, "neurolens-baseline", "neurolens-baseline") }
func FuzzBenchmarkHarness(f *testing.F)  { fuzz(f, "benchmark-harness", "benchmark-harness") }
func FuzzCriterion(f *testing.F)         { fuzz(f, "criterion", "criterion") }
func FuzzCriterionMessages(f *testing.F) { fuzz(f, "criterion-messages", "criterion") }
func FuzzFIO(f *testing.F)               { fuzz(f, "fio", "fio") }
func FuzzFolded(f *testing.F)            { fuzz(f, "folded", "folded") }
func FuzzGenAI(f *testing.F)             { fuzz(f, "genai-perf", "genai-perf") }
func FuzzGenAICSV(f *testing.F)          { fuzz(f, "genai-perf-csv", "genai-perf") }
func FuzzGenAISummary(f *testing.F)      { fuzz(f, "genai-perf-summary", "genai-perf") }
func FuzzGoBench(f *testing.F)           { fuzz(f, "go-bench", "go-bench") }
func FuzzGoogleBenchmark(f *testing.F)   { fuzz(f, "google-benchmark", "google-benchmark") }
func FuzzHyperfine(f *testing.F)         { fuzz(f, "hyperfine", "hyperfine") }
func FuzzJMH(f *testing.F)               { fuzz(f, "jmh", "jmh") }
func FuzzJSONLines(f *testing.F)         { fuzz(f, "jsonl", "jsonl") }
func FuzzLlamaBench(f *testing.F)        { fuzz(f, "llama-bench", "llama-bench") }
func FuzzLlamaCSV(f *testing.F)          { fuzz(f, "llama-bench-csv", "llama-bench") }
func FuzzLlamaText(f *testing.F)         { fuzz(f, "llama-bench-text", "llama-bench") }
func FuzzLoadgenDetail(f *testing.F)     { fuzz(f, "mlperf", "mlperf") }
func FuzzLoadgenSummary(f *testing.F)    { fuzz(f, "mlperf-summary", "mlperf") }
func FuzzMLflow(f *testing.F)            { fuzz(f, "mlflow", "mlflow") }
func FuzzModelAnalyzer(f *testing.F)     { fuzz(f, "model-analyzer", "model-analyzer") }
func FuzzNCCLTests(f *testing.F)         { fuzz(f, "nccl-tests", "nccl-tests") }
func FuzzNCU(f *testing.F)               { fuzz(f, "ncu", "ncu") }
func FuzzNVBandwidth(f *testing.F)       { fuzz(f, "nvbandwidth", "nvbandwidth") }
func FuzzNVBench(f *testing.F)           { fuzz(f, "nvbench", "nvbench") }
func FuzzNeurolens(f *testing.F)         { fuzz(f, "neurolens-json", "neurolens-json") }
func FuzzNsys(f *testing.F)              { fuzz(f, "nsys", "nsys") }
func FuzzNsysStats(f *testing.F)         { fuzz(f, "nsys-stats", "nsys-stats") }
func FuzzONNXRuntime(f *testing.F)       { fuzz(f, "onnxruntime", "onnxruntime") }
func FuzzOperationGrid(f *testing.F)     { fuzz(f, "operation-grid", "operation-grid") }
func FuzzOptimum(f *testing.F)           { fuzz(f, "optimum-benchmark", "optimum-benchmark") }
func FuzzPerfCSV(f *testing.F)           { fuzz(f, "perf-analyzer-csv", "perf-analyzer") }
func FuzzPerfText(f *testing.F)          { fuzz(f, "perf-analyzer", "perf-analyzer") }
func FuzzPyperf(f *testing.F)            { fuzz(f, "pyperf", "pyperf") }
func FuzzPytest(f *testing.F)            { fuzz(f, "pytest-benchmark", "pytest-benchmark") }
func FuzzQuasim(f *testing.F)            { fuzz(f, "quasim", "quasim") }
func FuzzReframe(f *testing.F)           { fuzz(f, "reframe", "reframe") }
func FuzzReframePerflog(f *testing.F)    { fuzz(f, "reframe-perflog", "reframe") }
func FuzzSGLang(f *testing.F)            { fuzz(f, "sglang", "sglang") }
func FuzzSGLangOffline(f *testing.F)     { fuzz(f, "sglang-offline", "sglang-offline") }
func FuzzServedText(f *testing.F)        { fuzz(f, "vllm-text", "vllm-text") }
func FuzzSwiftMNIST(f *testing.F)        { fuzz(f, "swift-mnist", "swift-mnist") }
func FuzzSysbench(f *testing.F)          { fuzz(f, "sysbench", "sysbench") }
func FuzzTREx(f *testing.F)              { fuzz(f, "trtexec-metadata", "trtexec") }
func FuzzTorch(f *testing.F)             { fuzz(f, "torch-profiler", "torch-profiler") }
func FuzzTritonPerfReport(f *testing.F)  { fuzz(f, "triton-perf-report", "triton-perf-report") }
func FuzzTrtexecLayers(f *testing.F)     { fuzz(f, "trtexec-profile", "trtexec") }
func FuzzTrtexecLog(f *testing.F)        { fuzz(f, "trtexec-log", "trtexec") }
func FuzzTrtexecTimes(f *testing.F)      { fuzz(f, "trtexec", "trtexec") }
func FuzzVLLM(f *testing.F)              { fuzz(f, "vllm", "vllm") }
func FuzzVLLMLatency(f *testing.F)       { fuzz(f, "vllm-latency", "vllm") }
func FuzzVLLMPyTorch(f *testing.F)       { fuzz(f, "vllm-pytorch", "vllm") }
func FuzzVLLMSweep(f *testing.F)         { fuzz(f, "vllm-sweep-csv", "vllm") }
func FuzzVLLMThroughput(f *testing.F)    { fuzz(f, "vllm-throughput", "vllm") }
