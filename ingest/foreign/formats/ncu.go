package formats

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

func ncuCSV() foreign.Format {
	return foreign.Format{
		Name:  "ncu",
		About: "Nsight Compute: CSV of the details page, single metrics, the raw page or summaries, also inside a log",
		Level: "a run is a kernel with its grid, block and device, in one process; a sample is one launch of it, serialised and at fixed clocks",
		Recognize: func(h *foreign.Head) bool {
			return h.Matches(ncuHeader) || h.Matches(ncuLog)
		},
		Read: readNCU,
	}
}

// Patterns of Nsight Compute's output: the header of its table, and its own lines around the output of a program.
var (
	ncuHeader  = regexp.MustCompile(`(?m)^"?(?:ID"?,"?)?Process ID"?,"?Process Name"?,.*\bKernel Name\b`)
	ncuLog     = regexp.MustCompile(`(?m)^==PROF== (?:Connected to|Disconnected from|Profiling)`)
	plainRow   = regexp.MustCompile(`^\d*,\d*,`)
	ncuTrouble = regexp.MustCompile(`^==(?:ERROR|WARNING)== (.*)`)
)

// maxJoined bounds how many lines a record may have.
const maxJoined = 200

// ncuReader reads one or more tables, one after the other.
type ncuReader struct {
	in      *foreign.Input
	out     *foreign.Output
	table   *ncuTable
	kernels ncuKernels
	trouble string // the first error that the tool printed
	rules   int
	held    ncuLaunchRows
}

// ncuLaunchRows are the rows of a launch in a table from before 2021, which has grid and block among the metrics.
type ncuLaunchRows struct {
	cells  []string // of the first
	line   int
	values []ncuValue
}

func readNCU(in *foreign.Input, out *foreign.Output) error {
	r := &ncuReader{in: in, out: out, kernels: newNCUKernels()}
	var ended error
	var record strings.Builder
	lines, first := 0, 0
	for n, line := range in.Lines() {
		if line.Err != nil {
			ended = line.Err
			break
		}
		if lines == 0 {
			if !r.begins(line.Text) {
				continue
			}
			first = n
		}
		record.WriteString(line.Text)
		lines++
		if strings.Count(record.String(), `"`)%2 == 1 && lines < maxJoined && record.Len() < 1<<20 { // a text with line ends in it
			record.WriteByte('\n')
			continue
		}
		if err := r.record(record.String(), first); err != nil {
			out.Refuse(fmt.Sprintf("line %d", first), err)
		}
		record.Reset()
		lines = 0
	}
	return errors.Join(r.finish(), ended)
}

// begins reports whether a line begins a record of a table. Other lines were printed by the tool or the program.
func (r *ncuReader) begins(line string) bool {
	if m := ncuTrouble.FindStringSubmatch(line); m != nil && r.trouble == "" {
		r.trouble = m[1]
	}
	return ncuHeader.MatchString(line) || r.table != nil && (strings.HasPrefix(line, `"`) || r.table.plain && plainRow.MatchString(line))
}

// record reads a header, the units of a raw page, or a row.
func (r *ncuReader) record(text string, line int) error {
	cells, err := csvCells(text)
	if err != nil {
		return err
	}
	if ncuHeader.MatchString(text) {
		if err := r.release(); err != nil {
			return err
		}
		r.table = newNCUTable(cells)
		r.table.plain = text[0] != '"'
		return nil
	}
	t := r.table
	if len(cells) > len(t.columns) {
		return fmt.Errorf("%d cells, but the header has %d", len(cells), len(t.columns))
	}
	if t.raw && t.units == nil { // below the header
		t.units = slices.Clone(cells)
		if t.cell(cells, "Kernel Name") == "" {
			return nil
		}
		t.units = []string{} // a page without units
	}
	if !t.raw && t.index["Grid Size"] == 0 && t.index["Average"] == 0 {
		return r.hold(cells, line)
	}
	kernel, err := r.kernel(cells, line)
	if err != nil || kernel == nil {
		return err
	}
	if !t.raw {
		return r.metric(kernel, cells)
	}
	for i := range t.columns[:len(cells)] {
		if t.isMetric(i) {
			unit := ""
			if i < len(t.units) {
				unit = t.units[i]
			}
			kernel.add(ncuValue{name: t.columns[i], unit: unit, text: cells[i]})
		}
	}
	return nil
}

