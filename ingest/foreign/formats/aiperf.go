package formats

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// aiperfLevel describes a run of AIPerf.
const aiperfLevel = "a run is one benchmark of a server"

var aiperfFormats = []foreign.Format{
	{
		Name:  "aiperf",
		About: "AIPerf: profile_export.jsonl, a line per request; model, load and throughput come from profile_export_aiperf.json next to it",
		Level: aiperfLevel + "; samples are requests (latency, ttft, tpot: its inter token latency) and chunks (itl: its inter chunk latency), without warm-up and failed requests",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("metadata", "metrics") && h.HasAny("metadata.x_request_id", "metadata.worker_id", "metadata.benchmark_phase", "metadata.credit_phase")
		},
		Beside: aiperfSummariesOf,
		Read:   readAIPerfRequests,
	},
	{
		Name:  "aiperf-summary",
		About: "AIPerf: profile_export_aiperf.json, all versions; ignored if the requests, profile_export.jsonl, are next to it",
		Level: aiperfLevel + "; only aggregates, no samples",
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
		Level: aiperfLevel + "; only aggregates, no samples",
		Recognize: func(h *foreign.Head) bool {
			return strings.HasPrefix(h.FirstLine(), "Metric,avg,min,max,") && !isGenAICSV(h)
		},
		Read: func(in *foreign.Input, out *foreign.Output) error {
			return readTwoTables(in, out, "aiperf", strings.TrimSuffix(in.Head.Name, ".csv")+".json", aiperfRequestsOf(in.Head.Name))
		},
	},
	{
		Name:      "aiperf-gpu",
		About:     "AIPerf: gpu_telemetry_export.jsonl",
		Level:     "a run is the readings of one GPU during a benchmark; a sample is one reading",
		Recognize: func(h *foreign.Head) bool { return h.Has("timestamp_ns", "gpu_index", "telemetry_data") },
		Read:      readAIPerfGPU,
	},
}

// isAIPerf reports whether a summary with the flat layout is from AIPerf rather than genai-perf.
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

// aiperfSummary has the fields of the summary file that are read: the metrics by their names, at the top or under records.
type aiperfSummary struct {
	metrics   map[string]jsontext.Value
	Version   string         `json:"aiperf_version"`
	Start     string         `json:"start_time"`
	Cancelled bool           `json:"was_cancelled"`
	Config    aiperfConfig   `json:"input_config"`
	Errors    []aiperfErrors `json:"error_summary"`
	ErrorsOld []aiperfErrors `json:"errors_by_type"` // until October 2025
	GPUs      aiperfGPUs     `json:"telemetry_data"`
}

type aiperfErrors struct {
	Details jsontext.Value `json:"error_details"`
	Count   foreign.Number `json:"count"`
}

// isCancellation reports whether an error belongs to a request that AIPerf cancelled on purpose (request_cancellation_rate). Such a request
// did not fail.
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

// aiperfConfig has the settings that distinguish benchmarks. Since 0.8, models, datasets and phases are lists, and default values are
// left out.
type aiperfConfig struct {
	OldModels []string `json:"model_names"` // until the summer of 2025; since then the endpoint's
	Endpoint  struct {
		Models    []string       `json:"model_names"`
		Type      string         `json:"type" param:"endpoint_type"`
		Streaming jsontext.Value `json:"streaming" param:"streaming"`
		Tokens    jsontext.Value `json:"use_server_token_count"`
	} `json:"endpoint"`
	Input struct {
		Prompt struct {
			Input  aiperfMean     `json:"input_tokens"`
			Output aiperfMean     `json:"output_tokens"`
			Batch  jsontext.Value `json:"batch_size" param:"batch_size"`
		} `json:"prompt"`
		Dataset      jsontext.Value `json:"custom_dataset_type"`
		Public       jsontext.Value `json:"public_dataset"`
		File         foreign.Text   `json:"file"`
		Conversation struct {
			Num jsontext.Value `json:"num" param:"conversations"`
		} `json:"conversation"`
		Batch    jsontext.Value `json:"batch_size" param:"batch_size"` // until the summer of 2025, as are sessions
		Sessions struct {
			Num foreign.Number `json:"num"`
		} `json:"sessions"`
	} `json:"input"`
	Load map[string]jsontext.Value `json:"loadgen"`

	Models   jsontext.Value                          `json:"models"`
	Datasets aiperfListOf[aiperfDataset]             `json:"datasets"`
	Phases   aiperfListOf[map[string]jsontext.Value] `json:"phases"`
}

