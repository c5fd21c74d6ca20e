package formats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

const llamaLevel = "a run is one test of one configuration, named as llama-bench names it (pp512, tg128, pp512 @ d1024)"

// llamaBench reads the JSON forms, which have the samples, the CSV form, and the forms for people and for databases.
var llamaBench = []foreign.Format{
	{
		Name:      "llama-bench",
		Log:       true,
		About:     "llama.cpp: llama-bench -o json and -o jsonl",
		Level:     llamaLevel + "; a sample is one repetition",
		Recognize: func(h *foreign.Head) bool { return isLlama(h, "[].") || isLlama(h, "") },
		Read:      readLlamaBench,
	},
	{
		Name:      "llama-bench-csv",
		Log:       true,
		About:     "llama.cpp: llama-bench -o csv",
		Level:     llamaLevel + "; only aggregates, no samples",
		Recognize: func(h *foreign.Head) bool { return h.Matches(llamaColumnsLine) },
		Read:      readLlamaCSV,
	},
	{
		Name:        "llama-bench-text",
		Log:         true,
		About:       "llama.cpp: llama-bench -o md and -o sql",
		Level:       llamaLevel + "; only aggregates, no samples",
		OwnHeadings: regexp.MustCompile(`^ggml_|^llama_`),
		Recognize:   func(h *foreign.Head) bool { return h.Matches(llamaHeader) || h.Matches(llamaInsert) },
		Read:        readLlamaText,
	},
}

func isLlama(h *foreign.Head, at string) bool {
	return h.Has(at+"build_commit", at+"model_type", at+"n_prompt", at+"n_gen") && h.HasAny(at+"avg_ts", at+"samples_ns", at+"avg_ns")
}

// readLlamaBench reads records in arrays, or a record a line. A line that is cut short is refused by itself. The text
// that llama.cpp prints before the first one is skipped.
func readLlamaBench(in *foreign.Input, out *foreign.Output) error {
	if bytes.HasPrefix(in.Head.Bytes[max(in.Head.JSONAt, 0):], []byte("{")) {
		began := false
		return in.EachLine(func(n int, text string) error {
			text = strings.TrimSpace(text)
			if began = began || strings.HasPrefix(text, "{"); text == "" || !began {
				return nil
			}
			return out.RefuseMismatch(llamaRecord(in, out, fmt.Sprintf("line %d", n), jsontext.Value(text)))
		})
	}
	j := in.JSON()
	for j.More() {
		err := j.Elements(func(int) error {
			text, err := j.Value()
			if err != nil {
				return err
			}
			return out.RefuseMismatch(llamaRecord(in, out, j.Where(), text))
		})
		if err := out.RefuseMismatch(err); err != nil {
			return err
		}
	}
	return nil
}

func llamaRecord(in *foreign.Input, out *foreign.Output, where string, text jsontext.Value) error {
	var members map[string]jsontext.Value
	if err := foreign.DecodeAt(where, text, &members); err != nil {
		return err
	}
	record := llamaRow{}
	for name, value := range members {
		if kind := value.Kind(); kind != jsontext.KindBeginArray && kind != jsontext.KindBeginObject {
			record[name] = foreign.TextOf(value)
		}
	}
	r := record.run(in, out)
	for _, array := range []struct{ metric, name, unit string }{{"latency", "samples_ns", "ns"}, {"throughput", "samples_ts", "tokens/s"}} {
		if members[array.name].Kind() != jsontext.KindBeginArray {
			continue
		}
		series, err := foreign.ReadSeries(members[array.name], unitOf(array.unit))
		if err != nil {
			out.Refuse(where+"/"+array.name, err)
			continue
		}
		series.Given = array.unit
		addSeries(&r, measure{name: array.metric}, series, schema.LevelIteration)
	}
	record.aggregates(&r)
	return out.Run(where, r)
}

// llamaRow is one record by the names of its fields, as text.
type llamaRow map[string]string

// llamaResults are the fields that are no configuration.
var llamaResults = []string{
	"build_commit", "build_number", "cpu_info", "gpu_info", "backends", "model_filename", "model_type", "model_size", "model_n_params",
	"test_time", "avg_ns", "stddev_ns", "avg_ts", "stddev_ts", "samples_ns", "samples_ts",
}

