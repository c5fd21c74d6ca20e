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

// genaiLevel describes a run of GenAI-Perf.
const genaiLevel = "a run is one load (concurrency or request rate) of one benchmark"

var genaiPerfFormats = []foreign.Format{
	{
		Name:  "genai-perf",
		About: "GenAI-Perf and perf_analyzer: profile_export.json, the requests; model and lengths come from _genai_perf.json next to it; prompts and answers are not read",
		Level: genaiLevel + "; samples are requests (latency, ttft) and responses (itl: the time between two)",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("experiments[].experiment.mode", "experiments[].requests[].timestamp")
		},
		Beside: genaiSummariesOf,
		Read:   readGenAIRequests,
	},
	{
		Name:  "genai-perf-summary",
		About: "GenAI-Perf: profile_export_genai_perf.json; ignored if the requests are next to it",
		Level: genaiLevel + "; only aggregates, no samples",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("input_config", "request_latency.unit", "request_latency.avg") && !isAIPerf(h)
		},
		Read: readGenAISummary,
	},
	{
		Name:      "genai-perf-csv",
		About:     "GenAI-Perf: profile_export_genai_perf.csv; ignored if the JSON file of that name is next to it",
		Level:     genaiLevel + "; only aggregates, no samples",
		Recognize: isGenAICSV,
		Read: func(in *foreign.Input, out *foreign.Output) error {
			stem := genaiStem(in.Head.Name)
			return readTwoTables(in, out, "genai-perf", stem+"_genai_perf.json", stem+".json")
		},
	},
}

// genaiSummary is the summary file. It has the same metrics as AIPerf's.
type genaiSummary struct {
	aiperfSummary
	config genaiConfig
	nested genaiNested
	export string // the file of the requests
}

type genaiConfig struct {
	Model        oneOrMany[foreign.Text] `json:"model"` // a list; in later versions model_names, a name or a list
	Models       oneOrMany[foreign.Text] `json:"model_names"`
	Backend      string                  `json:"backend" run:"Backend"`
	EndpointType string                  `json:"endpoint_type" param:"endpoint_type"`
	ServiceKind  string                  `json:"service_kind" param:"service_kind"`
	Streaming    foreign.Text            `json:"streaming" param:"streaming"`
	BatchSize    foreign.Text            `json:"batch_size" param:"batch_size"`
	BatchText    foreign.Text            `json:"batch_size_text" param:"batch_size"`
	Concurrency  foreign.Text            `json:"concurrency" param:"concurrency"`
	RequestRate  foreign.Text            `json:"request_rate" param:"request_rate"`
	NumPrompts   foreign.Text            `json:"num_prompts" param:"num_prompts"`
	Input        foreign.Text            `json:"synthetic_input_tokens_mean" param:"input_tokens"`
	InputStdDev  foreign.Text            `json:"synthetic_input_tokens_stddev" param:"input_tokens_stddev"`
	Output       foreign.Text            `json:"output_tokens_mean" param:"output_tokens"`
	OutputStdDev foreign.Text            `json:"output_tokens_stddev" param:"output_tokens_stddev"`
	ExportFile   string                  `json:"profile_export_file"`
	Source       foreign.Text            `json:"prompt_source" param:"prompt_source"`
}

// genaiNested is the configuration of later versions, where it has parts.
type genaiNested struct {
	Endpoint struct {
		Type        string       `json:"type" param:"endpoint_type"`
		Backend     string       `json:"backend" run:"Backend"`
		ServiceKind string       `json:"service_kind" param:"service_kind"`
		Streaming   foreign.Text `json:"streaming" param:"streaming"`
	} `json:"endpoint"`
	Analyzer struct {
		Stimulus genaiStimulus `json:"stimulus"`
	} `json:"perf_analyzer"`
	Input struct {
		BatchSize foreign.Text `json:"batch_size" param:"batch_size"`
		Source    foreign.Text `json:"prompt_source" param:"prompt_source"`
		Synthetic struct {
			Mean   foreign.Number `json:"mean" param:"input_tokens"`
			StdDev foreign.Number `json:"stddev" param:"input_tokens_stddev"`
		} `json:"synthetic_tokens"`
		Output struct {
			Mean   foreign.Number `json:"mean" param:"output_tokens"`
			StdDev foreign.Number `json:"stddev" param:"output_tokens_stddev"`
		} `json:"output_tokens"`
	} `json:"input"`
	Output struct {
		ExportFile string `json:"profile_export_file"`
	} `json:"output"`
}

