package formats

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var nsysStats = foreign.Format{
	Name:  "nsys-stats",
	About: "Nsight Systems: summaries printed by nsys stats, as CSV or as text tables, also several in one log",
	Level: "a run is a profiled report; no samples, because the tool adds up kernels, copies, calls and ranges",
	// Rules below column names.
	OwnHeadings: regexp.MustCompile(`^ ?\*\* |^[ -]+$`),
	Recognize: func(h *foreign.Head) bool {
		return h.Matches(statsHeader) || h.Matches(statsSizes) || h.Matches(statsHeading) || h.Matches(statsTrace)
	},
	Read: readStats,
}

// Patterns of the output of nsys stats: the first columns of its tables, as CSV and as text, and a heading.
var (
	statsHeader  = regexp.MustCompile(`(?m)^\s*"?Time ?\(%\)"?(?:,|\s+)"?Total Time(?: \([^)]+\))?"?(?:,|\s+)"?(?:Instances|(?:Num )?Calls|Operations|Count)\b`)
	statsTrace   = regexp.MustCompile(`(?m)^"?Start \([^)]+\)"?,"?Duration \([^)]+\)"?,"?CorrI[dD]"?,.*\bStrm\b`)
	statsSizes   = regexp.MustCompile(`(?m)^\s*"?Total(?: \([kKMG]?i?B\))?"?(?:,|\s+)"?(?:Count|Operations)"?(?:,|\s+)"?(?:Avg|Average).*Operation"?\s*$`)
	statsHeading = regexp.MustCompile(`(?m)^Processing \[[^\]\n]+\] with \[[^\]\n]+\]`)
)

// statsFile is a profiled report.
type statsFile struct {
	path   string          // of the file that was summarised
	report string          // the name of that file, or its path if another file has the name; empty if no table names it
	line   int             // of the text, at which the report begins
	tables map[string]bool // the tables of the report, by statsTable.kind
	ops    []*statsOp
	byName map[statsKey]*statsOp
}

type statsKey struct{ name, kind string }

type statsOp struct {
	statsKey
	table    int // table in which it came first
	duration float64
	count    int64
	timed    bool // a duration is known
	counters map[string]float64
}

// statsReader reads the tables one after the other.
type statsReader struct {
	out   *foreign.Output
	files []*statsFile
	kind  string // the name of the next summary
	table *statsTable
	n     int // tables
	line  int
	room  int
}

func readStats(in *foreign.Input, out *foreign.Output) error {
	s := &statsReader{out: out, room: maxNames}
	ended := in.EachLine(func(n int, text string) error {
		s.line = n
		if err := s.take(text); err != nil {
			out.Refuse(fmt.Sprintf("line %d", n), err)
		}
		return nil
	})
	if s.room < 0 {
		out.LeaveOut("rows after the first 64 MiB of names", 1)
	}
	if !slices.ContainsFunc(s.files, func(f *statsFile) bool { return len(f.ops) > 0 }) {
		out.Refuse("", errors.New("no summary with rows"))
	}
	for _, f := range s.files {
		if len(f.ops) == 0 {
			continue
		}
		r := f.run()
		noKernels(out, &r, r.Metric(kernelTime) != nil)
		if len(s.files) > 1 && f.report != "" {
			foreign.SetAxis(&r, "report", f.report)
		}
		if err := out.Run(fmt.Sprintf("line %d", f.line), r); err != nil {
			return err
		}
	}
	return ended
}

// Headings of the tables.
var (
	processing = regexp.MustCompile(`^Processing \[([^\]]+)\] with \[([^\]]+)\]`)
	executing  = regexp.MustCompile(`^(?:\[\d+/\d+\] )?Executing '([^']+)' stats report`)
	titled     = regexp.MustCompile(`^ ?\*\* .*\(([a-z_:]+)\):?\s*$`)
	oldTitle   = regexp.MustCompile(`^(\S.*) Statistics \((?:nanoseconds|KiB)\)\s*$`) // until 2020
)

