package formats

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

func genaiPerfFormats() []foreign.Format {
	const level = "a run is one load (concurrency or request rate) of one benchmark"
	return []foreign.Format{
		{
			Name:  "genai-perf",
			About: "GenAI-Perf and perf_analyzer: profile_export.json, the requests; model and lengths come from _genai_perf.json next to it; prompts and answers are not read",
			Level: level + "; samples are requests (latency, ttft) and responses (itl: the time between two)",
			Recognize: func(h *foreign.Head) bool {
				return h.Has("experiments[].experiment.mode", "experiments[].requests[].timestamp")
			},
			Beside: genaiSummariesOf,
			Read:   readGenAIRequests,
		},
		{
			Name:  "genai-perf-summary",
			About: "GenAI-Perf: profile_export_genai_perf.json; ignored if the requests are next to it",
			Level: level + "; only aggregates, no samples",
			Recognize: func(h *foreign.Head) bool {
				return h.Has("input_config", "request_latency.unit", "request_latency.avg") && !isAIPerf(h)
			},
			Read: readGenAISummary,
		},
		{
			Name:      "genai-perf-csv",
			About:     "GenAI-Perf: profile_export_genai_perf.csv; ignored if the JSON file of that name is next to it",
			Level:     level + "; only aggregates, no samples",
			Recognize: isGenAICSV,
			Read: func(in *foreign.Input, out *foreign.Output) error {
				stem := genaiStem(in.Head.Name)
				return readTwoTables(in, out, "genai-perf", []string{stem + "_genai_perf.json", stem + ".json"})
			},
		},
	}
}

// genaiSummary is the summary file. It has the same metrics as AIPerf's.
type genaiSummary struct {
	aiperfSummary
	config genaiConfig
}

type genaiConfig struct {
	Model        oneOrMany[foreign.Text] `json:"model"` // a list; in later versions model_names, a name or a list
	Models       oneOrMany[foreign.Text] `json:"model_names"`
	Backend      string                  `json:"backend"`
	EndpointType string                  `json:"endpoint_type"`
	ServiceKind  string                  `json:"service_kind"`
	Streaming    foreign.Text            `json:"streaming"`
	BatchSize    foreign.Text            `json:"batch_size"`
	BatchText    foreign.Text            `json:"batch_size_text"`
	Concurrency  foreign.Text            `json:"concurrency"`
	RequestRate  foreign.Text            `json:"request_rate"`
	NumPrompts   foreign.Text            `json:"num_prompts"`
	Input        foreign.Text            `json:"synthetic_input_tokens_mean"`
	InputStdDev  foreign.Text            `json:"synthetic_input_tokens_stddev"`
	Output       foreign.Text            `json:"output_tokens_mean"`
	OutputStdDev foreign.Text            `json:"output_tokens_stddev"`
	ExportFile   string                  `json:"profile_export_file"`
	Source       foreign.Text            `json:"prompt_source"`
}

// genaiNested is the configuration of later versions, where it has parts.
type genaiNested struct {
	Endpoint struct {
		Type        string       `json:"type"`
		Backend     string       `json:"backend"`
		ServiceKind string       `json:"service_kind"`
		Streaming   foreign.Text `json:"streaming"`
	} `json:"endpoint"`
	Analyzer struct {
		Stimulus struct {
			Concurrency foreign.Text `json:"concurrency"`
			RequestRate foreign.Text `json:"request_rate"`
		} `json:"stimulus"`
	} `json:"perf_analyzer"`
	Input struct {
		BatchSize foreign.Text `json:"batch_size"`
		Source    foreign.Text `json:"prompt_source"`
		Synthetic aiperfMean   `json:"synthetic_tokens"`
		Output    aiperfMean   `json:"output_tokens"`
	} `json:"input"`
	Output struct {
		ExportFile string `json:"profile_export_file"`
	} `json:"output"`
}