// genaiStimulus is the load.
type genaiStimulus struct {
	Concurrency foreign.Text `json:"concurrency" param:"concurrency"`
	RequestRate foreign.Text `json:"request_rate" param:"request_rate"`
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
	var parts struct {
		Endpoint jsontext.Value `json:"endpoint"`
	}
	err := cmp.Or(foreign.DecodeAt("/input_config", input, &s.config), foreign.DecodeAt("/input_config", input, &parts))
	s.export = s.config.ExportFile
	if err == nil && parts.Endpoint.Kind() == jsontext.KindBeginObject {
		err = foreign.DecodeAt("/input_config", input, &s.nested)
		c := &s.config
		s.config = genaiConfig{Model: c.Model, Models: c.Models, BatchText: c.BatchText, NumPrompts: c.NumPrompts}
		s.export = s.nested.Output.ExportFile
	}
	return s, err
}

// point sets the model and the parameters of a run.
func (s *genaiSummary) point(r *schema.Run) {
	r.Model = cmp.Or(modelNames(s.config.Model), modelNames(s.config.Models))
	describe(r, &s.nested)
	describe(r, &s.config)
}

// genaiStem returns the name of a file of genai-perf without the ending of its summaries.
func genaiStem(name string) string {
	stem := strings.TrimSuffix(name, path.Ext(name))
	return strings.TrimSuffix(stem, "_genai_perf")
}

func readGenAISummary(in *foreign.Input, out *foreign.Output) error {
	text, err := in.JSON().Value()
	if err != nil {
		return err
	}
	s, err := parseGenAI(text)
	if err != nil {
		return out.RefuseMismatch(err)
	}
	raw := baseName(s.export)
	if strings.HasSuffix(raw, "_genai_perf.json") {
		raw = ""
	}
	if leaveToRequests(in, out, raw, genaiStem(in.Head.Name)+".json") {
		return nil
	}
	r := schema.Run{Benchmark: "genai-perf"}
	s.point(&r)
	s.addMetrics(&r, out)
	anyCompleted(&r, nil)
	whole := s.whole()
	return out.RunWith("", r, whole.add)
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

func readGenAIRequests(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	var version, service, endpoint string
	var loads []*genaiLoad
	err := fields{"version": &version, "service_kind": &service, "endpoint": &endpoint, "experiments": func() error {
		return j.Elements(func(int) error {
			load := &genaiLoad{}
			err := load.read(j, out)
			if load.total > 0 {
				loads = append(loads, load)
			}
			return err
		})
	}}.read(j, out)
	if err != nil {
		return err
	}
	out.Version(version)
	summary := genaiSummaryBeside(in, out)
	for _, load := range loads {
		r := schema.Run{Benchmark: "genai-perf"}
		if load.mode != "" && load.value != "" {
			foreign.SetParam(&r, load.mode, load.value)
		}
		foreign.SetParam(&r, "service_kind", service)
		foreign.SetFact(&r, "endpoint", endpoint)
		if err := load.emit(out, r, summary, len(loads) == 1); err != nil {
			return err
		}
	}
	return nil
}

// genaiSummariesOf returns the names that the summary of a file of requests may have.
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
		if name == names[0] || path.Base(s.export) == in.Head.Name {
			return s
		}
	}
	return nil
}

