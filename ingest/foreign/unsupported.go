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
	instead string         // supported output of the tool; empty if there is none
}

// unsupportedFormats are recognised by simple rules, because they are not read: a mistake only gives a wrong hint.
var unsupportedFormats = []unsupportedFormat{
	{name: "the data.js of github-action-benchmark", text: regexp.MustCompile(`^\s*window\.BENCHMARK_DATA\s*=`), instead: "the output of the benchmark tool that it was made from"},
	{name: "github-action-benchmark or Bencher JSON", members: []string{"[].name", "[].unit", "[].value"}, instead: "the output of the benchmark tool that it was made from"},
	{name: "a k6 summary", members: []string{"metrics.http_req_duration"}},
	{name: "k6 points", members: []string{"type", "metric", "data.time", "data.value"}},
	{name: "BenchmarkDotNet", members: []string{"HostEnvironmentInfo", "Benchmarks[].Statistics"}},
	{name: "libtest benches", text: regexp.MustCompile(`(?m)^test \S+ +\.\.\. bench: +[0-9,.]+ ns/iter`)},
	{name: "the printed output of Criterion.rs", text: regexp.MustCompile(`(?m)^(?:\S.*)? +time: +\[[0-9.]+ \S+ [0-9.]+ \S+ [0-9.]+ \S+\]`), instead: "its folder target/criterion"},
	{name: "Locust statistics", text: regexp.MustCompile(`^"?Type"?,"?Name"?,"?Request Count"?,`)},
	{name: "Locust statistics", members: []string{"[].num_requests", "[].total_response_time"}},
	{name: "iperf3", members: []string{"start.test_start", "intervals", "end"}},
	{name: "iperf3", text: regexp.MustCompile(`(?m)^\[ *(?:\d+|ID)\] +Interval +Transfer +(?:Bitrate|Bandwidth)`)},
	{name: "perf stat", text: regexp.MustCompile(`(?m)^ *Performance counter stats for |^[0-9.]*[,;][^,;\n]*[,;](?:cycles|instructions|task-clock|cpu-clock)[:a-zA-Z]*[,;][0-9]+[,;]`)},
	{name: "perf stat", members: []string{"counter-value", "event"}},
	{name: "Catch2", text: regexp.MustCompile(`(?m)^benchmark name +samples +iterations +est`)},
	{name: "wrk", text: regexp.MustCompile(`(?m)^Running \S+ test @ https?://`)},
	{name: "pgbench", text: regexp.MustCompile(`(?m)^pgbench \(|^transaction type: `)},
	{name: "lm-eval", members: []string{"results", "versions", "n-shot"}},
	{name: "the log of MLPerf Training", text: regexp.MustCompile(`(?m)^:::MLLOG \{.*"namespace": *"".*"key"`)},
	{name: "vegeta", members: []string{"latencies.99th", "success", "status_codes"}},
}

// resemblance begins each hint of what a file looks like that no format recognises.
const resemblance = "it looks like "

// IsResemblance reports whether the reason why a file was not recognised is a hint of what it looks like.
func IsResemblance(why string) bool { return strings.HasPrefix(why, resemblance) }

// looksLike gives a hint for a file that no format recognises. It is empty if there is no hint.
func looksLike(formats []Format, head *Head) string {
	for i := range formats {
		if formats[i].Resembles != nil && formats[i].Resembles(head) {
			return fmt.Sprintf(resemblance+"%s; if it is, add --from %s", formats[i].Name, formats[i].Name)
		}
	}
	for _, c := range unsupportedFormats {
		if len(c.members) > 0 && head.Has(c.members...) || c.text != nil && head.Matches(c.text) {
			return c.hint()
		}
	}
	return ""
}

func (c unsupportedFormat) hint() string {
	const table = "convert it to CSV or JSON lines and use --from csv or jsonl with --map FILE"
	if c.instead != "" {
		return fmt.Sprintf(resemblance+"%s, which is not supported; ingest %s instead, or %s", c.name, c.instead, table)
	}
	return fmt.Sprintf(resemblance+"%s, which is not supported; %s", c.name, table)
}
