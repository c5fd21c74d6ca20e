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
