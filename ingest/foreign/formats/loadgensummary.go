package formats

import (
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

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
	switch name {
	case "SUT name":
		foreign.SetParam(&t.run, "sut", text)
		return
	case "Scenario":
		t.scenario = text
		return
	case "Mode":
		t.mode = text
		return
	case "Result is":
		t.validity = text
		return
	case "Samples per query": // the result of MultiStream until v1.1
		foreign.SetParam(&t.run, "samples_per_query", text)
		return
	}
	value := csvNumber(text)
	if value.Float64() == nil {
		return
	}
	if rate, ok := summaryRates[name]; ok {
		t.rates[rate] = value
		return
	}
	if m := summaryTime.FindStringSubmatch(name); m != nil {
		metric := "latency"
		switch strings.ToLower(m[3]) {
		case "first token":
			metric = "ttft"
		case "time to output token":
			metric = "tpot"
		}
		t.setTime(metric, statisticName(m[1], m[2]), value)
		return
	}
	t.setParam(strings.NewReplacer(" (ns)", "_ns", " (ms)", "_ms").Replace(name), value)
}

// statisticName is min, max, mean, or p99 of 99.00 and of 99.
func statisticName(word, percentile string) string {
	if word != "" {
		return strings.ToLower(word)
	}
	if strings.Contains(percentile, ".") {
		percentile = strings.TrimRight(strings.TrimRight(percentile, "0"), ".")
	}
	return "p" + percentile
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
	t := newLoadgenTest()
	titled := false
	for n, line := range in.Lines() {
		if line.Err != nil {
			return line.Err
		}
		if loadgenTitle.MatchString(line.Text) {
			if titled {
				if err := t.emit(out); err != nil {
					return err
				}
				t = newLoadgenTest()
				t.where = fmt.Sprintf("line %d", n)
			}
			titled = true
		}
		if m := summaryLine.FindStringSubmatch(line.Text); m != nil && titled {
			t.take(m[1], m[2])
		}
	}
	if !titled {
		out.LeaveOut("accuracy tests: they measure no performance", 1)
		return nil
	}
	t.oldDetail(in, out, log)
	return t.emit(out)
}

var (
	oldDate    = regexp.MustCompile(`(?m)ns : Date \+ time of test: (\S+)`)
	oldVersion = regexp.MustCompile(`(?m)ns : version : (.+)$`)
)

// oldDetail takes the time and the version of the log of 2019 that stands beside a summary.
func (t *loadgenTest) oldDetail(in *foreign.Input, out *foreign.Output, log string) {
	if m := oldDate.FindStringSubmatch(log); m != nil {
		t.start(in, m[1])
	}
	if m := oldVersion.FindStringSubmatch(log); m != nil {
		t.version(out, strings.TrimSpace(m[1]))
	}
}

func (t *loadgenTest) start(in *foreign.Input, text string) {
	if started, source, err := in.Time(text, foreign.ISO...); err == nil {
		foreign.SetStart(&t.run, started, source)
	}
}

func (t *loadgenTest) version(out *foreign.Output, text string) {
	text = strings.ToValidUTF8(text, "")
	out.Version(text)
	foreign.SetFact(&t.run, "loadgen.version", text)
}
