package formats

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// fio reads the JSON of fio 2 and 3, also with the text that fio prints around it.
var fio = foreign.Format{
	Name: "fio", About: "fio --output-format=json, json+ or normal,json",
	Level:     "a run is one job and one direction: read, write, trim or sync; the files have only aggregates",
	Recognize: func(h *foreign.Head) bool { return h.Has("fio version") && h.HasAny("jobs", "client_stats") },
	Read:      readFIO,
}

// fioReader reads the reports of a file. There is more than one with --status-interval, or if files were concatenated.
type fioReader struct {
	out     *foreign.Output
	version foreign.Text
	global  map[string]foreign.Text
	ended   time.Time // when the report was written
	stopped bool      // no more runs are needed
	jobs    []fioPlace
	before  []fioPlace // the runs of the previous report
}

// fioPlace has the runs of a job, which wait until it is known that no later report repeats it.
type fioPlace struct {
	name    string
	start   time.Time
	total   float64 // bytes and operations so far
	where   string
	runs    []schema.Run
	elapsed time.Duration
	ran     time.Duration // if start is the end, because the report has neither the start of the job nor its duration
}

// maxFIOJobs is how many jobs may wait.
const maxFIOJobs = 10_000

func readFIO(in *foreign.Input, out *foreign.Output) error {
	j, err := fioJSON(in)
	if err != nil {
		return err
	}
	f := &fioReader{out: out}
	for more := true; more; more = j.Kind() == '{' {
		if err := f.report(j); err != nil {
			return f.end(err)
		}
		if !f.again() {
			if err := f.emit(f.before); err != nil {
				return err
			}
		}
		f.before, f.jobs = f.jobs, nil
	}
	return f.emit(f.before)
}

// end yields the runs before an error that ends the file.
func (f *fioReader) end(cause error) error {
	if f.stopped {
		return cause
	}
	f.again()
	if err := f.emit(append(f.before, f.jobs...)); err != nil {
		return err
	}
	return cause
}

// report reads one report.
func (f *fioReader) report(j *foreign.JSON) error {
	f.global, f.ended, f.version = nil, time.Time{}, ""
	var at foreign.Number
	jobs := func() error { return j.Elements(func(int) error { return f.job(j) }) }
	return fields{
		"fio version": func() error {
			err := j.Decode(&f.version)
			f.out.Version(string(f.version))
			return err
		},
		"timestamp": func() error {
			err := j.Decode(&at)
			if n := at.Int64(); n != nil && f.ended.IsZero() {
				f.ended = time.Unix(*n, 0)
			}
			return err
		},
		"timestamp_ms": func() error {
			err := j.Decode(&at)
			if n := at.Int64(); n != nil {
				f.ended = time.UnixMilli(*n)
			}
			return err
		},
		"global options": &f.global, "jobs": jobs, "client_stats": jobs,
	}.read(j, f.out)
}

func (f *fioReader) job(j *foreign.JSON) error {
	var job fioJob
	if err := j.Decode(&job); err != nil {
		return f.out.RefuseMismatch(err)
	}
	if job.Name == "All clients" {
		f.out.LeaveOut("sums over all clients", 1)
		return nil
	}
	p := fioPlace{name: job.Name, where: j.Where()}
	if n := job.Elapsed.Int64(); n != nil && *n >= 0 && *n < 1e9 {
		p.elapsed = time.Duration(*n) * time.Second
	}
	if n := job.Start.Int64(); n != nil {
		p.start = time.UnixMilli(*n)
	} else if !f.ended.IsZero() {
		p.start = f.ended.Add(-p.elapsed)
		for _, s := range job.sections() { // without the elapsed time, the time of the direction that took longest
			if s == nil || job.Elapsed != "" {
				continue
			}
			if ns := nanoseconds(s.Runtime, "ms"); ns != nil && *ns < int64(1e9*time.Second) {
				p.ran = max(p.ran, time.Duration(*ns))
			}
		}
	}
	p.runs, p.total = job.runs(f, p.start)
	for i := range p.runs {
		foreign.SetFact(&p.runs[i], foreign.FactVersion, string(f.version))
	}
	if len(p.runs) == 0 {
		f.out.LeaveOutNamed("jobs that did nothing", job.Name)
	}
	f.jobs = append(f.jobs, p)
	if len(f.jobs) < maxFIOJobs {
		return nil
	}
	if err := f.emit(f.before); err != nil {
		return err
	}
	f.before = nil
	jobs := f.jobs
	f.jobs = nil
	return f.emit(jobs)
}

