package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

func vllmFormats() []foreign.Format {
	return []foreign.Format{
		{
			Name:  "vllm",
			Log:   true,
			About: "vLLM: vllm bench serve (with and without --save-detailed, --append-result, sweeps) and benchmark_serving.py; a sweep's summary.json is ignored if its run=N.json are next to it",
			Level: "a run is one benchmark of a server; samples are requests (latency, ttft) and chunks (itl) with --save-detailed, otherwise only aggregates",
			Recognize: func(h *foreign.Head) bool {
				return isServe(h, "") || isServe(h, "[].") || isSortedServe(h)
			},
			Read: readVLLMServe,
		},
		{
			Name:  "vllm-latency",
			About: "vLLM: vllm bench latency --output-json; model and arguments come from the .pytorch.json next to it",
			Level: "a run is one launch; a sample is one iteration of a batch",
			Recognize: func(h *foreign.Head) bool {
				return h.Has("avg_latency", "latencies", "percentiles") && !h.Has("model_id")
			},
			Beside: vllmRecordsOf,
			Read:   readVLLMLatency,
		},
		{
			Name:  "vllm-throughput",
			About: "vLLM: vllm bench throughput --output-json; model and arguments come from the .pytorch.json next to it",
			Level: "a run is one launch; only aggregates, no samples",
			Recognize: func(h *foreign.Head) bool {
				return h.Has("elapsed_time", "num_requests", "requests_per_second", "tokens_per_second")
			},
			Beside: vllmRecordsOf,
			Read:   readVLLMThroughput,
		},
		{
			Name:  "vllm-pytorch",
			About: "vLLM: the .pytorch.json that is written next to a result; read if that result is missing",
			Level: "a run is one launch; only aggregates, no samples",
			Recognize: func(h *foreign.Head) bool {
				return h.Has("[].benchmark.extra_info.args", "[].metric.benchmark_values", "[].model.name") && h.Matches(vllmRecordName)
			},
			Read: readVLLMPyTorch,
		},
	}
}

func isServe(h *foreign.Head, at string) bool {
	return h.Has(at+"model_id") && h.HasAny(at+"request_throughput", at+"mean_ttft_ms", at+"median_ttft_ms", at+"mean_e2el_ms", at+"request_rate", at+"tokenizer_id")
}

// vllmRecordName is how vLLM calls itself in records of a layout that others write, too.
var vllmRecordName = regexp.MustCompile(`"name": *"vLLM benchmark"`)

// isSortedServe knows a result whose members were sorted, so that the samples stand before the name of the model.
func isSortedServe(h *foreign.Head) bool {
	return h.Has("backend", "completed", "date", "duration") && h.HasAny("burstiness", "best_of", "endpoint_type") && !h.Has("dataset_name")
}

// vllmRunFiles are the first results of a sweep, next to which the summary of them stands.
var vllmRunFiles = []string{"run=0.json", "run=1.json"}

func readVLLMServe(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	rowsAreFiles := beside(in, vllmRunFiles...) != ""
	for n := 1; j.More(); n++ {
		if j.Kind() != jsontext.KindBeginArray {
			if err := readVLLMResult(in, out, j, n); err != nil {
				return err
			}
			continue
		}
		if rowsAreFiles {
			err = j.Elements(func(i int) error {
				out.LeaveTo(fmt.Sprintf("run=%d.json", i), "rows of a sweep whose run=N.json are next to it", 1)
				return j.Skip()
			})
		} else {
			err = j.Elements(func(int) error { return readVLLMResult(in, out, j, n) })
		}
		if err := out.RefuseMismatch(err); err != nil {
			return err
		}
	}
	return nil
}

// readVLLMResult reads one result, in the nth value of the file.
func readVLLMResult(in *foreign.Input, out *foreign.Output, j *foreign.JSON, n int) error {
	s, ok, err := readServed(j, out, n)
	if err != nil || !ok {
		return err
	}
	return s.emitVLLM(in, out, s.where+j.Where())
}

// vllmConfigured are the names of single values that belong to the point, though results surround them.
var vllmConfigured = map[string]bool{
	"num_prompts": true, "request_rate": true, "burstiness": true, "max_concurrency": true, "best_of": true, "use_beam_search": true,
	"dataset_name": true, "ramp_up_strategy": true, "ramp_up_start_rps": true, "ramp_up_end_rps": true,
}

// vllmPoint sets what was measured. Unknown values belong to the user: those of --metadata, which come before the request
// rate, and the axes of a sweep, which come after the number of the run. Unknown numbers among the results are new
// results.
func (s *served) vllmPoint(r *schema.Run, out *foreign.Output) {
	results, sweep := false, s.isSortedSweep()
	var unknown []string
	for _, v := range s.scalars {
		switch v.name {
		case "model_id":
			r.Model = modelName(string(v.value))
			continue
		case "backend":
			r.Backend = string(v.value)
			continue
		case "label":
			s.tag(r, "label", string(v.value))
			continue
		case "run_number":
			results = false
			continue
		case "version", "vllm_version":
			r.BackendVersion = string(v.value)
			continue
		case "date", "tokenizer_id", "tokenizer_name":
			continue
		case "endpoint_type":
			if string(v.value) != s.get("backend") {
				foreign.SetAxis(r, v.name, string(v.value))
			}
			continue
		}
		_, known := servedValues[v.name]
		_, count := servedCounts[v.name]
		if known || count || latencyKey.MatchString(v.name) {
			results = true
			continue
		}
		if vllmConfigured[v.name] || !results || sweep && len(v.value) <= maxAxisLength || v.kind == jsontext.KindString || v.kind == jsontext.KindTrue || v.kind == jsontext.KindFalse {
			s.setParam(r, v)
		} else if v.kind == jsontext.KindNumber && v.name != servedBegan && v.name != servedEnded {
			unknown = append(unknown, v.name)
		}
	}
	out.LeaveOutNamed("unknown results", unknown...)
}

// maxAxisLength is the maximum length of a number that a user chose; results have more digits.
const maxAxisLength = 6

// isSortedSweep reports whether the result is one of a sweep whose members were sorted: what stands where says nothing then.
func (s *served) isSortedSweep() bool {
	return s.get("run_number") != "" && slices.IsSortedFunc(s.scalars, func(a, b scalar) int { return strings.Compare(a.name, b.name) })
}

// setParam makes a parameter of a single value, unless it is null or looks like a secret.
func (s *served) setParam(r *schema.Run, v scalar) {
	if v.value == "" || foreign.Secret(v.name) {
		return
	}
	text := string(v.value)
	if v.name == "request_rate" && strings.EqualFold(strings.TrimSuffix(text, "inity"), "inf") {
		text = "inf"
	}
	foreign.SetParam(r, v.name, text)
}

// tag keeps the name that a user gave a run. It is not a part of what was measured.
func (s *served) tag(r *schema.Run, name, text string) {
	if text == "" {
		return
	}
	if r.Tags == nil {
		r.Tags = map[string]string{}
	}
	r.Tags[name] = text
}
