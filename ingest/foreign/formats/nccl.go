package formats

import (
	"fmt"
	"path"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// ncclTests reads the printed output of nccl-tests, in logs and in Markdown, and the JSON of -J. RCCL's tests print the
// same.
func ncclTests() foreign.Format {
	const level = "a run is one message size, out of place or in place, of one launch; a sample is an iteration, if -I wrote them"
	return foreign.Format{
		Name: "nccl-tests", About: "nccl-tests: the printed output of all_reduce_perf and similar programs, and their JSON (-J)", Level: level,
		OwnHeadings: regexp.MustCompile(`^#(?:[ \t]|$)`),
		Recognize:   func(h *foreign.Head) bool { return isNCCLJSON(h) || h.Matches(ncclTable) || h.Matches(ncclLaunched) },
		Read: func(in *foreign.Input, out *foreign.Output) error {
			if isNCCLJSON(in.Head) {
				return readNCCLJSON(in, out)
			}
			return readNCCLText(in, out)
		},
	}
}

func isNCCLJSON(h *foreign.Head) bool {
	return h.Has("nccl_version", "config.nthreads", "config.ngpus")
}

// ncclTable is the line with the column names above the results: of today's versions, and of the first ones.
var ncclTable = regexp.MustCompile(`(?m)^.{0,40}\b(?:size +count|bytes +N) +type\b.* (?:cpu)?time +algbw +busbw\b`)

// ncclLaunched matches the line with the options above the table. With NCCL_DEBUG=INFO, megabytes of text are between them.
var ncclLaunched = regexp.MustCompile(`(?m)^.{0,40}# nThreads? \d+ +nGpus \d+ +minBytes \d+ maxBytes \d+`)

var ncclColumns = regexp.MustCompile(`\b(?:size +count|bytes +N) +type\b.*`)

// ncclLaunch has what all results of a launch have in common.
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
	if l.hosts == nil {
		l.hosts = map[string]bool{}
	}
	if len(l.hosts) < maxHosts {
		l.hosts[host] = true
	}
}

const maxHosts = 100_000

// set keeps a parameter of the launch.
func (l *ncclLaunch) set(name, text string) {
	if l.params == nil {
		l.params = map[string]string{}
	}
	l.params[name] = text
}

// run is a run of the launch.
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
	n.bandwidth(r, "busbw", n.BusBW)
	n.bandwidth(r, "algbw", n.AlgBW)
	if n.maxError != "" {
		foreign.Add(r, foreign.Aggregate("max_error", "", schema.Summary{Max: n.maxError.Finite("")}), "")
	}
	if wrong := n.Wrong.Float64(); wrong != nil && *wrong != 0 {
		fail(r, fmt.Sprintf("%s wrong elements", foreign.Canonical(string(n.Wrong))))
	}
	if r.Metric(r.Primary) == nil {
		r.Primary = ""
	}
}

func (n *ncclResult) bandwidth(r *schema.Run, name string, value foreign.Number) {
	v := value.Finite("GB/s")
	if v == nil || *v == 0 {
		return
	}
	m := foreign.Aggregate(name, "GB/s", schema.Summary{Mean: v})
	m.Better = schema.BetterHigher
	foreign.Add(r, m, "GB/s")
}

// fail marks a result that is wrong; its times stay.
func fail(r *schema.Run, why string) {
	r.Status, r.Stage, r.ErrorKind, r.Error = schema.StatusError, schema.StageValidate, "validate", why
}

// Placements, as nccl-tests say.
const (
	outOfPlace = "out-of-place"
	inPlace    = "in-place"
)

var ncclProgram = regexp.MustCompile(`\b((?:all_reduce|all_gather|reduce_scatter|alltoallv?|broadcast|sendrecv|hypercube|scatter|gather|reduce)_perf)\b`)

// ncclCommand is a command line: it ends a table that was cut off.
var ncclCommand = regexp.MustCompile(`_perf["']? +-{1,2}[a-zA-Z]`)

// ncclPrograms are the tests, less _perf.
var ncclPrograms = []string{"all_reduce", "all_gather", "reduce_scatter", "alltoallv", "alltoall", "broadcast", "sendrecv", "hypercube", "scatter", "gather", "reduce"}

// programOf is the test in the name of a file: nccl-allreduce.log. Most versions do not print the name of the test.
func programOf(file string) string {
	name := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(path.Base(file)))
	for _, p := range ncclPrograms {
		if strings.Contains(name, strings.ReplaceAll(p, "_", "")) {
			return p + "_perf"
		}
	}
	return ""
}

// ncclVersion is the version of the library from its number: 22703 is 2.27.3, 2804 was 2.8.4.
func ncclVersion(code foreign.Number) string {
	n := code.Int64()
	switch {
	case n == nil || *n <= 0:
		return ""
	case *n < 10_000:
		return fmt.Sprintf("%d.%d.%d", *n/1000, *n/100%10, *n%100)
	}
	return fmt.Sprintf("%d.%d.%d", *n/10_000, *n/100%100, *n%100)
}