// llamaBackends are the fields in which earlier builds named their backends.
var llamaBackends = []string{"cuda", "opencl", "vulkan", "kompute", "metal", "sycl", "rpc", "gpu_blas", "blas"}

// llamaAxes are the options that every build has, by their defaults: parameters whatever their value is. A table for people has no
// column for an option with its default, and the depth is 0 if the name of a test has none.
var llamaAxes = map[string]string{
	"n_depth": "0", "use_mmap": "1", "main_gpu": "0", "no_kv_offload": "0", "tensor_split": "0", "embeddings": "0",
}

// llamaDefaults are the defaults of fields that come and go with the builds. With these values they are no parameters: a build
// that lacks the field does the same thing, and measures the same point.
var llamaDefaults = map[string]string{
	"cpu_mask": "0x0", "cpu_strict": "0", "poll": "50", "tensor_buft_overrides": "none", "defrag_thold": "-1", "use_direct_io": "0",
	"no_op_offload": "0", "no_host": "0", "n_cpu_moe": "0", "devices": "auto", "fit_target": "0", "fit_min_ctx": "0", "low_vram": "0",
	"mul_mat_q": "1", "f16_kv": "1", "load_mode": "auto", "lazy_mode": "auto", "repack": "1",
}

// llamaLoadModes translates load_mode to use_mmap, its name until 2026.
var llamaLoadModes = map[string]string{"none": "0", "mmap": "1"}

// run makes a run of a record. Every field that is not a result is configuration: builds add and drop fields.
func (l llamaRow) run(in *foreign.Input, out *foreign.Output) schema.Run {
	r := schema.Run{Benchmark: l.test(), Model: cmp.Or(baseName(l["model_filename"]), l["model_type"]), Backend: l["backends"]}
	if commit := l["build_commit"]; commit != "" {
		r.BackendVersion = fmt.Sprintf("%s (%s)", commit, l["build_number"])
		out.Version(r.BackendVersion)
	}
	l.point(&r)
	l.place(in, &r)
	return r
}

// point gives a run its parameters: every field that is no result.
func (l llamaRow) point(r *schema.Run) {
	if mmap, ok := llamaLoadModes[l["load_mode"]]; ok {
		delete(l, "load_mode")
		l["use_mmap"] = mmap
	}
	for name, value := range llamaAxes {
		other := name == "use_mmap" && l["load_mode"] != "" && l["load_mode"] != llamaDefaults["load_mode"]
		if l[name] == "" && !other {
			l[name] = value
		}
	}
	applied := map[string]string{}
	for name, text := range l {
		if slices.Contains(llamaBackends, name) || slices.Contains(llamaResults, name) || name == "" {
			continue
		}
		switch text {
		case "true":
			text = "1" // in the spelling of newer builds and the command line
		case "false":
			text = "0"
		}
		if text = foreign.Canonical(text); llamaDefaults[name] != "" && llamaDefaults[name] == text {
			applied[name] = text
		} else {
			foreign.SetParam(r, name, text)
		}
	}
	if len(applied) > 0 {
		r.Applied = applied
	}
}

// place sets the backend, the environment and the start of a run.
func (l llamaRow) place(in *foreign.Input, r *schema.Run) {
	var built []string
	for _, name := range llamaBackends {
		if l[name] == "true" || l[name] == "1" {
			built = append(built, name)
		}
	}
	if r.Backend == "" {
		r.Backend = strings.Join(built, ",")
	}
	r.Env.CPUModel = strings.TrimSpace(l["cpu_info"])
	gpus(&r.Env, l["gpu_info"])
	foreign.SetFact(r, "model.type", l["model_type"])
	foreign.SetFact(r, "model.size", l["model_size"])
	foreign.SetFact(r, "model.parameters", l["model_n_params"])
	in.SetStart(r, l["test_time"], time.RFC3339)
}