// flatten takes the values of a nested configuration.
func (c *genaiConfig) flatten(n *genaiNested) {
	c.EndpointType, c.Backend, c.ServiceKind, c.Streaming = n.Endpoint.Type, n.Endpoint.Backend, n.Endpoint.ServiceKind, n.Endpoint.Streaming
	c.Concurrency, c.RequestRate = n.Analyzer.Stimulus.Concurrency, n.Analyzer.Stimulus.RequestRate
	c.BatchSize, c.Source, c.ExportFile = n.Input.BatchSize, n.Input.Source, n.Output.ExportFile
	c.Input, c.InputStdDev = foreign.Text(n.Input.Synthetic.Mean), foreign.Text(n.Input.Synthetic.StdDev)
	c.Output, c.OutputStdDev = foreign.Text(n.Input.Output.Mean), foreign.Text(n.Input.Output.StdDev)
}

// parseGenAI reads a summary.
func parseGenAI(text jsontext.Value) (*genaiSummary, error) {
	s := &genaiSummary{}
	if err := foreign.DecodeAt("", text, &s.metrics); err != nil {
		return nil, err
	}
	input := s.metrics["input_config"]
	if input.Kind() != jsontext.KindBeginObject {
		return s, nil
	}
	if err := foreign.DecodeAt("/input_config", input, &s.config); err != nil {
		return nil, err
	}
	var parts map[string]jsontext.Value
	if err := foreign.DecodeAt("/input_config", input, &parts); err != nil || parts["endpoint"].Kind() != jsontext.KindBeginObject {
		return s, err
	}
	var nested genaiNested
	if err := foreign.DecodeAt("/input_config", input, &nested); err != nil {
		return nil, err
	}
	s.config.flatten(&nested)
	return s, nil
}

// point sets the model and the parameters of a run.
func (s *genaiSummary) point(r *schema.Run) {
	c := &s.config
	r.Model, r.Backend = cmp.Or(modelNames(c.Model), modelNames(c.Models)), c.Backend
	put := func(name, text string) {
		if text != "" && (r.Params == nil || r.Params[name] == "") {
			foreign.SetParam(r, name, text)
		}
	}
	put("endpoint_type", c.EndpointType)
	put("service_kind", c.ServiceKind)
	put("streaming", string(c.Streaming))
	put("batch_size", string(c.BatchSize)+string(c.BatchText))
	put("concurrency", string(c.Concurrency))
	put("request_rate", string(c.RequestRate))
	put("num_prompts", string(c.NumPrompts))
	put("input_tokens", string(c.Input))
	put("input_tokens_stddev", string(c.InputStdDev))
	put("output_tokens", string(c.Output))
	put("output_tokens_stddev", string(c.OutputStdDev))
	put("prompt_source", string(c.Source))
}

// genaiStem is the name of a file of genai-perf without what its summaries end in.
func genaiStem(name string) string {
	stem := strings.TrimSuffix(name, path.Ext(name))
	return strings.TrimSuffix(stem, "_genai_perf")
}

func readGenAISummary(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	text, err := j.Value()
	if err != nil {
		return err
	}
	s, err := parseGenAI(text)
	if err != nil {
		refuse(out, "", err)
		return nil
	}
	raw := baseName(s.config.ExportFile)
	if strings.HasSuffix(raw, "_genai_perf.json") {
		raw = ""
	}
	if name := beside(in, raw, genaiStem(in.Head.Name)+".json"); name != "" {
		out.LeaveTo(name, "a summary of the requests in "+name, 1)
		return nil
	}
	r := schema.Run{Benchmark: "genai-perf"}
	s.point(&r)
	s.addMetrics(&r, out)
	foreign.SetFact(&r, "source.metric.tpot", sourceTPOT(&r))
	anyCompleted(&r, nil)
	whole := s.whole()
	return out.RunWith("", r, whole.add)
}

