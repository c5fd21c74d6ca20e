package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// served is one result of a serving benchmark of vLLM or SGLang: single values in their order, and arrays of values per
// request.
type served struct {
	scalars  []scalar
	requests map[string][]foreign.Number // ttfts, latencies, start_times
	gaps     foreign.Series              // between chunks, of all requests one after the other
	gapEnds  []int                       // end of the gaps of each request
	errors   []bool                      // whether a request failed
	server   *sglangServer
	where    string // before the pointers into it
}

type scalar struct {
	name  string
	kind  jsontext.Kind
	value foreign.Text
}

// find returns the first single value of a name and, if given, of a kind; empty if there is none.
func (s *served) find(name string, kind ...jsontext.Kind) string {
	i := slices.IndexFunc(s.scalars, func(v scalar) bool { return v.name == name && (len(kind) == 0 || v.kind == kind[0]) })
	if i < 0 {
		return ""
	}
	return string(s.scalars[i].value)
}

// get returns the text of a single value; empty if there is none.
func (s *served) get(name string) string { return s.find(name) }

// number returns a single value as a number; empty if it is none.
func (s *served) number(name string) foreign.Number {
	return foreign.Number(s.find(name, jsontext.KindNumber))
}

// count is number for a count that some programs write as text: "3".
func (s *served) count(name string) foreign.Number {
	if n := foreign.Number(s.get(name)); n.Int64() != nil {
		return n
	}
	return s.number(name)
}

// failed reports whether the file records that the request of an index failed.
func (s *served) failed(i int) bool { return i < len(s.errors) && s.errors[i] }