// test returns the name of the test in the form that llama-bench prints.
func (l llamaRow) test() string {
	positive := func(name string) bool { return l[name] != "" && l[name] != "0" }
	name := ""
	switch {
	case positive("n_prompt") && positive("n_gen"):
		name = "pp" + l["n_prompt"] + "+tg" + l["n_gen"]
	case positive("n_gen"):
		name = "tg" + l["n_gen"]
	default:
		name = "pp" + l["n_prompt"]
	}
	if positive("n_depth") {
		name += " @ d" + l["n_depth"]
	}
	return name
}

// aggregates adds the metrics without samples. A test without any metric failed.
func (l llamaRow) aggregates(r *schema.Run) {
	for _, m := range []struct{ name, field, unit string }{{"latency", "ns", "ns"}, {"throughput", "ts", "tokens/s"}} {
		number := func(statistic string) *float64 {
			return numberOf(jsontext.Value(`"` + l[statistic+m.field] + `"`)).Finite(unitOf(m.unit))
		}
		if s := (schema.Summary{Mean: number("avg_"), StdDev: number("stddev_")}); !nothing(&s) {
			addAggregates(r, measure{name: m.name}, s, m.unit)
		}
	}
	if len(r.Metrics) == 0 {
		noResult(r, "the record has no measurement")
		return
	}
	primary(r, "throughput")
}

// llamaTest is the name of a test: pp512, tg128 @ d1024, pp512+tg128.
var llamaTest = regexp.MustCompile(`^(?:pp(\d+))?\+?(?:tg(\d+))?(?: ?@ ?d(\d+))?$`)

var (
	llamaHeader      = regexp.MustCompile(`(?m)^\| *model *\|(?:.*\|)? *backend *\|(?:.*\|)? *test *\| *t/s *\|`)
	llamaColumnsLine = regexp.MustCompile(`(?m)^build_commit,build_number,.*,avg_ts`) // the program may print text before it
	llamaInsert      = regexp.MustCompile(`(?m)^INSERT INTO (?:llama_bench|test) \((build_commit,[^)]*)\) VALUES \((.*)\);`)
)

func readLlamaCSV(in *foreign.Input, out *foreign.Output) error {
	return tables{
		heading: func(_, record []string) bool { return record[0] == "build_commit" },
		fits:    func(names, record []string) bool { return names == nil || len(record) == len(names) },
		row: func(out *foreign.Output, where string, names, record []string) error {
			if names == nil { // text that the program prints before the table
				return nil
			}
			row := llamaRow{}
			for i, name := range names {
				row[name] = record[i]
			}
			return row.emit(in, out, where)
		},
	}.read(in, out)
}

// emit yields the run of a row that has aggregates only.
func (l llamaRow) emit(in *foreign.Input, out *foreign.Output, where string) error {
	r := l.run(in, out)
	l.aggregates(&r)
	return out.Run(where, r)
}

// The text around a table for people: the devices before it, the build after it.
var (
	llamaDevice = regexp.MustCompile(`^  Device (\d+): ([^,]+),|^ggml_vulkan: (\d+) = (.+) \([^()]*\) \||^ggml_metal_init: found device: (.+)$`)
	llamaBuild  = regexp.MustCompile(`^build: ([0-9a-f]+|unknown) \((\d+)\)`)
)

// maxLlamaRows limits the number of rows that wait for the build, which comes after them.
const maxLlamaRows = 10_000

// llamaText are the tables for people of a file.
type llamaText struct {
	in      *foreign.Input
	out     *foreign.Output
	names   []string
	rows    []llamaRow
	where   []string
	devices []string // of the table
	named   []string // devices that were named last: a program names them before its first row
	begun   bool     // the table has a row
	found   bool     // a row of any table
}

func readLlamaText(in *foreign.Input, out *foreign.Output) error {
	t := &llamaText{in: in, out: out}
	for n, line := range in.Lines() {
		if line.Err != nil {
			return errors.Join(t.flush("", ""), line.Err)
		}
		if err := t.take(line.Text, fmt.Sprintf("line %d", n)); err != nil {
			return err
		}
	}
	if !t.found {
		out.Refuse("", errors.New("a table without rows: no test was completed"))
	}
	return t.flush("", "")
}