// isPlan reports whether the configuration has the layout of 0.8.
func (c *aiperfConfig) isPlan() bool { return c.Models != nil || c.Datasets != nil || c.Phases != nil }

// aiperfLoad are the parameters of the load that distinguish benchmarks.
var aiperfLoad = []string{
	"concurrency", "request_rate", "request_rate_mode", "arrival_pattern", "request_count", "benchmark_duration", "request_cancellation_rate",
	"prefill_concurrency", "user_centric_rate", "fixed_schedule",
}

// parseAIPerf reads a summary.
func parseAIPerf(text jsontext.Value) (*aiperfSummary, error) {
	s := &aiperfSummary{}
	if err := cmp.Or(foreign.DecodeAt("", text, s), foreign.DecodeAt("", text, &s.metrics)); err != nil {
		return nil, err
	}
	records := s.metrics["records"]
	if records.Kind() != jsontext.KindBeginObject {
		return s, nil
	}
	var named map[string]jsontext.Value
	err := foreign.DecodeAt("/records", records, &named)
	s.metrics = make(map[string]jsontext.Value, len(named))
	for name, text := range named {
		s.metrics[aiperfTag(name)] = text
	}
	return s, err
}

func readAIPerfSummary(in *foreign.Input, out *foreign.Output) error {
	text, err := in.JSON().Value()
	if err != nil {
		return err
	}
	s, err := parseAIPerf(text)
	if err != nil {
		return out.RefuseMismatch(err)
	}
	out.Version(s.Version)
	if leaveToRequests(in, out, aiperfRequestsOf(in.Head.Name)) {
		return nil
	}
	r := schema.Run{Benchmark: "aiperf"}
	s.point(&r)
	s.addMetrics(&r, out)
	sourceNames(&r)
	in.SetStart(&r, s.Start)
	failed, cancelled := s.failed()
	if failed != nil { // earlier versions counted cancelled requests as failed
		*failed += min(cancelled, math.MaxInt64-*failed)
	}
	anyCompleted(&r, failed)
	if s.Cancelled {
		r.Warnings = append(r.Warnings, "the benchmark was cancelled before its end")
	}
	whole := s.whole()
	return out.RunWith("", r, func(r *schema.Run) {
		anyCompleted(r, whole.failed)
		whole.add(r)
		s.setCounter(r)
	})
}

// leaveToRequests leaves a summary to the file of its requests, if there is one of these next to it.
func leaveToRequests(in *foreign.Input, out *foreign.Output, files ...string) bool {
	name := beside(in, files...)
	if name != "" {
		out.LeaveTo(name, "a summary of the requests in "+name, 1)
	}
	return name != ""
}

// aiperfTag returns the name of a metric from the text that the first versions wrote instead, the head of its table: "Time to First
// Token (TTFT)" is time_to_first_token. A name is returned unchanged.
func aiperfTag(head string) string {
	words, _, _ := strings.Cut(head, " (")
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(words))
}

// point sets the model and the parameters of a run.
func (s *aiperfSummary) point(r *schema.Run) {
	r.Env.GPUName, r.Env.GPUCount = s.GPUs.names()
	c := &s.Config
	if c.isPlan() {
		c.planned(r)
		return
	}
	r.Model = modelNames(append(c.Endpoint.Models, c.OldModels...))
	describe(r, c)
	in := &c.Input
	for name, text := range map[string]string{
		"input_tokens": string(in.Prompt.Input.Mean), "input_tokens_stddev": string(in.Prompt.Input.StdDev),
		"output_tokens": string(nonZero(in.Prompt.Output.Mean)), "output_tokens_stddev": string(in.Prompt.Output.StdDev),
		"dataset": foreign.TextOf(in.Dataset) + foreign.TextOf(in.Public), "input_file": baseName(string(in.File)),
	} {
		foreign.SetParam(r, name, text)
	}
	if foreign.TextOf(in.Conversation.Num) == "" {
		foreign.SetParam(r, "conversations", string(nonZero(in.Sessions.Num)))
	}
	for _, name := range aiperfLoad {
		foreign.SetParam(r, name, foreign.TextOf(c.Load[name]))
	}
}

