package formats

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// aiperfPlan is the configuration since 0.8: models, data sets and phases are lists, and what has its default is left out.
type aiperfPlan struct {
	Models   jsontext.Value `json:"models"`
	Endpoint struct {
		Type      string         `json:"type"`
		Streaming jsontext.Value `json:"streaming"`
		Tokens    jsontext.Value `json:"use_server_token_count"`
	} `json:"endpoint"`
	Datasets aiperfListOf[aiperfDataset]             `json:"datasets"`
	Phases   aiperfListOf[map[string]jsontext.Value] `json:"phases"`
}

// aiperfListOf is a list, or an object whose members are named like the elements of the list.
type aiperfListOf[T any] []T

// UnmarshalJSON takes both.
func (l *aiperfListOf[T]) UnmarshalJSON(text []byte) error {
	if jsontext.Value(text).Kind() != jsontext.KindBeginObject {
		var list []T
		err := foreign.Decode(text, &list)
		*l = list
		return err
	}
	var named map[string]T
	if err := foreign.Decode(text, &named); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		*l = append(*l, named[name])
	}
	return nil
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

// measuredPhases are the phases whose requests are in the results.
func (p *aiperfPlan) measuredPhases() []map[string]jsontext.Value {
	return slices.DeleteFunc(slices.Clone([]map[string]jsontext.Value(p.Phases)), func(phase map[string]jsontext.Value) bool {
		return foreign.TextOf(phase["exclude_from_results"]) == "true"
	})
}

// point says what was measured.
func (p *aiperfPlan) point(r *schema.Run) {
	put := func(name, text string) { foreign.SetParam(r, name, text) }
	r.Model = modelNames(p.models())
	put("endpoint_type", p.Endpoint.Type)
	streaming := foreign.TextOf(p.Endpoint.Streaming)
	if streaming == "" {
		streaming = "false"
	}
	put("streaming", streaming)
	values := map[string][]string{}
	add := func(name, text string) {
		if text != "" && !slices.Contains(values[name], text) {
			values[name] = append(values[name], text)
		}
	}
	for _, phase := range p.measuredPhases() {
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
	for i := range p.Datasets {
		d := &p.Datasets[i]
		add("input_tokens", d.Prompts.Input.mean)
		add("input_tokens_stddev", d.Prompts.Input.deviation)
		add("output_tokens", d.Prompts.Output.mean)
		add("output_tokens_stddev", d.Prompts.Output.deviation)
		add("batch_size", foreign.TextOf(d.Prompts.Batch))
		add("dataset", foreign.TextOf(d.Format)+foreign.TextOf(d.Public))
		add("input_file", fileName(string(d.Path)))
		add("prefix_prompt_length", foreign.TextOf(d.Prefix.Length))
		add("num_prefix_prompts", foreign.TextOf(d.Prefix.Pool))
		add("turns", d.Turns.mean)
		add("turns_stddev", d.Turns.deviation)
	}
	for name, texts := range values {
		put(name, strings.Join(texts, ","))
	}
}

// models are the names of the models.
func (p *aiperfPlan) models() []string {
	var of struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
	}
	if p.Models.Kind() != jsontext.KindBeginObject || foreign.Decode(p.Models, &of) != nil {
		return genaiTextsOf(p.Models)
	}
	names := make([]string, len(of.Items))
	for i := range of.Items {
		names[i] = of.Items[i].Name
	}
	return names
}

// fileName is the last part of a path; empty of none.
func fileName(text string) string {
	if text == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(text, `\`, "/"))
}
