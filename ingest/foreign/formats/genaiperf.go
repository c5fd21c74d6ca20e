package formats

import (
	"path"
	"strings"

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
			Read:      readGenAICSV,
		},
	}
}

// genaiSummary is the summary file. Its metrics are those of AIPerf.
type genaiSummary struct {
	aiperfSummary
	config genaiConfig
}

type genaiConfig struct {
	Model        jsontext.Value `json:"model"` // a list; in later versions model_names, a name or a list
	Models       jsontext.Value `json:"model_names"`
	Backend      string         `json:"backend"`
	EndpointType string         `json:"endpoint_type"`
	ServiceKind  string         `json:"service_kind"`
	Streaming    jsontext.Value `json:"streaming"`
	BatchSize    jsontext.Value `json:"batch_size"`
	BatchText    jsontext.Value `json:"batch_size_text"`
	Concurrency  jsontext.Value `json:"concurrency"`
	RequestRate  jsontext.Value `json:"request_rate"`
	NumPrompts   jsontext.Value `json:"num_prompts"`
	Input        jsontext.Value `json:"synthetic_input_tokens_mean"`
	InputStdDev  jsontext.Value `json:"synthetic_input_tokens_stddev"`
	Output       jsontext.Value `json:"output_tokens_mean"`
	OutputStdDev jsontext.Value `json:"output_tokens_stddev"`
	ExportFile   string         `json:"profile_export_file"`
	Source       jsontext.Value `json:"prompt_source"`
}

// genaiNested is the configuration of later versions, where it has parts.
type genaiNested struct {
	Endpoint struct {
		Type        string         `json:"type"`
		Backend     string         `json:"backend"`
		ServiceKind string         `json:"service_kind"`
		Streaming   jsontext.Value `json:"streaming"`
	} `json:"endpoint"`
	Analyzer struct {
		Stimulus struct {
			Concurrency jsontext.Value `json:"concurrency"`
			RequestRate jsontext.Value `json:"request_rate"`
		} `json:"stimulus"`
	} `json:"perf_analyzer"`
	Input struct {
		BatchSize jsontext.Value `json:"batch_size"`
		Source    jsontext.Value `json:"prompt_source"`
		Synthetic aiperfMean     `json:"synthetic_tokens"`
		Output    aiperfMean     `json:"output_tokens"`
	} `json:"input"`
	Output struct {
		ExportFile string `json:"profile_export_file"`
	} `json:"output"`
}

// flatten fills in what a nested configuration says elsewhere.
func (c *genaiConfig) flatten(n *genaiNested) {
	c.EndpointType, c.Backend, c.ServiceKind, c.Streaming = n.Endpoint.Type, n.Endpoint.Backend, n.Endpoint.ServiceKind, n.Endpoint.Streaming
	c.Concurrency, c.RequestRate = n.Analyzer.Stimulus.Concurrency, n.Analyzer.Stimulus.RequestRate
	c.BatchSize, c.Source, c.ExportFile = n.Input.BatchSize, n.Input.Source, n.Output.ExportFile
	c.Input, c.InputStdDev = jsontext.Value(n.Input.Synthetic.Mean), jsontext.Value(n.Input.Synthetic.StdDev)
	c.Output, c.OutputStdDev = jsontext.Value(n.Input.Output.Mean), jsontext.Value(n.Input.Output.StdDev)
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

// nameOf is the one name, or the names, of a text or a list of texts.
func nameOf(value jsontext.Value) string { return strings.Join(genaiTextsOf(value), ",") }

// genaiTextsOf are the texts of a text or a list of texts.
func genaiTextsOf(value jsontext.Value) []string {
	if value.Kind() != jsontext.KindBeginArray {
		return []string{foreign.TextOf(value)}
	}
	var names []foreign.Text
	if foreign.Decode(value, &names) != nil {
		return nil
	}
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return texts
}

// point says what was measured.
func (s *genaiSummary) point(r *schema.Run) {
	c := &s.config
	r.Model, r.Backend = modelNames(genaiTextsOf(c.Model)), c.Backend
	if r.Model == "" {
		r.Model = modelNames(genaiTextsOf(c.Models))
	}
	put := func(name, text string) {
		if text != "" && (r.Params == nil || r.Params[name] == "") {
			foreign.SetParam(r, name, text)
		}
	}
	put("endpoint_type", c.EndpointType)
	put("service_kind", c.ServiceKind)
	put("streaming", foreign.TextOf(c.Streaming))
	put("batch_size", foreign.TextOf(c.BatchSize)+foreign.TextOf(c.BatchText))
	put("concurrency", foreign.TextOf(c.Concurrency))
	put("request_rate", foreign.TextOf(c.RequestRate))
	put("num_prompts", foreign.TextOf(c.NumPrompts))
	put("input_tokens", foreign.TextOf(c.Input))
	put("input_tokens_stddev", foreign.TextOf(c.InputStdDev))
	put("output_tokens", foreign.TextOf(c.Output))
	put("output_tokens_stddev", foreign.TextOf(c.OutputStdDev))
	put("prompt_source", foreign.TextOf(c.Source))
}

// genaiStem is the name of a file of genai-perf without what its summaries end in.
func genaiStem(name string) string {
	stem := strings.TrimSuffix(name, path.Ext(name))
	return strings.TrimSuffix(stem, "_genai_perf")
}

func readGenAISummary(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	text, err := j.Value()
	if err != nil {
		return err
	}
	s, err := parseGenAI(text)
	if err != nil {
		refuse(out, "", err)
		return nil
	}
	raw := path.Base(strings.ReplaceAll(s.config.ExportFile, `\`, "/"))
	if raw == "." || strings.HasSuffix(raw, "_genai_perf.json") {
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
