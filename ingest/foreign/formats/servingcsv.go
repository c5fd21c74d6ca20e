package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// isGenAICSV tells the table of genai-perf, whose percentiles fall, from that of AIPerf, whose percentiles rise.
func isGenAICSV(h *foreign.Head) bool {
	return strings.HasPrefix(h.FirstLine(), "Metric,avg,min,max,p99,")
}

// csvMeasures are the metrics of the two tables by their titles.
var csvMeasures = map[string]string{
	"Request Latency": "request_latency", "Time To First Token": "time_to_first_token", "Time to First Token": "time_to_first_token",
	"Time To Second Token": "time_to_second_token", "Time to Second Token": "time_to_second_token", "Inter Token Latency": "inter_token_latency",
	"Inter Chunk Latency": "inter_chunk_latency", "Request Throughput": "request_throughput", "Output Token Throughput": "output_token_throughput",
	"Output Token Throughput Per User": "output_token_throughput_per_user", "Output Token Throughput Per Request": "output_token_throughput_per_request",
	"Output Sequence Length": "output_sequence_length", "Input Sequence Length": "input_sequence_length", "Prefill Throughput": "prefill_throughput",
	"Prefill Throughput Per User": "prefill_throughput", "Benchmark Duration": "benchmark_duration", "Total Token Throughput": "total_token_throughput",
	"Time to First Output Token": "time_to_first_output_token", "Output Token Count": "output_token_count", "Reasoning Token Count": "reasoning_token_count",
	"Goodput": "goodput", "Request Goodput": "request_goodput",
}

func readAIPerfCSV(in *foreign.Input, out *foreign.Output) error {
	stem := strings.TrimSuffix(in.Head.Name, ".csv")
	return readTwoTables(in, out, "aiperf", []string{stem + ".json", aiperfRequestsOf(in.Head.Name)})
}

func readGenAICSV(in *foreign.Input, out *foreign.Output) error {
	stem := genaiStem(in.Head.Name)
	return readTwoTables(in, out, "genai-perf", []string{stem + "_genai_perf.json", stem + ".json"})
}

// readTwoTables reads a table of statistics and one of single values, which follows it.
func readTwoTables(in *foreign.Input, out *foreign.Output, benchmark string, others []string) error {
	if name := beside(in, others...); name != "" {
		out.LeaveTo(name, "a table of the results in "+name, 1)
		return nil
	}
	t := newTwoTables(benchmark)
	c := in.CSV()
	var names, first []string
	for record, err := range c.Records() {
		if err != nil {
			return err
		}
		if record[0] == "Metric" {
			names = append(names[:0], record...)
			switch {
			case first == nil:
				first = slices.Clone(record)
			case slices.Equal(first, record): // of the next result
				if err := t.emit(out); err != nil {
					return err
				}
				t = newTwoTables(benchmark)
				t.where = fmt.Sprintf("line %d", c.Line())
			}
			continue
		}
		if err := t.row(names, record); err != nil {
			out.Refuse(fmt.Sprintf("line %d", c.Line()), err)
		}
	}
	return t.emit(out)
}

// twoTables is what the tables of a result have.
type twoTables struct {
	where   string
	run     schema.Run
	found   map[string]*servingAggregates
	units   map[string]string
	whole   requests
	unknown []string // titles of rows that are not read
}

func newTwoTables(benchmark string) *twoTables {
	return &twoTables{run: schema.Run{Benchmark: benchmark}, found: map[string]*servingAggregates{}, units: map[string]string{}}
}

// row reads a row of a table with these columns.
func (t *twoTables) row(names, record []string) error {
	title, unit := titleAndUnit(record[0])
	switch title {
	case "Error Request Count":
		t.whole.failed = csvNumber(last(record)).Int64()
		return nil
	case "Request Count":
		t.whole.completed = csvNumber(last(record)).Int64()
		return nil
	}
	key, known := csvMeasures[title]
	if !known {
		if len(record) > 1 {
			t.unknown = append(t.unknown, title)
		}
		return nil
	}
	a := &servingAggregates{}
	for i := 1; i < min(len(names), len(record)); i++ {
		a.set(strings.Replace(names[i], "Value", "avg", 1), csvNumber(record[i]))
	}
	if a.Avg.Float64() == nil {
		return fmt.Errorf("%s has no number", title)
	}
	t.found[key], t.units[key] = a, unit
	return nil
}

// emit yields the run.
func (t *twoTables) emit(out *foreign.Output) error {
	for _, m := range requestMeasures {
		for _, name := range m.names {
			if a := t.found[name]; a != nil && !a.nothing() {
				addAggregates(&t.run, m.measure, a, t.units[name])
			}
		}
	}
	sourceNames(&t.run)
	anyCompleted(&t.run, t.whole.failed)
	if a := t.found["benchmark_duration"]; a != nil {
		t.whole.duration, t.whole.unit = a.Avg, t.units["benchmark_duration"]
	}
	out.LeaveOutNamed("totals and unknown metrics", t.unknown...)
	return out.RunWith(t.where, t.run, t.whole.add)
}

func last(record []string) string { return record[len(record)-1] }

// titleAndUnit takes a title with its unit in brackets apart: "Request Latency (ms)".
func titleAndUnit(text string) (title, unit string) {
	title, unit, found := strings.Cut(text, " (")
	if !found {
		title, unit = text, ""
		if strings.Contains(text, "Length") {
			unit = "tokens"
		}
		return strings.TrimSpace(title), unit
	}
	unit = strings.TrimSuffix(strings.TrimSpace(unit), ")")
	if rest, ok := strings.CutPrefix(unit, "per "); ok { // of older tables
		unit = "per " + rest
	}
	return strings.TrimSpace(title), unit
}

// csvNumber reads a number that may have commas between its thousands; empty if it is none.
func csvNumber(text string) foreign.Number {
	var n foreign.Number
	text = strings.ReplaceAll(strings.TrimSpace(text), ",", "")
	if strings.ContainsAny(text, `"\`) || n.UnmarshalJSON([]byte(`"`+text+`"`)) != nil {
		return ""
	}
	return n
}