// eachServed reads the results that follow one another in a file, from the first, which is 1.
func eachServed(in *foreign.Input, out *foreign.Output, each func(n int, s *served) error) error {
	j := in.JSON()
	for n := 1; j.More(); n++ {
		s, ok, err := readServed(j, out, n)
		if ok {
			err = each(n, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readServed reads the nth result of a file. Prompts and generated texts are skipped. Members that do not fit are refused
// one by one; ok is false if the result is not an object.
func readServed(j *foreign.JSON, out *foreign.Output, n int) (s *served, ok bool, err error) {
	s = &served{requests: map[string][]foreign.Number{}}
	if n > 1 {
		s.where = fmt.Sprintf("result %d", n)
	}
	err = j.Members(func(name string) error { return s.refuse(out, s.read(j, out, name)) })
	return s, err == nil, s.refuse(out, err)
}

// refuse refuses a value that does not fit. Any other error is returned.
func (s *served) refuse(out *foreign.Output, err error) error {
	var m *foreign.Mismatch
	if !errors.As(err, &m) {
		return err
	}
	refuse(out, s.where, err)
	return nil
}

func (s *served) read(j *foreign.JSON, out *foreign.Output, name string) error {
	switch name {
	case "ttfts", "latencies", "start_times":
		var numbers []foreign.Number
		err := j.Decode(&numbers)
		s.requests[name] = numbers
		return err
	case "itls":
		return s.readGaps(j, out)
	case "errors":
		return j.Elements(func(int) error {
			text, err := j.Value()
			s.errors = append(s.errors, err == nil && foreign.TextOf(text) != "")
			return err
		})
	case "server_info":
		s.server = &sglangServer{}
		text, err := j.Value()
		if err != nil {
			return err
		}
		if err := foreign.DecodeAt(j.Where(), text, &s.server.options); err != nil {
			return err
		}
		return foreign.DecodeAt(j.Where(), text, s.server)
	}
	switch kind := j.Kind(); kind {
	case jsontext.KindBeginArray:
		return j.Elements(func(int) error { return j.Skip() })
	case jsontext.KindBeginObject:
		return j.Skip()
	default:
		var text foreign.Text
		if err := j.Decode(&text); err != nil {
			return err
		}
		s.scalars = append(s.scalars, scalar{name, kind, text})
	}
	return nil
}

// readGaps reads the lists of the requests one by one: together they are most of a file.
func (s *served) readGaps(j *foreign.JSON, out *foreign.Output) error {
	return j.Elements(func(int) error {
		text, err := j.Value()
		if err != nil {
			return err
		}
		gaps, err := foreign.ReadSeries(text, "s")
		if err != nil {
			out.Refuse(s.where+j.Where(), err)
		}
		join(&s.gaps, gaps)
		s.gapEnds = append(s.gapEnds, s.gaps.Len())
		return nil
	})
}

// latencyKey is a statistic of a time: p99_ttft_ms.
var latencyKey = regexp.MustCompile(`^(mean|median|std|min|max|p[0-9.]+)_(ttft|tpot|itl|e2el|e2e_latency)_ms$`)

// servedTimes are the metrics of these times.
var servedTimes = map[string]string{"e2el": "latency", "e2e_latency": "latency", "ttft": "ttft", "tpot": "tpot", "itl": "itl"}

// servedValues are the numbers that are results, with their metrics and units.
var servedValues = map[string]struct {
	measure
	unit string
}{
	"request_throughput":                   {measure{name: "throughput"}, "requests/s"},
	"request_goodput":                      {measure{"request_goodput", higher}, "requests/s"},
	"request_goodput:":                     {measure{"request_goodput", higher}, "requests/s"}, // so named for some time
	"input_throughput":                     {measure{"input_token_throughput", higher}, "tokens/s"},
	"output_throughput":                    {measure{"output_token_throughput", higher}, "tokens/s"},
	"output_throughput_retokenized":        {measure{"output_token_throughput_retokenized", higher}, "tokens/s"},
	"total_token_throughput":               {measure{"total_token_throughput", higher}, "tokens/s"},
	"total_throughput":                     {measure{"total_token_throughput", higher}, "tokens/s"},
	"total_throughput_retokenized":         {measure{"total_token_throughput_retokenized", higher}, "tokens/s"},
	"input_sequence_throughput":            {measure{"input_sequence_throughput", higher}, "inputs/s"},
	"max_output_tokens_per_s":              {measure{"peak_output_token_throughput", higher}, "tokens/s"},
	"max_output_tokens_per_s_retokenized":  {measure{"peak_output_token_throughput_retokenized", higher}, "tokens/s"},
	"rtfx":                                 {measure{"rtfx", higher}, "ratio"},
	"spec_decode_acceptance_rate":          {measure{"spec_decode_acceptance_rate", higher}, "%"},
	"spec_decode_acceptance_length":        {measure{"spec_decode_acceptance_length", higher}, "tokens"},
	"accept_length":                        {measure{"spec_decode_acceptance_length", higher}, "tokens"},
	"duration":                             {measure{"duration", lower}, "s"},
	"diffusion_committed_throughput":       {measure{"diffusion_committed_throughput", higher}, "tokens/s"},
	"total_output_throughput_per_gpu_user": {measure{"output_token_throughput_per_gpu", higher}, "tokens/s"},
}

// servedCounts are kept as facts: the amount of work, not how fast it was.
var servedCounts = map[string]string{
	"completed": "requests.completed", "failed": "requests.failed", "total_input_tokens": "tokens.input",
	"total_input_text_tokens": "tokens.input_text", "total_input_vision_tokens": "tokens.input_vision",
	"total_output_tokens": "tokens.output", "total_output_tokens_retokenized": "tokens.output_retokenized",
	"total_input_sequences": "sequences.input", "max_concurrent_requests": "requests.concurrent_peak", "concurrency": "requests.concurrent_mean",
}

// addResults adds the metrics: samples of requests if there are any, otherwise aggregates.
func (s *served) addResults(r *schema.Run, out *foreign.Output) {
	s.addSamples(r, out)
	s.addTimes(r, out)
	nothing := len(r.Metrics) == 0
	for _, v := range s.scalars {
		n := foreign.Number(v.value)
		if known, ok := servedValues[v.name]; ok && v.kind == jsontext.KindNumber {
			if f := n.Float64(); f != nil && *f != 0 {
				addValue(r, known.measure, n, known.unit)
				nothing = nothing && v.name == "duration"
			}
		}
		if fact, ok := servedCounts[v.name]; ok {
			foreign.SetFact(r, fact, string(v.value))
		}
	}
	completed, failed := s.number("completed").Int64(), s.count("failed").Int64()
	if completed != nil && *completed == 0 || nothing {
		noResult(r, "no request was completed")
		if failed != nil {
			r.Error += fmt.Sprintf(", %d failed", *failed)
		}
		return
	}
	primary(r, "latency", "ttft", "throughput")
}

// whole returns the totals of the requests of the file. Versions that do not record how many failed record how many were sent.
func (s *served) whole() requests {
	q := requests{completed: s.number("completed").Int64(), failed: s.count("failed").Int64(), duration: s.number("duration")}
	switch {
	case q.failed != nil:
	case len(s.errors) > 0:
		q.failed = new(int64(s.failures()))
	case s.get("gsp_num_groups") == "": // with it num_prompts does not count
		sent := foreign.Number(s.get("num_prompts"))
		q.failed = missed(sent.Int64(), q.completed)
	}
	return q
}

// failures returns how many requests have an error.
func (s *served) failures() (n int) {
	for _, failed := range s.errors {
		if failed {
			n++
		}
	}
	return n
}

// addSamples adds the samples per request and per chunk.
func (s *served) addSamples(r *schema.Run, out *foreign.Output) {
	for _, array := range []struct{ name, metric string }{{"latencies", "latency"}, {"ttfts", "ttft"}} {
		numbers := s.requests[array.name]
		series, at, err := measured(numbers, s.failed, "s")
		if err != nil {
			out.Refuse(s.where+"/"+array.name, err)
			continue
		}
		addSeries(r, measure{name: array.metric}, series, schema.LevelRequest)
		if m := r.Metric(array.metric); m != nil {
			m.AtNS = since(s.requests["start_times"], at, len(numbers))
		}
	}
	addSeries(r, measure{name: "itl"}, s.gapsOfCompleted(), schema.LevelToken)
	if n := s.failures(); n > 0 {
		out.LeaveOut("failed requests", n)
	}
}

// gapsOfCompleted returns the gaps of the requests that did not fail.
func (s *served) gapsOfCompleted() foreign.Series {
	kept := foreign.Series{Unit: s.gaps.Unit, Given: s.gaps.Given}
	from := 0
	for i, end := range s.gapEnds {
		if !s.failed(i) {
			if s.gaps.Ticks != nil {
				kept.Ticks = append(kept.Ticks, s.gaps.Ticks[from:end]...)
			} else {
				kept.Reals = append(kept.Reals, s.gaps.Reals[from:end]...)
			}
		}
		from = end
	}
	return kept
}

// addTimes adds the aggregates of times without samples.
func (s *served) addTimes(r *schema.Run, out *foreign.Output) {
	found := map[string]*schema.Summary{"latency": {}, "ttft": {}, "tpot": {}, "itl": {}}
	var unkept []string
	for _, v := range s.scalars {
		key := latencyKey.FindStringSubmatch(v.name)
		if key != nil && v.kind == jsontext.KindNumber && !setStatistic(found[servedTimes[key[2]]], key[1], foreign.Number(v.value), "ms") {
			unkept = append(unkept, v.name)
		}
	}
	for _, name := range []string{"latency", "ttft", "tpot", "itl"} {
		if !nothing(found[name]) {
			addAggregates(r, measure{name: name}, *found[name], "ms")
		}
	}
	out.LeaveOutNamed("percentiles other than 25, 50, 75, 90, 95 and 99", unkept...)
}

// servedText reads the printed output of the serving benchmarks.
var servedText = foreign.Format{
	Name:        "vllm-text",
	Log:         true,
	About:       "vLLM and SGLang: the printed output of vllm bench serve, benchmark_serving.py and sglang.bench_serving, also several in one log; parameters come from the printed arguments",
	Level:       "a run is one benchmark of a server; only aggregates, no samples",
	OwnHeadings: regexp.MustCompile(`^\s*(?:-{5,}|=+ Serving Benchmark Result )`),
	Recognize:   func(h *foreign.Head) bool { return h.Matches(servedTitle) },
	Read:        readServedText,
}

var (
	servedTitle = regexp.MustCompile(`(?m)^` + foreign.LauncherTag + `{0,3}\s*=+ Serving Benchmark Result =+\s*$`)
	servedEnd   = regexp.MustCompile(`^\s*={20,}\s*$`)
	servedLine  = regexp.MustCompile(`^\s*([A-Z][^:]*?):\s+(\S.*?)\s*$`)
	servedStat  = regexp.MustCompile(`^(Mean|Median|Std|Min|Max|P[0-9.]+) (TTFT|TPOT|ITL|E2EL|E2E Latency) \(ms\)$`)
	servedArgs  = regexp.MustCompile(`^\s*(?:benchmark_args=)?Namespace\((.*)\)\s*$`)
	servedArg   = regexp.MustCompile(`([a-z_]+)=('[^']*'|"[^"]*"|[^,'"()\[\]]+)(?:, |$)`)
)

// servedLabels are the members of a JSON result by their printed labels.
var servedLabels = map[string]string{
	"Backend": "backend", "Traffic request rate": "request_rate", "Request rate configured (RPS)": "request_rate",
	"Max request concurrency": "max_concurrency", "Maximum request concurrency": "max_concurrency",
	"Successful requests": "completed", "Failed requests": "failed", "Benchmark duration (s)": "duration",
	"Total input tokens": "total_input_tokens", "Total generated tokens": "total_output_tokens",
	"Total generated tokens (retokenized)": "total_output_tokens_retokenized",
	"Request throughput (req/s)":           "request_throughput", "Request goodput (req/s)": "request_goodput",
	"Input token throughput (tok/s)": "input_throughput", "Output token throughput (tok/s)": "output_throughput",
	"Peak output token throughput (tok/s)": "max_output_tokens_per_s", "Peak concurrent requests": "max_concurrent_requests",
	"Total token throughput (tok/s)": "total_token_throughput", "Total Token throughput (tok/s)": "total_token_throughput",
	"Concurrency": "concurrency", "Accept length": "accept_length", "Acceptance rate (%)": "spec_decode_acceptance_rate",
	"Acceptance length": "spec_decode_acceptance_length",
}

// servedArguments are the arguments that distinguish results. The others are paths, seeds, addresses and the like.
var servedArguments = []string{
	"backend", "model", "dataset_name", "num_prompts", "request_rate", "burstiness", "max_concurrency", "random_input_len", "random_output_len",
	"random_range_ratio", "random_prefix_len", "sharegpt_output_len", "sonnet_input_len", "sonnet_output_len", "sonnet_prefix_len",
	"input_len", "output_len", "ignore_eos", "best_of", "use_beam_search",
}

// servedReader reads the results one after the other.
type servedReader struct {
	out       *foreign.Output
	arguments []scalar // that were printed last
	result    *served
}

func readServedText(in *foreign.Input, out *foreign.Output) error {
	r := &servedReader{out: out}
	return eachLine(in, out, func(where, text string) (err error) {
		text = foreign.Unlaunched(text)
		switch arguments := servedArgs.FindStringSubmatch(text); {
		case servedTitle.MatchString(text):
			err = r.emit()
			r.result = &served{where: where}
		case arguments != nil: // of the next launch, although the result has no end
			err = r.emit()
			r.arguments = argumentsOf(arguments[1])
		case r.result == nil:
		case servedEnd.MatchString(text):
			err = r.emit()
		default:
			r.take(text)
		}
		return err
	}, r.emit)
}

// argumentsOf parses the arguments of the program in the form that Python prints.
func argumentsOf(text string) (list []scalar) {
	for _, m := range servedArg.FindAllStringSubmatch(text, -1) {
		if value := strings.Trim(m[2], `'"`); value != "None" && slices.Contains(servedArguments, m[1]) {
			list = append(list, scalar{m[1], jsontext.KindString, foreign.Text(value)})
		}
	}
	return list
}

// take reads a line of a result.
func (r *servedReader) take(line string) {
	m := servedLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	name := servedLabels[m[1]]
	if s := servedStat.FindStringSubmatch(m[1]); s != nil {
		name = strings.ToLower(s[1]+"_"+strings.ReplaceAll(s[2], " ", "_")) + "_ms"
	}
	switch n := csvNumber(m[2]); {
	case name == "" || m[2] == "not set" || m[2] == "None":
	case name == "backend" || name == "request_rate":
		r.result.scalars = append(r.result.scalars, scalar{name, jsontext.KindString, foreign.Text(m[2])})
	case n.Float64() != nil:
		r.result.scalars = append(r.result.scalars, scalar{name, jsontext.KindNumber, foreign.Text(n)})
	}
}

// emit yields the run of the result that came last, if there is one.
func (r *servedReader) emit() error {
	s := r.result
	if s == nil {
		return nil
	}
	run := schema.Run{Benchmark: "vllm/serve"}
	if s.get("backend") != "" { // only SGLang prints its backend there
		run.Benchmark = "sglang/bench_serving"
	}
	for _, v := range append(r.arguments, s.scalars...) {
		switch v.name {
		case "backend":
			run.Backend = string(v.value)
		case "model":
			run.Model = modelName(string(v.value))
		default:
			if v.kind == jsontext.KindString || v.name == "max_concurrency" {
				s.setParam(&run, v)
			}
		}
	}
	s.addResults(&run, r.out)
	s.scalars = append(s.scalars, r.arguments...)
	requests := s.whole()
	r.result, r.arguments = nil, nil
	return r.out.RunWith(s.where, run, requests.add)
}
