package formats

import (
	"slices"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// fio reads the JSON of fio 2 and 3, also with the text that fio prints around it.
func fio() foreign.Format {
	return foreign.Format{
		Name: "fio", About: "fio --output-format=json, json+ or normal,json",
		Level: "a run is one job and one direction: read, write, trim or sync; the files have only aggregates",
		Recognize: func(h *foreign.Head) bool {
			return h.Has("fio version") && h.HasAny("jobs", "client_stats")
		},
		Read: readFIO,
	}
}

// fioReader reads the reports of a file. There is more than one with --status-interval, or if files were concatenated.
type fioReader struct {
	out     *foreign.Output
	version string
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
	ran     time.Duration // if start is the end, because the report says neither when the job began nor how much time has elapsed
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
	return f.out.RefuseMismatch(j.Members(func(name string) error {
		switch name {
		case "fio version":
			var version foreign.Text
			err := j.Decode(&version)
			f.version = string(version)
			f.out.Version(f.version)
			return err
		case "timestamp", "timestamp_ms":
			var at foreign.Number
			err := f.out.RefuseMismatch(j.Decode(&at))
			if n := at.Int64(); n != nil && name == "timestamp" && f.ended.IsZero() {
				f.ended = time.Unix(*n, 0)
			} else if n != nil && name == "timestamp_ms" {
				f.ended = time.UnixMilli(*n)
			}
			return err
		case "global options":
			return f.out.RefuseMismatch(j.Decode(&f.global))
		case "jobs", "client_stats":
			return f.out.RefuseMismatch(j.Elements(func(int) error { return f.job(j) }))
		}
		return j.Skip()
	}))
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
		if job.Elapsed == "" {
			p.ran = job.ran()
		}
	}
	p.runs, p.total = job.runs(f, p.start)
	for i := range p.runs {
		foreign.SetFact(&p.runs[i], foreign.FactVersion, f.version)
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