// again reports whether this report is a later one of the same launch, with --status-interval: the same jobs, started at
// the same time, that have done at least as much. Then the earlier one is left out.
func (f *fioReader) again() bool {
	const about = 2 * time.Second // elapsed is in whole seconds
	same := len(f.before) > 0 && slices.EqualFunc(f.before, f.jobs, func(a, b fioPlace) bool {
		return a.name == b.name && a.start.Sub(b.start).Abs() <= about && a.total <= b.total && a.elapsed <= b.elapsed
	})
	if same {
		f.out.LeaveOut("earlier reports of a launch", 1)
		f.before = nil
	}
	return same
}

func (f *fioReader) emit(jobs []fioPlace) error {
	for _, p := range jobs {
		for _, r := range p.runs {
			err := f.out.RunWith(p.where, r, func(r *schema.Run) {
				if p.ran > 0 {
					foreign.SetStart(r, p.start.Add(-p.ran), schema.TimeFile)
				}
			})
			if err != nil {
				f.stopped = true
				return err
			}
		}
	}
	return nil
}

// fioJob is a job of a report.
type fioJob struct {
	Name    string                  `json:"jobname"`
	Host    string                  `json:"hostname"` // of a client
	Start   foreign.Number          `json:"job_start"`
	Elapsed foreign.Number          `json:"elapsed"` // s
	Error   foreign.Number          `json:"error"`
	Options map[string]foreign.Text `json:"job options"`
	Read    *fioSection             `json:"read"`
	Write   *fioSection             `json:"write"`
	Trim    *fioSection             `json:"trim"`
	Sync    *fioSection             `json:"sync"`
	UserCPU foreign.Number          `json:"usr_cpu"` // %
	SysCPU  foreign.Number          `json:"sys_cpu"`
}

// fioSection is one direction of a job.
type fioSection struct {
	Bytes     foreign.Number `json:"io_bytes"`
	Total     foreign.Number `json:"total_ios"`
	BW        foreign.Number `json:"bw"` // KiB/s
	BWBytes   foreign.Number `json:"bw_bytes"`
	IOPS      foreign.Number `json:"iops"`
	Runtime   foreign.Number `json:"runtime"` // ms
	LatNS     *fioLatency    `json:"lat_ns"`
	CLatNS    *fioLatency    `json:"clat_ns"`
	SLatNS    *fioLatency    `json:"slat_ns"`
	Lat       *fioLatency    `json:"lat"` // µs, up to version 2
	CLat      *fioLatency    `json:"clat"`
	SLat      *fioLatency    `json:"slat"`
	BWMin     foreign.Number `json:"bw_min"` // KiB/s, of intervals
	BWMax     foreign.Number `json:"bw_max"`
	BWMean    foreign.Number `json:"bw_mean"`
	BWDev     foreign.Number `json:"bw_dev"`
	BWSamples foreign.Number `json:"bw_samples"`
	IOMin     foreign.Number `json:"iops_min"`
	IOMax     foreign.Number `json:"iops_max"`
	IOMean    foreign.Number `json:"iops_mean"`
	IODev     foreign.Number `json:"iops_stddev"`
	IOSamples foreign.Number `json:"iops_samples"`
}

type fioLatency struct {
	Min         foreign.Number            `json:"min" stat:"min"`
	Max         foreign.Number            `json:"max" stat:"max"`
	Mean        foreign.Number            `json:"mean" stat:"mean"`
	StdDev      foreign.Number            `json:"stddev" stat:"stddev"`
	N           foreign.Number            `json:"N" stat:"n"`
	Percentiles map[string]foreign.Number `json:"percentile"` // "99.000000"
}

