package formats

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

var ncuCSV = foreign.Format{
	Name:      "ncu",
	About:     "Nsight Compute: CSV of the details page, single metrics, the raw page or summaries, also inside a log",
	Level:     "a run is a kernel with its grid, block and device, in one process; a sample is one launch of it, serialised and at fixed clocks",
	Recognize: func(h *foreign.Head) bool { return h.Matches(ncuHeader) || h.Matches(ncuLog) },
	Read:      readNCU,
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
	r := &ncuReader{in: in, out: out, kernels: ncuKernels{keys: map[ncuKey]*ncuKernel{}, room: maxNames}}
	var record strings.Builder
	lines, first := 0, 0
	ended := in.EachLine(func(n int, text string) error {
		if lines == 0 {
			if !r.begins(text) {
				return nil
			}
			first = n
		}
		record.WriteString(text)
		lines++
		if strings.Count(record.String(), `"`)%2 == 1 && lines < maxJoined && record.Len() < 1<<20 { // a text with line ends in it
			record.WriteByte('\n')
			return nil
		}
		if err := r.record(record.String(), first); err != nil {
			out.Refuse(fmt.Sprintf("line %d", first), err)
		}
		record.Reset()
		lines = 0
		return nil
	})
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
		if !slices.Contains(ncuLaunch, t.columns[i]) {
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
		k.began, k.source, _ = r.in.Time(t.cell(cells, "Kernel Time"), "2006-Jan-02 15:04:05", "2006-01-02 15:04:05")
	}
	if launch := t.cell(cells, "ID"); launch != k.launch {
		k.launch, k.seen = launch, map[string]string{}
	}
	return k, nil
}

