package formats

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var vllmFormats = []foreign.Format{
	{
		Name:      "vllm",
		Log:       true,
		About:     "vLLM: vllm bench serve (with and without --save-detailed, --append-result, sweeps) and benchmark_serving.py; a sweep's summary.json is ignored if its run=N.json are next to it",
		Level:     "a run is one benchmark of a server; samples are requests (latency, ttft) and chunks (itl) with --save-detailed, otherwise only aggregates",
		Recognize: func(h *foreign.Head) bool { return isServe(h, "") || isServe(h, "[].") || isSortedServe(h) },
		Read:      readVLLMServe,
	},
	{
		Name:  "vllm-latency",
		About: "vLLM: vllm bench latency --output-json; model and arguments come from the .pytorch.json next to it",
		Level: "a run is one launch; a sample is one iteration of a batch",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("avg_latency", "latencies", "percentiles") && !h.Has("model_id")
		},
		Beside: vllmRecordsOf,
		Read:   readVLLMLatency,
	},
	{
		Name:  "vllm-throughput",
		About: "vLLM: vllm bench throughput --output-json; model and arguments come from the .pytorch.json next to it",
		Level: "a run is one launch; only aggregates, no samples",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("elapsed_time", "num_requests", "requests_per_second", "tokens_per_second")
		},
		Beside: vllmRecordsOf,
		Read:   readVLLMThroughput,
	},
	{
		Name:  "vllm-pytorch",
		About: "vLLM: the .pytorch.json that is written next to a result; read if that result is missing",
		Level: "a run is one launch; only aggregates, no samples",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("[].benchmark.extra_info.args", "[].metric.benchmark_values", "[].model.name") && h.Matches(vllmRecordName)
		},
		Read: readVLLMPyTorch,
	},
	{ // the table of all runs that a sweep writes at its end
		Name:  "vllm-sweep-csv",
		About: "vLLM: the summary.csv of vllm bench sweep; ignored if the folders of its runs are next to it",
		Level: "a run is a row, one benchmark of a server; only aggregates, no samples",
		Recognize: func(h *foreign.Head) bool {
			return containsAll(strings.Split(h.FirstLine(), ","), []string{"model_id", "request_throughput", "run_number"})
		},
		Read: readVLLMSweep,
	},
}

func isServe(h *foreign.Head, at string) bool {
	return h.Has(at+"model_id") && h.HasAny(at+"request_throughput", at+"mean_ttft_ms", at+"median_ttft_ms", at+"mean_e2el_ms", at+"request_rate", at+"tokenizer_id")
}

// vllmRecordName is how vLLM calls itself in records of a layout that others write, too.
var vllmRecordName = regexp.MustCompile(`"name": *"vLLM benchmark"`)

// isSortedServe recognises a result with sorted members, in which the samples precede the name of the model.
func isSortedServe(h *foreign.Head) bool {
	return h.Has("backend", "completed", "date", "duration") && h.HasAny("burstiness", "best_of", "endpoint_type") && !h.Has("dataset_name")
}

// vllmRunFiles are the first results of a sweep, next to its summary.
var vllmRunFiles = []string{"run=0.json", "run=1.json"}

func readVLLMServe(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	rowsAreFiles := beside(in, vllmRunFiles...) != ""
	for n := 1; j.More(); n++ {
		read := func(int) error {
			s, ok, err := readServed(j, out, n)
			if err != nil || !ok {
				return err
			}
			return s.emitVLLM(in, out, s.where+j.Where())
		}
		var err error
		switch {
		case j.Kind() != jsontext.KindBeginArray:
			err = read(0)
		case rowsAreFiles:
			err = j.Elements(func(i int) error {
				out.LeaveTo(fmt.Sprintf("run=%d.json", i), "rows of a sweep whose run=N.json are next to it", 1)
				return j.Skip()
			})
		default:
			err = j.Elements(read)
		}
		if err := out.RefuseMismatch(err); err != nil {
			return err
		}
	}
	return nil
}

