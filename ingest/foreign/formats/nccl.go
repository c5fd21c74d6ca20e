package formats

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// ncclTests reads the printed output of nccl-tests, in logs and in Markdown, and the JSON of -J. RCCL's tests print the
// same.
var ncclTests = foreign.Format{
	Name: "nccl-tests", About: "nccl-tests: the printed output of all_reduce_perf and similar programs, and their JSON (-J)",
	Level:       "a run is one message size, out of place or in place, of one launch; a sample is an iteration, if -I wrote them",
	OwnHeadings: regexp.MustCompile(`^#(?:[ \t]|$)`),
	Recognize:   func(h *foreign.Head) bool { return isNCCLJSON(h) || h.Matches(ncclTable) || h.Matches(ncclLaunched) },
	Read: func(in *foreign.Input, out *foreign.Output) error {
		if isNCCLJSON(in.Head) {
			return readNCCLJSON(in, out)
		}
		return readNCCLText(in, out)
	},
}

func isNCCLJSON(h *foreign.Head) bool {
	return h.Has("nccl_version", "config.nthreads", "config.ngpus")
}

// ncclTable is the line with the column names above the results: of today's versions, and of the first ones.
var ncclTable = regexp.MustCompile(`(?m)^.{0,40}\b(?:size +count|bytes +N) +type\b.* (?:cpu)?time +algbw +busbw\b`)

// ncclLaunched matches the line with the options above the table. With NCCL_DEBUG=INFO, megabytes of text are between them.
var ncclLaunched = regexp.MustCompile(`(?m)^.{0,40}# nThreads? \d+ +nGpus \d+ +minBytes \d+ maxBytes \d+`)

var ncclColumns = regexp.MustCompile(`\b(?:size +count|bytes +N) +type\b.*`)

// ncclLaunch has the values that all results of a launch share.
type ncclLaunch struct {
	program string // all_reduce_perf
	version string // of the library
	params  map[string]string
	iters   foreign.Number
	devices int64
	device  string // name of the devices, if all are the same
	mixed   bool
	hosts   map[string]bool
	host    string // the first
}

// add adds a rank.
func (l *ncclLaunch) add(host, device string) {
	if l.devices > 0 && device != l.device {
		l.mixed = true
	}
	l.devices++
	l.device = device
	if l.host == "" {
		l.host = host
	}
	if len(l.hosts) < maxHosts {
		foreign.Put(&l.hosts, host, true)
	}
}

const maxHosts = 100_000

// set keeps a parameter of the launch.
func (l *ncclLaunch) set(name, text string) { foreign.Put(&l.params, name, text) }

// run returns a run of the launch.
func (l *ncclLaunch) run() schema.Run {
	r := schema.Run{Benchmark: "nccl-tests", BackendVersion: l.version, Primary: "latency"}
	if l.program != "" {
		r.Benchmark = "nccl-tests/" + l.program
	}
	for name, text := range l.params {
		foreign.SetParam(&r, name, text)
	}
	if l.devices == 0 {
		return r
	}
	foreign.SetParam(&r, "ranks", fmt.Sprint(l.devices))
	foreign.SetParam(&r, "nodes", fmt.Sprint(len(l.hosts)))
	r.Env.Hostname = l.host
	if len(l.hosts) == 1 && l.host != "localhost" {
		r.Env.Machine = l.host
	}
	if !l.mixed {
		r.Env.GPUName = l.device
	}
	r.Env.GPUCount = new(l.devices)
	return r
}

// ncclResult is one half of a row: out of place or in place.
type ncclResult struct {
	Time     foreign.Number `json:"time"`     // µs
	CPUTime  foreign.Number `json:"cpu_time"` // µs, in its place with -C
	AlgBW    foreign.Number `json:"alg_bw"`   // GB/s
	BusBW    foreign.Number `json:"bus_bw"`   // GB/s
	Wrong    foreign.Number `json:"nwrong"`
	maxError foreign.Number // of versions that compared values
}