// metric reads a row with one metric, or with the advice of a rule.
func (r *ncuReader) metric(k *ncuKernel, cells []string) error {
	t := r.table
	switch v := t.value(cells); {
	case v.name == "":
		r.rules++
	case t.index["Average"] == 0:
		k.add(v)
	default:
		return k.addSummary(v, t.cell(cells, "Minimum"), t.cell(cells, "Maximum"), t.cell(cells, "Average"), t.cell(cells, "Invocations"))
	}
	return nil
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

// ncuKey distinguishes the kernels of a report.
type ncuKey struct{ pid, process, name, grid, block, device string }

// ncuKernel has the metrics of a kernel, with a sample for each launch.
type ncuKernel struct {
	ncuKey
	line             int // where it came first
	host, capability string
	began            time.Time
	source           schema.TimeSource
	launch           string
	seen             map[string]string // texts of the metrics of the launch at hand, by name
	metrics          []*ncuMetric
	byName           map[string]*ncuMetric
	applied          map[string]string // how it was launched
	lacking          map[string]int    // number of values that the tool could not determine, by metric or setting
}

type ncuMetric struct {
	name, given string // the unit of the file
	unit        string // of ours
	numbers     []foreign.Number
	summary     schema.Summary
}

// ncuValue is a value of a metric as written in the file.
type ncuValue struct{ section, name, unit, text string }

// ncuKernels are the kernels of a report.
type ncuKernels struct {
	all    []*ncuKernel
	keys   map[ncuKey]*ncuKernel
	room   int
	noRoom int
}

// find returns the kernel of a key, nil if there is no room for another one.
func (n *ncuKernels) find(key ncuKey) *ncuKernel {
	if k := n.keys[key]; k != nil {
		return k
	}
	n.room -= len(key.name) + len(key.process) + len(key.grid) + len(key.block) + 10*perName
	if n.room < 0 {
		n.noRoom++
		return nil
	}
	k := &ncuKernel{ncuKey: key, launch: "\x00", byName: map[string]*ncuMetric{}, applied: map[string]string{}, lacking: map[string]int{}}
	n.all, n.keys[key] = append(n.all, k), k
	return k
}

// add adds a value of the current launch. How it was launched is not a measurement.
func (k *ncuKernel) add(v ncuValue) {
	if v.text == "" {
		return
	}
	if isNotAvailable(v.text) {
		k.lack(v)
		return
	}
	if v.isSetting() {
		if name := snake(strings.TrimPrefix(v.name, "launch__")); k.applied[name] == "" {
			k.applied[name] = v.setting()
		}
		return
	}
	number, ok := ncuNumber(v.text)
	if !ok || strings.HasPrefix(v.name, "device__attribute") {
		return
	}
	name, unit := ncuName(v)
	if before, ok := k.seen[name]; ok {
		if before == v.text { // the same, in another section
			return
		}
		if v.section == "" { // a raw page has none, but a name of its own for each of two clocks
			name = foreign.MetricName(v.name)
		} else {
			name = snake(v.section) + "/" + name
		}
		if _, ok := k.seen[name]; ok {
			return
		}
	}
	k.seen[name] = v.text
	m := k.metric(name, unit, v.unit)
	if m.unit != unit { // the unit changes with the size of the number
		if number, ok = rescaled(number, unit, m.unit); !ok {
			return
		}
	}
	m.numbers = append(m.numbers, number)
}

// isNotAvailable reports whether the text of a value means that the tool has no value.
func isNotAvailable(text string) bool { return strings.EqualFold(strings.TrimSpace(text), "n/a") }

// lack counts a value that the tool could not measure.
func (k *ncuKernel) lack(v ncuValue) {
	name, _ := ncuName(v)
	name = "metric." + name
	if v.isSetting() {
		name = "launch." + snake(strings.TrimPrefix(v.name, "launch__"))
	}
	k.lacking[name]++
}

// isSetting reports whether a value is a setting of a launch.
func (v ncuValue) isSetting() bool {
	return v.section == "Launch Statistics" || strings.HasPrefix(v.name, "launch__")
}

// setting returns how a launch was made, as text: a number, with its unit where that changes with its size.
func (v ncuValue) setting() string {
	number, ok := ncuNumber(v.text)
	if !ok {
		return v.text
	}
	text := foreign.Canonical(string(number))
	if len(v.unit) > 1 && strings.HasPrefix(strings.ToLower(v.unit[1:]), "byte") {
		text += " " + v.unit
	}
	return text
}

// addSummary adds the aggregates of a metric over all launches.
func (k *ncuKernel) addSummary(v ncuValue, minimum, maximum, mean, invocations string) error {
	if isNotAvailable(mean) {
		k.lack(v)
		return nil
	}
	name, unit := ncuName(v)
	m := k.metric(name, unit, v.unit)
	s := schema.Summary{N: foreign.Number(invocations).Int64()}
	for statistic, text := range map[string]string{"min": minimum, "max": maximum, "mean": mean} {
		if number, ok := ncuNumber(text); ok {
			setStatistic(&s, statistic, number, unit)
		}
	}
	if s.Mean == nil {
		return fmt.Errorf("%s: %q is not an average", v.name, foreign.Brief(mean))
	}
	m.summary = s
	return nil
}

func (k *ncuKernel) metric(name, unit, given string) *ncuMetric {
	m := k.byName[name]
	if m == nil {
		m = &ncuMetric{name: name, unit: unit, given: given}
		k.metrics, k.byName[name] = append(k.metrics, m), m
	}
	return m
}

// rescaled returns a number in a unit of the same kind.
func rescaled(n foreign.Number, from, to string) (foreign.Number, bool) {
	a, one, known := schema.StoredUnit(from)
	b, other, _ := schema.StoredUnit(to)
	v := n.Float64()
	if !known || a != b || v == nil {
		return "", false
	}
	return foreign.Number(fmt.Sprint(*v * one / other)), true
}

func (k *ncuKernel) run() schema.Run {
	r := schema.Run{Purpose: schema.PurposeProfile, Benchmark: strings.TrimPrefix(baseName(k.process)+"/", "/") + k.name, Backend: "cuda", Applied: k.applied}
	for name, text := range map[string]string{"grid": k.grid, "block": k.block, "device": k.device} {
		foreign.SetParam(&r, name, text)
	}
	if len(k.applied) == 0 {
		r.Applied = nil
	}
	if k.host != "127.0.0.1" && k.host != "localhost" {
		r.Env.Hostname, r.Env.Machine = k.host, k.host
	}
	foreign.SetFact(&r, "gpu.compute_capability", k.capability)
	foreign.SetStart(&r, k.began, k.source)
	for name, n := range k.lacking {
		foreign.Put(&r.Env.Missing, name, fmt.Sprintf("the profiler printed n/a for %d of its launches", n))
	}
	for _, m := range k.metrics {
		metric := foreign.Aggregate(m.name, m.unit, m.summary)
		if len(m.numbers) > 0 {
			series, err := foreign.SeriesOf(m.numbers, m.unit)
			if err != nil {
				continue
			}
			metric = series.Metric(m.name, schema.LevelIteration)
		}
		if metric.Better == "" {
			metric.Better = ncuBetter(m.name)
		}
		foreign.Add(&r, metric, m.given)
	}
	primary(&r, "latency")
	return r
}

// ncuUnits maps the units of the tool, in the spelling of older and newer versions, to ours.
var ncuUnits = map[string]string{
	"nsecond": "ns", "usecond": "us", "msecond": "ms", "second": "s",
	"byte": "B", "kbyte": "kB", "mbyte": "MB", "gbyte": "GB", "tbyte": "TB",
	"byte/second": "B/s", "kbyte/second": "kB/s", "mbyte/second": "MB/s", "gbyte/second": "GB/s", "tbyte/second": "TB/s",
	"byte/s": "B/s", "kbyte/s": "kB/s", "mbyte/s": "MB/s", "gbyte/s": "GB/s", "tbyte/s": "TB/s",
	"hz": "Hz", "khz": "kHz", "mhz": "MHz", "ghz": "GHz",
	"cycle/second": "Hz", "cycle/usecond": "MHz", "cycle/nsecond": "GHz", "cycle/s": "Hz", "cycle/us": "MHz", "cycle/ns": "GHz",
}

// ncuName returns the name of a metric, and its unit in the spelling of NeuroLens.
func ncuName(v ncuValue) (name, unit string) {
	unit = v.unit
	if u, ok := ncuUnits[strings.ToLower(v.unit)]; ok {
		unit = u
	}
	stored, _, _ := schema.StoredUnit(unit)
	name = v.name
	if strings.Contains(name, "__") { // as the raw page has them
		name = foreign.MetricName(name)
	} else {
		name = snake(name)
	}
	switch {
	case stored == "ns" && (name == "duration" || name == "gpu__time_duration.sum" || name == "gpu__time_duration.avg"):
		return "latency", unit
	case stored == "B/s" && name == "memory_throughput", name == "dram__bytes.sum.per_second" && stored == "B/s":
		return "bandwidth", unit
	case stored == "MHz" && (name == "sm_frequency" || name == "gpc__cycles_elapsed.avg.per_second" || name == "smsp__cycles_elapsed.avg.per_second"):
		return "clock_sm", unit
	}
	return name, unit
}

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

// snake returns a title in small letters with _ between words: "Compute (SM) Throughput" is compute_sm_throughput.
func snake(title string) string {
	return foreign.MetricName(strings.Trim(notWord.ReplaceAllString(strings.ToLower(title), "_"), "_"))
}

// Words in the names of metrics that tell their directions. The first that matches decides: cycles per instruction are a time, whatever
// else the name says, and cycles per second a clock.
var (
	ncuTime   = regexp.MustCompile(`cycles_per_|no_eligible|duration|stall|conflict|spill|latency`)
	ncuHigher = regexp.MustCompile(`throughput|bandwidth|frequency|occupancy|hit_rate|pct_of_peak|ipc|eligible|active_warps|busy|issued_warp|(?:bytes|cycles).*per_second`)
	ncuCycles = regexp.MustCompile(`cycles`)
)

// ncuBetter returns the direction of a metric; empty where its name does not tell it.
func ncuBetter(name string) schema.Better {
	switch {
	case ncuTime.MatchString(name):
		return schema.BetterLower
	case ncuHigher.MatchString(name):
		return schema.BetterHigher
	case ncuCycles.MatchString(name):
		return schema.BetterLower
	}
	return ""
}

var (
	thousands = regexp.MustCompile(`^-?\d{1,3}(,\d{3})+(\.\d+)?$`)
	european  = regexp.MustCompile(`^-?\d{1,3}(\.\d{3})+(,\d+)?$|^-?\d+,\d+$`)
)

// ncuNumber reads a number that may have thousands separators, in the style of the user's language.
func ncuNumber(text string) (foreign.Number, bool) {
	switch {
	case thousands.MatchString(text):
		text = strings.ReplaceAll(text, ",", "")
	case strings.Contains(text, ",") && european.MatchString(text):
		text = strings.Replace(strings.ReplaceAll(text, ".", ""), ",", ".", 1)
	}
	n := foreign.Number(text)
	v, err := foreign.SeriesOf([]foreign.Number{n}, "")
	return n, err == nil && v.Len() == 1
}

// ncuTable describes the columns of a table.
type ncuTable struct {
	columns []string
	index   map[string]int // from 1, by name
	units   []string       // of a raw page
	raw     bool           // a row is a launch; otherwise a metric of one
	plain   bool           // cells have no quotation marks, once another program wrote the table
}

// ncuLaunch are the columns that identify the launch of a row.
var ncuLaunch = []string{
	"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream", "Block Size", "Grid Size", "Device",
	"CC", "Invocations", "Section Name", "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
	"Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
}

func newNCUTable(header []string) *ncuTable {
	t := &ncuTable{columns: slices.Clone(header), index: map[string]int{}}
	for i, c := range t.columns {
		if t.index[c] == 0 {
			t.index[c] = i + 1
		}
	}
	t.raw = t.index["Metric Name"] == 0
	return t
}

// cell returns the cell of a column; empty if there is none.
func (t *ncuTable) cell(cells []string, column string) string {
	if i := t.index[column]; i > 0 && i <= len(cells) {
		return strings.TrimSpace(cells[i-1])
	}
	return ""
}

// key identifies the kernel of a row.
func (t *ncuTable) key(cells []string) ncuKey {
	return ncuKey{
		pid: t.cell(cells, "Process ID"), process: t.cell(cells, "Process Name"), name: t.cell(cells, "Kernel Name"),
		grid: t.cell(cells, "Grid Size"), block: t.cell(cells, "Block Size"), device: t.cell(cells, "Device"),
	}
}

// value returns the metric of a row.
func (t *ncuTable) value(cells []string) ncuValue {
	return ncuValue{
		section: t.cell(cells, "Section Name"), name: t.cell(cells, "Metric Name"), unit: t.cell(cells, "Metric Unit"),
		text: t.cell(cells, "Metric Value"),
	}
}
