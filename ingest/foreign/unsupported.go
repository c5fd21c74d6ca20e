package foreign

import (
	"fmt"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// unsupportedFormat is a common kind of file that is not supported.
type unsupportedFormat struct {
	name    string
	members []string       // JSON paths, which the file must all have
	text    *regexp.Regexp // matches the beginning of a file that is not JSON
	file    *regexp.Regexp // matches the name of a file whose content is binary
	instead string         // supported output of the tool; empty if there is none
	how     string         // how its values are stored all the same; convert if empty
}

// Ways to store the values of a file of an unsupported format.
const (
	convert = "convert it to CSV or JSON lines and use --from csv or jsonl with --map FILE"
	table   = "read it with --from csv --map FILE, which --guess drafts"
	program = "convert it to JSON lines with jq, as docs/importing.md shows"
)

// unsupportedFormats are recognised by simple rules, because they are not read: a mistake only gives a wrong hint.
var unsupportedFormats = []unsupportedFormat{
	{name: "the data.js of github-action-benchmark", text: regexp.MustCompile(`^\s*window\.BENCHMARK_DATA\s*=`), instead: "the output of the benchmark tool that it was made from", how: program},
	{name: "github-action-benchmark or Bencher JSON", members: []string{"[].name", "[].unit", "[].value"}, instead: "the output of the benchmark tool that it was made from"},
	{name: "a k6 summary", members: []string{"metrics.http_req_duration"}, how: program},
	{name: "a k6 summary", members: []string{"metrics.iteration_duration"}, how: program},
	{name: "k6 points", members: []string{"type", "metric", "data.time", "data.value"}, how: program},
	{name: "BenchmarkDotNet", members: []string{"HostEnvironmentInfo", "Benchmarks[].Statistics"}, how: program},
	{name: "a table of BenchmarkDotNet", text: regexp.MustCompile(`^"?Method"?[,;](?:.*[,;])?"?Mean"?[,;]`), how: table},
	{name: "the printed output of BenchmarkDotNet", text: regexp.MustCompile(`(?m)^\| *Method *\|(?:.*\|)? *Mean *\||^BenchmarkDotNet v`), instead: "the CSV that it writes with --from csv --map FILE, or its JSON"},
	{name: "a table of Google Benchmark", text: regexp.MustCompile(`(?m)^name,iterations,real_time,cpu_time,time_unit`), instead: "the JSON of --benchmark_out_format=json"},
	{name: "the printed output of Google Benchmark", text: regexp.MustCompile(`(?m)^Benchmark +Time +CPU +Iterations`), instead: "the JSON of --benchmark_format=json"},
	{name: "the printed output of JMH", text: regexp.MustCompile(`(?m)^Benchmark +(?:\(\S+\) +)*Mode +(?:Cnt|Samples) +Score`), instead: "the JSON of -rf json"},
	{name: "a table of JMH", text: regexp.MustCompile(`^"Benchmark"[,;]"Mode"[,;]"Threads"`), instead: "the JSON of -rf json", how: table},
	{name: "the printed output of hyperfine", text: regexp.MustCompile(`(?m)^\| *Command *\| *Mean \[|^ +Time \(mean ± σ\): `), instead: "the JSON of --export-json"},
	{name: "a table of hyperfine", text: regexp.MustCompile(`^command,mean,stddev,median,user,system,min,max`), instead: "the JSON of --export-json", how: table},
	{name: "libtest benches", text: regexp.MustCompile(`(?m)^test \S+ +\.\.\. bench: +[0-9,.]+ ns/iter`)},
	{name: "the printed output of Criterion.rs", text: regexp.MustCompile(`(?m)^(?:\S.*)? +time: +\[[0-9.]+ \S+ [0-9.]+ \S+ [0-9.]+ \S+\]`), instead: "its folder target/criterion"},
	{name: "the printed output of divan", text: regexp.MustCompile(`(?m)^\S+ +fastest +│ slowest +│ median`)},
	{name: "Vitest benchmarks", members: []string{"files[].groups[].benchmarks[].hz"}},
	{name: "the printed output of Vitest", text: regexp.MustCompile(`(?m)^\W*name +hz +min +max +mean +p75 `), instead: "the JSON of --outputJson, converted,"},
	{name: "mitata", members: []string{"layout", "benchmarks[].alias", "benchmarks[].runs"}},
	{name: "mitata", text: regexp.MustCompile(`(?m)^benchmark +(?:avg|time \(avg\)) .*\(min … max\)`)},
	{name: "GuideLLM", members: []string{"benchmarks[].metrics.requests_per_second"}},
	{name: "inference-perf", members: []string{"load_summary.count", "successes.count"}},
	{name: "an aggregate of InferenceX", members: []string{"[].tput_per_gpu", "[].hw"}, instead: "the JSON that its client wrote, one file for each load"},
	{name: "an aggregate of InferenceX", members: []string{"tput_per_gpu", "hw"}, instead: "the JSON that its client wrote, one file for each load"},
	{name: "a table of InferenceX", text: regexp.MustCompile(`^# .*Inference(?:X|MAX)`), how: table},
	{name: "trtllm-bench", members: []string{"performance.system_output_throughput_tok_s"}},
	{name: "the printed output of trtllm-bench", text: regexp.MustCompile(`(?m)^(?:.*\] )?= (?:PERFORMANCE OVERVIEW|PYTORCH BACKEND|ENGINE DETAILS)\s*$`)},
	{name: "llama-benchy", members: []string{"benchmarks[].pp_throughput", "benchmarks[].tg_throughput"}},
	{name: "llama-benchy", text: regexp.MustCompile(`(?m)^\| *model *\|.*\| *(?:ttfr|est_ppt) \(ms\) *\|`)},
	{name: "nvidia-smi's CSV", text: regexp.MustCompile(`^(?:.*, ?)?(?:utilization|power|temperature|memory|clocks(?:\.\w+)?|fan)\.[a-z_.]+(?: \[[^\]\n]+\])?(?:,|\r?\n)`), how: table},
	{name: "nvidia-smi dmon", text: regexp.MustCompile(`(?m)^# ?(?:Date +Time +)?gpu +(?:pid|pwr|sm|fb|gtemp|mclk)\b`), instead: "the CSV of nvidia-smi --query-gpu=... --format=csv with --from csv --map FILE"},
	{name: "dcgmi dmon", text: regexp.MustCompile(`(?m)^# ?Entity +[A-Z]{2,}`)},
	{name: "a report of Nsight Systems", file: regexp.MustCompile(`\.(?:nsys-rep|qdrep)$`), how: "export it with nsys export --type sqlite FILE, and ingest the file that this writes"},
	{name: "a recording of Nsight Systems that was never made into a report", file: regexp.MustCompile(`\.qdstrm$`), how: "open it in nsys-ui, which makes a report, and export that with nsys export --type sqlite FILE"},
	{name: "a report of Nsight Compute", file: regexp.MustCompile(`\.ncu-rep$`), how: "print it with ncu --import FILE --csv --page raw, and ingest what this prints"},
	{name: "HPL", text: regexp.MustCompile(`(?m)^HPLinpack \d|^T/V +N +NB +P +Q +Time +Gflops`)},
	{name: "OSU Micro-Benchmarks", text: regexp.MustCompile(`(?m)^# OSU (?:MPI|NCCL|RCCL|OpenSHMEM|UPC)`)},
	{name: "a table of TorchInductor's benchmarks", text: regexp.MustCompile(`^dev,name,batch_size,`), how: table},
	{name: "rocprof", text: regexp.MustCompile(`^"?Name"?,"?Calls"?,"?TotalDurationNs"?,|^"Kind","(?:Agent_Id|Domain)",`), how: table},
	{name: "the log of Megatron-LM", text: regexp.MustCompile(`(?m) iteration +\d+/ *\d+ \|.*elapsed time per iteration \(ms\):`)},
	{name: "the log of MLPerf Training", text: regexp.MustCompile(`(?m)^:::MLLOG \{.*"namespace": *"".*"key"`)},
	{name: "Locust statistics", text: regexp.MustCompile(`^"?Type"?,"?Name"?,"?Request Count"?,`), how: table},
	{name: "Locust statistics", members: []string{"[].num_requests", "[].total_response_time"}},
	{name: "iperf3", members: []string{"start.test_start", "intervals", "end"}},
	{name: "iperf3", text: regexp.MustCompile(`(?m)^\[ *(?:\d+|ID)\] +Interval +Transfer +(?:Bitrate|Bandwidth)`)},
	{name: "perf stat", text: regexp.MustCompile(`(?m)^ *Performance counter stats for |^[0-9.]*[,;][^,;\n]*[,;](?:cycles|instructions|task-clock|cpu-clock)[:a-zA-Z]*[,;][0-9]+[,;]`)},
	{name: "perf stat", members: []string{"counter-value", "event"}},
	{name: "Catch2", text: regexp.MustCompile(`(?m)^benchmark name +samples +iterations +est`)},
	{name: "wrk", text: regexp.MustCompile(`(?m)^Running \S+ test @ https?://`)},
	{name: "pgbench", text: regexp.MustCompile(`(?m)^pgbench \(|^transaction type: `)},
	{name: "lm-eval", members: []string{"results", "versions", "n-shot"}},
	{name: "vegeta", members: []string{"latencies.99th", "success", "status_codes"}},
}

// resemblance begins each hint about a file that no format recognises.
const resemblance = "it looks like "

// IsResemblance reports whether the reason why a file was not recognised is a hint that names a tool.
func IsResemblance(why string) bool { return strings.HasPrefix(why, resemblance) }

// looksLike returns a hint for a file that no format recognises. It is empty if there is no hint.
func looksLike(formats []Format, head *Head) string {
	for i := range formats {
		if formats[i].Resembles != nil && formats[i].Resembles(head) {
			return fmt.Sprintf(resemblance+"%s; if it is, add --from %s", formats[i].Name, formats[i].Name)
		}
	}
	for _, c := range unsupportedFormats {
		if len(c.members) > 0 && head.Has(c.members...) || c.text != nil && head.Matches(c.text) || c.file != nil && c.file.MatchString(head.Name) {
			return c.hint()
		}
	}
	return ""
}

func (c unsupportedFormat) hint() string {
	how := c.how
	if how == "" {
		how = convert
	}
	if c.instead != "" {
		how = "ingest " + c.instead + " instead, or " + how
	}
	return resemblance + c.name + ", which is not supported; " + how
}