// fill adds the results. The bandwidths of small messages are rounded to 0.00, which is not a value. For this reason the
// primary metric is the time.
func (n *ncclResult) fill(r *schema.Run, iters foreign.Number) {
	if v := n.Time.Finite("us"); v != nil {
		foreign.Add(r, foreign.Aggregate("latency", "us", schema.Summary{Mean: v, N: iters.Int64()}), "us")
	} else if v := n.CPUTime.Finite("us"); v != nil {
		m := foreign.Aggregate("cpu_time", "us", schema.Summary{Mean: v, N: iters.Int64()})
		m.Better = schema.BetterLower
		foreign.Add(r, m, "us")
		r.Primary = m.Name
	}
	addValue(r, measure{"busbw", higher}, nonZero(n.BusBW), "GB/s")
	addValue(r, measure{"algbw", higher}, nonZero(n.AlgBW), "GB/s")
	foreign.Add(r, foreign.Aggregate("max_error", "", schema.Summary{Max: n.maxError.Finite("")}), "")
	if wrong := n.Wrong.Float64(); wrong != nil && *wrong != 0 {
		fail(r, fmt.Sprintf("%s wrong elements", foreign.Canonical(string(n.Wrong))))
	}
	if r.Metric(r.Primary) == nil {
		r.Primary = ""
	}
}

// fail marks a result that is wrong; its times stay.
func fail(r *schema.Run, why string) {
	r.Status, r.Stage, r.ErrorKind, r.Error = schema.StatusError, schema.StageValidate, "validate", why
}

// cutWarmup moves the first samples of a metric to the warm-up.
func cutWarmup(m *schema.Metric, n int) {
	if m.Ticks != nil {
		m.WarmupTicks, m.Ticks = m.Ticks[:n:n], m.Ticks[n:]
	} else {
		m.WarmupReals, m.Reals = m.Reals[:n:n], m.Reals[n:]
	}
}

// Placements, in the words of nccl-tests.
const (
	outOfPlace = "out-of-place"
	inPlace    = "in-place"
)

var ncclProgram = regexp.MustCompile(`\b((?:all_reduce|all_gather|reduce_scatter|alltoallv?|broadcast|sendrecv|hypercube|scatter|gather|reduce)_perf)\b`)

// ncclCommand is a command line: it ends a table that was cut off.
var ncclCommand = regexp.MustCompile(`_perf["']? +-{1,2}[a-zA-Z]`)

// ncclPrograms are the tests, less _perf.
var ncclPrograms = []string{"all_reduce", "all_gather", "reduce_scatter", "alltoallv", "alltoall", "broadcast", "sendrecv", "hypercube", "scatter", "gather", "reduce"}

// programOf returns the test in the name of a file: nccl-allreduce.log. Most versions do not print the name of the test.
func programOf(file string) string {
	name := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(path.Base(file)))
	for _, p := range ncclPrograms {
		if strings.Contains(name, strings.ReplaceAll(p, "_", "")) {
			return p + "_perf"
		}
	}
	return ""
}

// ncclIterations are the times of the iterations of a result, with -I.
type ncclIterations struct {
	Skipped foreign.Number `json:"skipped_iterations"`
	Times   jsontext.Value `json:"times_us"`
}

type ncclRow struct {
	Size           foreign.Text    `json:"size"`
	Type           string          `json:"type"`
	RedOp          string          `json:"redop"`
	Root           foreign.Number  `json:"root"` // padded
	OutOfPlace     *ncclResult     `json:"out_of_place"`
	InPlace        *ncclResult     `json:"in_place"`
	OutOfPlaceIter *ncclIterations `json:"out_of_place_per_iter"`
	InPlaceIter    *ncclIterations `json:"in_place_per_iter"`
	Iterations     foreign.Number  `json:"actual_iterations"`
	Experiment     string          `json:"experiment_name"`
}

// ncclFile is the part before the results. The environment of the process is there as well, and is not read.
type ncclFile struct {
	launch  ncclLaunch
	started foreign.Text
}

func readNCCLJSON(in *foreign.Input, out *foreign.Output) error {
	j := in.JSON()
	f := &ncclFile{}
	var version foreign.Text
	var args []string
	var code foreign.Number
	read := func(value any, after func()) func() error {
		return func() error {
			err := j.Decode(value)
			after()
			return err
		}
	}
	return fields{
		"version": read(&version, func() { out.Version("JSON " + string(version)) }), "start_time": &f.started,
		"args": read(&args, func() {
			if len(args) > 0 {
				f.launch.program = ncclProgram.FindString(args[0])
			}
		}),
		"nccl_version": read(&code, func() { f.launch.version = dottedVersion(code) }),
		"config":       func() error { return f.config(j) },
		"results":      array(j, out, func(where string, row *ncclRow) error { return f.row(in, out, where, row) }),
	}.read(j, out)
}

