package formats

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// statsTable is a table of a summary: what its columns are.
type statsTable struct {
	csv     bool
	columns []string // without their units
	units   []string
	numbers int    // columns before the first of text
	number  int    // of the table in the file
	kind    string // the name of the summary, empty if it was not printed, a space, and the columns
	begun   bool   // a row was read
}

// Columns of text, which come last.
var statsTexts = []string{"Name", "Range", "Style", "Operation", "Category", "GridXYZ", "BlockXYZ", "Type", "Kernel Name"}

var (
	statsGap  = regexp.MustCompile(`\s{2,}`)
	statsUnit = regexp.MustCompile(`^(.*?) ?\(([^)]+)\)$`)
	statsTop  = regexp.MustCompile(`^\s*"?(?:Time ?\(%\)|Total(?: \([kKMG]?i?B\))?|Start \([^)]+\)|Duration \([^)]+\)|PID)"?(?:,|\s{2,})`)
)

// newStatsTable makes a table of its header; nil if a line is none.
func newStatsTable(line string) *statsTable {
	if !statsTop.MatchString(line) {
		return nil
	}
	t := &statsTable{csv: strings.Contains(line, ",")}
	cells := statsGap.Split(strings.TrimSpace(line), -1)
	if t.csv {
		var err error
		if cells, err = csvCells(line); err != nil {
			return nil
		}
	}
	for i, c := range cells {
		name, unit := strings.TrimSpace(c), ""
		if m := statsUnit.FindStringSubmatch(name); m != nil {
			name, unit = m[1], m[2]
		}
		t.columns, t.units = append(t.columns, name), append(t.units, unit)
		if t.numbers == 0 && slices.Contains(statsTexts, name) {
			t.numbers = i
		}
	}
	return t
}

// understood reports whether the rows of the table are what was added up by name.
func (t *statsTable) understood() bool {
	return t.isTrace() || t.numbers > 0 && t.column("Name", "Range", "Operation") >= 0 && t.column(statsCounts...) >= 0 &&
		(t.column("Total Time") >= 0 || t.column("Total") >= 0)
}

// statsCounts are the columns that say how often; until 2020 it was Calls.
var statsCounts = []string{"Instances", "Num Calls", "Calls", "Operations", "Count"}

// isTrace reports whether a row is one kernel, copy or set: cuda_gpu_trace. In tables of text empty cells cannot be seen.
func (t *statsTable) isTrace() bool {
	return t.csv && t.column("Duration") >= 0 && t.column("Strm") >= 0 && t.column("Name") >= 0
}

// column is the first of the columns that the table has; -1 for none.
func (t *statsTable) column(names ...string) int {
	return slices.IndexFunc(t.columns, func(c string) bool { return slices.Contains(names, c) })
}

func (t *statsTable) isRow(line string) bool {
	first := strings.TrimLeft(line, " \t\"")
	return first != "" && (first[0] >= '0' && first[0] <= '9' || first[0] == '.')
}

// csvCells splits a record of comma-separated values.
func csvCells(line string) ([]string, error) {
	r := csv.NewReader(strings.NewReader(line))
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	return r.Read()
}

// cells splits a row. In text, numbers have commas between thousands, and texts stand last.
func (t *statsTable) cells(line string) ([]string, error) {
	if t.csv {
		return csvCells(line)
	}
	rest := strings.TrimSpace(line)
	cells := make([]string, 0, len(t.columns))
	for range t.numbers {
		end := strings.IndexAny(rest, " \t")
		if end < 0 { // a row without a text: a kernel whose name is not known
			end = len(rest)
		}
		cells = append(cells, strings.ReplaceAll(rest[:end], ",", ""))
		rest = strings.TrimSpace(rest[end:])
	}
	return append(cells, statsGap.Split(rest, len(t.columns)-t.numbers)...), nil
}

// spread are the columns of a row that become counters of an operator, in ns.
var spread = []struct {
	counter string
	columns []string
}{
	{"avg_ns", []string{"Avg", "Average"}},
	{"med_ns", []string{"Med", "Median"}},
	{"min_ns", []string{"Min", "Minimum"}},
	{"max_ns", []string{"Max", "Maximum"}},
	{"stddev_ns", []string{"StdDev"}},
}

