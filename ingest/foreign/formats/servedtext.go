package formats

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// servedText reads the printed output of the serving benchmarks.
func servedText() foreign.Format {
	return foreign.Format{
		Name:        "vllm-text",
		Log:         true,
		About:       "vLLM and SGLang: the printed output of vllm bench serve, benchmark_serving.py and sglang.bench_serving, also several in one log; parameters come from the printed arguments",
		Level:       "a run is one benchmark of a server; only aggregates, no samples",
		OwnHeadings: regexp.MustCompile(`^\s*(?:-{5,}|=+ Serving Benchmark Result )`),
		Recognize:   func(h *foreign.Head) bool { return h.Matches(servedTitle) },
		Read:        readServedText,
	}
}

var (
	servedTitle = regexp.MustCompile(`(?m)^` + foreign.LauncherTag + `{0,3}\s*=+ Serving Benchmark Result =+\s*$`)
	servedEnd   = regexp.MustCompile(`^\s*={20,}\s*$`)
	servedLine  = regexp.MustCompile(`^\s*([A-Z][^:]*?):\s+(\S.*?)\s*$`)
	servedStat  = regexp.MustCompile(`^(Mean|Median|Std|Min|Max|P[0-9.]+) (TTFT|TPOT|ITL|E2EL|E2E Latency) \(ms\)$`)
	servedArgs  = regexp.MustCompile(`^\s*(?:benchmark_args=)?Namespace\((.*)\)\s*$`)
	servedArg   = regexp.MustCompile(`([a-z_]+)=('[^']*'|"[^"]*"|[^,'"()\[\]]+)(?:, |$)`)
)

// servedLabels are the members of a JSON result by their printed labels.
var servedLabels = map[string]string{
	"Backend": "backend", "Traffic request rate": "request_rate", "Request rate configured (RPS)": "request_rate",
	"Max request concurrency": "max_concurrency", "Maximum request concurrency": "max_concurrency",
	"Successful requests": "completed", "Failed requests": "failed", "Benchmark duration (s)": "duration",
	"Total input tokens": "total_input_tokens", "Total generated tokens": "total_output_tokens",
	"Total generated tokens (retokenized)": "total_output_tokens_retokenized",
	"Request throughput (req/s)":           "request_throughput", "Request goodput (req/s)": "request_goodput",
	"Input token throughput (tok/s)": "input_throughput", "Output token throughput (tok/s)": "output_throughput",
	"Peak output token throughput (tok/s)": "max_output_tokens_per_s", "Peak concurrent requests": "max_concurrent_requests",
	"Total token throughput (tok/s)": "total_token_throughput", "Total Token throughput (tok/s)": "total_token_throughput",
	"Concurrency": "concurrency", "Accept length": "accept_length", "Acceptance rate (%)": "spec_decode_acceptance_rate",
	"Acceptance length": "spec_decode_acceptance_length",
}

// servedArguments are the arguments that distinguish results. The others are paths, seeds, addresses and the like.
var servedArguments = []string{
	"backend", "model", "dataset_name", "num_prompts", "request_rate", "burstiness", "max_concurrency", "random_input_len", "random_output_len",
	"random_range_ratio", "random_prefix_len", "sharegpt_output_len", "sonnet_input_len", "sonnet_output_len", "sonnet_prefix_len",
	"input_len", "output_len", "ignore_eos", "best_of", "use_beam_search",
}

// servedReader reads the results one after the other.
type servedReader struct {
	out       *foreign.Output
	arguments []scalar // that were printed last
	result    *served
}

func readServedText(in *foreign.Input, out *foreign.Output) error {
	r := &servedReader{out: out}
	for n, line := range in.Lines() {
		if line.Err != nil {
			return line.Err
		}
		text := foreign.Unlaunched(line.Text)
		switch arguments := servedArgs.FindStringSubmatch(text); {
		case servedTitle.MatchString(text):
			if err := r.emit(); err != nil {
				return err
			}
			r.result = &served{where: fmt.Sprintf("line %d", n)}
		case arguments != nil: // of the next launch, although the result has no end
			if err := r.emit(); err != nil {
				return err
			}
			r.arguments = argumentsOf(arguments[1])
		case r.result == nil:
		case servedEnd.MatchString(text):
			if err := r.emit(); err != nil {
				return err
			}
		default:
			r.take(text)
		}
	}
	return r.emit()
}

// argumentsOf are the arguments of the program as Python prints them.
func argumentsOf(text string) []scalar {
	var list []scalar
	for _, m := range servedArg.FindAllStringSubmatch(text, -1) {
		value := strings.Trim(m[2], `'"`)
		for _, name := range servedArguments {
			if name == m[1] && value != "None" {
				list = append(list, scalar{name, jsontext.KindString, foreign.Text(value)})
			}
		}
	}
	return list
}

// take reads a line of a result.
func (r *servedReader) take(line string) {
	m := servedLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	name := servedLabels[m[1]]
	if s := servedStat.FindStringSubmatch(m[1]); s != nil {
		name = strings.ToLower(s[1]+"_"+strings.ReplaceAll(s[2], " ", "_")) + "_ms"
	}
	switch n := csvNumber(m[2]); {
	case name == "" || m[2] == "not set" || m[2] == "None":
	case name == "backend" || name == "request_rate":
		r.result.scalars = append(r.result.scalars, scalar{name, jsontext.KindString, foreign.Text(m[2])})
	case n.Float64() != nil:
		r.result.scalars = append(r.result.scalars, scalar{name, jsontext.KindNumber, foreign.Text(n)})
	}
}

// emit yields the run of the result that came last, if there is one.
func (r *servedReader) emit() error {
	s := r.result
	if s == nil {
		return nil
	}
	run := schema.Run{Benchmark: "vllm/serve"}
	if s.get("backend") != "" { // which only SGLang prints there
		run.Benchmark = "sglang/bench_serving"
	}
	for _, v := range append(r.arguments, s.scalars...) {
		switch v.name {
		case "backend":
			run.Backend = string(v.value)
		case "model":
			run.Model = modelName(string(v.value))
		default:
			if v.kind == jsontext.KindString || v.name == "max_concurrency" {
				s.setParam(&run, v)
			}
		}
	}
	s.addResults(&run, r.out)
	s.scalars = append(s.scalars, r.arguments...)
	requests := s.whole()
	r.result, r.arguments = nil, nil
	return r.out.RunWith(s.where, run, requests.add)
}
