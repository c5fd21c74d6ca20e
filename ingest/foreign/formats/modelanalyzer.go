package formats

import (
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// modelAnalyzer reads the tables of Triton's model_analyzer, whose columns users choose.
func modelAnalyzer() foreign.Format {
	return foreign.Format{
		Name:  "model-analyzer",
		About: "Triton model_analyzer: metrics-model-inference.csv, metrics-model-gpu.csv, metrics-server-only.csv",
		Level: "a run is a row, one load of one configuration of a model; only aggregates, no samples",
		Recognize: func(h *foreign.Head) bool {
			first := h.FirstLine()
			return strings.HasPrefix(first, "Model,") && (strings.Contains(first, ",Model Config Path") || strings.Contains(first, ",GPU UUID"))
		},
		Read: readModelAnalyzer,
	}
}

// analyzerMeasures are the columns that are metrics, without their units. Other columns with a unit get names made of theirs.
var analyzerMeasures = map[string]measure{
	"Throughput": {name: "throughput"}, "Output Token Throughput": {"output_token_throughput", higher},
	"GPU Power Usage": {name: "power"}, "Power Usage": {name: "power"}, "GPU Utilization": {"gpu_utilization", higher},
	"Max GPU Memory Usage": {"device_memory_used", lower}, "GPU Memory Usage": {"device_memory_used", lower}, "RAM Usage": {"memory_used", lower},
	"CPU Used RAM": {"memory_used", lower}, "Request/Response": {"request_response", lower},
}

// analyzerAxes are the columns that tell rows apart.
var analyzerAxes = map[string]string{
	"Model": "model", "Batch": "batch_size", "Concurrency": "concurrency", "Request Rate": "request_rate", "Instance Group": "instance_group",
	"Max Batch Size": "max_batch_size", "GPU UUID": "gpu_uuid", "Dynamic Batch Sizes": "dynamic_batch_sizes", "Preferred Batch Sizes": "preferred_batch_sizes",
	"Backend": "backend", "Request Inputs": "request_inputs", "Request Distribution": "request_distribution",
}

func readModelAnalyzer(in *foreign.Input, out *foreign.Output) error {
	return tables{
		heading: func(_, record []string) bool { return record[0] == "Model" },
		fits:    func(names, record []string) bool { return len(record) == len(names) },
		row:     analyzerRow,
	}.read(in, out)
}

// analyzerRow yields the run of a row.
func analyzerRow(out *foreign.Output, where string, names, record []string) error {
	r := schema.Run{Benchmark: "model_analyzer"}
	latency, latencyUnit := &servingAggregates{}, ""
	measured := false
	for i, name := range names {
		name, text := strings.TrimSpace(name), strings.TrimSpace(record[i])
		title, unit := titleAndUnit(name)
		statistic, isLatency := strings.CutSuffix(title, " Latency")
		axis, isAxis := analyzerAxes[name]
		value := csvNumber(text)
		switch {
		case name == "Model Config Path":
			r.Variant = text
		case isAxis:
			foreign.SetParam(&r, axis, text)
		case name == "Satisfies Constraints":
			foreign.SetFact(&r, "model_analyzer.satisfies_constraints", text)
		case value.Float64() == nil:
			if text != "" && unit == "" && text != "N/A" {
				foreign.SetParam(&r, analyzerName(title), text)
			}
		case isLatency && latency.set(strings.ToLower(statistic), value):
			latencyUnit = unit
			measured = measured || *value.Float64() != 0
		case unit == "" && title != "Throughput":
			foreign.SetParam(&r, analyzerName(title), text)
		default:
			m, known := analyzerMeasures[title]
			if !known {
				m = analyzerMeasure(title, unit)
			}
			measured = measured || *value.Float64() != 0
			addValue(&r, m, value, unit)
		}
	}
	if !measured {
		noResult(&r, "nothing was measured")
		return out.Run(where, r)
	}
	if !latency.nothing() {
		addAggregates(&r, measure{name: "latency"}, latency, latencyUnit)
	}
	for _, name := range []string{"latency", "throughput"} {
		if r.Primary == "" && r.Metric(name) != nil {
			r.Primary = name
		}
	}
	return out.Run(where, r)
}

// analyzerName is a title as a name: "Server Queue Time" is server_queue_time.
func analyzerName(title string) string {
	return foreign.MetricName(strings.ToLower(title))
}

// analyzerMeasure makes a metric of a column that is not known: of times, less is better; of rates, more.
func analyzerMeasure(title, unit string) measure {
	m := measure{name: analyzerName(title)}
	switch unitOf(unit) {
	case "ms", "us", "ns", "s":
		m.better = lower
	case "1/s":
		m.better = higher
	}
	return m
}