// addMetrics adds the aggregates of metrics without samples, and counts the other metrics: totals, and metrics of newer
// versions.
func (s *aiperfSummary) addMetrics(r *schema.Run, out *foreign.Output) {
	known := map[string]bool{}
	for _, m := range requestMeasures {
		for _, name := range m.names {
			known[name] = true
			text := s.metrics[name]
			var a aggregates
			if text.Kind() != jsontext.KindBeginObject || !decode(out, "/"+name, text, &a) {
				continue
			}
			sum := summaryOf(a, unitOf(a.Unit))
			if unit, _, known := schema.StoredUnit(unitOf(a.Unit)); known && nothing(&sum) && (unit == "ns" || unit == "1/s") {
				continue // no request was completed
			}
			if a.Min == "" && a.P50 == "" {
				sum.N = nil // it is 1 for metrics with a single value
			}
			addAggregates(r, m.measure, sum, a.Unit)
			if name == "time_to_last_token" || name == "inter_token_latency" {
				foreign.SetFact(r, "source.metric."+m.name, name)
			}
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

// failed returns the number of requests that failed, and cancelled the number of requests that AIPerf cancelled on purpose. failed is
// nil if the file does not list errors.
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

// value returns the one number of a metric, with its unit; empty if there is none.
func (s *aiperfSummary) value(name string) (n foreign.Number, unit string) {
	var a aggregates
	if s.metrics[name].Kind() != jsontext.KindBeginObject || foreign.Decode(s.metrics[name], &a) != nil {
		return "", ""
	}
	return a.Avg, a.Unit
}

// whole returns the totals of the requests of the file.
func (s *aiperfSummary) whole() (q requests) {
	completed, _ := s.value("request_count")
	q.completed = completed.Int64()
	if q.failed, _ = s.failed(); q.failed == nil {
		failed, _ := s.value("error_request_count")
		q.failed = failed.Int64()
	}
	q.duration, q.unit = s.value("benchmark_duration")
	return q
}

// setCounter sets the fact with the counter of the tokens, on which the metrics per token depend: the server, or the client with its own
// tokenizer, which may find several times as many.
func (s *aiperfSummary) setCounter(r *schema.Run) {
	counter := map[string]string{"true": "server", "false": "client"}[foreign.TextOf(s.Config.Endpoint.Tokens)]
	foreign.SetFact(r, "tokens.counted_by", counter)
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

// aiperfRequestsOf returns the name of the file of requests that belongs to a summary, by the summary's name.
func aiperfRequestsOf(name string) string {
	for _, end := range []string{"_aiperf.json", "_aiperf.csv", ".json", ".csv"} {
		if stem, ok := strings.CutSuffix(name, end); ok {
			return stem + ".jsonl"
		}
	}
	return ""
}

// aiperfListOf is a list, or an object whose members are named like the elements of the list.
type aiperfListOf[T any] []T

// UnmarshalJSON takes both. The list is not nil afterwards.
func (l *aiperfListOf[T]) UnmarshalJSON(text []byte) (err error) {
	*l = []T{}
	if jsontext.Value(text).Kind() != jsontext.KindBeginObject {
		var list []T
		err = foreign.Decode(text, &list)
		*l = append(*l, list...)
		return err
	}
	var named map[string]T
	err = foreign.Decode(text, &named)
	for _, name := range slices.Sorted(maps.Keys(named)) {
		*l = append(*l, named[name])
	}
	return err
}

type aiperfDataset struct {
	Format  jsontext.Value `json:"format"`
	Public  jsontext.Value `json:"dataset"`
	Path    foreign.Text   `json:"path"`
	Prompts struct {
		Input  aiperfLength   `json:"isl"`
		Output aiperfLength   `json:"osl"`
		Batch  jsontext.Value `json:"batch_size"`
	} `json:"prompts"`
	Prefix struct {
		Length jsontext.Value `json:"length"`
		Pool   jsontext.Value `json:"pool_size"`
	} `json:"prefix_prompts"`
	Turns aiperfLength `json:"turns"`
}

// aiperfLength is a number, or a mean with its deviation.
type aiperfLength struct{ mean, deviation string }

// UnmarshalJSON takes a number or an object; of other distributions it keeps the text.
func (l *aiperfLength) UnmarshalJSON(text []byte) error {
	value := jsontext.Value(text)
	if value.Kind() != jsontext.KindBeginObject {
		l.mean = foreign.TextOf(value)
		return nil
	}
	var of struct {
		Mean   foreign.Text `json:"mean"`
		Value  foreign.Text `json:"value"`
		StdDev foreign.Text `json:"stddev"`
	}
	if err := foreign.Decode(value, &of); err != nil {
		return err
	}
	l.mean, l.deviation = string(of.Mean+of.Value), string(of.StdDev)
	if l.mean == "" {
		l.mean = foreign.TextOf(value)
	}
	return nil
}

// aiperfPhase are the settings of a phase, under the names that earlier versions gave them.
var aiperfPhase = [][2]string{
	{"concurrency", "concurrency"},
	{"prefill_concurrency", "prefill_concurrency"},
	{"rate", "request_rate"},
	{"requests", "request_count"},
	{"duration", "benchmark_duration"},
	{"sessions", "conversations"},
	{"users", "num_users"},
	{"smoothness", "arrival_smoothness"},
}

// planned sets the model and the parameters of a run since 0.8. Phases that are excluded from the results, such as the warm-up, set
// none.
func (c *aiperfConfig) planned(r *schema.Run) {
	r.Model = modelNames(c.models())
	foreign.SetParam(r, "endpoint_type", c.Endpoint.Type)
	foreign.SetParam(r, "streaming", cmp.Or(foreign.TextOf(c.Endpoint.Streaming), "false"))
	values := map[string][]string{}
	add := func(name, text string) {
		if text != "" && !slices.Contains(values[name], text) {
			values[name] = append(values[name], text)
		}
	}
	for _, phase := range c.Phases {
		if foreign.TextOf(phase["exclude_from_results"]) == "true" {
			continue
		}
		for _, names := range aiperfPhase {
			add(names[1], foreign.TextOf(phase[names[0]]))
		}
		kind := foreign.TextOf(phase["type"])
		if kind == "concurrency" {
			kind = "concurrency_burst"
		}
		add("arrival_pattern", kind)
		var cancelled struct {
			Rate foreign.Text `json:"rate"`
		}
		if foreign.Decode(phase["cancellation"], &cancelled) == nil {
			add("request_cancellation_rate", string(cancelled.Rate))
		}
	}
	for i := range c.Datasets {
		d := &c.Datasets[i]
		add("input_tokens", d.Prompts.Input.mean)
		add("input_tokens_stddev", d.Prompts.Input.deviation)
		add("output_tokens", d.Prompts.Output.mean)
		add("output_tokens_stddev", d.Prompts.Output.deviation)
		add("batch_size", foreign.TextOf(d.Prompts.Batch))
		add("dataset", foreign.TextOf(d.Format)+foreign.TextOf(d.Public))
		add("input_file", baseName(string(d.Path)))
		add("prefix_prompt_length", foreign.TextOf(d.Prefix.Length))
		add("num_prefix_prompts", foreign.TextOf(d.Prefix.Pool))
		add("turns", d.Turns.mean)
		add("turns_stddev", d.Turns.deviation)
	}
	for name, texts := range values {
		foreign.SetParam(r, name, strings.Join(texts, ","))
	}
}

// models returns the names of the models.
func (c *aiperfConfig) models() (names oneOrMany[foreign.Text]) {
	var of struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
	}
	if c.Models.Kind() != jsontext.KindBeginObject || foreign.Decode(c.Models, &of) != nil {
		_ = foreign.Decode(c.Models, &names) // any value converts to text
		return names
	}
	for _, item := range of.Items {
		names = append(names, foreign.Text(item.Name))
	}
	return names
}

// aiperfRequest is a line of profile_export.jsonl. Ids and texts are not read.
type aiperfRequest struct {
	Metadata struct {
		Phase     string         `json:"benchmark_phase"`
		OldPhase  string         `json:"credit_phase"`
		Start     foreign.Number `json:"request_start_ns"`
		OldStart  foreign.Number `json:"timestamp_ns"`
		Cancelled bool           `json:"was_cancelled"`
	} `json:"metadata"`
	Metrics map[string]struct {
		Value jsontext.Value `json:"value"`
		Unit  string         `json:"unit"`
	} `json:"metrics"`
	Error jsontext.Value `json:"error"`
}

// aiperfRun collects the requests of a file.
type aiperfRun struct {
	samples samples // by the metric's name in requestMeasures
	first   int64   // the first start

	completed, failed, cancelled int64
}

func readAIPerfRequests(in *foreign.Input, out *foreign.Output) error {
	run := &aiperfRun{samples: samples{}, first: math.MaxInt64}
	err := eachJSONLine(in, out, func(where string, request *aiperfRequest) error {
		run.add(out, where, request)
		return nil
	})
	if err != nil {
		return err
	}
	r := schema.Run{Benchmark: "aiperf"}
	whole := requests{completed: &run.completed, failed: &run.failed}
	summary := aiperfSummaryBeside(in, out)
	if summary != nil {
		summary.point(&r)
		whole.duration, whole.unit = summary.value("benchmark_duration")
	}
	for _, m := range requestMeasures {
		run.samples.addTo(&r, m.measure, schema.LevelRequest, run.first)
	}
	if run.first < math.MaxInt64 {
		foreign.SetStart(&r, time.Unix(0, run.first), schema.TimeFile)
	}
	if summary != nil {
		if r.Metric("latency") != nil {
			summary.addMetrics(&r, out)
		}
		if r.StartedAt.IsZero() {
			in.SetStart(&r, summary.Start)
		}
		out.Version(summary.Version)
	}
	sourceNames(&r)
	anyCompleted(&r, new(run.failed+run.cancelled)) // earlier versions counted cancelled requests as failed
	return out.RunWith("", r, func(r *schema.Run) {
		anyCompleted(r, whole.failed)
		whole.add(r)
		if summary != nil {
			summary.setCounter(r)
		}
	})
}

// aiperfSummariesOf returns the names that the summary of a file of requests may have.
func aiperfSummariesOf(name string) []string {
	stem := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".jsonl")
	return []string{stem + "_aiperf.json", stem + ".json"}
}

// aiperfSummaryBeside reads the summary next to the requests; nil if there is none.
func aiperfSummaryBeside(in *foreign.Input, out *foreign.Output) *aiperfSummary {
	name := beside(in, aiperfSummariesOf(in.Head.Name)...)
	if name == "" {
		return nil
	}
	s, err := parseAIPerf(sideOf(in, name))
	if err != nil {
		refuse(out, name, err)
		return nil
	}
	return s
}

// add takes the metrics of a request.
func (a *aiperfRun) add(out *foreign.Output, where string, q *aiperfRequest) {
	switch {
	case q.Metadata.Phase+q.Metadata.OldPhase == "warmup":
		out.LeaveOut("warm-up requests", 1)
		return
	case q.Metadata.Cancelled || isCancellation(q.Error):
		a.cancelled++
		out.LeaveOut("cancelled requests", 1)
		return
	case q.Error.Kind() == jsontext.KindBeginObject:
		a.failed++
		out.LeaveOut("failed requests", 1)
		return
	}
	a.completed++
	start := cmp.Or(q.Metadata.Start, q.Metadata.OldStart).Int64()
	if start != nil {
		a.first = min(a.first, *start)
	}
	for _, m := range requestMeasures {
		for _, name := range m.names {
			metric, ok := q.Metrics[name]
			if !ok || metric.Value.Kind() == jsontext.KindNull || metric.Value.Kind() == jsontext.KindInvalid {
				continue
			}
			s, err := foreign.ReadSeries(metric.Value, unitOf(metric.Unit))
			if known := a.samples[m.name]; err == nil && known != nil && known.Given != metric.Unit {
				err = fmt.Errorf("unit %q after %q", metric.Unit, known.Given)
			}
			if err != nil {
				out.Refuse(where+"/metrics/"+name, err)
				continue
			}
			s.Given = metric.Unit
			a.samples.add(m.name, s, metric.Value.Kind() == jsontext.KindBeginArray, start)
		}
	}
}

// samples collect the samples of the metrics of a run by name.
type samples map[string]*timedSamples

// timedSamples are the samples of a metric, with their times.
type timedSamples struct {
	foreign.Series
	at   []int64 // fewer than the samples if some times are unknown
	list bool    // some records have several values: they belong to tokens
}

// add adds the samples of a record.
func (all samples) add(name string, s foreign.Series, list bool, at *int64) {
	if all[name] == nil {
		all[name] = &timedSamples{}
	}
	join(&all[name].Series, s)
	all[name].list = all[name].list || list
	if at != nil {
		all[name].at = append(all[name].at, *at)
	}
}

// addTo adds a metric to a run that began at a time.
func (all samples) addTo(r *schema.Run, m measure, level schema.Level, began int64) {
	s := all[m.name]
	if s == nil {
		return
	}
	if s.list {
		level = schema.LevelToken
	}
	addSeries(r, m, s.Series, level)
	if metric := r.Metric(m.name); metric != nil && !s.list && len(s.at) == s.Len() {
		for _, at := range s.at {
			metric.AtNS = append(metric.AtNS, at-began)
		}
	}
}

// aiperfGPUs names the GPUs that were watched.
type aiperfGPUs struct {
	Endpoints map[string]struct {
		GPUs map[string]struct {
			Name string `json:"gpu_name"`
			UUID string `json:"gpu_uuid"`
		} `json:"gpus"`
	} `json:"endpoints"`
}

// names returns the names of the GPUs, and how many there are.
func (g *aiperfGPUs) names() (string, *int64) {
	seen, name := map[string]bool{}, ""
	for _, endpoint := range g.Endpoints {
		for _, gpu := range endpoint.GPUs {
			seen[gpu.UUID] = true
			name = max(name, gpu.Name)
		}
	}
	if len(seen) == 0 {
		return "", nil
	}
	return name, new(int64(len(seen)))
}

// aiperfReading is a line of gpu_telemetry_export.jsonl.
type aiperfReading struct {
	At       foreign.Number            `json:"timestamp_ns"`
	Endpoint string                    `json:"dcgm_url"`
	Source   string                    `json:"telemetry_source_url"` // its name since 0.5
	GPU      foreign.Number            `json:"gpu_index"`
	Name     string                    `json:"gpu_model_name"`
	Host     string                    `json:"hostname"`
	Data     map[string]foreign.Number `json:"telemetry_data"`
}

// gpuMeasures are the metrics of a GPU.
var gpuMeasures = []struct {
	measure
	keys []string // since 0.11 they begin with the maker's name
	unit string
}{
	{measure{name: "power"}, []string{"gpu_power_usage", "nvidia_power_usage", "amd_power"}, "W"},
	{measure{name: "temperature"}, []string{"gpu_temperature", "nvidia_temperature", "amd_temperature"}, "°C"},
	{measure{name: "clock_sm"}, []string{"sm_clock_frequency", "nvidia_sm_clock"}, "MHz"},
	{measure{"clock_memory", higher}, []string{"memory_clock_frequency", "nvidia_mem_clock"}, "MHz"},
	{measure{"gpu_utilization", higher}, []string{"gpu_utilization", "nvidia_gpu_utilization", "amd_gfx_activity"}, "%"},
	{measure{"memory_utilization", higher}, []string{"memory_copy_utilization", "mem_utilization", "nvidia_memory_utilization", "amd_umc_activity"}, "%"},
	{measure{"device_memory_used", lower}, []string{"gpu_memory_used", "nvidia_memory_used", "amd_memory_used"}, "GB"},
}

// gpuRun collects the readings of one GPU.
type gpuRun struct {
	run     schema.Run
	first   int64 // when the first was taken
	samples samples
}

func readAIPerfGPU(in *foreign.Input, out *foreign.Output) error {
	all := map[string]*gpuRun{}
	var order []*gpuRun
	err := eachJSONLine(in, out, func(where string, reading *aiperfReading) error {
		at := reading.At.Int64()
		if at == nil {
			return refusal(where+"/timestamp_ns", "%q is not a time", string(reading.At))
		}
		reading.Endpoint = cmp.Or(reading.Endpoint, reading.Source)
		key := reading.Endpoint + " " + string(reading.GPU)
		if all[key] == nil {
			all[key] = newGPURun(reading, *at)
			order = append(order, all[key])
		}
		for _, m := range gpuMeasures {
			var value foreign.Number
			for _, key := range m.keys {
				value = cmp.Or(value, reading.Data[key])
			}
			if s, err := foreign.SeriesOf([]foreign.Number{value}, m.unit); err == nil {
				all[key].samples.add(m.name, s, false, at)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, g := range order {
		for _, m := range gpuMeasures {
			g.samples.addTo(&g.run, m.measure, schema.LevelInterval, g.first)
		}
		if len(g.run.Metrics) == 0 {
			noResult(&g.run, "no readings")
		}
		if err := out.Run("gpu "+g.run.Params["gpu_index"], g.run); err != nil {
			return err
		}
	}
	return nil
}

func newGPURun(reading *aiperfReading, at int64) *gpuRun {
	g := &gpuRun{first: at, samples: samples{}}
	r := &g.run
	r.Benchmark = "aiperf/gpu_telemetry"
	foreign.SetParam(r, "gpu_index", string(reading.GPU))
	_, endpoint, _ := strings.Cut(reading.Endpoint, "://")
	endpoint, _, _ = strings.Cut(endpoint, "/")
	foreign.SetParam(r, "endpoint", endpoint[strings.LastIndex(endpoint, "@")+1:])
	r.Env.GPUName, r.Env.GPUCount, r.Env.Hostname, r.Env.Machine = reading.Name, new(int64(1)), reading.Host, reading.Host
	foreign.SetStart(r, time.Unix(0, at), schema.TimeFile)
	return g
}
