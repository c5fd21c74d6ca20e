package layout

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// Problem is an error in a file.
type Problem struct {
	File    string
	Pointer string // JSON pointer, or line of a table; empty for the whole file
	Why     string
}

// CheckReport is the result of a check.
type CheckReport struct {
	Layouts  map[string]int // number of files of each layout
	Unknown  int            // number of JSON and CSV files of no layout
	Problems []Problem
}

// Files returns the number of files of a layout.
func (r *CheckReport) Files() (n int) {
	for _, files := range r.Layouts {
		n += files
	}
	return n
}

// checker checks files.
type checker struct {
	schemas compiled
	report  CheckReport
	later   []looked // not recognized by their content
}

// looked is a file that was read.
type looked struct {
	file  string
	value any
	err   error // why it is not JSON
}

// Check checks a file, or all files below a directory without following links.
func Check(path string) (CheckReport, error) {
	s, err := compile()
	if err != nil {
		return CheckReport{}, err
	}
	c := &checker{schemas: s, report: CheckReport{Layouts: map[string]int{}}}
	info, err := os.Stat(path)
	if err != nil {
		return CheckReport{}, fmt.Errorf("checking files: %w", err)
	}
	if info.IsDir() {
		err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			return c.file(p)
		})
	} else {
		err = c.file(path)
	}
	if err != nil {
		return CheckReport{}, fmt.Errorf("checking files: %w", err)
	}
	c.byName()
	slices.SortStableFunc(c.report.Problems, func(a, b Problem) int { return strings.Compare(a.File, b.File) })
	return c.report, nil
}