// fioAxes are the options that become parameters. All others, such as paths, times and output options, are left out.
var fioAxes = []string{
	"rw", "bsrange", "bssplit", "blockalign", "ioengine", "iodepth", "iodepth_batch", "iodepth_batch_submit",
	"iodepth_batch_complete", "iodepth_batch_complete_min", "iodepth_batch_complete_max", "iodepth_low", "numjobs", "direct", "buffered",
	"size", "filesize", "io_size", "offset", "offset_increment", "nrfiles", "rwmixread", "rwmixwrite", "percentage_random",
	"random_distribution", "norandommap", "randrepeat", "fsync", "fdatasync", "sync", "end_fsync", "thread", "rate", "rate_iops", "thinktime",
	"hipri", "fixedbufs", "registerfiles", "sqthread_poll", "nonvectored", "cmd_type", "io_submit_mode", "invalidate", "refill_buffers",
	"buffer_compress_percentage", "dedupe_percentage", "verify", "mem", "iomem", "hugepage-size", "cpus_allowed", "numa_cpu_nodes",
	"numa_mem_policy", "loops", "number_ios", "latency_target", "zonemode", "zonesize",
}

// fioOther are alternative names of options.
var fioOther = map[string]string{"readwrite": "rw", "blocksize": "bs", "ba": "blockalign", "io_limit": "io_size", "odirect": "direct", "nr_files": "nrfiles"}

// axes sets the options of a job: its own, and the global ones.
func (f *fioReader) axes(r *schema.Run, own map[string]foreign.Text) {
	for _, options := range []map[string]foreign.Text{f.global, own} {
		for _, name := range slices.Sorted(maps.Keys(options)) {
			text := string(options[name])
			if to, ok := fioOther[name]; ok {
				name = to
			}
			switch {
			case name == "filename" && strings.HasPrefix(text, "/dev/"): // a device is no path of a user
				foreign.SetParam(r, name, text)
			case name == "bs": // in other formats it is a batch size
				foreign.SetParam(r, "block_size", strings.ToLower(text))
			case name == "size":
				foreign.SetParam(r, name, strings.ToLower(text))
			case slices.Contains(fioAxes, name):
				foreign.SetParam(r, name, text)
			}
		}
	}
}

// fioDirections are the names of the sections of a job.
var fioDirections = []string{"read", "write", "trim", "sync"}

func (job *fioJob) sections() []*fioSection {
	return []*fioSection{job.Read, job.Write, job.Trim, job.Sync}
}

// runs returns the runs of a job, and how much it has done.
func (job *fioJob) runs(f *fioReader, start time.Time) (runs []schema.Run, total float64) {
	base := func() schema.Run {
		r := schema.Run{Benchmark: "fio"}
		if job.Name != "" {
			r.Benchmark = "fio/" + job.Name
		}
		r.Env.Hostname, r.Env.Machine = job.Host, job.Host
		f.axes(&r, job.Options)
		foreign.SetStart(&r, start, schema.TimeFile)
		if code := job.Error.Int64(); code != nil && *code != 0 {
			r.Status, r.Error = schema.StatusError, fmt.Sprintf("error %d", *code)
		}
		return r
	}
	for i, section := range job.sections() {
		if section == nil || !section.used() {
			continue
		}
		r := base()
		foreign.SetParam(&r, "direction", fioDirections[i])
		if r.Status == "" || fioValueOf(section.Bytes) > 0 || fioValueOf(section.IOPS) > 0 { // otherwise it failed at once
			section.fill(&r)
		}
		addValue(&r, measure{"usr_cpu", lower}, job.UserCPU, "%")
		addValue(&r, measure{"sys_cpu", lower}, job.SysCPU, "%")
		runs = append(runs, r)
		total += fioValueOf(section.Bytes) + fioValueOf(section.Total)
	}
	if r := base(); len(runs) == 0 && r.Status != "" {
		runs = append(runs, r)
	}
	return runs, total
}

// used reports whether a job did anything in a direction.
func (s *fioSection) used() bool {
	return fioValueOf(s.Bytes)+fioValueOf(s.Total)+fioValueOf(s.IOPS) > 0
}

func fioValueOf(n foreign.Number) float64 {
	if v := n.Finite(""); v != nil {
		return *v
	}
	return 0
}

