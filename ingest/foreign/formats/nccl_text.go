package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

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

// maxTableRuns is how many runs of a table may wait for the line after it, which says whether results were wrong.
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
	waiting []placed // runs of it
}

type placed struct {
	where string
	run   schema.Run
}

func readNCCLText(in *foreign.Input, out *foreign.Output) error {
	n := &ncclReader{in: in, out: out}
	for number, line := range in.Lines() {
		if line.Err != nil {
			return line.Err
		}
		if err := n.line(fmt.Sprintf("line %d", number), foreign.Unlaunched(line.Text)); err != nil {
			return err
		}
	}
	if err := n.flush(""); err != nil {
		return err
	}
	if !n.found {
		out.Refuse("", errors.New("no table of results: the program ended before it"))
	}
	return nil
}

func (n *ncclReader) line(where, text string) error {
	if m := ncclBounds.FindStringSubmatch(text); m != nil {
		return n.flush(m[1] + " values out of bounds")
	}
	if m := ncclOptions.FindStringSubmatch(text); m != nil {
		if err := n.flush(""); err != nil {
			return err
		}
		n.begin(text, m[1], m[2])
		return nil
	}
	if m := ncclTool.FindStringSubmatch(text); m != nil { // the first line of a launch
		err := n.flush("")
		n.out.Version(m[1])
		n.library, n.printed = ncclVersion(foreign.Number(m[2])), true
		return err
	}
	if m := ncclStarting.FindStringSubmatch(text); m != nil { // before the line of its options
		err := n.flush("")
		n.name = m[1]
		return err
	}
	switch {
	case n.fact(text):
		return nil
	case ncclTable.MatchString(text):
		if err := n.flush(""); err != nil {
			return err
		}
		n.found = true
		n.header = strings.Fields(ncclColumns.FindString(text))
		return nil
	case ncclEnd.MatchString(text):
		n.ended = true
		return nil
	}
	if m := ncclProgram.FindStringSubmatch(text); m != nil && (n.header == nil || n.ended || ncclCommand.MatchString(text)) { // the next command
		err := n.flush("")
		n.name = m[1]
		return err
	}
	if n.header != nil {
		return n.row(where, text)
	}
	return nil
}

// fact reads a line about the launch.
func (n *ncclReader) fact(text string) bool {
	if m := ncclRank.FindStringSubmatch(text); m != nil {
		n.launch.add(m[1], strings.TrimSpace(m[2]))
		return true
	}
	if strings.Contains(text, "# Blocking Enabled") {
		n.launch.set("blocking", "true")
		return true
	}
	if m := ncclLibrary.FindStringSubmatch(text); m != nil {
		n.library = m[1]
		return true
	}
	return strings.Contains(text, "Collective test concluded")
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
			n.launch.iters = foreign.Number(value) // the last: warmup iters stands before
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
	fields = n.withBlankRedop(fields, first)
	if first < 0 || len(fields) <= first || foreign.Number(fields[0]).Int64() == nil || foreign.Number(fields[1]).Int64() == nil {
		return nil
	}
	if root := slices.Index(n.header[:first], "root"); root >= 0 && foreign.Number(fields[root]).Int64() == nil {
		n.out.Refuse(where, fmt.Errorf("column root: %q is not a number", fields[root]))
		return nil
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
	half := ncclHalf{where: where, started: started, lead: fields[:first]}
	switch len(values) {
	case 2 * width:
		half.place, half.values = outOfPlace, values[:width]
		if err := n.half(half); err != nil {
			return err
		}
		half.place, half.values = inPlace, values[width:]
		return n.half(half)
	case width: // a replay has no other
		half.place, half.values = inPlace, values
		return n.half(half)
	}
	n.out.Refuse(where, fmt.Errorf("%d columns, but the table has %d", len(fields), first+2*width))
	return nil
}

// withBlankRedop inserts an empty cell under redop: earlier versions print blanks there for tests without a reduction, so
// a number would be in its place.
func (n *ncclReader) withBlankRedop(fields []string, first int) []string {
	redop := slices.Index(n.header, "redop")
	if redop < 0 || redop >= min(first, len(fields)) || foreign.Number(fields[redop]).Float64() == nil {
		return fields
	}
	return slices.Insert(slices.Clone(fields), redop, "")
}

func isNCCLTime(name string) bool { return name == "time" || name == "cputime" }

// ncclHalf is one half of a row, with what stands before both.
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
		n.out.Refuse(h.where, err)
		return nil
	}
	result.fill(&r, n.launch.iters)
	m := foreign.Aggregate("iteration_time", "us", schema.Summary{Min: iteration["i_min"], Max: iteration["i_max"], P99: iteration["i_p99"]})
	m.Better, m.Clock = schema.BetterLower, "cuda_event"
	foreign.Add(&r, m, "us")
	if at, source, err := n.in.Time(h.started, "2006-01-02 15:04:05"); err == nil {
		foreign.SetStart(&r, at, source)
	}
	n.waiting = append(n.waiting, placed{h.where, r})
	if len(n.waiting) < maxTableRuns {
		return nil
	}
	return n.emit("")
}

// values gives the numbers of a half and, if the version prints them, those of its iterations.
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

// emit yields the waiting runs. A version that does not count wrong elements per row does not say which are wrong.
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