// take reads a line.
func (t *llamaText) take(line, where string) error {
	if m := llamaDevice.FindStringSubmatch(line); m != nil {
		if first := m[1] == "" && m[3] == "" || m[1] == "0" || m[3] == "0"; first {
			t.named = nil
		}
		if len(t.named) < 1024 {
			t.named = append(t.named, strings.TrimSpace(m[2]+m[4]+m[5]))
		}
		return nil
	}
	if m := llamaBuild.FindStringSubmatch(line); m != nil {
		err := t.flush(m[1], m[2])
		t.devices, t.named = nil, nil // the next table names its own
		return err
	}
	var row llamaRow
	var err error
	switch {
	case llamaHeader.MatchString(line):
		err = t.flush("", "")
		t.names, t.devices, t.begun = cells(line), nil, false
		return err
	case strings.HasPrefix(line, "|") && t.names != nil && !strings.HasPrefix(strings.TrimLeft(line, "| :"), "-"):
		row, err = llamaCells(t.names, cells(line))
	default:
		insert := llamaInsert.FindStringSubmatch(line)
		if insert == nil {
			return nil
		}
		row, err = llamaValues(insert[1], insert[2])
	}
	t.found = true
	if err != nil {
		t.out.Refuse(where, err)
		return nil
	}
	if !t.begun {
		t.devices, t.named, t.begun = t.named, nil, true
	}
	t.rows, t.where = append(t.rows, row), append(t.where, where)
	if len(t.rows) == maxLlamaRows || row["build_commit"] != "" {
		return t.flush("", "")
	}
	return nil
}

// flush yields the runs of the rows that waited for their build.
func (t *llamaText) flush(commit, number string) error {
	for i, row := range t.rows {
		if row["build_commit"] == "" && commit != "" {
			row["build_commit"], row["build_number"] = commit, number
		}
		if row["gpu_info"] == "" {
			row["gpu_info"] = strings.Join(t.devices, ", ")
		}
		if err := row.emit(t.in, t.out, t.where[i]); err != nil {
			return err
		}
	}
	t.rows, t.where = nil, nil
	return nil
}

// cells returns the cells of a line of a Markdown table.
func cells(line string) []string {
	parts := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// llamaColumns are the fields behind the short names of the table for people.
var llamaColumns = map[string]string{
	"model": "model_type", "size": "model_size", "params": "model_n_params", "backend": "backends", "ngl": "n_gpu_layers",
	"threads": "n_threads", "fa": "flash_attn", "mmap": "use_mmap", "sm": "split_mode", "mg": "main_gpu", "nkvo": "no_kv_offload",
	"ts": "tensor_split", "embd": "embeddings", "dio": "use_direct_io", "nopo": "no_op_offload", "ot": "tensor_buft_overrides",
}

// llamaCells makes a record of a row of the table for people.
func llamaCells(names, values []string) (llamaRow, error) {
	if len(values) != len(names) {
		return nil, fmt.Errorf("%d cells for %d columns", len(values), len(names))
	}
	row := llamaRow{}
	for i, name := range names {
		switch name {
		case "test":
			test := llamaTest.FindStringSubmatch(values[i])
			if test == nil || values[i] == "" {
				return nil, fmt.Errorf("%q is not a test", values[i])
			}
			row["n_prompt"], row["n_gen"], row["n_depth"] = cmp.Or(test[1], "0"), cmp.Or(test[2], "0"), cmp.Or(test[3], "0")
		case "t/s":
			avg, deviation, _ := strings.Cut(values[i], "±")
			row["avg_ts"], row["stddev_ts"] = strings.TrimSpace(avg), strings.TrimSpace(deviation)
		default:
			row[cmp.Or(llamaColumns[name], name)] = values[i]
		}
	}
	return row, nil
}

// sqlText is one value of an INSERT statement.
var sqlText = regexp.MustCompile(`'((?:[^']|'')*)'`)

// llamaValues makes a record of an INSERT statement.
func llamaValues(columns, list string) (llamaRow, error) {
	names := strings.Split(columns, ",")
	values := sqlText.FindAllStringSubmatch(list, -1)
	if len(names) != len(values) {
		return nil, fmt.Errorf("%d values for %d columns", len(values), len(names))
	}
	row := llamaRow{}
	for i, name := range names {
		row[strings.TrimSpace(name)] = strings.ReplaceAll(values[i][1], "''", "'")
	}
	return row, nil
}