// read reads a load, request by request.
func (l *genaiLoad) read(j *foreign.JSON, out *foreign.Output) error {
	return fields{
		"experiment": func() error {
			var load struct {
				Mode  string       `json:"mode"`
				Value foreign.Text `json:"value"`
			}
			err := j.Decode(&load)
			l.mode, l.value = load.Mode, string(load.Value)
			return err
		},
		"requests": array(j, out, func(_ string, request *genaiRequest) error {
			l.add(request)
			return nil
		}),
	}.read(j, out)
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

// emit yields the run of a load. The aggregates of the summary belong to the run if the load is the only one of the file.
func (l *genaiLoad) emit(out *foreign.Output, r schema.Run, summary *genaiSummary, only bool) error {
	if summary != nil {
		if l.mode != "" { // of several loads the summary has one
			summary.config.Concurrency, summary.config.RequestRate, summary.nested.Analyzer.Stimulus = "", "", genaiStimulus{}
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
	if summary != nil && only && r.Metric("latency") != nil {
		summary.addMetrics(&r, out)
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

// readTwoTables reads a table of statistics and one of single values, which follows it. It leaves them to another file
// with the same results, if there is one.
func readTwoTables(in *foreign.Input, out *foreign.Output, benchmark string, others ...string) error {
	if name := beside(in, others...); name != "" {
		out.LeaveTo(name, "a table of the results in "+name, 1)
		return nil
	}
	t := newTwoTables(benchmark)
	var first []string
	err := tables{
		heading: func(_, record []string) bool { return record[0] == "Metric" },
		begins: func(where string, names []string) (err error) {
			if slices.Equal(first, names) { // of the next result
				err = t.emit(out)
				t = newTwoTables(benchmark)
				t.where = where
			}
			if first == nil {
				first = slices.Clone(names)
			}
			return err
		},
		fits: func(_, _ []string) bool { return true },
		row: func(_ *foreign.Output, where string, names, record []string) error {
			if err := t.row(names, record); err != nil {
				return refusal(where, "%w", err)
			}
			return nil
		},
	}.read(in, out)
	if err != nil {
		return err
	}
	return t.emit(out)
}

// twoTables has the values of the tables of a result.
type twoTables struct {
	where   string
	run     schema.Run
	found   map[string]*schema.Summary
	given   map[string]string // units
	whole   requests
	unknown []string // titles of rows that are not read
}

func newTwoTables(benchmark string) *twoTables {
	return &twoTables{run: schema.Run{Benchmark: benchmark}, found: map[string]*schema.Summary{}, given: map[string]string{}}
}

// row reads a row of a table with these columns.
func (t *twoTables) row(names, record []string) error {
	title, unit := titleAndUnit(record[0])
	key, known := csvMeasures[title]
	switch count := csvNumber(record[len(record)-1]).Int64(); {
	case title == "Error Request Count":
		t.whole.failed = count
		return nil
	case title == "Request Count":
		t.whole.completed = count
		return nil
	case !known && len(record) > 1:
		t.unknown = append(t.unknown, title)
		return nil
	case !known:
		return nil
	}
	var s schema.Summary
	var mean foreign.Number
	for i := 1; i < min(len(names), len(record)); i++ {
		name, value := strings.Replace(names[i], "Value", "avg", 1), csvNumber(record[i])
		if setStatistic(&s, name, value, unitOf(unit)); name == "avg" {
			mean = value
		}
	}
	if mean.Float64() == nil {
		return fmt.Errorf("%s has no number", title)
	}
	if t.found[key], t.given[key] = &s, unit; key == "benchmark_duration" {
		t.whole.duration, t.whole.unit = mean, unit
	}
	return nil
}

// emit yields the run.
func (t *twoTables) emit(out *foreign.Output) error {
	for _, m := range requestMeasures {
		for _, name := range m.names {
			if s := t.found[name]; s != nil && !nothing(s) {
				addAggregates(&t.run, m.measure, *s, t.given[name])
			}
		}
	}
	sourceNames(&t.run)
	anyCompleted(&t.run, t.whole.failed)
	out.LeaveOutNamed("totals and unknown metrics", t.unknown...)
	return out.RunWith(t.where, t.run, t.whole.add)
}

// titleAndUnit takes a title with its unit in brackets apart: "Request Latency (ms)".
func titleAndUnit(text string) (title, unit string) {
	title, unit, found := strings.Cut(text, " (")
	if !found && strings.Contains(text, "Length") {
		unit = "tokens)"
	}
	return strings.TrimSpace(title), strings.TrimSuffix(strings.TrimSpace(unit), ")")
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