// file checks one file.
func (c *checker) file(path string) error {
	switch filepath.Ext(path) {
	case ".json":
	case ".csv":
		return c.table(path)
	default:
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	content, err := schemaValue(text)
	if err == nil {
		for i := range kinds {
			if kinds[i].is(content) {
				c.against(&kinds[i], path, content)
				return nil
			}
		}
	}
	c.later = append(c.later, looked{path, content, err})
	return nil
}

// against checks a value with the schema of a kind of file.
func (c *checker) against(k *kindOf, path string, value any) {
	c.report.Layouts[k.layout]++
	for _, p := range problems(c.schemas[k.schema], value) {
		p.File = path
		c.report.Problems = append(c.report.Problems, p)
	}
}

// unmistakable are names that no other program gives to its files.
var unmistakable = []string{"benchmark_test_results.json", "kernel_manifest.json", "benchmark_results.json"}

// byName recognizes the remaining files by name, if other files have that layout or only that layout uses the name.
func (c *checker) byName() {
	known := map[string]bool{}
	for layout := range c.report.Layouts {
		known[layout] = true
	}
	for _, f := range c.later {
		p := filepath.ToSlash(f.file)
		at := slices.IndexFunc(kinds, func(k kindOf) bool {
			return k.name(p) && (known[k.layout] || slices.Contains(unmistakable, filepath.Base(p)))
		})
		switch {
		case at < 0:
			c.report.Unknown++
		case f.err != nil:
			c.report.Layouts[kinds[at].layout]++
			c.report.Problems = append(c.report.Problems, Problem{File: f.file, Why: "not JSON: " + f.err.Error()})
		default:
			c.against(&kinds[at], f.file, f.value)
		}
	}
}

// table checks a CSV file.
func (c *checker) table(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	rows := csv.NewReader(file)
	rows.FieldsPerRecord = -1
	header, err := rows.Read()
	at := slices.IndexFunc(tables, func(t table) bool {
		return t.name(filepath.ToSlash(path)) && err == nil && len(header) > 0 && header[0] == t.columns[0]
	})
	if at < 0 {
		c.report.Unknown++
		return nil
	}
	c.report.Layouts[tables[at].layout]++
	for _, p := range tables[at].problems(header, rows) {
		p.File = path
		c.report.Problems = append(c.report.Problems, p)
	}
	return nil
}

// problems returns the errors in the rows of a table.
func (t *table) problems(header []string, rows *csv.Reader) (found []Problem) {
	for i, want := range t.columns {
		if i >= len(header) || header[i] != want {
			return []Problem{{Pointer: "line 1", Why: fmt.Sprintf("column %d: want %s", i+1, want)}}
		}
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		line, _ := rows.FieldPos(0)
		if err != nil {
			return append(found, Problem{Why: err.Error()})
		}
		where := "line " + strconv.Itoa(line)
		if len(row) != len(header) {
			found = append(found, Problem{Pointer: where, Why: fmt.Sprintf("%d columns, the header has %d", len(row), len(header))})
			continue
		}
		for i, name := range header {
			if _, err := strconv.ParseFloat(row[i], 64); err != nil && row[i] != "" && slices.Contains(t.numbers, name) {
				found = append(found, Problem{Pointer: where, Why: fmt.Sprintf("column %s: %q is not a number", name, row[i])})
			}
		}
	}
}

// kindOf is a kind of file of a layout.
type kindOf struct {
	layout string
	schema string
	// name reports whether a file may be of this kind, by its path in its directory.
	name func(p string) bool
	// is reports whether a value is of this kind, by its members.
	is func(v any) bool
}

var matrixName = regexp.MustCompile(`_[0-9]{8}_[0-9]{6}\.json$`)

// kinds are the kinds of JSON files. The first match counts.
var kinds = []kindOf{
	{"chapters", "chapters-results.json", base("benchmark_test_results.json"), func(v any) bool {
		return has(v, "results") && (hasIn(v, "results", "chapter") || has(v, "timestamp") && empty(v, "results") && !has(v, "total_kernels"))
	}},
	{"kernels", "kernels-summary.json", base("summary.json"), func(v any) bool { return has(v, "total_kernels", "results") }},
	{"kernels", "kernels-result.json", inKind("kernels"), func(v any) bool { return has(v, "kernel_name", "timing") }},
	{"kernels", "kernels-env.json", base("env.json"), func(v any) bool { return has(v, "os_version", "architecture", "numpy_version") }},
	{"kernels", "kernels-manifest.json", base("kernel_manifest.json"), func(v any) bool { return each(v, "test_command", "module_name") }},
	{"matrix", "matrix-report.json", base("report.json"), func(v any) bool {
		return has(v, "summary", "results") && has(member(v, "summary"), "total_benchmarks")
	}},
	{"matrix", "matrix-run.json", matrixName.MatchString, func(v any) bool { return has(v, "executable", "metrics") }},
	{"grid", "grid-results.json", func(p string) bool {
		return path.Base(p) == "benchmark_results.json" || path.Base(p) == "benchmark_results.failed.json"
	}, func(v any) bool {
		return each(v, "operation", "implementation") || has(v, "operation", "implementation")
	}},
	{"runs", "runs-failed.json", func(p string) bool { return strings.HasSuffix(p, ".failed.json") }, func(v any) bool {
		return has(v, "run_id", "status", "error", "software")
	}},
	{"runs", "runs-run.json", inKind("runs"), func(v any) bool { return has(v, "run_id", "timeline") }},
	{"runs", "runs-fingerprint.json", inKind("fp"), func(v any) bool { return has(v, "run_id", "vector_spec") }},
}

// base and in return conditions on the name of a file and of its directory.
func base(name string) func(string) bool { return func(p string) bool { return path.Base(p) == name } }

func inKind(folder string) func(string) bool {
	return func(p string) bool { return path.Base(path.Dir(p)) == folder && path.Ext(p) == ".json" }
}

// member returns a member of an object, or nil if it has none of that name.
func member(v any, name string) any {
	o, _ := v.(map[string]any)
	return o[name]
}

// has reports whether a value is an object with these members.
func has(v any, names ...string) bool {
	o, ok := v.(map[string]any)
	for _, name := range names {
		if _, there := o[name]; !there {
			return false
		}
	}
	return ok
}

// each reports whether a value is a non-empty array whose first element is an object with these members.
func each(v any, names ...string) bool {
	list, _ := v.([]any)
	return len(list) > 0 && has(list[0], names...)
}

func hasIn(v any, list, name string) bool { return each(member(v, list), name) }

func empty(v any, list string) bool {
	l, ok := member(v, list).([]any)
	return ok && len(l) == 0
}

// table is a kind of table, recognized by its first columns.
type table struct {
	layout  string
	name    func(p string) bool
	columns []string
	numbers []string // numeric columns, whose cells may be empty
}

var tables = []table{
	{
		"runs", base("summary.csv"),
		[]string{"run_id", "backend", "batch_size", "seq_len", "precision", "total_latency_ms", "gpu_utilization"},
		[]string{"batch_size", "seq_len", "total_latency_ms", "gpu_utilization"},
	},
	{
		"grid", func(p string) bool { return strings.HasSuffix(p, "_comparison.csv") },
		[]string{"Implementation", "Avg Time (ms)", "Avg Memory (MB)", "Avg Inference Speed", "Avg GPU Efficiency"},
		[]string{"Avg Time (ms)", "Avg Memory (MB)", "Avg Inference Speed", "Avg GPU Efficiency"},
	},
}
