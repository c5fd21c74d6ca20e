package formats

import (
	"path"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

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

// genaiFile is what a profile_export.json says beside its loads. It stands behind them.
type genaiFile struct {
	version, service, endpoint string
	loads                      int
}

func readGenAIRequests(in *foreign.Input, out *foreign.Output) error {
	j, err := in.JSON()
	if err != nil {
		return err
	}
	var file genaiFile
	var loads []*genaiLoad
	texts := map[string]*string{"version": &file.version, "service_kind": &file.service, "endpoint": &file.endpoint}
	err = j.Members(func(name string) error {
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

// genaiSummariesOf are the names that the summary of requests may have, by that of their file.
func genaiSummariesOf(name string) []string {
	return []string{genaiStem(name) + "_genai_perf.json", "profile_export_genai_perf.json"}
}

// genaiSummaryBeside reads the summary of this file that stands beside it; nil if there is none.
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
			return out.RefuseMismatch(j.Elements(func(int) error {
				var request genaiRequest
				if err := j.Decode(&request); err != nil {
					return out.RefuseMismatch(err)
				}
				l.add(&request)
				return nil
			}))
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
			summary.config.Concurrency, summary.config.RequestRate = nil, nil
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