// row reads a row of a report.
func (t *statsTable) row(line, report string) (statsOp, error) {
	cells, err := t.cells(line)
	if err != nil {
		return statsOp{}, err
	}
	if len(cells) != len(t.columns) {
		return statsOp{}, fmt.Errorf("%d cells, but the header has %d", len(cells), len(t.columns))
	}
	cell := func(names ...string) string {
		if i := t.column(names...); i >= 0 {
			return strings.TrimSpace(cells[i])
		}
		return ""
	}
	o := statsOp{counters: map[string]float64{}}
	if o.name = cell("Name", "Range", "Operation"); o.name == "" {
		o.name = "unnamed"
	}
	if o.kind = t.kindOf(report, cell("Category"), o.name); o.kind == "memcpy" && strings.Contains(o.name, "memset") {
		o.kind = "memset"
	}
	count := foreign.Number(cell(statsCounts...)).Int64()
	if t.isTrace() {
		count = new(int64(1))
	}
	if count == nil || *count < 0 {
		return statsOp{}, fmt.Errorf("a row without a count")
	}
	o.count = *count
	if t.isTrace() {
		return o, t.event(&o, cells)
	}
	if i := t.column("Total Time"); i >= 0 {
		return o, t.times(&o, i, cells)
	}
	i := t.column("Total")
	size := foreign.Number(strings.TrimSpace(cells[i])).Finite(sizeUnit(t.units[i]))
	if size == nil {
		return statsOp{}, fmt.Errorf("%q is not a size", foreign.Brief(cells[i]))
	}
	o.counters["bytes"] = *size
	return o, nil
}

// event reads the duration of a row of a trace, and how much it moved.
func (t *statsTable) event(o *statsOp, cells []string) error {
	i := t.column("Duration")
	d := foreign.Number(strings.TrimSpace(cells[i])).Finite(t.units[i])
	if d == nil || *d < 0 {
		return fmt.Errorf("%q is not a duration", foreign.Brief(cells[i]))
	}
	o.duration, o.timed = *d, true
	if i := t.column("Bytes"); i >= 0 {
		if size := foreign.Number(strings.TrimSpace(cells[i])).Finite(sizeUnit(t.units[i])); size != nil {
			o.counters["bytes"] = *size
		}
	}
	return nil
}

// times reads the times of a row. Where the columns of older versions say no unit, it is that of the total; where that
// says none either, ns.
func (t *statsTable) times(o *statsOp, total int, cells []string) error {
	if t.units[total] == "" {
		t.units[total] = "ns"
	}
	d := foreign.Number(strings.TrimSpace(cells[total])).Finite(t.units[total])
	if d == nil || *d < 0 {
		return fmt.Errorf("%q is not a total", foreign.Brief(cells[total]))
	}
	o.duration, o.timed = *d, true
	for _, s := range spread {
		if i := t.column(s.columns...); i >= 0 {
			unit := t.units[i]
			if unit == "" {
				unit = t.units[total]
			}
			if v := foreign.Number(strings.TrimSpace(cells[i])).Finite(unit); v != nil {
				o.counters[s.counter] = *v
			}
		}
	}
	return nil
}

// sizeUnit is the unit of a size; older versions say none, and mean KiB.
func sizeUnit(unit string) string {
	if unit == "" {
		return "KiB"
	}
	return unit
}

// kindOf is what the rows of a report are: by its name, which changed with versions, else by its columns.
func (t *statsTable) kindOf(report, category, name string) string {
	switch {
	case t.isTrace() && strings.HasPrefix(name, "[CUDA mem"):
		return "memcpy"
	case category == "CUDA_KERNEL", strings.Contains(report, "kern"), t.isTrace():
		return "kernel"
	case category == "MEMORY_OPER", strings.Contains(report, "mem_time"), strings.Contains(report, "mem_size"), strings.Contains(report, "gpumem"),
		category == "" && t.column("Operation") >= 0:
		return "memcpy"
	case category == "CUDA_API", strings.Contains(report, "cuda_api"), strings.Contains(report, "cudaapi"):
		return "cuda_api"
	case strings.Contains(report, "osrt"):
		return "osrt"
	case strings.Contains(report, "nvtx"), t.column("Range") >= 0:
		return "nvtx"
	case report != "":
		return report
	case t.column("Instances") >= 0:
		return "kernel"
	}
	return "api"
}