// fill adds the metrics of a direction to a run.
func (s *fioSection) fill(r *schema.Run) {
	if ns := nanoseconds(s.Runtime, "ms"); ns != nil {
		r.Stages.Measure = ns
	}
	addValue(r, measure{"iops", higher}, s.IOPS, "1/s")
	if s.BWBytes.Finite("B/s") != nil {
		addValue(r, measure{"bandwidth", higher}, s.BWBytes, "B/s")
	} else {
		addValue(r, measure{"bandwidth", higher}, s.BW, "KiB/s")
	}
	for _, l := range []struct {
		name string
		ns   *fioLatency
		us   *fioLatency
	}{{"latency", s.LatNS, s.Lat}, {"clat", s.CLatNS, s.CLat}, {"slat", s.SLatNS, s.SLat}} {
		if l.ns != nil {
			l.ns.add(r, l.name, "ns")
		} else if l.us != nil {
			l.us.add(r, l.name, "us")
		}
	}
	s.intervals(r)
}

// intervals adds fio's aggregates of the rates, which it samples twice a second.
func (s *fioSection) intervals(r *schema.Run) {
	add := func(name, unit string, a aggregates) {
		m := foreign.Aggregate(name, unit, summaryOf(a, unit))
		m.Better, m.Level = schema.BetterHigher, schema.LevelInterval
		foreign.Add(r, m, unit)
	}
	if n := s.IOSamples.Int64(); n != nil && *n > 0 {
		add("iops_interval", "1/s", aggregates{Count: s.IOSamples, Min: s.IOMin, Max: s.IOMax, Avg: s.IOMean, Std: s.IODev})
	}
	if n := s.BWSamples.Int64(); s.BWMean != "" && (n == nil && fioValueOf(s.BWMean) > 0 || n != nil && *n > 0) {
		add("bandwidth_interval", "KiB/s", aggregates{Count: s.BWSamples, Min: s.BWMin, Max: s.BWMax, Avg: s.BWMean, Std: s.BWDev})
	}
}

// add adds a latency: of an I/O from its submission (latency), of its completion (clat), of its submission (slat).
func (l *fioLatency) add(r *schema.Run, name, unit string) {
	s := summaryOf(*l, unit)
	if l.Mean == "" || s.N != nil && *s.N == 0 || fioValueOf(l.Mean) == 0 && fioValueOf(l.Max) == 0 {
		return
	}
	for text, value := range l.Percentiles {
		if p := foreign.Number(text).Float64(); p != nil {
			setStatistic(&s, fmt.Sprintf("p%g", *p), value, unit)
		}
	}
	addAggregates(r, measure{name, lower}, s, unit)
}

var fioOpening = regexp.MustCompile(`(?m)^\{\s*$`)

// fioJSON reads the JSON of a file. fio writes each report from a line that is { to a line that is }. Text before,
// between and after the reports is skipped.
func fioJSON(in *foreign.Input) (*foreign.JSON, error) {
	if !in.Head.Matches(fioOpening) {
		return in.JSON(), nil
	}
	reports, err := foreign.FromReader(&fioReports{lines: bufio.NewReaderSize(in.Text(), 64<<10), begins: true}, in.Name, in.Location)
	if err != nil {
		return nil, err
	}
	return reports.JSON(), nil
}

// fioReports passes on the lines from { to }.
type fioReports struct {
	lines  *bufio.Reader
	begins bool // the next byte begins a line
	inside bool
	ready  []byte
}

func (f *fioReports) Read(p []byte) (int, error) {
	for len(f.ready) == 0 {
		line, err := f.lines.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			return 0, err
		}
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			return 0, err
		}
		f.pass(line)
	}
	n := copy(p, f.ready)
	f.ready = f.ready[n:]
	return n, nil
}

// pass passes on a line, or a part of a long line.
func (f *fioReports) pass(line []byte) {
	text := bytes.TrimRight(line, " \r\n")
	if f.begins && string(text) == "{" {
		f.inside = true
	}
	if f.inside {
		f.ready = line
	}
	if f.begins && string(text) == "}" {
		f.inside = false
	}
	f.begins = bytes.HasSuffix(line, []byte("\n"))
}