// oldReports are the reports by their titles of until 2020.
var oldReports = map[string]string{
	"CUDA API": "cuda_api_sum", "CUDA Kernel": "cuda_gpu_kern_sum", "CUDA Memory Operation": "cuda_gpu_mem_time_sum",
	"Operating System Runtime API": "osrt_sum", "NVTX Push-Pop Range": "nvtx_pushpop_sum", "NVTX Start-End Range": "nvtx_startend_sum",
}

// take reads a line.
func (s *statsReader) take(line string) error {
	switch trimmed := strings.TrimSpace(line); {
	case trimmed == "" || strings.Trim(trimmed, "- ") == "":
		return nil
	case strings.HasPrefix(trimmed, "SKIPPED:"):
		s.table = nil
		s.out.LeaveOutNamed("reports that nsys skipped", strings.TrimSpace(strings.TrimPrefix(trimmed, "SKIPPED:")))
		return nil
	}
	if m := processing.FindStringSubmatch(line); m != nil {
		s.begin(strings.ReplaceAll(m[1], `\`, "/"))
		s.heading(m[2])
		return nil
	}
	if m := oldTitle.FindStringSubmatch(line); m != nil && oldReports[m[1]] != "" {
		s.heading(oldReports[m[1]])
		return nil
	}
	for _, expression := range []*regexp.Regexp{executing, titled} {
		if m := expression.FindStringSubmatch(line); m != nil {
			s.heading(m[1])
			return nil
		}
	}
	if t := newStatsTable(line); t != nil {
		s.n++
		s.table = t
		s.table.number = s.n
		s.table.kind = s.kind + " " + strings.Join(t.columns, ",")
		if !t.understood() {
			s.out.LeaveOutNamed("tables that do not summarize by name", cmp.Or(s.kind, strings.Join(t.columns, " ")))
		}
		return nil
	}
	if s.table == nil || !s.table.understood() {
		return nil
	}
	if !s.table.isRow(line) {
		s.table = nil // output of a program, or the next step
		return nil
	}
	return s.row(line)
}

// begin makes the report of a file the current one: the last of files. An earlier summary may have had the same file.
func (s *statsReader) begin(file string) {
	for at := len(s.files) - 1; at >= 0; at-- {
		if known := s.files[at]; known.path == file {
			s.files = append(slices.Delete(s.files, at, at+1), known)
			return
		}
	}
	s.add(file)
}

// add adds a report of a file, after which the report is the current one. The file may be in another folder than one of the same name, or
// be the next profile at the same path.
func (s *statsReader) add(file string) {
	s.room -= 2*perName + len(file)
	if s.room < 0 {
		return
	}
	report := path.Base(file)
	switch {
	case file == "":
		report = ""
	case slices.ContainsFunc(s.files, func(f *statsFile) bool { return f.path != file && path.Base(f.path) == report }):
		report = file
	}
	s.files = append(s.files, &statsFile{path: file, report: report, line: s.line, tables: map[string]bool{}, byName: map[statsKey]*statsOp{}})
}

// heading sets the report of the next table: cuda_gpu_kern_sum. The path and the arguments of its script are cut off.
func (s *statsReader) heading(report string) {
	s.table = nil
	s.kind, _, _ = strings.Cut(strings.TrimSuffix(path.Base(strings.ReplaceAll(report, `\`, "/")), ".py"), ".")
}

// row adds a row to the current report. If the report has the table already, the first row of the table begins another report of the same
// file.
func (s *statsReader) row(line string) error {
	row, err := s.table.row(line, s.kind)
	if err != nil {
		return err
	}
	if len(s.files) == 0 {
		s.begin("")
	}
	if len(s.files) == 0 || s.room < 0 {
		return nil
	}
	f := s.files[len(s.files)-1]
	if !s.table.begun && f.has(s.table, &row) {
		if s.add(f.path); s.room < 0 {
			return nil
		}
		f = s.files[len(s.files)-1]
	}
	s.table.begun = true
	f.tables[s.table.kind] = true
	op := f.byName[row.statsKey]
	if op == nil {
		s.room -= 2*perName + len(row.name) + len(row.kind)
		row.table = s.table.number
		f.byName[row.statsKey], f.ops = &row, append(f.ops, &row)
		return nil
	}
	return op.merge(&row, s.table.number)
}

// has reports whether the report has a table already, given the first row of the table. A table is identified by the name of its summary
// and by its columns. If no name was printed, two tables with equal columns are the same summary, except tables of calls: the summaries
// of CUDA calls and of system calls have equal columns. For these, the first row decides.
func (f *statsFile) has(t *statsTable, first *statsOp) bool {
	if !f.tables[t.kind] {
		return false
	}
	named, calls := !strings.HasPrefix(t.kind, " "), first.kind == "api"
	return named || !calls || f.byName[first.statsKey] != nil
}

// merge adds a row of the same name. If two tables have it, such as all kernels, and kernels by their grid, the first counts; the sizes
// of copies are in a separate table.
func (o *statsOp) merge(row *statsOp, table int) error {
	if size, ok := row.counters["bytes"]; ok {
		if _, known := o.counters["bytes"]; !known || row.timed && o.table == table {
			o.counters["bytes"] += size
		}
	}
	if !row.timed || o.timed && o.table != table {
		return nil
	}
	if o.timed { // several rows of one name: the spread of one is not the spread of all
		maps.DeleteFunc(o.counters, func(name string, _ float64) bool { return name != "bytes" })
		if o.count > math.MaxInt64-row.count {
			return fmt.Errorf("its counts add up to more than a 64-bit integer holds")
		}
		o.duration, o.count = o.duration+row.duration, o.count+row.count
		return nil
	}
	maps.Copy(o.counters, row.counters)
	o.duration, o.count, o.timed, o.table = row.duration, row.count, true, table
	return nil
}

func (f *statsFile) run() schema.Run {
	r := schema.Run{Purpose: schema.PurposeProfile, Benchmark: "nsys", Backend: "cuda"}
	sums := map[string]float64{}
	for i, o := range f.ops {
		op := schema.Op{Index: int64(i), Name: o.name, Type: o.kind, Counters: o.counters, Count: &o.count}
		if o.timed && o.duration < math.MaxInt64 {
			op.DurationNS = new(int64(math.Round(o.duration)))
			switch o.kind {
			case "kernel":
				sums[kernelTime] += o.duration
			case "memcpy", "memset":
				sums[memoryTime] += o.duration
			}
		}
		r.Ops = append(r.Ops, op)
	}
	for _, name := range []string{kernelTime, memoryTime} {
		if sum, ok := sums[name]; ok {
			metric := foreign.Aggregate(name, "ns", schema.Summary{N: new(int64(1)), Mean: &sum})
			metric.Better = schema.BetterLower
			foreign.Add(&r, metric, "ns")
		}
	}
	return r
}

// statsTable describes the columns of a table of a summary.
type statsTable struct {
	csv     bool
	columns []string // without their units
	units   []string
	numbers int    // columns before the first of text
	number  int    // of the table in the file
	kind    string // the name of the summary, empty if it was not printed, a space, and the columns
	begun   bool   // a row was read
}

// Columns of text; they are the last columns.
var statsTexts = []string{"Name", "Range", "Style", "Operation", "Category", "GridXYZ", "BlockXYZ", "Type", "Kernel Name"}

var (
	statsGap  = regexp.MustCompile(`\s{2,}`)
	statsUnit = regexp.MustCompile(`^(.*?) ?\(([^)]+)\)$`)
	statsTop  = regexp.MustCompile(`^\s*"?(?:Time ?\(%\)|Total(?: \([kKMG]?i?B\))?|Start \([^)]+\)|Duration \([^)]+\)|PID)"?(?:,|\s{2,})`)
)

// newStatsTable makes a table from its header; nil if a line is not a header.
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

// understood reports whether the rows of the table are totals by name.
func (t *statsTable) understood() bool {
	return t.isTrace() || t.numbers > 0 && t.column("Name", "Range", "Operation") >= 0 && t.column(statsCounts...) >= 0 &&
		(t.column("Total Time") >= 0 || t.column("Total") >= 0)
}

// statsCounts are the columns with the number of calls; until 2020 it was Calls.
var statsCounts = []string{"Instances", "Num Calls", "Calls", "Operations", "Count"}

// isTrace reports whether a row is one kernel, copy or set: cuda_gpu_trace. In tables of text empty cells cannot be seen.
func (t *statsTable) isTrace() bool {
	return t.csv && t.column("Duration") >= 0 && t.column("Strm") >= 0 && t.column("Name") >= 0
}

// column returns the first of the columns that the table has; -1 for none.
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

// cells splits a row. In text, numbers have commas between thousands, and columns of text come last.
func (t *statsTable) cells(line string) ([]string, error) {
	if t.csv {
		return csvCells(line)
	}
	rest := strings.TrimSpace(line)
	cells := make([]string, 0, len(t.columns))
	for range t.numbers {
		end := strings.IndexAny(rest, " \t")
		if end < 0 { // a row without a text: a kernel with an unknown name
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
func (t *statsTable) row(line, report string) (o statsOp, err error) {
	cells, err := t.cells(line)
	if err != nil {
		return o, err
	}
	if len(cells) != len(t.columns) {
		return o, fmt.Errorf("%d cells, but the header has %d", len(cells), len(t.columns))
	}
	cell := func(names ...string) string {
		if i := t.column(names...); i >= 0 {
			return strings.TrimSpace(cells[i])
		}
		return ""
	}
	o.counters = map[string]float64{}
	o.name = cmp.Or(cell("Name", "Range", "Operation"), "unnamed")
	if o.kind = t.kindOf(report, cell("Category"), o.name); o.kind == "memcpy" && strings.Contains(o.name, "memset") {
		o.kind = "memset"
	}
	count := foreign.Number(cell(statsCounts...)).Int64()
	if t.isTrace() {
		count = new(int64(1))
	}
	if count == nil || *count < 0 {
		return o, errors.New("a row without a count")
	}
	o.count = *count
	// number is the number in the first of some columns, and the cell; nil if the table has none of them.
	number := func(unit string, names ...string) (*float64, string) {
		i := t.column(names...)
		if i < 0 {
			return nil, ""
		}
		return foreign.Number(cell(names...)).Finite(cmp.Or(t.units[i], unit)), foreign.Brief(cells[i])
	}
	total, what := "Total Time", "total"
	if t.isTrace() {
		total, what = "Duration", "duration"
	}
	size, text := number("KiB", "Total", "Bytes") // older versions do not print the unit of sizes, and mean KiB
	if t.column(total) < 0 && size == nil {
		return o, fmt.Errorf("%q is not a size", text)
	}
	if size != nil && (t.isTrace() || t.column(total) < 0) {
		o.counters["bytes"] = *size
	}
	if t.column(total) < 0 {
		return o, nil
	}
	d, text := number("ns", total)
	if d == nil || *d < 0 {
		return o, fmt.Errorf("%q is not a %s", text, what)
	}
	o.duration, o.timed = *d, true
	for _, s := range spread { // without a unit, in the unit of the total
		if v, _ := number(cmp.Or(t.units[t.column(total)], "ns"), s.columns...); v != nil && !t.isTrace() {
			o.counters[s.counter] = *v
		}
	}
	return o, nil
}

// kindOf returns the kind of the rows of a report: by its name, which changed with versions, otherwise by its columns.
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