func sourceTPOT(r *schema.Run) string {
	if r.Metric("tpot") == nil {
		return ""
	}
	return "inter_token_latency"
}

// genaiRequest is a request: when it was sent, and when its responses came.
type genaiRequest struct {
	At        foreign.Number   `json:"timestamp"`
	Responses []foreign.Number `json:"response_timestamps"`
}

// genaiLoad is one load of a profile_export.json.
type genaiLoad struct {
	mode, value         string
	latency, ttft, gaps foreign.Series
	at, ttftAt          []int64
	first, last         int64
	failed, total       int64
}

// genaiFile has the members of a profile_export.json that follow the loads.
type genaiFile struct {
	version, service, endpoint string
	loads                      int
}

func readGenAIRequests(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	var file genaiFile
	var loads []*genaiLoad
	texts := map[string]*string{"version": &file.version, "service_kind": &file.service, "endpoint": &file.endpoint}
	err := j.Members(func(name string) error {
		if name == "experiments" {
			return out.RefuseMismatch(j.Elements(func(int) error {
				load := &genaiLoad{}
				err := load.read(j, out)
				if err == nil && load.total > 0 {
					loads = append(loads, load)
				}
				return out.RefuseMismatch(err)
			}))
		}
		if text := texts[name]; text != nil {
			return out.RefuseMismatch(j.Decode(text))
		}
		return j.Skip()
	})
	if err := out.RefuseMismatch(err); err != nil {
		return err
	}
	out.Version(file.version)
	summary := genaiSummaryBeside(in, out)
	file.loads = len(loads)
	for _, load := range loads {
		if err := load.emit(out, &file, summary); err != nil {
			return err
		}
	}
	return nil
}

// genaiSummariesOf gives the names that the summary of a file of requests may have.
func genaiSummariesOf(name string) []string {
	return []string{genaiStem(name) + "_genai_perf.json", "profile_export_genai_perf.json"}
}

// genaiSummaryBeside reads the summary next to this file; nil if there is none.
func genaiSummaryBeside(in *foreign.Input, out *foreign.Output) *genaiSummary {
	names := genaiSummariesOf(in.Head.Name)
	for _, name := range names {
		content := sideOf(in, name)
		if content == nil || name == in.Head.Name {
			continue
		}
		s, err := parseGenAI(content)
		if err != nil {
			refuse(out, name, err)
			return nil
		}
		if name == names[0] || path.Base(s.config.ExportFile) == in.Head.Name {
			return s
		}
	}
	return nil
}

// read reads a load, request by request.
func (l *genaiLoad) read(j *foreign.JSON, out *foreign.Output) error {
	return j.Members(func(name string) error {
		switch name {
		case "experiment":
			var load struct {
				Mode  string       `json:"mode"`
				Value foreign.Text `json:"value"`
			}
			err := j.Decode(&load)
			l.mode, l.value = load.Mode, string(load.Value)
			return out.RefuseMismatch(err)
		case "requests":
			return eachElement(j, out, func(_ string, request *genaiRequest) error {
				l.add(request)
				return nil
			})
		}
		return j.Skip()
	})
}

// add takes a request. The differences are taken of integers: they have more digits than a float64 holds.
func (l *genaiLoad) add(q *genaiRequest) {
	l.total++
	start := q.At.Int64()
	times := make([]int64, 0, len(q.Responses))
	for _, n := range q.Responses {
		if t := n.Int64(); t != nil {
			times = append(times, *t)
		}
	}
	if start == nil || len(times) == 0 || len(times) < len(q.Responses) {
		l.failed++
		return
	}
	if l.latency.Ticks == nil || *start < l.first {
		l.first = *start
	}
	l.last = max(l.last, times[len(times)-1])
	l.latency.Ticks = append(l.latency.Ticks, times[len(times)-1]-*start)
	l.at = append(l.at, *start)
	if len(times) == 1 {
		return
	}
	l.ttft.Ticks = append(l.ttft.Ticks, times[0]-*start)
	l.ttftAt = append(l.ttftAt, *start)
	for i := 1; i < len(times); i++ {
		l.gaps.Ticks = append(l.gaps.Ticks, times[i]-times[i-1])
	}
}

