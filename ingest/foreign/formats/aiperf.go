package formats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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

// aiperfTag is the name of a metric by the text that the first versions wrote in its place, the head of its table: "Time to
// First Token (TTFT)" is time_to_first_token. A name stays as it is.
func aiperfTag(head string) string {
	words, _, _ := strings.Cut(head, " (")
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(words))
}

// point sets what was measured.
func (s *aiperfSummary) point(r *schema.Run) {
	r.Env.GPUName, r.Env.GPUCount = s.GPUs.names()
	if s.plan != nil {
		s.plan.point(r)
		return
	}
	c := &s.Config
	r.Model = modelNames(append(c.Endpoint.Models, c.Models...))
	put := func(name, text string) { foreign.SetParam(r, name, text) }
	put("endpoint_type", c.Endpoint.Type)
	put("streaming", foreign.TextOf(c.Endpoint.Streaming))
	put("input_tokens", string(c.Input.Prompt.Input.Mean))
	put("output_tokens", moreThanNone(c.Input.Prompt.Output.Mean))
	put("input_tokens_stddev", string(c.Input.Prompt.Input.StdDev))
	put("output_tokens_stddev", string(c.Input.Prompt.Output.StdDev))
	put("batch_size", cmp.Or(foreign.TextOf(c.Input.Prompt.Batch), foreign.TextOf(c.Input.Batch)))
	put("dataset", foreign.TextOf(c.Input.Dataset)+foreign.TextOf(c.Input.Public))
	put("input_file", fileName(string(c.Input.File)))
	put("conversations", cmp.Or(foreign.TextOf(c.Input.Conversation.Num), moreThanNone(c.Input.Sessions.Num)))
	for _, name := range aiperfLoad {
		put(name, foreign.TextOf(c.Load[name]))
	}
}

// moreThanNone is a number of the configuration, in which zero means that it was not set.
func moreThanNone(n foreign.Number) string {
	if v := n.Float64(); v != nil && *v == 0 {
		return ""
	}
	return string(n)
}

// addMetrics adds the aggregates of metrics without samples.
func (s *aiperfSummary) addMetrics(r *schema.Run, out *foreign.Output) {
	for _, m := range requestMeasures {
		for _, name := range m.names {
			text := s.metrics[name]
			if text.Kind() != jsontext.KindBeginObject {
				continue
			}
			var a servingAggregates
			if !decode(out, "/"+name, text, &a) {
				continue
			}
			if unit, _, known := schema.StoredUnit(unitOf(a.Unit)); known && a.nothing() && (unit == "ns" || unit == "1/s") {
				continue // no request was completed
			}
			if a.Min == "" && a.P50 == "" {
				a.Count = "" // of metrics of one number it says 1
			}
			addAggregates(r, m.measure, &a, a.Unit)
			if name == "time_to_last_token" {
				foreign.SetFact(r, "source.metric."+m.name, name)
			}
		}
	}
	s.leaveOut(out)
}

// leaveOut counts the metrics that addMetrics does not know: totals, and those of newer versions.
func (s *aiperfSummary) leaveOut(out *foreign.Output) {
	known := map[string]bool{}
	for _, m := range requestMeasures {
		for _, name := range m.names {
			known[name] = true
		}
	}
	var unknown []string
	for name, text := range s.metrics {
		var member struct {
			Unit *string `json:"unit"`
		}
		if !known[name] && foreign.Decode(text, &member) == nil && member.Unit != nil {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	out.LeaveOutNamed("totals and unknown metrics", unknown...)
}

// failed is the number of requests that failed, and cancelled the number of those that AIPerf cancelled on purpose. failed is nil if the file
// does not list errors.
func (s *aiperfSummary) failed() (failed *int64, cancelled int64) {
	if s.Errors == nil && s.ErrorsOld == nil {
		return nil, 0
	}
	failed = new(int64)
	for _, e := range slices.Concat(s.Errors, s.ErrorsOld) {
		n := e.Count.Int64()
		switch {
		case n == nil || *n < 0:
		case isCancellation(e.Details):
			cancelled += min(*n, math.MaxInt64-cancelled)
		default:
			*failed += min(*n, math.MaxInt64-*failed)
		}
	}
	return failed, cancelled
}

// value is the one number of a metric, with its unit; empty if there is none.
func (s *aiperfSummary) value(name string) (n foreign.Number, unit string) {
	var a servingAggregates
	if s.metrics[name].Kind() != jsontext.KindBeginObject || foreign.Decode(s.metrics[name], &a) != nil {
		return "", ""
	}
	return a.Avg, a.Unit
}

// whole is what the file says of its requests.
func (s *aiperfSummary) whole() requests {
	completed, _ := s.value("request_count")
	q := requests{completed: completed.Int64()}
	if q.failed, _ = s.failed(); q.failed == nil {
		failed, _ := s.value("error_request_count")
		q.failed = failed.Int64()
	}
	q.duration, q.unit = s.value("benchmark_duration")
	return q
}

// setCounter sets the fact of who counted the tokens, from which the metrics per token are computed: the server, or the client with a tokenizer
// of its own, which may find several times as many.
func (s *aiperfSummary) setCounter(r *schema.Run) {
	said := s.Config.Endpoint.Tokens
	if s.plan != nil {
		said = s.plan.Endpoint.Tokens
	}
	switch foreign.TextOf(said) {
	case "true":
		foreign.SetFact(r, "tokens.counted_by", "server")
	case "false":
		foreign.SetFact(r, "tokens.counted_by", "client")
	}
}

// outcome sets whether any request was completed. Earlier versions counted cancelled requests as failed.
func (s *aiperfSummary) outcome(r *schema.Run) {
	failed, cancelled := s.failed()
	if failed != nil {
		*failed += min(cancelled, math.MaxInt64-*failed)
	}
	anyCompleted(r, failed)
	if s.Cancelled {
		r.Warnings = append(r.Warnings, "the benchmark was cancelled before its end")
	}
}

// anyCompleted sets the status: a run without any latency failed. failed is nil if the number is not known.
func anyCompleted(r *schema.Run, failed *int64) {
	if r.Metric("latency") != nil {
		return
	}
	noResult(r, "no request was completed")
	if failed != nil && *failed > 0 {
		r.Error += fmt.Sprintf(", %d requests failed", *failed)
	}
}

func (s *aiperfSummary) start(in *foreign.Input, r *schema.Run) {
	if started, source, err := in.Time(s.Start, foreign.ISO...); err == nil {
		foreign.SetStart(r, started, source)
	}
}

// aiperfRequestsOf is the name of the file of requests that belongs to a summary, by the summary's name.
func aiperfRequestsOf(name string) string {
	for _, end := range []string{"_aiperf.json", "_aiperf.csv", ".json", ".csv"} {
		if stem, ok := strings.CutSuffix(name, end); ok {
			return stem + ".jsonl"
		}
	}
	return ""
}