func (f *ncclFile) config(j *foreign.JSON) error {
	var c struct {
		Threads    foreign.Number `json:"nthreads"`
		GPUs       foreign.Number `json:"ngpus"`
		Iterations foreign.Number `json:"iterations"`
		Aggregated foreign.Text   `json:"aggregated_iterations"`
		Graph      foreign.Text   `json:"graph"`
		Blocking   foreign.Text   `json:"blocking_collectives"`
		Devices    []struct {
			Host   string `json:"hostname"`
			Device string `json:"device_info"`
		} `json:"devices"`
	}
	if err := j.Decode(&c); err != nil {
		return err
	}
	f.launch.set("nthreads", string(c.Threads))
	f.launch.set("ngpus", string(c.GPUs))
	if c.Aggregated != "1" {
		f.launch.set("agg_iters", string(c.Aggregated))
	}
	if c.Graph != "0" {
		f.launch.set("graph", string(c.Graph))
	}
	if c.Blocking == "true" {
		f.launch.set("blocking", "true")
	}
	f.launch.iters = c.Iterations
	for _, d := range c.Devices {
		f.launch.add(d.Host, d.Device)
	}
	if threads, gpus := c.Threads.Int64(), c.GPUs.Int64(); threads != nil && gpus != nil && *threads > 0 && *gpus > 0 {
		f.launch.devices *= min(*threads, maxHosts) * min(*gpus, maxHosts) // one of each process is listed
	}
	return nil
}

// row makes the runs of a size.
func (f *ncclFile) row(in *foreign.Input, out *foreign.Output, where string, row *ncclRow) error {
	if row.OutOfPlace == nil && row.InPlace == nil {
		return refusal(where, "it has neither out_of_place nor in_place")
	}
	for _, half := range []struct {
		place  string
		result *ncclResult
		iters  *ncclIterations
	}{{outOfPlace, row.OutOfPlace, row.OutOfPlaceIter}, {inPlace, row.InPlace, row.InPlaceIter}} {
		if half.result == nil {
			continue
		}
		r := f.launch.run()
		ncclAxis(&r, "size", string(row.Size))
		ncclAxis(&r, "type", row.Type)
		ncclAxis(&r, "redop", row.RedOp)
		ncclAxis(&r, "root", string(row.Root))
		foreign.SetParam(&r, "experiment", row.Experiment)
		foreign.SetParam(&r, "place", half.place)
		in.SetStart(&r, string(f.started), "2006-01-02 15:04:05")
		half.result.fill(&r, cmp.Or(row.Iterations, f.launch.iters))
		err := half.iters.fill(&r)
		if err := out.RunOr(where, r, err); err != nil {
			return err
		}
	}
	return nil
}

// fill replaces the mean by the times of the iterations. Those that the summary of the tool skips are warm-up.
func (n *ncclIterations) fill(r *schema.Run) error {
	if n == nil {
		return nil
	}
	s, err := foreign.ReadSeries(n.Times, "us")
	if err != nil {
		return fmt.Errorf("reading times_us: %w", err)
	}
	m := r.Metric("latency")
	if s.Len() == 0 || m == nil {
		return nil
	}
	*m = s.Metric("latency", schema.LevelIteration)
	m.Clock = "cuda_event"
	skip := n.Skipped.Int64()
	if skip == nil || *skip <= 0 || *skip >= int64(s.Len()) {
		return nil
	}
	cutWarmup(m, int(*skip))
	return nil
}

var (
	ncclOptions  = regexp.MustCompile(`\bnThreads? (\d+) +nGpus (\d+) +minBytes \d+ maxBytes \d+`)
	ncclIters    = regexp.MustCompile(`\b(?:iters|agg iters|graph|unalign): *\d+`)
	ncclRank     = regexp.MustCompile(`\bRank +\d+ +(?:Group +\d+ +)?Pid +\d+ on +(\S+) +device +\d+ +\[[^\]]*\] *(.*)$`)
	ncclStarting = regexp.MustCompile(`Collective test starting: +(?:\S*/)?(\w+)`)
	ncclTool     = regexp.MustCompile(`# nccl-tests version (\S+).* nccl-library=(\d+)`)
	ncclLibrary  = regexp.MustCompile(`\b(?:NCCL|RCCL) version (\d+\.\d+\.\d+)`)
	ncclBounds   = regexp.MustCompile(`Out of bounds values +: +(\d+) +FAILED`)
	ncclEnd      = regexp.MustCompile(`Avg bus bandwidth +:`)
)