// maxHeld limits the rows of a launch that are held.
const maxHeld = 10_000

// hold keeps a row until its launch is over.
func (r *ncuReader) hold(cells []string, line int) error {
	t, h := r.table, &r.held
	same := func(column string) bool { return t.cell(cells, column) == t.cell(h.cells, column) }
	if len(h.cells) > 0 && (len(h.values) == maxHeld || !same("ID") || !same("Process ID") || !same("Kernel Name")) {
		if err := r.release(); err != nil {
			return err
		}
	}
	if h.cells == nil {
		h.cells, h.line = slices.Clone(cells), line
	}
	if v := t.value(cells); v.name != "" {
		h.values = append(h.values, v)
	} else {
		r.rules++
	}
	return nil
}

// release adds the launch that is held to its kernel.
func (r *ncuReader) release() error {
	h := r.held
	r.held = ncuLaunchRows{}
	if h.cells == nil {
		return nil
	}
	key := r.table.key(h.cells)
	for _, v := range h.values {
		switch v.name {
		case "Grid Size", "launch__grid_size":
			key.grid = v.setting()
		case "Block Size", "launch__block_size":
			key.block = v.setting()
		}
	}
	k, err := r.find(key, h.cells, h.line)
	if err != nil || k == nil {
		return err
	}
	for _, v := range h.values {
		k.add(v)
	}
	return nil
}

// kernel finds the kernel of a row. A launch has an id of its process, and rows that follow one another.
func (r *ncuReader) kernel(cells []string, line int) (*ncuKernel, error) {
	key := r.table.key(cells)
	if key.grid == "" {
		key.grid, key.block = r.table.cell(cells, "launch__grid_size"), r.table.cell(cells, "launch__block_size")
	}
	return r.find(key, cells, line)
}

// find finds the kernel of a key. The first row of the kernel describes it.
func (r *ncuReader) find(key ncuKey, cells []string, line int) (*ncuKernel, error) {
	t := r.table
	if key.name == "" {
		return nil, errors.New("a row without a kernel")
	}
	k := r.kernels.find(key)
	if k == nil {
		return nil, nil
	}
	if k.line == 0 {
		k.line, k.host, k.capability = line, t.cell(cells, "Host Name"), t.cell(cells, "CC")
		if at, source, err := r.in.Time(t.cell(cells, "Kernel Time"), "2006-Jan-02 15:04:05", "2006-01-02 15:04:05"); err == nil {
			k.began, k.source = at, source
		}
	}
	if launch := t.cell(cells, "ID"); launch != k.launch {
		k.launch, k.seen = launch, map[string]string{}
	}
	return k, nil
}

// metric reads a row with one metric, or with the advice of a rule.
func (r *ncuReader) metric(k *ncuKernel, cells []string) error {
	t := r.table
	v := t.value(cells)
	if v.name == "" {
		r.rules++
		return nil
	}
	if t.index["Average"] == 0 {
		k.add(v)
		return nil
	}
	return k.addSummary(v, t.cell(cells, "Minimum"), t.cell(cells, "Maximum"), t.cell(cells, "Average"), t.cell(cells, "Invocations"))
}

// finish makes the runs.
func (r *ncuReader) finish() error {
	if err := r.release(); err != nil {
		r.out.Refuse("", err)
	}
	if r.rules > 0 {
		r.out.LeaveOut("advice of profiler rules", r.rules)
	}
	if r.kernels.noRoom > 0 {
		r.out.LeaveOut("rows of kernels after the first 64 MiB of names", r.kernels.noRoom)
	}
	if len(r.kernels.all) == 0 {
		why := "no kernel was profiled"
		switch {
		case r.trouble != "":
			why += ": " + r.trouble
		case r.table == nil:
			why = "no CSV table: run ncu with --csv"
		}
		r.out.Refuse("", errors.New(why))
	}
	for _, k := range r.kernels.all {
		for _, name := range slices.Sorted(maps.Keys(k.lacking)) {
			const why = "values that the profiler could not measure (n/a)"
			r.out.LeaveOutNamed(why, name)
			r.out.LeaveOut(why, k.lacking[name]-1)
		}
		if err := r.out.Run(fmt.Sprintf("line %d", k.line), k.run()); err != nil {
			return err
		}
	}
	return nil
}
