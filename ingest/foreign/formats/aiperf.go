package formats

import (
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

func aiperfFormats() []foreign.Format {
	const level = "a run is one benchmark of a server"
	return []foreign.Format{
		{
			Name:  "aiperf",
			About: "AIPerf: profile_export.jsonl, a line per request; model, load and throughput come from profile_export_aiperf.json next to it",
			Level: level + "; samples are requests (latency, ttft, tpot: its inter token latency) and chunks (itl: its inter chunk latency), without warm-up and failed requests",
			Recognize: func(h *foreign.Head) bool {
				return h.Has("metadata", "metrics") && h.HasAny("metadata.x_request_id", "metadata.worker_id", "metadata.benchmark_phase", "metadata.credit_phase")
			},
			Beside: aiperfSummariesOf,
			Read:   readAIPerfRequests,
		},
		{
			Name:  "aiperf-summary",
			About: "AIPerf: profile_export_aiperf.json, all versions; ignored if the requests, profile_export.jsonl, are next to it",
			Level: level + "; only aggregates, no samples",
			Recognize: func(h *foreign.Head) bool {
				return h.Has("input_config") && (h.HasAny("records.request_latency", "records.request_count") ||
					h.Has("input_config.endpoint", "records", "was_cancelled") ||
					h.HasAny("request_latency.unit", "request_count.unit", "request_throughput.unit") && isAIPerf(h))
			},
			Read: readAIPerfSummary,
		},
		{
			Name:  "aiperf-csv",
			About: "AIPerf: profile_export_aiperf.csv; ignored if the JSON file of that name or the requests are next to it",
			Level: level + "; only aggregates, no samples",
			Recognize: func(h *foreign.Head) bool {
				return strings.HasPrefix(h.FirstLine(), "Metric,avg,min,max,") && !isGenAICSV(h)
			},
			Read: readAIPerfCSV,
		},
		{
			Name:      "aiperf-gpu",
			About:     "AIPerf: gpu_telemetry_export.jsonl",
			Level:     "a run is the readings of one GPU during a benchmark; a sample is one reading",
			Recognize: func(h *foreign.Head) bool { return h.Has("timestamp_ns", "gpu_index", "telemetry_data") },
			Read:      readAIPerfGPU,
		},
	}
}

// isAIPerf distinguishes the flat layout from that of genai-perf.
func isAIPerf(h *foreign.Head) bool {
	return h.HasAny("aiperf_version", "schema_version", "was_cancelled", "error_summary", "input_config.loadgen", "input_config.cli_command", "benchmark_duration")
}

// requestMeasures are the metrics of AIPerf and genai-perf, in the order in which they are stored.
var requestMeasures = []struct {
	measure
	names []string
}{
	{measure{name: "latency"}, []string{"request_latency", "time_to_last_token"}},
	{measure{name: "ttft"}, []string{"time_to_first_token", "ttft"}},
	{measure{"ttfo", lower}, []string{"time_to_first_output_token"}},
	{measure{"ttst", lower}, []string{"time_to_second_token", "ttst"}},
	{measure{name: "tpot"}, []string{"inter_token_latency"}},
	{measure{name: "itl"}, []string{"inter_chunk_latency"}},
	{measure{name: "throughput"}, []string{"request_throughput"}},
	{measure{"output_token_throughput", higher}, []string{"output_token_throughput"}},
	{measure{"output_token_throughput_per_user", higher}, []string{"output_token_throughput_per_user"}},
	{measure{"output_token_throughput_per_request", higher}, []string{"output_token_throughput_per_request"}},
	{measure{"total_token_throughput", higher}, []string{"total_token_throughput"}},
	{measure{"prefill_throughput", higher}, []string{"prefill_throughput", "prefill_throughput_per_user"}},
	{measure{"request_goodput", higher}, []string{"goodput", "request_goodput"}},
	{measure{"stream_setup_latency", lower}, []string{"stream_setup_latency"}},
	{measure{"stream_prefill_latency", lower}, []string{"stream_prefill_latency"}},
	{measure{"duration", lower}, []string{"benchmark_duration"}},
	{measure{name: "input_sequence_length"}, []string{"input_sequence_length"}},
	{measure{name: "output_sequence_length"}, []string{"output_sequence_length"}},
	{measure{name: "output_token_count"}, []string{"output_token_count"}},
	{measure{name: "reasoning_token_count"}, []string{"reasoning_token_count"}},
}

// sourceNames are facts about metrics that a tool calls differently from everybody else.
func sourceNames(r *schema.Run) {
	for metric, name := range map[string]string{"tpot": "inter_token_latency", "itl": "inter_chunk_latency"} {
		if r.Metric(metric) != nil {
			foreign.SetFact(r, "source.metric."+metric, name)
		}
	}
}

// aiperfSummary is the summary file, as far as it is read: the metrics by their names, at the top or under records.
type aiperfSummary struct {
	metrics   map[string]jsontext.Value
	Version   string         `json:"aiperf_version"`
	Start     string         `json:"start_time"`
	Cancelled bool           `json:"was_cancelled"`
	Config    aiperfConfig   `json:"input_config"`
	plan      *aiperfPlan    // since 0.8
	Errors    []aiperfErrors `json:"error_summary"`
	ErrorsOld []aiperfErrors `json:"errors_by_type"` // until October 2025
	GPUs      aiperfGPUs     `json:"telemetry_data"`
}

type aiperfErrors struct {
	Details jsontext.Value `json:"error_details"`
	Count   foreign.Number `json:"count"`
}

// isCancellation reports whether an error is that of a request which AIPerf cancelled on purpose (request_cancellation_rate). Such a request did
// not fail.
func isCancellation(details jsontext.Value) bool {
	var e struct {
		Type foreign.Text `json:"type"`
	}
	return details.Kind() == jsontext.KindBeginObject && foreign.Decode(details, &e) == nil && e.Type == "RequestCancellationError"
}

type aiperfMean struct {
	Mean   foreign.Number `json:"mean"`
	StdDev foreign.Number `json:"stddev"`
}

// aiperfConfig has the settings that distinguish benchmarks.
type aiperfConfig struct {
	Models   []string `json:"model_names"` // until the summer of 2025; since then the endpoint's
	Endpoint struct {
		Models    []string       `json:"model_names"`
		Type      string         `json:"type"`
		Streaming jsontext.Value `json:"streaming"`
		Tokens    jsontext.Value `json:"use_server_token_count"`
	} `json:"endpoint"`
	Input struct {
		Prompt struct {
			Input  aiperfMean     `json:"input_tokens"`
			Output aiperfMean     `json:"output_tokens"`
			Batch  jsontext.Value `json:"batch_size"`
		} `json:"prompt"`
		Dataset      jsontext.Value `json:"custom_dataset_type"`
		Public       jsontext.Value `json:"public_dataset"`
		File         foreign.Text   `json:"file"`
		Conversation struct {
			Num jsontext.Value `json:"num"`
		} `json:"conversation"`
		Batch    jsontext.Value `json:"batch_size"` // until the summer of 2025, as are sessions
		Sessions struct {
			Num foreign.Number `json:"num"`
		} `json:"sessions"`
	} `json:"input"`
	Load map[string]jsontext.Value `json:"loadgen"`
}

// aiperfLoad are the parameters of the load that distinguish benchmarks.
var aiperfLoad = []string{
	"concurrency", "request_rate", "request_rate_mode", "arrival_pattern", "request_count", "benchmark_duration", "request_cancellation_rate",
	"prefill_concurrency", "user_centric_rate", "fixed_schedule",
}

// parseAIPerf reads a summary. ok is false if it is not a summary.
func parseAIPerf(text jsontext.Value) (*aiperfSummary, error) {
	s := &aiperfSummary{}
	if err := foreign.DecodeAt("", text, s); err != nil {
		return nil, err
	}
	if err := foreign.DecodeAt("", text, &s.metrics); err != nil {
		return nil, err
	}
	var config map[string]jsontext.Value
	if input := s.metrics["input_config"]; input.Kind() == jsontext.KindBeginObject {
		if err := foreign.DecodeAt("/input_config", input, &config); err != nil {
			return nil, err
		}
	}
	if config["phases"] != nil || config["datasets"] != nil || config["models"] != nil {
		s.plan = &aiperfPlan{}
		if err := foreign.DecodeAt("/input_config", s.metrics["input_config"], s.plan); err != nil {
			return nil, err
		}
	}
	if records := s.metrics["records"]; records.Kind() == jsontext.KindBeginObject {
		var named map[string]jsontext.Value
		if err := foreign.DecodeAt("/records", records, &named); err != nil {
			return nil, err
		}
		s.metrics = make(map[string]jsontext.Value, len(named))
		for name, text := range named {
			s.metrics[aiperfTag(name)] = text
		}
	}
	return s, nil
}

func readAIPerfSummary(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	text, err := j.Value()
	if err != nil {
		return err
	}
	s, err := parseAIPerf(text)
	if err != nil {
		refuse(out, "", err)
		return nil
	}
	out.Version(s.Version)
	if name := beside(in, aiperfRequestsOf(in.Head.Name)); name != "" {
		out.LeaveTo(name, "a summary of the requests in "+name, 1)
		return nil
	}
	r := schema.Run{Benchmark: "aiperf"}
	s.point(&r)
	s.addMetrics(&r, out)
	sourceNames(&r)
	s.start(in, &r)
	s.outcome(&r)
	whole := s.whole()
	return out.RunWith("", r, func(r *schema.Run) {
		anyCompleted(r, whole.failed)
		whole.add(r)
		s.setCounter(r)
	})
}
