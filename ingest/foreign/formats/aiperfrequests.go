package formats

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

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

func (q *aiperfRequest) start() *int64 {
	if q.Metadata.Start != "" {
		return q.Metadata.Start.Int64()
	}
	return q.Metadata.OldStart.Int64()
}

// aiperfRun collects the requests of a file.
type aiperfRun struct {
	series map[string]*foreign.Series // by the metric's name in requestMeasures
	lists  map[string]bool            // metrics that have several values per request
	starts map[string][]int64         // of the requests that have the metric; nil if one is not known
	first  int64                      // the first start

	completed, failed, cancelled int64
}

func readAIPerfRequests(in *foreign.Input, out *foreign.Output) error {
	run := &aiperfRun{series: map[string]*foreign.Series{}, lists: map[string]bool{}, starts: map[string][]int64{}, first: math.MaxInt64}
	for n, line := range in.Lines() {
		if line.Err != nil {
			return line.Err
		}
		if strings.TrimSpace(line.Text) == "" {
			continue
		}
		var request aiperfRequest
		if !decode(out, fmt.Sprintf("line %d", n), jsontext.Value(line.Text), &request) {
			continue
		}
		run.add(out, n, &request)
	}
	r := schema.Run{Benchmark: "aiperf"}
	summary := aiperfSummaryBeside(in, out)
	if summary != nil {
		summary.point(&r)
	}
	run.addMetrics(&r)
	if run.first < math.MaxInt64 {
		foreign.SetStart(&r, time.Unix(0, run.first), schema.TimeFile)
	}
	if summary != nil {
		if r.Metric("latency") != nil {
			summary.addMetrics(&r, out)
		}
		if r.StartedAt.IsZero() {
			summary.start(in, &r)
		}
		out.Version(summary.Version)
	}
	sourceNames(&r)
	anyCompleted(&r, new(run.failed+run.cancelled)) // earlier versions counted cancelled requests as failed
	whole := requests{completed: &run.completed, failed: &run.failed}
	if summary != nil {
		whole.duration, whole.unit = summary.value("benchmark_duration")
	}
	return out.RunWith("", r, func(r *schema.Run) {
		anyCompleted(r, whole.failed)
		whole.add(r)
		if summary != nil {
			summary.setCounter(r)
		}
	})
}

// aiperfSummariesOf are the names of the summary of requests, by that of their file.
func aiperfSummariesOf(name string) []string {
	stem := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".jsonl")
	return []string{stem + "_aiperf.json", stem + ".json"}
}

// aiperfSummaryBeside reads the summary that stands beside the requests; nil if there is none.
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
func (a *aiperfRun) add(out *foreign.Output, n int, q *aiperfRequest) {
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
	start := q.start()
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
			if err == nil && a.series[m.name] != nil && a.series[m.name].Given != metric.Unit {
				err = fmt.Errorf("unit %q after %q", metric.Unit, a.series[m.name].Given)
			}
			if err != nil {
				out.Refuse(fmt.Sprintf("line %d/metrics/%s", n, name), err)
				continue
			}
			s.Given = metric.Unit
			a.take(m.name, s, metric.Value.Kind() == jsontext.KindBeginArray, start)
		}
	}
}

func (a *aiperfRun) take(name string, s foreign.Series, list bool, start *int64) {
	if a.series[name] == nil {
		a.series[name] = &foreign.Series{}
		a.starts[name] = []int64{}
	}
	join(a.series[name], s)
	a.lists[name] = a.lists[name] || list
	if start == nil || list {
		a.starts[name] = nil
	} else if a.starts[name] != nil {
		a.starts[name] = append(a.starts[name], *start)
	}
}

// addMetrics gives a run the samples.
func (a *aiperfRun) addMetrics(r *schema.Run) {
	for _, m := range requestMeasures {
		s := a.series[m.name]
		if s == nil {
			continue
		}
		level := schema.LevelRequest
		if a.lists[m.name] {
			level = schema.LevelToken
		}
		addSeries(r, m.measure, *s, level)
		metric := r.Metric(m.name)
		if metric == nil || len(a.starts[m.name]) != s.Len() {
			continue
		}
		for _, start := range a.starts[m.name] {
			metric.AtNS = append(metric.AtNS, start-a.first)
		}
	}
}
