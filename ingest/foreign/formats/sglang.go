package formats

import (
	"cmp"
	"fmt"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// sglang reads the lines that bench_serving appends to its output file.
var sglang = foreign.Format{
	Name:  "sglang",
	Log:   true,
	About: "SGLang: python -m sglang.bench_serving --output-file (JSON lines, with and without --output-details)",
	Level: "a run is a line, one benchmark of a server; samples are requests (ttft) and chunks (itl) with --output-details, otherwise only aggregates",
	Recognize: func(h *foreign.Head) bool {
		return !h.Has("model_id") && h.Has("backend", "dataset_name", "request_rate") &&
			h.HasAny("mean_e2e_latency_ms", "median_ttft_ms", "total_output_tokens_retokenized", "output_throughput", "random_range_ratio")
	},
	Read: readSGLang,
}

// sglangServer has the settings of the server that distinguish results. A file has many more, with paths and keys among them.
type sglangServer struct {
	ModelPath       string `json:"model_path"`
	ServedModelName string `json:"served_model_name"`
	Version         string `json:"version"`
	DType           string `json:"dtype"`

	options map[string]jsontext.Value
}

// sglangOptions are the options of a server that are parameters.
var sglangOptions = []string{
	"tp_size", "pp_size", "dp_size", "ep_size", "quantization", "kv_cache_dtype", "attention_backend", "speculative_algorithm", "chunked_prefill_size",
	"max_running_requests", "disable_radix_cache", "disable_cuda_graph", "enable_torch_compile",
}

// point sets the served model and the settings of the server.
func (s *sglangServer) point(r *schema.Run) {
	r.Model, r.BackendVersion = modelName(cmp.Or(s.ServedModelName, s.ModelPath)), s.Version
	if s.DType != "" {
		foreign.SetAxis(r, "dtype", s.DType)
	}
	for _, name := range sglangOptions {
		if text := foreign.TextOf(s.options[name]); text != "" {
			foreign.SetAxis(r, name, text)
		}
	}
	if text := foreign.TextOf(s.options["mem_fraction_static"]); text != "" { // the server chooses it by the GPU
		r.Applied = map[string]string{"mem_fraction_static": text}
	}
}

func readSGLang(in *foreign.Input, out *foreign.Output) error {
	return eachServed(in, out, func(n int, s *served) error {
		r := schema.Run{Benchmark: "sglang/bench_serving"}
		s.sglangPoint(&r)
		s.addResults(&r, out)
		requests := s.whole()
		err := out.RunWith(fmt.Sprintf("result %d", n), r, requests.add)
		out.Version(r.BackendVersion)
		return err
	})
}

// sglangPoint sets the model and the parameters of a run.
func (s *served) sglangPoint(r *schema.Run) {
	if s.server != nil {
		s.server.point(r)
	}
	for _, v := range s.scalars {
		_, known := servedValues[v.name]
		_, count := servedCounts[v.name]
		if known || count || latencyKey.MatchString(v.name) {
			continue
		}
		switch v.name {
		case "backend":
			r.Backend = string(v.value)
		case "model", "model_id", "served_model_name":
			r.Model = modelName(string(v.value))
		case "tag":
			s.tag(r, "tag", string(v.value))
		case "request_rate", "max_concurrency", "dataset_name", "sharegpt_output_len", "random_input_len", "random_output_len",
			"random_range_ratio", "num_prompts", "gsp_num_groups", "gsp_prompts_per_group", "gsp_system_prompt_len", "gsp_question_len",
			"gsp_output_len", "image_count", "image_resolution", "lora_name", "disable_stream", "disable_ignore_eos":
			s.setParam(r, v)
		}
	}
}

// sglangOffline reads the lines that SGLang's other benchmarks append to their result files.
var sglangOffline = foreign.Format{
	Name:  "sglang-offline",
	Log:   true,
	About: "SGLang: result files of bench_one_batch, bench_one_batch_server and bench_offline_throughput (JSON lines); they do not name the model (add --param model=...)",
	Level: "a run is a line, one batch or one launch; only aggregates, no samples",
	Recognize: func(h *foreign.Head) bool {
		return h.Has("total_latency", "last_gen_throughput", "request_throughput") ||
			h.Has("batch_size", "input_len", "output_len", "overall_throughput") && h.HasAny("prefill_latency", "last_gen_throughput", "latency")
	},
	Read: readSGLangOffline,
}

// offlineMeasures are the results, in the order in which they are stored.
var offlineMeasures = []struct {
	measure
	names     []string
	unit      string
	statistic string
}{
	{measure{name: "latency"}, []string{"latency", "total_latency"}, "s", "mean"},
	{measure{name: "ttft"}, []string{"last_ttft", "ttft"}, "s", "mean"},
	{measure{"prefill_latency", lower}, []string{"prefill_latency"}, "s", "mean"},
	{measure{"decode_latency", lower}, []string{"median_decode_latency"}, "s", "median"},
	{measure{name: "throughput"}, []string{"request_throughput"}, "requests/s", "mean"},
	{measure{"total_token_throughput", higher}, []string{"overall_throughput", "total_throughput"}, "tokens/s", "mean"},
	{measure{"input_token_throughput", higher}, []string{"input_throughput"}, "tokens/s", "mean"},
	{measure{"output_token_throughput", higher}, []string{"output_throughput"}, "tokens/s", "mean"},
	{measure{"prefill_throughput", higher}, []string{"prefill_throughput"}, "tokens/s", "mean"},
	{measure{"decode_throughput", higher}, []string{"median_decode_throughput"}, "tokens/s", "median"},
	{measure{"last_decode_throughput", higher}, []string{"last_gen_throughput"}, "tokens/s", "mean"},
	{measure{"spec_decode_acceptance_length", higher}, []string{"acc_length"}, "tokens", "mean"},
	{measure{"cache_hit_rate", higher}, []string{"cache_hit_rate"}, "ratio", "mean"},
}

// offlineCounts are kept as facts: the amount of work, not how fast it was.
var offlineCounts = map[string]string{
	"successful_requests": "requests.completed", "total_input_tokens": "tokens.input", "total_output_tokens": "tokens.output",
}

// offlineThroughput is the benchmark that sends requests.
const offlineThroughput = "sglang/bench_offline_throughput"

func readSGLangOffline(in *foreign.Input, out *foreign.Output) error {
	return eachServed(in, out, func(n int, s *served) error {
		r := s.offlineRun()
		whole := requests{completed: s.number("successful_requests").Int64()}
		if r.Benchmark == offlineThroughput {
			whole.duration = s.number("total_latency")
		}
		return out.RunWith(fmt.Sprintf("result %d", n), r, whole.add)
	})
}

// offlineRun returns the run of a line. The name that the user gave it is a tag, not a parameter.
func (s *served) offlineRun() schema.Run {
	r := schema.Run{Benchmark: "sglang/bench_one_batch"}
	switch {
	case s.get("total_throughput") != "":
		r.Benchmark = offlineThroughput
	case s.get("latency") != "":
		r.Benchmark = "sglang/bench_one_batch_server"
	}
	for _, v := range s.scalars {
		switch v.name {
		case "run_name":
			s.tag(&r, "run_name", string(v.value))
		case "backend":
			r.Backend = string(v.value)
		case "model", "model_path":
			r.Model = modelName(string(v.value))
		case "batch_size", "input_len", "output_len", "tp_size", "dp_size", "device", "dtype", "quantization", "dataset_name", "num_prompts":
			s.setParam(&r, v)
		}
		if fact := offlineCounts[v.name]; fact != "" {
			foreign.SetFact(&r, fact, string(v.value))
		}
	}
	whole := r.Benchmark == offlineThroughput // its latency is the latency of all requests together
	for _, m := range offlineMeasures {
		for _, name := range m.names {
			n := s.number(name)
			if v := n.Float64(); v != nil && *v > 0 { // -1 means that there is none
				var sum schema.Summary
				setStatistic(&sum, m.statistic, n, unitOf(m.unit))
				if m.name == "latency" && whole {
					m.measure = measure{"duration", lower}
				}
				addAggregates(&r, m.measure, sum, m.unit)
			}
		}
	}
	if whole && r.Metric("throughput") != nil {
		r.Primary = "throughput"
	}
	if len(r.Metrics) == 0 {
		noResult(&r, "nothing was measured")
	}
	return r
}
