package formats

import (
	"fmt"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// aiperfGPUs names the GPUs that were watched.
type aiperfGPUs struct {
	Endpoints map[string]struct {
		GPUs map[string]struct {
			Name string `json:"gpu_name"`
			UUID string `json:"gpu_uuid"`
		} `json:"gpus"`
	} `json:"endpoints"`
}

// names are the names of the GPUs, and how many there are.
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
	Source   string                    `json:"telemetry_source_url"` // what it is called since 0.5
	GPU      foreign.Number            `json:"gpu_index"`
	Name     string                    `json:"gpu_model_name"`
	Host     string                    `json:"hostname"`
	Data     map[string]foreign.Number `json:"telemetry_data"`
}

// gpuMeasures are what is read of a GPU.
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
			out.Refuse(fmt.Sprintf("line %d/timestamp_ns", n), fmt.Errorf("%q is not a time", string(reading.At)))
			continue
		}
		if reading.Endpoint == "" {
			reading.Endpoint = reading.Source
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
		value := foreign.Number("")
		for _, key := range m.keys {
			if value == "" {
				value = reading.Data[key]
			}
		}
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
		noResult(&g.run, "no readings")
	}
	return out.Run("gpu "+g.run.Params["gpu_index"], g.run)
}