// maxTableRuns is the maximum number of runs of a table that wait for the line after it, which reports wrong results.
const maxTableRuns = 10_000

// ncclReader reads text.
type ncclReader struct {
	in      *foreign.Input
	out     *foreign.Output
	launch  ncclLaunch
	name    string // of a program, seen since the last table
	library string
	printed bool     // the launch itself has printed the library, as newer versions do; else it holds for the text
	found   bool     // a table
	header  []string // columns of the table that is being read
	ended   bool     // its last line came; of several processes that print, another may go on
	waiting []placed // its runs
}

type placed struct {
	where string
	run   schema.Run
}

func readNCCLText(in *foreign.Input, out *foreign.Output) error {
	n := &ncclReader{in: in, out: out}
	return eachLine(in, out, func(where, text string) error { return n.line(where, foreign.Unlaunched(text)) }, func() error {
		if !n.found {
			out.Refuse("", errors.New("no table of results: the program ended before it"))
		}
		return n.flush("")
	})
}

func (n *ncclReader) line(where, text string) error {
	tool, starting, options := ncclTool.FindStringSubmatch(text), ncclStarting.FindStringSubmatch(text), ncclOptions.FindStringSubmatch(text)
	program := ncclProgram.FindString(text)
	bounds := ncclBounds.FindStringSubmatch(text)
	switch {
	case bounds != nil:
		return n.flush(bounds[1] + " values out of bounds")
	case options != nil:
		err := n.flush("")
		n.begin(text, options[1], options[2])
		return err
	case tool != nil: // the first line of a launch
		err := n.flush("")
		n.out.Version(tool[1])
		n.library, n.printed = dottedVersion(foreign.Number(tool[2])), true
		return err
	case starting != nil: // before the line of its options
		err := n.flush("")
		n.name = starting[1]
		return err
	case n.fact(text):
		return nil
	case ncclTable.MatchString(text):
		err := n.flush("")
		n.found, n.header = true, strings.Fields(ncclColumns.FindString(text))
		return err
	case ncclEnd.MatchString(text):
		n.ended = true
		return nil
	case program != "" && (n.header == nil || n.ended || ncclCommand.MatchString(text)): // the next command
		err := n.flush("")
		n.name = program
		return err
	case n.header != nil:
		return n.row(where, text)
	}
	return nil
}

// fact reads a line about the launch.
func (n *ncclReader) fact(text string) bool {
	rank, library := ncclRank.FindStringSubmatch(text), ncclLibrary.FindStringSubmatch(text)
	switch {
	case rank != nil:
		n.launch.add(rank[1], strings.TrimSpace(rank[2]))
	case strings.Contains(text, "# Blocking Enabled"):
		n.launch.set("blocking", "true")
	case library != nil:
		n.library = library[1]
	default:
		return strings.Contains(text, "Collective test concluded")
	}
	return true
}

// begin begins a launch at the line of its options.
func (n *ncclReader) begin(text, threads, gpus string) {
	n.launch = ncclLaunch{}
	n.launch.set("nthreads", threads)
	n.launch.set("ngpus", gpus)
	for _, option := range ncclIters.FindAllString(text, -1) {
		name, value, _ := strings.Cut(option, ":")
		value = strings.TrimSpace(value)
		switch {
		case name == "iters":
			n.launch.iters = foreign.Number(value) // the last value: warmup iters comes before
		case name == "agg iters" && value != "1":
			n.launch.set("agg_iters", value)
		case name != "agg iters" && value != "0":
			n.launch.set(name, value)
		}
	}
}