// vllmConfigured are the names of single values that belong to the point, though results surround them.
var vllmConfigured = map[string]bool{
	"num_prompts": true, "request_rate": true, "burstiness": true, "max_concurrency": true, "best_of": true, "use_beam_search": true,
	"dataset_name": true, "ramp_up_strategy": true, "ramp_up_start_rps": true, "ramp_up_end_rps": true,
}

// vllmPoint sets the point. Unknown values belong to the user: the values of --metadata, which come before the request rate, and the
// axes of a sweep, which come after the number of the run. Unknown numbers among the results are new results.
func (s *served) vllmPoint(r *schema.Run, out *foreign.Output) {
	results, sweep := false, s.isSortedSweep()
	var unknown []string
	for _, v := range s.scalars {
		switch v.name {
		case "model_id":
			r.Model = modelName(string(v.value))
			continue
		case "backend":
			r.Backend = string(v.value)
			continue
		case "label":
			s.tag(r, "label", string(v.value))
			continue
		case "run_number":
			results = false
			continue
		case "version", "vllm_version":
			r.BackendVersion = string(v.value)
			continue
		case "date", "tokenizer_id", "tokenizer_name":
			continue
		case "endpoint_type":
			if string(v.value) != s.get("backend") {
				foreign.SetAxis(r, v.name, string(v.value))
			}
			continue
		}
		_, known := servedValues[v.name]
		_, count := servedCounts[v.name]
		if known || count || latencyKey.MatchString(v.name) {
			results = true
			continue
		}
		if vllmConfigured[v.name] || !results || sweep && len(v.value) <= maxAxisLength || v.kind == jsontext.KindString || v.kind == jsontext.KindTrue || v.kind == jsontext.KindFalse {
			s.setParam(r, v)
		} else if v.kind == jsontext.KindNumber && v.name != servedBegan && v.name != servedEnded {
			unknown = append(unknown, v.name)
		}
	}
	out.LeaveOutNamed("unknown results", unknown...)
}

// maxAxisLength is the maximum length of a number that a user chose; results have more digits.
const maxAxisLength = 6

// isSortedSweep reports whether the result is part of a sweep and its members are sorted: then their order has no meaning.
func (s *served) isSortedSweep() bool {
	return s.get("run_number") != "" && slices.IsSortedFunc(s.scalars, func(a, b scalar) int { return strings.Compare(a.name, b.name) })
}

// setParam makes a parameter of a single value, unless it is null or looks like a secret.
func (s *served) setParam(r *schema.Run, v scalar) {
	text := string(v.value)
	if v.name == "request_rate" && strings.EqualFold(strings.TrimSuffix(text, "inity"), "inf") {
		text = "inf"
	}
	if !foreign.Secret(v.name) {
		foreign.SetParam(r, v.name, text)
	}
}

// tag keeps the name that a user gave a run. It is not a parameter.
func (s *served) tag(r *schema.Run, name, text string) {
	if text != "" {
		foreign.Put(&r.Tags, name, text)
	}
}

func readVLLMSweep(in *foreign.Input, out *foreign.Output) error {
	var folders []string // the results in folders next to the table, one of each
	for _, e := range entriesOf(in, ".") {
		if name := beside(in, e.Name()+"/summary.json", e.Name()+"/run=0.json"); e.IsDir() && name != "" {
			folders = append(folders, name)
		}
	}
	return tables{
		heading: func(names, record []string) bool { return names == nil || slices.Equal(names, record) },
		fits:    func(names, record []string) bool { return len(folders) > 0 || len(record) == len(names) },
		row: func(out *foreign.Output, where string, names, record []string) error {
			if len(folders) > 0 {
				for _, name := range folders {
					out.LeaveTo(name, "", 0)
				}
				out.LeaveOut("rows of a sweep whose folders are next to it", 1)
				return nil
			}
			s := &served{}
			for i, name := range names {
				s.addCell(name, record[i])
			}
			return s.emitVLLM(in, out, where)
		},
	}.read(in, out)
}

