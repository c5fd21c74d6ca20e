package formats

import (
	"path"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// vllmRecord is an element of a .pytorch.json: one metric, with all arguments.
type vllmRecord struct {
	Benchmark struct {
		ExtraInfo struct {
			Args map[string]jsontext.Value `json:"args"`
		} `json:"extra_info"`
	} `json:"benchmark"`
	Model struct {
		Name string `json:"name"`
	} `json:"model"`
	Metric struct {
		Name   string           `json:"name"`
		Values []foreign.Number `json:"benchmark_values"`
	} `json:"metric"`
}

// vllmArguments are the arguments that distinguish results. The others are paths, seeds and the like.
var vllmArguments = []string{
	"backend", "dataset_name", "num_prompts", "input_len", "output_len", "random_input_len", "random_output_len", "batch_size", "n",
	"max_concurrency", "request_rate", "burstiness", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size",
	"enable_expert_parallel", "quantization", "dtype", "kv_cache_dtype", "max_model_len", "max_num_seqs", "max_num_batched_tokens",
	"enable_chunked_prefill", "enable_prefix_caching", "enforce_eager", "gpu_memory_utilization", "async_engine", "use_beam_search",
}

// point says what was measured by the arguments of a record.
func (v *vllmRecord) point(r *schema.Run) {
	if r.Model == "" {
		r.Model = modelName(v.Model.Name)
	}
	for _, name := range vllmArguments {
		if text := foreign.TextOf(v.Benchmark.ExtraInfo.Args[name]); text != "" {
			foreign.SetAxis(r, name, text)
		}
	}
}

// vllmRecordsOf is the name of the records of a result, by that of its file.
func vllmRecordsOf(name string) []string {
	return []string{strings.TrimSuffix(name, path.Ext(name)) + ".pytorch.json"}
}

// vllmSide adds the values of the .pytorch.json next to the file to a run.
func vllmSide(in *foreign.Input, out *foreign.Output, r *schema.Run) {
	name := vllmRecordsOf(in.Head.Name)[0]
	content := sideOf(in, name)
	if content == nil {
		return
	}
	var records []vllmRecord
	if decode(out, name, content, &records) && len(records) > 0 {
		records[0].point(r)
	}
}

func readVLLMLatency(in *foreign.Input, out *foreign.Output) error {
	return eachServed(in, out, func(_ int, s *served) error {
		r := schema.Run{Benchmark: "vllm/latency"}
		vllmSide(in, out, &r)
		series, _, err := measured(s.requests["latencies"], s.failed, "s")
		if err != nil {
			out.Refuse(s.where+"/latencies", err)
			return nil
		}
		addSeries(&r, measure{name: "latency"}, series, schema.LevelIteration)
		if mean := (&servingAggregates{Avg: s.number("avg_latency")}); !mean.nothing() {
			addAggregates(&r, measure{name: "latency"}, mean, "s")
		}
		if len(r.Metrics) == 0 {
			noResult(&r, "no iteration was measured")
		}
		return out.Run(s.where, r)
	})
}

func readVLLMThroughput(in *foreign.Input, out *foreign.Output) error {
	return eachServed(in, out, func(_ int, s *served) error {
		r := schema.Run{Benchmark: "vllm/throughput"}
		vllmSide(in, out, &r)
		foreign.SetParam(&r, "num_requests", string(s.number("num_requests")))
		foreign.SetFact(&r, "tokens.total", string(s.number("total_num_tokens")))
		if v := s.number("requests_per_second").Float64(); v != nil && *v != 0 {
			addValue(&r, measure{name: "throughput"}, s.number("requests_per_second"), "requests/s")
			addValue(&r, measure{"total_token_throughput", higher}, s.number("tokens_per_second"), "tokens/s")
			addValue(&r, measure{"duration", lower}, s.number("elapsed_time"), "s")
		} else {
			noResult(&r, "no request was completed")
		}
		whole := requests{duration: s.number("elapsed_time")}
		return out.RunWith(s.where, r, whole.add)
	})
}

var pytorchSuffix = regexp.MustCompile(`\.pytorch\.json(\.gz)?$`)

// readVLLMPyTorch reads the records of a result whose own file is missing: each record has one value of the same run.
func readVLLMPyTorch(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	stem := pytorchSuffix.ReplaceAllString(in.Head.Name, "")
	if name := beside(in, stem+".json", stem+".jsonl"); name != "" {
		out.LeaveOut("records that "+name+" has as well", 1)
		return nil
	}
	s := &served{}
	r := schema.Run{Benchmark: "vllm/serve"}
	err = j.Elements(func(int) error {
		var v vllmRecord
		if err := j.Decode(&v); err != nil {
			return out.RefuseMismatch(err)
		}
		v.point(&r)
		switch {
		case len(v.Metric.Values) == 0:
			return nil
		case v.Metric.Name == "avg_latency" || v.Metric.Name == "latencies":
			r.Benchmark = "vllm/latency"
			addValue(&r, measure{name: "latency"}, v.Metric.Values[0], "s")
		case v.Metric.Name == "requests_per_second":
			r.Benchmark = "vllm/throughput"
			addValue(&r, measure{name: "throughput"}, v.Metric.Values[0], "requests/s")
		case v.Metric.Name == "tokens_per_second":
			addValue(&r, measure{"total_token_throughput", higher}, v.Metric.Values[0], "tokens/s")
		default:
			s.scalars = append(s.scalars, scalar{v.Metric.Name, jsontext.KindNumber, foreign.Text(v.Metric.Values[0])})
		}
		return nil
	})
	if err := out.RefuseMismatch(err); err != nil {
		return err
	}
	s.addTimes(&r, out)
	if len(r.Metrics) == 0 {
		noResult(&r, "no request was completed")
	}
	whole := s.whole()
	return out.RunWith("", r, whole.add)
}
