package serving

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
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
	starts map[string][]int64         // of the requests that have the metric; nil where one is not known
	first  int64                      // the first start
	failed int64
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
	requestsFailed(&r, run.failed)
	return out.Run("", r)
}

// aiperfSummaryBeside reads the summary that stands beside the requests; nil where there is none.
func aiperfSummaryBeside(in *foreign.Input, out *foreign.Output) *aiperfSummary {
	stem := strings.TrimSuffix(strings.TrimSuffix(in.Head.Name, ".gz"), ".jsonl")
	name := beside(in, stem+"_aiperf.json", stem+".json")
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
		out.LeaveOut("requests of the warm-up", 1)
		return
	case q.Error.Kind() == jsontext.KindBeginObject || q.Metadata.Cancelled:
		a.failed++
		out.LeaveOut("requests that failed or were cancelled", 1)
		return
	}
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

// aiperfReading is a line of gpu_telemetry_export.jsonl.
type aiperfReading struct {
	At       foreign.Number            `json:"timestamp_ns"`
	Endpoint string                    `json:"dcgm_url"`
	GPU      foreign.Number            `json:"gpu_index"`
	Name     string                    `json:"gpu_model_name"`
	Host     string                    `json:"hostname"`
	Data     map[string]foreign.Number `json:"telemetry_data"`
}

// gpuMeasures are what is read of a GPU.
var gpuMeasures = []struct {
	measure
	key, unit string
}{
	{measure{name: "power"}, "gpu_power_usage", "W"},
	{measure{name: "temperature"}, "gpu_temperature", "°C"},
	{measure{name: "clock_sm"}, "sm_clock_frequency", "MHz"},
	{measure{"clock_memory", higher}, "memory_clock_frequency", "MHz"},
	{measure{"gpu_utilization", higher}, "gpu_utilization", "%"},
	{measure{"memory_utilization", higher}, "memory_copy_utilization", "%"},
	{measure{"device_memory_used", lower}, "gpu_memory_used", "GB"},
}

// gpuRun collects the readings of one GPU.
type gpuRun struct {
	run    schema.Run
	first  int64 // when the first was taken
	series map[string]*foreign.Series
	at     map[string][]int64
}

func readAIPerfGPU(in *foreign.Input, out *foreign.Output) error {
	all := map[string]*gpuRun{}
	var order []*gpuRun
	for n, line := range in.Lines() {
		if line.Err != nil {
			return line.Err
		}
		if strings.TrimSpace(line.Text) == "" {
			continue
		}
		var reading aiperfReading
		if !decode(out, fmt.Sprintf("line %d", n), jsontext.Value(line.Text), &reading) {
			continue
		}
		at := reading.At.Int64()
		if at == nil {
			out.Refuse(fmt.Sprintf("line %d/timestamp_ns", n), fmt.Errorf("%q is no time", string(reading.At)))
			continue
		}
		key := reading.Endpoint + " " + string(reading.GPU)
		if all[key] == nil {
			all[key] = newGPURun(&reading, *at)
			order = append(order, all[key])
		}
		all[key].add(&reading, *at)
	}
	for _, g := range order {
		if err := g.emit(out); err != nil {
			return err
		}
	}
	return nil
}

func newGPURun(reading *aiperfReading, at int64) *gpuRun {
	g := &gpuRun{first: at, series: map[string]*foreign.Series{}, at: map[string][]int64{}}
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

func (g *gpuRun) add(reading *aiperfReading, at int64) {
	for _, m := range gpuMeasures {
		value := reading.Data[m.key]
		if value == "" {
			continue
		}
		s, err := foreign.SeriesOf([]foreign.Number{value}, m.unit)
		if err != nil {
			continue
		}
		if g.series[m.name] == nil {
			g.series[m.name] = &foreign.Series{}
		}
		join(g.series[m.name], s)
		g.at[m.name] = append(g.at[m.name], at-g.first)
	}
}

func (g *gpuRun) emit(out *foreign.Output) error {
	for _, m := range gpuMeasures {
		if s := g.series[m.name]; s != nil {
			addSeries(&g.run, m.measure, *s, schema.LevelInterval)
			if metric := g.run.Metric(m.name); metric != nil {
				metric.AtNS = g.at[m.name]
			}
		}
	}
	if len(g.run.Metrics) == 0 {
		noResult(&g.run, "no reading")
	}
	return out.Run("gpu "+g.run.Params["gpu_index"], g.run)
}