// addCell takes a cell of a table as the value that JSON would have had: empty cells are null.
func (s *served) addCell(name, text string) {
	if name == "" || text == "" { // the first column counts the rows
		return
	}
	kind := jsontext.Kind(jsontext.KindNumber)
	if n := csvNumber(text); name != "request_rate" && n.Float64() != nil {
		text = string(n)
	} else if kind = jsontext.KindString; text == "True" || text == "False" {
		kind, text = jsontext.KindTrue, strings.ToLower(text)
	}
	s.scalars = append(s.scalars, scalar{name, kind, foreign.Text(foreign.Canonical(text))})
}

// emitVLLM yields the run of a result of vllm bench serve.
func (s *served) emitVLLM(in *foreign.Input, out *foreign.Output, where string) error {
	r := schema.Run{Benchmark: "vllm/serve"}
	s.vllmPoint(&r, out)
	in.SetStart(&r, s.get("date"), "20060102-150405")
	s.addResults(&r, out)
	requests := s.whole()
	return out.RunWith(where, r, func(r *schema.Run) {
		requests.add(r)
		s.setStart(r)
	})
}

// The members with the start and the end of a benchmark, in Unix seconds, since 2026.
const (
	servedBegan = "benchmark_start_time_unix"
	servedEnded = "benchmark_end_time_unix"
)

// setStart sets the start of the benchmark. The date, which is the start of the run so far, is its end.
func (s *served) setStart(r *schema.Run) {
	for _, name := range []string{servedBegan, servedEnded} { // where members are sorted, earlier versions took them for parameters
		delete(r.Params, name)
	}
	if began := s.number(servedBegan).Float64(); began != nil && *began > 0 && *began < 1e10 {
		foreign.SetStart(r, time.UnixMicro(int64(math.Round(*began*1e6))), schema.TimeFile)
		return
	}
	if took := s.number("duration").Finite("s"); took != nil && *took > 0 && *took < float64(math.MaxInt64) && !r.StartedAt.IsZero() {
		foreign.SetStart(r, r.StartedAt.Add(-time.Duration(*took)), r.TimeSource)
	}
}

// vllmRecord is an element of a .pytorch.json: one metric, with all arguments.
type vllmRecord struct {
	Benchmark struct {
		ExtraInfo struct {
			Args map[string]jsontext.Value `json:"args"`
		} `json:"extra_info"`
	} `json:"benchmark"`
	Model struct {
		Name string `json:"name"`
	} `json:"model"`
	Metric struct {
		Name   string           `json:"name"`
		Values []foreign.Number `json:"benchmark_values"`
	} `json:"metric"`
}

// vllmArguments are the arguments that distinguish results. The others are paths, seeds and the like.
var vllmArguments = []string{
	"backend", "dataset_name", "num_prompts", "input_len", "output_len", "random_input_len", "random_output_len", "batch_size", "n",
	"max_concurrency", "request_rate", "burstiness", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size",
	"enable_expert_parallel", "quantization", "dtype", "kv_cache_dtype", "max_model_len", "max_num_seqs", "max_num_batched_tokens",
	"enable_chunked_prefill", "enable_prefix_caching", "enforce_eager", "gpu_memory_utilization", "async_engine", "use_beam_search",
}

// point sets the model and the parameters from the arguments of a record.
func (v *vllmRecord) point(r *schema.Run) {
	if r.Model == "" {
		r.Model = modelName(v.Model.Name)
	}
	for _, name := range vllmArguments {
		if text := foreign.TextOf(v.Benchmark.ExtraInfo.Args[name]); text != "" {
			foreign.SetAxis(r, name, text)
		}
	}
}

// vllmRecordsOf returns the name of the file with the records of a result.
func vllmRecordsOf(name string) []string {
	return []string{strings.TrimSuffix(name, path.Ext(name)) + ".pytorch.json"}
}