// emit yields the run of a load.
func (l *genaiLoad) emit(out *foreign.Output, file *genaiFile, summary *genaiSummary) error {
	r := schema.Run{Benchmark: "genai-perf"}
	if l.mode != "" && l.value != "" {
		foreign.SetParam(&r, l.mode, l.value)
	}
	foreign.SetParam(&r, "service_kind", file.service)
	foreign.SetFact(&r, "endpoint", file.endpoint)
	if summary != nil {
		if l.mode != "" { // of several loads the summary has one
			summary.config.Concurrency, summary.config.RequestRate = "", ""
		}
		summary.point(&r)
	}
	for _, m := range []struct {
		name   string
		series *foreign.Series
		at     []int64
		level  schema.Level
	}{{"latency", &l.latency, l.at, schema.LevelRequest}, {"ttft", &l.ttft, l.ttftAt, schema.LevelRequest}, {"itl", &l.gaps, nil, schema.LevelToken}} {
		m.series.Unit, m.series.Given = "ns", "ns"
		addSeries(&r, measure{name: m.name}, *m.series, m.level)
		metric := r.Metric(m.name)
		for i := 0; metric != nil && i < len(m.at); i++ {
			metric.AtNS = append(metric.AtNS, m.at[i]-l.first)
		}
	}
	if summary != nil && file.loads == 1 && r.Metric("latency") != nil {
		summary.addMetrics(&r, out)
		foreign.SetFact(&r, "source.metric.tpot", sourceTPOT(&r))
	}
	if len(l.latency.Ticks) > 0 {
		foreign.SetStart(&r, time.Unix(0, l.first), schema.TimeFile)
	}
	if l.failed > 0 {
		out.LeaveOut("failed requests", int(l.failed))
	}
	anyCompleted(&r, &l.failed)
	whole := requests{completed: new(l.total - l.failed), failed: &l.failed, duration: foreign.Number(strconv.FormatInt(l.last-l.first, 10)), unit: "ns"}
	return out.RunWith("load "+l.value, r, whole.add)
}

// isGenAICSV reports whether a table is from genai-perf, which lists percentiles in descending order; AIPerf's are ascending.
func isGenAICSV(h *foreign.Head) bool {
	return strings.HasPrefix(h.FirstLine(), "Metric,avg,min,max,p99,")
}

// csvMeasures are the metrics of the two tables by their titles.
var csvMeasures = map[string]string{
	"Request Latency": "request_latency", "Time To First Token": "time_to_first_token", "Time to First Token": "time_to_first_token",
	"Time To Second Token": "time_to_second_token", "Time to Second Token": "time_to_second_token", "Inter Token Latency": "inter_token_latency",
	"Inter Chunk Latency": "inter_chunk_latency", "Request Throughput": "request_throughput", "Output Token Throughput": "output_token_throughput",
	"Output Token Throughput Per User": "output_token_throughput_per_user", "Output Token Throughput Per Request": "output_token_throughput_per_request",
	"Output Sequence Length": "output_sequence_length", "Input Sequence Length": "input_sequence_length", "Prefill Throughput": "prefill_throughput",
	"Prefill Throughput Per User": "prefill_throughput", "Benchmark Duration": "benchmark_duration", "Total Token Throughput": "total_token_throughput",
	"Time to First Output Token": "time_to_first_output_token", "Output Token Count": "output_token_count", "Reasoning Token Count": "reasoning_token_count",
	"Goodput": "goodput", "Request Goodput": "request_goodput",
}

