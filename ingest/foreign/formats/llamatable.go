package formats

import (
	"errors"
	"fmt"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// llamaBenchTable reads the CSV form.
func llamaBenchTable() foreign.Format {
	return foreign.Format{
		Name:  "llama-bench-csv",
		Log:   true,
		About: "llama.cpp: llama-bench -o csv",
		Level: llamaLevel + "; only aggregates, no samples",
		Recognize: func(h *foreign.Head) bool {
			return h.Matches(llamaColumnsLine)
		},
		Read: readLlamaCSV,
	}
}

// llamaBenchText reads the forms for people and for databases.
func llamaBenchText() foreign.Format {
	return foreign.Format{
		Name:        "llama-bench-text",
		Log:         true,
		About:       "llama.cpp: llama-bench -o md and -o sql",
		Level:       llamaLevel + "; only aggregates, no samples",
		OwnHeadings: regexp.MustCompile(`^ggml_|^llama_`),
		Recognize: func(h *foreign.Head) bool {
			return h.Matches(llamaHeader) || h.Matches(llamaInsert)
		},
		Read: readLlamaText,
	}
}

var (
	llamaHeader      = regexp.MustCompile(`(?m)^\| *model *\|(?:.*\|)? *backend *\|(?:.*\|)? *test *\| *t/s *\|`)
	llamaColumnsLine = regexp.MustCompile(`(?m)^build_commit,build_number,.*,avg_ts`) // what the program says may stand before it
	llamaInsert      = regexp.MustCompile(`(?m)^INSERT INTO (?:llama_bench|test) \((build_commit,[^)]*)\) VALUES \((.*)\);`)
)

func readLlamaCSV(in *foreign.Input, out *foreign.Output) error {
	c := in.CSV()
	var names []string
	for record, err := range c.Records() {
		switch {
		case err != nil:
			return err
		case record[0] == "build_commit": // again where several outputs follow one another
			names = append(names[:0], record...)
		case names == nil:
		case len(record) != len(names):
			out.Refuse(fmt.Sprintf("line %d", c.Line()), fmt.Errorf("%d fields for %d columns", len(record), len(names)))
		default:
			row := llamaRow{}
			for i, name := range names {
				row[name] = record[i]
			}
			if err := row.emit(in, out, fmt.Sprintf("line %d", c.Line())); err != nil {
				return err
			}
		}
	}
	return nil
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
	if err := t.flush("", ""); err != nil {
		return err
	}
	if !t.found {
		out.Refuse("", errors.New("a table without rows: no test was completed"))
	}
	return nil
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

// cells are the cells of a line of a Markdown table.
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
			for j, field := range []string{"n_prompt", "n_gen", "n_depth"} {
				row[field] = "0"
				if test[j+1] != "" {
					row[field] = test[j+1]
				}
			}
		case "t/s":
			avg, deviation, _ := strings.Cut(values[i], "±")
			row["avg_ts"], row["stddev_ts"] = strings.TrimSpace(avg), strings.TrimSpace(deviation)
		default:
			field, ok := llamaColumns[name]
			if !ok {
				field = name
			}
			row[field] = values[i]
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
