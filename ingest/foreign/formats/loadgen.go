package formats

import (
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

const loadgenLevel = "a run is one test; only aggregates, no samples"

// loadgenFormats are the formats of MLPerf's LoadGen: its summary, its log since it is JSON, and the log of 2019, which
// has no results.
var loadgenFormats = []foreign.Format{
	{
		Name:  "mlperf-summary",
		About: "MLPerf LoadGen: mlperf_log_summary.txt of all years; ignored if mlperf_log_detail.txt next to it has the results as well",
		Level: loadgenLevel,
		Recognize: func(h *foreign.Head) bool {
			return h.Matches(loadgenTitle) || h.Whole && len(h.Bytes) < 4<<10 && h.Matches(loadgenAccuracy)
		},
		Read: readLoadgenSummary,
	},
	{
		Name:      "mlperf",
		About:     "MLPerf LoadGen: mlperf_log_detail.txt since v0.7",
		Level:     loadgenLevel,
		Recognize: func(h *foreign.Head) bool { return h.Matches(loadgenLog) },
		Read:      readLoadgenDetail,
	},
	{
		Name:      "mlperf-2019",
		About:     "MLPerf LoadGen: mlperf_log_detail.txt of v0.5, which has settings but no results; read together with mlperf_log_summary.txt next to it",
		Level:     loadgenLevel,
		Recognize: func(h *foreign.Head) bool { return loadgenOld.MatchString(h.FirstLine()) },
		Side:      "settings of a test, without its results: they are in mlperf_log_summary.txt",
	},
}

var (
	loadgenTitle    = regexp.MustCompile(`(?m)^MLPerf Results Summary\r?$`)
	loadgenAccuracy = regexp.MustCompile(`(?i)^\s*(?:(?:No|\d+) (?:errors?|warnings?) encountered(?: during test)?\.(?: See detailed log\.)?\s*)+$`)
	loadgenLog      = regexp.MustCompile(`(?m)^:::MLLOG \{.*"namespace": *"mlperf::logging"`) // in MLPerf Training it is empty
	loadgenOld      = regexp.MustCompile(`^"pid": \d+, "tid": \d+, "ts": +\d+ns : `)
)

// loadgenTest collects the values of a test in a log.
type loadgenTest struct {
	where    string // its first line, in a file of several
	begun    bool   // it has named its version, as each does first
	run      schema.Run
	scenario string
	mode     string
	validity string
	reason   string
	times    map[string]*schema.Summary // by metric
	rates    map[string]foreign.Number
	unkept   []string
}

func newLoadgenTest(where string) *loadgenTest {
	return &loadgenTest{where: where, times: map[string]*schema.Summary{}, rates: map[string]foreign.Number{}}
}

// loadgenRates are the rates, in the order in which they are stored.
var loadgenRates = []struct {
	measure
	unit string
}{
	{measure{name: "throughput"}, "samples/s"},
	{measure{"scheduled_throughput", higher}, "samples/s"},
	{measure{"throughput_without_overhead", higher}, "samples/s"},
	{measure{"output_token_throughput", higher}, "tokens/s"},
	{measure{"output_token_throughput_without_overhead", higher}, "tokens/s"},
}

// setTime takes a statistic of a time: min, max, mean, or a percentile, such as 99.00 or 99.
func (t *loadgenTest) setTime(metric, word, percentile string, value foreign.Number) {
	name := strings.ToLower(word)
	if name == "" {
		if strings.Contains(percentile, ".") {
			percentile = strings.TrimRight(strings.TrimRight(percentile, "0"), ".")
		}
		name = "p" + percentile
	}
	if t.times[metric] == nil {
		t.times[metric] = &schema.Summary{}
	}
	if !setStatistic(t.times[metric], name, value, "ns") {
		t.unkept = append(t.unkept, metric+" "+name)
	}
}

// scenarioName returns a scenario as newer versions write it: SingleStream.
func scenarioName(text string) string {
	return strings.NewReplacer(" ", "", "-", "").Replace(text)
}

// loadgenParams are the settings that distinguish tests, and that both files have.
var loadgenParams = map[string]bool{
	"samples_per_query": true, "target_qps": true, "max_async_queries": true, "min_duration_ms": true, "max_duration_ms": true,
	"min_query_count": true, "max_query_count": true, "performance_sample_count": true,
}

// setParam sets a setting. Both files must result in the same point, although only one of them has a latency of 0, and token latencies
// except for Server.
func (t *loadgenTest) setParam(name string, value foreign.Number) {
	switch name {
	case "ttft_latency_ns", "tpot_latency_ns":
		if scenarioName(t.scenario) != "Server" {
			return
		}
	case "target_latency_ns":
		if value == "0" {
			return
		}
	default:
		if !loadgenParams[name] {
			return
		}
	}
	foreign.SetParam(&t.run, name, string(value))
}

// emit yields the run of a test.
func (t *loadgenTest) emit(out *foreign.Output) error {
	r := &t.run
	if strings.Contains(t.mode, "Accuracy") {
		out.LeaveOut("accuracy tests: they measure no performance", 1)
		return nil
	}
	r.Benchmark = "mlperf"
	if t.scenario != "" {
		r.Benchmark += "/" + scenarioName(t.scenario)
	}
	foreign.SetParam(r, "mode", scenarioName(t.mode))
	if query := t.times["query_latency"]; query != nil { // of MultiStream, where a query has several samples
		t.times["sample_latency"], t.times["latency"] = t.times["latency"], query
		delete(t.times, "query_latency")
	}
	for _, m := range []measure{{name: "latency"}, {name: "ttft"}, {name: "tpot"}, {"sample_latency", lower}} {
		if s := t.times[m.name]; s != nil && !nothing(s) {
			addAggregates(r, m, *s, "ns")
		}
	}
	for _, m := range loadgenRates {
		addValue(r, m.measure, nonZero(t.rates[m.name]), m.unit)
	}
	t.outcome()
	out.LeaveOutNamed("percentiles other than 25, 50, 75, 90, 95 and 99", t.unkept...)
	return out.Run(t.where, *r)
}

// outcome sets whether the test is valid, and its primary metric.
func (t *loadgenTest) outcome() {
	r := &t.run
	foreign.SetFact(r, "mlperf.result", t.validity)
	switch {
	case len(r.Metrics) == 0:
		noResult(r, "the log has no result")
	case t.validity != "VALID":
		r.Status, r.Stage, r.ErrorKind = schema.StatusError, schema.StageValidate, "invalid"
		r.Error = strings.TrimSpace("result is " + t.validity + ". " + t.reason)
	}
	if s := scenarioName(t.scenario); s == "Offline" || s == "Server" {
		primary(r, "throughput", "scheduled_throughput")
	}
	primary(r, "latency", "throughput")
}

// loadgenEntry is a line of the log.
type loadgenEntry struct {
	Key       string         `json:"key"`
	Value     jsontext.Value `json:"value"`
	Namespace string         `json:"namespace"`
}

// detailTime is a statistic of a time: result_first_token_99.00_percentile_latency_ns.
var detailTime = regexp.MustCompile(`^result_(first_token_|time_to_output_token_|time_per_output_token_)?(?:(min|max|mean)|([0-9.]+)_percentile)(?:_(per_query|query))?(?:_latency)?(?:_ns)?$`)

// detailRates are the rates of the log.
var detailRates = map[string]string{
	"result_samples_per_second": "throughput", "result_completed_samples_per_sec": "throughput", "result_scheduled_samples_per_sec": "scheduled_throughput",
	"result_qps_with_loadgen_overhead": "throughput", "result_qps_without_loadgen_overhead": "throughput_without_overhead",
	"result_tokens_per_second": "output_token_throughput", "result_completed_tokens_per_second": "output_token_throughput",
}

func readLoadgenDetail(in *foreign.Input, out *foreign.Output) error {
	t, read := newLoadgenTest(""), false
	return eachLine(in, out, func(where, text string) (err error) {
		text, ok := strings.CutPrefix(text, ":::MLLOG ")
		var entry loadgenEntry
		if !ok || !decode(out, where, jsontext.Value(text), &entry) || entry.Namespace != "mlperf::logging" { // the accelerator's own
			return nil
		}
		if entry.Key == "loadgen_version" {
			if t.begun {
				err = t.emit(out)
				t = newLoadgenTest(where)
			}
			t.begun = true
		}
		read = true
		t.entry(in, out, &entry)
		return err
	}, func() error {
		if !read {
			return out.RefuseMismatch(refusal("", "no line of LoadGen: their namespace is mlperf::logging"))
		}
		return t.emit(out)
	})
}

// entry reads a line of the log.
func (t *loadgenTest) entry(in *foreign.Input, out *foreign.Output, e *loadgenEntry) {
	text := ""
	if kind := e.Value.Kind(); kind != jsontext.KindBeginArray && kind != jsontext.KindBeginObject {
		text = foreign.TextOf(e.Value)
	}
	switch e.Key {
	case "loadgen_version":
		t.version(out, text)
	case "test_datetime":
		in.SetStart(&t.run, text)
	case "sut_name":
		foreign.SetParam(&t.run, "sut", text)
	case "requested_scenario", "effective_scenario":
		t.scenario = text
	case "effective_test_mode":
		t.mode = text
	case "result_validity":
		t.validity = text
	case "result_invalid_reason":
		t.reason = text
	case "num_errors", "num_warnings":
		foreign.SetFact(&t.run, "mlperf."+e.Key, text)
	default:
		t.result(e.Key, csvNumber(text))
	}
}

// result reads a line that is a result or a setting.
func (t *loadgenTest) result(key string, value foreign.Number) {
	if value.Float64() == nil {
		return
	}
	if rate, ok := detailRates[key]; ok {
		t.rates[rate] = value
		return
	}
	if m := detailTime.FindStringSubmatch(key); m != nil {
		metric := map[string]string{"": "latency", "first_token_": "ttft", "time_to_output_token_": "tpot", "time_per_output_token_": "tpot"}[m[1]]
		if m[4] != "" {
			metric = "query_latency"
		}
		t.setTime(metric, m[2], m[3], value)
		return
	}
	if param, ok := strings.CutPrefix(key, "effective_"); ok {
		t.setParam(param, value)
	} else if param, ok := strings.CutPrefix(key, "requested_server_"); ok && strings.HasSuffix(param, "t_latency") {
		t.setParam(param+"_ns", value)
	}
}

// summaryLine is a line of the summary: a name, a colon with any space around, a value.
var summaryLine = regexp.MustCompile(`^\s*(.*?)\s*:\s*(.*?)\s*$`)

// summaryTime is a statistic of a time: "99.00 percentile first token latency (ns)".
var summaryTime = regexp.MustCompile(`(?i)^(?:(min|max|mean)|([0-9.]+)(?:th)?) (?:percentile )?(?:(first token|time to output token) )?(?:percentile )?(?:latency )?\(ns\)$`)

// summaryRates are the rates of the summary.
var summaryRates = map[string]string{
	"Samples per second": "throughput", "Completed samples per second": "throughput", "Scheduled samples per second": "scheduled_throughput",
	"QPS w/ loadgen overhead": "throughput", "QPS w/o loadgen overhead": "throughput_without_overhead",
	"Tokens per second": "output_token_throughput", "Completed tokens per second": "output_token_throughput",
	"TPS w/ loadgen overhead": "output_token_throughput", "TPS w/o loadgen overhead": "output_token_throughput_without_overhead",
}

// take reads a line of the summary.
func (t *loadgenTest) take(name, text string) {
	value := csvNumber(text)
	rate, isRate := summaryRates[name]
	m := summaryTime.FindStringSubmatch(name)
	switch {
	case name == "SUT name":
		foreign.SetParam(&t.run, "sut", text)
	case name == "Scenario":
		t.scenario = text
	case name == "Mode":
		t.mode = text
	case name == "Result is":
		t.validity = text
	case name == "Samples per query": // the result of MultiStream until v1.1
		foreign.SetParam(&t.run, "samples_per_query", text)
	case value.Float64() == nil:
	case isRate:
		t.rates[rate] = value
	case m != nil:
		metric := map[string]string{"": "latency", "first token": "ttft", "time to output token": "tpot"}[strings.ToLower(m[3])]
		t.setTime(metric, m[1], m[2], value)
	default:
		t.setParam(strings.NewReplacer(" (ns)", "_ns", " (ms)", "_ms").Replace(name), value)
	}
}

func readLoadgenSummary(in *foreign.Input, out *foreign.Output) error {
	detail := strings.Replace(in.Head.Name, "summary", "detail", 1)
	log := ""
	if beside(in, detail) != "" {
		log = string(sideOf(in, detail))
	}
	if strings.HasPrefix(log, ":::MLLOG") && strings.Contains(log, `"result_validity"`) {
		out.LeaveTo(detail, "a summary of "+detail, 1)
		return nil
	}
	t, titled := newLoadgenTest(""), false
	return eachLine(in, out, func(where, text string) (err error) {
		if loadgenTitle.MatchString(text) {
			if titled {
				err = t.emit(out)
				t = newLoadgenTest(where)
			}
			titled = true
		}
		if m := summaryLine.FindStringSubmatch(text); m != nil && titled {
			t.take(m[1], m[2])
		}
		return err
	}, func() error {
		if !titled {
			out.LeaveOut("accuracy tests: they measure no performance", 1)
			return nil
		}
		if m := oldDate.FindStringSubmatch(log); m != nil { // of the log of 2019
			in.SetStart(&t.run, m[1])
		}
		if m := oldVersion.FindStringSubmatch(log); m != nil {
			t.version(out, strings.TrimSpace(m[1]))
		}
		return t.emit(out)
	})
}

var (
	oldDate    = regexp.MustCompile(`(?m)ns : Date \+ time of test: (\S+)`)
	oldVersion = regexp.MustCompile(`(?m)ns : version : (.+)$`)
)

func (t *loadgenTest) version(out *foreign.Output, text string) {
	text = strings.ToValidUTF8(text, "")
	out.Version(text)
	foreign.SetFact(&t.run, "loadgen.version", text)
}
