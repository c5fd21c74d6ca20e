package formats

import (
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

const perfLevel = "a run is one load (concurrency or request rate); only aggregates, no samples"

// perfAnalyzerCSV reads the table that perf_analyzer writes. Its times are microseconds, a unit that the table does not name.
var perfAnalyzerCSV = foreign.Format{
	Name:  "perf-analyzer-csv",
	About: "Triton perf_analyzer -f: a row per load; it does not name model and batch size (add --param model=...); GPU columns are not read",
	Level: perfLevel,
	Recognize: func(h *foreign.Head) bool {
		first := h.FirstLine()
		return (strings.HasPrefix(first, "Concurrency,") || strings.HasPrefix(first, "Request Rate,")) && strings.Contains(first, "Inferences/Second,")
	},
	Read: tables{
		heading: func(names, record []string) bool {
			return names == nil || record[0] == "Concurrency" || record[0] == "Request Rate"
		},
		fits: func(names, record []string) bool { return len(record) >= 2 && len(record) <= len(names)+1 },
		row:  perfRow,
	}.read,
}

// perfTimes are the columns of times that are no statistic of the latency.
var perfTimes = map[string]string{
	"Client Send": "client_send", "Network+Server Send/Recv": "network", "Server Queue": "server_queue",
	"Server Compute":       "server_compute", // one number until 2020
	"Server Compute Input": "server_compute_input", "Server Compute Infer": "server_compute_infer", "Server Compute Output": "server_compute_output",
	"Server Cache Hit": "server_cache_hit", "Server Cache Miss": "server_cache_miss", "Client Recv": "client_recv",
	"request/response": "request_response", "response wait": "response_wait",
}

// perfRow yields the run of a row.
func perfRow(out *foreign.Output, where string, names, record []string) error {
	r, times := schema.Run{Benchmark: "perf_analyzer"}, schema.Run{}
	load := csvNumber(record[0])
	if load.Float64() == nil {
		return refusal(where, "%q is not a %s", record[0], strings.ToLower(names[0]))
	}
	foreign.SetParam(&r, strings.ReplaceAll(strings.ToLower(names[0]), " ", "_"), string(load))
	var latency schema.Summary
	var throughput foreign.Number
	for i := 1; i < min(len(names), len(record)); i++ {
		name, value := strings.TrimSpace(names[i]), csvNumber(record[i])
		percentile, isLatency := strings.CutSuffix(name, " latency")
		switch {
		case value.Float64() == nil:
		case name == "Inferences/Second":
			throughput = value
		case isLatency:
			setStatistic(&latency, strings.ToLower(percentile), value, "us")
		case perfTimes[name] != "":
			addValue(&times, measure{perfTimes[name], lower}, value, "us")
		}
	}
	perfResults(&r, latency, throughput, "us")
	if r.Status == "" {
		for _, m := range times.Metrics {
			foreign.Add(&r, m, "us")
		}
	}
	return out.Run(where, r)
}

// perfResults adds the latency, whose unit in the file is given, and the throughput of a load. Without a throughput, it failed.
func perfResults(r *schema.Run, latency schema.Summary, throughput foreign.Number, given string) {
	if v := throughput.Float64(); v == nil || *v == 0 {
		noResult(r, "no inference was completed")
		return
	}
	if !nothing(&latency) {
		addAggregates(r, measure{name: "latency"}, latency, given)
	}
	addValue(r, measure{name: "throughput"}, throughput, "infer/sec")
}

// perfAnalyzerText reads the output that perf_analyzer prints.
var perfAnalyzerText = foreign.Format{
	Name:        "perf-analyzer",
	About:       "Triton perf_analyzer: its printed output",
	Level:       perfLevel,
	OwnHeadings: regexp.MustCompile(`^\*\*\* Measurement Settings`),
	Recognize:   func(h *foreign.Head) bool { return h.Matches(perfHeading) && h.Matches(perfClient) },
	Read:        readPerfText,
}

var (
	perfHeading = regexp.MustCompile(`(?m)^(Request concurrency|Request Rate|Request rate): `)
	perfClient  = regexp.MustCompile(`(?m)^ +(Throughput: [0-9.e+]+ infer/sec|Request count: \d+)`)
	perfLoad    = regexp.MustCompile(`^(Request concurrency|Request [Rr]ate): ([0-9.]+)`)
	perfLine    = regexp.MustCompile(`^ +(Avg|p\d+) latency: (\d+) usec(?: \(standard deviation (\d+) usec\))?`)
	perfRate    = regexp.MustCompile(`^ +Throughput: ([0-9.e+]+) infer/sec`)
	perfCount   = regexp.MustCompile(`^ +Request count: (\d+)`)
	perfServer  = regexp.MustCompile(`^ +Avg request latency: (\d+) usec`)
	perfPart    = regexp.MustCompile(`(overhead|queue|compute input|compute infer|compute output|cache hit|cache miss) (\d+) usec`)
	perfModel   = regexp.MustCompile(`perf_(?:analyzer|client)\b.* (?:-m|--model-name)[ =](\S+)`)
	perfTable   = regexp.MustCompile(`^(?:Concurrency|Request Rate),Inferences/Second,`)
	perfCells   = regexp.MustCompile(`^[0-9.]+,`)
	perfOption  = regexp.MustCompile(`^  (Batch size|Service Kind): (.+)$`)
)

// perfSettings is the line above the settings of a launch.
const perfSettings = "*** Measurement Settings ***"

// perfRun is the load that is being read.
type perfRun struct {
	run     schema.Run
	where   string
	latency schema.Summary
	rate    foreign.Number
	parts   [][2]string // of the time in the server, in microseconds
}

func readPerfText(in *foreign.Input, out *foreign.Output) error {
	var base schema.Run
	var current *perfRun
	model := "" // of a command whose settings are still to come
	table, rows := false, 0
	return eachLine(in, out, func(where, text string) (err error) {
		if table = perfTable.MatchString(text) || table && perfCells.MatchString(text); table && perfCells.MatchString(text) {
			rows++
		}
		command := perfModel.FindStringSubmatch(text)
		switch load := perfLoad.FindStringSubmatch(text); {
		case command != nil || strings.HasPrefix(text, perfSettings): // the next launch, although this one has no end
			err = current.emit(out)
			current, base = nil, schema.Run{Model: model}
			if model = ""; command != nil {
				model, base.Model = command[1], command[1]
			}
		case load != nil:
			err = current.emit(out)
			current = &perfRun{run: schema.Run{Benchmark: "perf_analyzer", Model: base.Model}, where: where}
			if base.BatchSize != nil {
				current.run.BatchSize = new(*base.BatchSize)
			}
			for name, text := range base.Params {
				foreign.SetAxis(&current.run, name, text)
			}
			name := "concurrency"
			if load[1] != "Request concurrency" {
				name = "request_rate"
			}
			foreign.SetParam(&current.run, name, load[2])
		case current == nil:
			if m := perfOption.FindStringSubmatch(text); m != nil {
				foreign.SetParam(&base, strings.ReplaceAll(strings.ToLower(m[1]), " ", "_"), strings.TrimSpace(m[2]))
			}
		case strings.HasPrefix(text, "Inferences/Second vs."):
			err = current.emit(out)
			current, base = nil, schema.Run{}
		default:
			current.take(text)
		}
		return err
	}, func() error {
		if rows > 0 {
			out.LeaveOut("rows of a table of CSV after the printed results, which is read from a file of its own", rows)
		}
		return current.emit(out)
	})
}

// take reads a line of a load.
func (p *perfRun) take(line string) {
	if m := perfLine.FindStringSubmatch(line); m != nil {
		setStatistic(&p.latency, strings.ToLower(m[1]), foreign.Number(m[2]), "us")
		if m[3] != "" {
			setStatistic(&p.latency, "std", foreign.Number(m[3]), "us")
		}
	} else if m := perfRate.FindStringSubmatch(line); m != nil {
		p.rate = csvNumber(m[1])
	} else if m := perfCount.FindStringSubmatch(line); m != nil {
		p.latency.N = foreign.Number(m[1]).Int64()
	} else if m := perfServer.FindStringSubmatch(line); m != nil && len(p.parts) == 0 {
		p.parts = append(p.parts, [2]string{"server_latency", m[1]})
		for _, part := range perfPart.FindAllStringSubmatch(line, -1) {
			p.parts = append(p.parts, [2]string{"server_" + strings.ReplaceAll(part[1], " ", "_"), part[2]})
		}
	}
}

// emit yields the run, if there is one.
func (p *perfRun) emit(out *foreign.Output) error {
	if p == nil {
		return nil
	}
	perfResults(&p.run, p.latency, p.rate, "usec")
	if p.run.Status != "" {
		return out.Run(p.where, p.run)
	}
	for _, part := range p.parts {
		addValue(&p.run, measure{part[0], lower}, foreign.Number(part[1]), "usec")
	}
	whole := requests{completed: p.latency.N}
	return out.RunWith(p.where, p.run, whole.add)
}

// modelAnalyzer reads the tables of Triton's model_analyzer, whose columns users choose.
var modelAnalyzer = foreign.Format{
	Name:  "model-analyzer",
	About: "Triton model_analyzer: metrics-model-inference.csv, metrics-model-gpu.csv, metrics-server-only.csv",
	Level: "a run is a row, one load of one configuration of a model; only aggregates, no samples",
	Recognize: func(h *foreign.Head) bool {
		first := h.FirstLine()
		return strings.HasPrefix(first, "Model,") && (strings.Contains(first, ",Model Config Path") || strings.Contains(first, ",GPU UUID"))
	},
	Read: tables{
		heading: func(_, record []string) bool { return record[0] == "Model" },
		row:     analyzerRow,
	}.read,
}

// analyzerMeasures are the columns that are metrics, without their units. Other columns with a unit get names made of theirs.
var analyzerMeasures = map[string]measure{
	"Throughput": {name: "throughput"}, "Output Token Throughput": {"output_token_throughput", higher},
	"GPU Power Usage": {name: "power"}, "Power Usage": {name: "power"}, "GPU Utilization": {"gpu_utilization", higher},
	"Max GPU Memory Usage": {"device_memory_used", lower}, "GPU Memory Usage": {"device_memory_used", lower}, "RAM Usage": {"memory_used", lower},
	"CPU Used RAM": {"memory_used", lower}, "Request/Response": {"request_response", lower},
}

// analyzerAxes are the columns that distinguish rows.
var analyzerAxes = map[string]string{
	"Model": "model", "Batch": "batch_size", "Concurrency": "concurrency", "Request Rate": "request_rate", "Instance Group": "instance_group",
	"Max Batch Size": "max_batch_size", "GPU UUID": "gpu_uuid", "Dynamic Batch Sizes": "dynamic_batch_sizes", "Preferred Batch Sizes": "preferred_batch_sizes",
	"Backend": "backend", "Request Inputs": "request_inputs", "Request Distribution": "request_distribution",
}

// analyzerRow yields the run of a row.
func analyzerRow(out *foreign.Output, where string, names, record []string) error {
	r := schema.Run{Benchmark: "model_analyzer"}
	var latency schema.Summary
	latencyUnit, measured := "", false
	for i, name := range names {
		name, text := strings.TrimSpace(name), strings.TrimSpace(record[i])
		title, unit := titleAndUnit(name)
		statistic, isLatency := strings.CutSuffix(title, " Latency")
		axis, isAxis := analyzerAxes[name]
		value := csvNumber(text)
		number := value.Float64()
		switch {
		case name == "Model Config Path":
			r.Variant = text
		case isAxis:
			foreign.SetParam(&r, axis, text)
		case name == "Satisfies Constraints":
			foreign.SetFact(&r, "model_analyzer.satisfies_constraints", text)
		case number == nil:
			if unit == "" && text != "N/A" {
				foreign.SetParam(&r, analyzerName(title), text)
			}
		case isLatency && setStatistic(&latency, strings.ToLower(statistic), value, unitOf(unit)):
			latencyUnit = unit
			measured = measured || *number != 0
		case unit == "" && title != "Throughput":
			foreign.SetParam(&r, analyzerName(title), text)
		default:
			m, known := analyzerMeasures[title]
			if !known { // of times, less is better; of rates, more
				m = measure{analyzerName(title), map[string]schema.Better{"ms": lower, "us": lower, "ns": lower, "s": lower, "1/s": higher}[unitOf(unit)]}
			}
			measured = measured || *number != 0
			addValue(&r, m, value, unit)
		}
	}
	if !measured {
		noResult(&r, "nothing was measured")
		return out.Run(where, r)
	}
	if !nothing(&latency) {
		addAggregates(&r, measure{name: "latency"}, latency, latencyUnit)
	}
	primary(&r, "latency", "throughput")
	return out.Run(where, r)
}

// analyzerName returns a title as a name: "Server Queue Time" is server_queue_time.
func analyzerName(title string) string {
	return foreign.MetricName(strings.ToLower(title))
}