// readTwoTables reads a table of statistics and one of single values, which follows it.
func readTwoTables(in *foreign.Input, out *foreign.Output, benchmark string, others []string) error {
	if name := beside(in, others...); name != "" {
		out.LeaveTo(name, "a table of the results in "+name, 1)
		return nil
	}
	t := newTwoTables(benchmark)
	c := in.CSV()
	var names, first []string
	for record, err := range c.Records() {
		if err != nil {
			return err
		}
		if record[0] == "Metric" {
			names = append(names[:0], record...)
			switch {
			case first == nil:
				first = slices.Clone(record)
			case slices.Equal(first, record): // of the next result
				if err := t.emit(out); err != nil {
					return err
				}
				t = newTwoTables(benchmark)
				t.where = fmt.Sprintf("line %d", c.Line())
			}
			continue
		}
		if err := t.row(names, record); err != nil {
			out.Refuse(fmt.Sprintf("line %d", c.Line()), err)
		}
	}
	return t.emit(out)
}

// twoTables has the values of the tables of a result.
type twoTables struct {
	where   string
	run     schema.Run
	found   map[string]*servingAggregates
	units   map[string]string
	whole   requests
	unknown []string // titles of rows that are not read
}

func newTwoTables(benchmark string) *twoTables {
	return &twoTables{run: schema.Run{Benchmark: benchmark}, found: map[string]*servingAggregates{}, units: map[string]string{}}
}

// row reads a row of a table with these columns.
func (t *twoTables) row(names, record []string) error {
	title, unit := titleAndUnit(record[0])
	switch title {
	case "Error Request Count":
		t.whole.failed = csvNumber(last(record)).Int64()
		return nil
	case "Request Count":
		t.whole.completed = csvNumber(last(record)).Int64()
		return nil
	}
	key, known := csvMeasures[title]
	if !known {
		if len(record) > 1 {
			t.unknown = append(t.unknown, title)
		}
		return nil
	}
	a := &servingAggregates{}
	for i := 1; i < min(len(names), len(record)); i++ {
		a.set(strings.Replace(names[i], "Value", "avg", 1), csvNumber(record[i]))
	}
	if a.Avg.Float64() == nil {
		return fmt.Errorf("%s has no number", title)
	}
	t.found[key], t.units[key] = a, unit
	return nil
}

// emit yields the run.
func (t *twoTables) emit(out *foreign.Output) error {
	for _, m := range requestMeasures {
		for _, name := range m.names {
			if a := t.found[name]; a != nil && !a.nothing() {
				addAggregates(&t.run, m.measure, a, t.units[name])
			}
		}
	}
	sourceNames(&t.run)
	anyCompleted(&t.run, t.whole.failed)
	if a := t.found["benchmark_duration"]; a != nil {
		t.whole.duration, t.whole.unit = a.Avg, t.units["benchmark_duration"]
	}
	out.LeaveOutNamed("totals and unknown metrics", t.unknown...)
	return out.RunWith(t.where, t.run, t.whole.add)
}

func last(record []string) string { return record[len(record)-1] }

// titleAndUnit takes a title with its unit in brackets apart: "Request Latency (ms)".
func titleAndUnit(text string) (title, unit string) {
	title, unit, found := strings.Cut(text, " (")
	if !found {
		title, unit = text, ""
		if strings.Contains(text, "Length") {
			unit = "tokens"
		}
		return strings.TrimSpace(title), unit
	}
	unit = strings.TrimSuffix(strings.TrimSpace(unit), ")")
	if rest, ok := strings.CutPrefix(unit, "per "); ok { // of older tables
		unit = "per " + rest
	}
	return strings.TrimSpace(title), unit
}

// csvNumber reads a number that may have commas between its thousands; empty if it is none.
func csvNumber(text string) foreign.Number {
	var n foreign.Number
	text = strings.ReplaceAll(strings.TrimSpace(text), ",", "")
	if strings.ContainsAny(text, `"\`) || n.UnmarshalJSON([]byte(`"`+text+`"`)) != nil {
		return ""
	}
	return n
}