// vllmRun returns a run of a benchmark with the values of the .pytorch.json next to the file.
func vllmRun(in *foreign.Input, out *foreign.Output, benchmark string) schema.Run {
	r := schema.Run{Benchmark: benchmark}
	name := vllmRecordsOf(in.Head.Name)[0]
	var records []vllmRecord
	if content := sideOf(in, name); content != nil && decode(out, name, content, &records) && len(records) > 0 {
		records[0].point(&r)
	}
	return r
}

func readVLLMLatency(in *foreign.Input, out *foreign.Output) error {
	return eachServed(in, out, func(_ int, s *served) error {
		r := vllmRun(in, out, "vllm/latency")
		series, _, err := measured(s.requests["latencies"], s.failed, "s")
		if err != nil {
			out.Refuse(s.where+"/latencies", err)
			return nil
		}
		addSeries(&r, measure{name: "latency"}, series, schema.LevelIteration)
		addValue(&r, measure{name: "latency"}, nonZero(s.number("avg_latency")), "s")
		if len(r.Metrics) == 0 {
			noResult(&r, "no iteration was measured")
		}
		return out.Run(s.where, r)
	})
}

func readVLLMThroughput(in *foreign.Input, out *foreign.Output) error {
	return eachServed(in, out, func(_ int, s *served) error {
		r := vllmRun(in, out, "vllm/throughput")
		foreign.SetParam(&r, "num_requests", string(s.number("num_requests")))
		foreign.SetFact(&r, "tokens.total", string(s.number("total_num_tokens")))
		if v := s.number("requests_per_second").Float64(); v != nil && *v != 0 {
			addValue(&r, measure{name: "throughput"}, s.number("requests_per_second"), "requests/s")
			addValue(&r, measure{"total_token_throughput", higher}, s.number("tokens_per_second"), "tokens/s")
			addValue(&r, measure{"duration", lower}, s.number("elapsed_time"), "s")
		} else {
			noResult(&r, "no request was completed")
		}
		whole := requests{duration: s.number("elapsed_time")}
		return out.RunWith(s.where, r, whole.add)
	})
}

var pytorchSuffix = regexp.MustCompile(`\.pytorch\.json(\.gz)?$`)

// readVLLMPyTorch reads the records of a result whose own file is missing: each record has one value of the same run.
func readVLLMPyTorch(in *foreign.Input, out *foreign.Output) error {
	stem := pytorchSuffix.ReplaceAllString(in.Head.Name, "")
	if name := beside(in, stem+".json", stem+".jsonl"); name != "" {
		out.LeaveOut("records that "+name+" has as well", 1)
		return nil
	}
	s := &served{}
	r := schema.Run{Benchmark: "vllm/serve"}
	err := eachElement(in.JSON(), out, func(_ string, v *vllmRecord) error {
		v.point(&r)
		switch {
		case len(v.Metric.Values) == 0:
			return nil
		case v.Metric.Name == "avg_latency" || v.Metric.Name == "latencies":
			r.Benchmark = "vllm/latency"
			addValue(&r, measure{name: "latency"}, v.Metric.Values[0], "s")
		case v.Metric.Name == "requests_per_second":
			r.Benchmark = "vllm/throughput"
			addValue(&r, measure{name: "throughput"}, v.Metric.Values[0], "requests/s")
		case v.Metric.Name == "tokens_per_second":
			addValue(&r, measure{"total_token_throughput", higher}, v.Metric.Values[0], "tokens/s")
		default:
			s.scalars = append(s.scalars, scalar{v.Metric.Name, jsontext.KindNumber, foreign.Text(v.Metric.Values[0])})
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.addTimes(&r, out)
	if len(r.Metrics) == 0 {
		noResult(&r, "no request was completed")
	}
	whole := s.whole()
	return out.RunWith("", r, whole.add)
}