// row reads a line under the column names. A line that does not begin with a size is not a row: NCCL prints messages in
// between.
func (n *ncclReader) row(where, text string) error {
	fields := strings.Fields(text)
	first := slices.IndexFunc(n.header, isNCCLTime)
	// Earlier versions print blanks under redop for tests without a reduction, so that a number is in its place.
	if redop := slices.Index(n.header, "redop"); redop >= 0 && redop < min(first, len(fields)) && foreign.Number(fields[redop]).Float64() != nil {
		fields = slices.Insert(fields, redop, "")
	}
	if first < 0 || len(fields) <= first || foreign.Number(fields[0]).Int64() == nil || foreign.Number(fields[1]).Int64() == nil {
		return nil
	}
	if root := slices.Index(n.header[:first], "root"); root >= 0 && foreign.Number(fields[root]).Int64() == nil {
		return refusal(where, "column root: %q is not a number", fields[root])
	}
	width := slices.IndexFunc(n.header[first+1:], isNCCLTime) + 1
	if width == 0 {
		width = len(n.header) - first
	}
	values := fields[first:]
	started := ""
	if slices.Contains(n.header, "timestamp") && len(values) > 2 {
		started = strings.Join(values[len(values)-2:], " ")
		values = values[:len(values)-2]
	}
	half := ncclHalf{where: where, place: inPlace, started: started, lead: fields[:first], values: values}
	switch len(values) {
	case 2 * width:
		other := half
		other.place, other.values, half.values = outOfPlace, values[:width], values[width:]
		if err := n.half(other); err != nil {
			return err
		}
		return n.half(half)
	case width: // a replay has no other
		return n.half(half)
	}
	return refusal(where, "%d columns, but the table has %d", len(fields), first+2*width)
}

func isNCCLTime(name string) bool { return name == "time" || name == "cputime" }

// ncclHalf is one half of a row, with the columns before both halves.
type ncclHalf struct {
	where, place, started string
	lead, values          []string
}

// half makes a run from one half of a row.
func (n *ncclReader) half(h ncclHalf) error {
	n.launch.program, n.launch.version = n.name, n.library
	if n.name == "" {
		n.launch.program = programOf(n.in.Head.Name)
	}
	r := n.launch.run()
	for i, text := range h.lead {
		ncclAxis(&r, n.header[i], text)
	}
	foreign.SetParam(&r, "place", h.place)
	result, iteration, err := n.values(h)
	if err != nil {
		n.out.Refuse(h.where, err) // the other half may be right
		return nil
	}
	result.fill(&r, n.launch.iters)
	m := foreign.Aggregate("iteration_time", "us", schema.Summary{Min: iteration["i_min"], Max: iteration["i_max"], P99: iteration["i_p99"]})
	m.Better, m.Clock = schema.BetterLower, "cuda_event"
	foreign.Add(&r, m, "us")
	n.in.SetStart(&r, h.started, "2006-01-02 15:04:05")
	n.waiting = append(n.waiting, placed{h.where, r})
	if len(n.waiting) < maxTableRuns {
		return nil
	}
	return n.emit("")
}

// values returns the numbers of a half and, if the version prints them, the statistics of its iterations.
func (n *ncclReader) values(h ncclHalf) (result ncclResult, iteration map[string]*float64, err error) {
	iteration = map[string]*float64{}
	for i, text := range h.values {
		number := foreign.Number(text)
		if text == "N/A" {
			continue
		}
		if number.Float64() == nil {
			return result, nil, fmt.Errorf("column %s: %q is not a number", n.header[len(h.lead)+i], text)
		}
		switch name := n.header[len(h.lead)+i]; name {
		case "time":
			result.Time = number
		case "cputime":
			result.CPUTime = number
		case "algbw":
			result.AlgBW = number
		case "busbw":
			result.BusBW = number
		case "#wrong":
			result.Wrong = number
		case "error", "res":
			result.maxError = number
		default:
			iteration[name] = number.Finite("us")
		}
	}
	return result, iteration, nil
}

// ncclAxis sets an option of a result. The type is the type of the elements that NCCL reduces.
func ncclAxis(r *schema.Run, name, text string) {
	switch name {
	case "bytes":
		name = "size"
	case "N", "count": // the size in elements
		return
	case "op":
		name = "redop"
	case "type":
		name = "dtype"
	}
	if text != "none" && (name != "root" || text != "-1") {
		foreign.SetParam(r, name, text)
	}
}

// flush ends a table. wrong is the result of the comparison if it failed.
func (n *ncclReader) flush(wrong string) error {
	if n.header != nil {
		if n.printed {
			n.library, n.printed = "", false
		}
		n.header, n.name, n.ended = nil, "", false
	}
	return n.emit(wrong)
}

// emit yields the waiting runs. A version that does not count wrong elements per row does not identify the wrong ones.
func (n *ncclReader) emit(wrong string) error {
	counted := slices.ContainsFunc(n.waiting, func(p placed) bool { return p.run.Status != "" })
	for i := range n.waiting {
		p := &n.waiting[i]
		if wrong != "" && !counted {
			fail(&p.run, wrong)
		}
		if err := n.out.Run(p.where, p.run); err != nil {
			return err
		}
	}
	n.waiting = nil
	return nil
}
