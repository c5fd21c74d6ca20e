package compare

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/files"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/baseline"
)

// BaselineRequest selects the runs and metrics of a baseline.
type BaselineRequest struct {
	Filter  string
	Metrics []string // empty: the primary one of each run
}

// Baseline has the points of one session.
type Baseline struct {
	SessionID string
	Session   baseline.Session
	Points    []baseline.Point
}

// ReadBaseline makes points from the matching runs. It is an ErrInput if they cannot be a baseline; the message suggests a command that
// can.
func ReadBaseline(ctx context.Context, db *query.DB, req BaselineRequest) (*Baseline, error) {
	c := baselineRuns{req: req, byPlace: map[[2]string]*baselinePoint{}, sides: map[string]bool{}, sessions: map[string]string{}}
	if _, err := db.Whole(ctx, query.ListRequest{Filter: req.Filter}, c.add); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	b := Baseline{SessionID: c.newest(), Session: c.session()}
	for _, p := range c.points {
		one, err := p.toFile(req.Metrics)
		if err != nil {
			return nil, err
		}
		b.Points = append(b.Points, one)
	}
	return &b, nil
}

// baselineRuns are the runs of a baseline, by point.
type baselineRuns struct {
	req            BaselineRequest
	points         []*baselinePoint
	byPlace        map[[2]string]*baselinePoint
	sessions       map[string]string // by id: the session that each continues; empty: none
	sides          map[string]bool
	failed, all    int
	failure        *schema.Run // the first failed run
	requests       int         // number of ok runs in which more requests failed than are allowed
	warning        string      // the warning of one of those runs
	withoutMachine *schema.Run // the first run without a machine
}

// baselinePoint has the runs of a point on a machine.
type baselinePoint struct{ runs []schema.Run }

// add adds a run. Skipped and unsupported runs have no value, but are not failures.
func (c *baselineRuns) add(r schema.Run) error {
	if r.Purpose != schema.PurposeMeasure {
		return nil
	}
	c.all++
	c.sessions[r.SessionID], c.sides[r.Side] = r.Resumes, true
	if r.Env.Machine == "" && c.withoutMachine == nil {
		c.withoutMachine = &r
	}
	switch {
	case r.Status.Failed():
		if c.failed++; c.failure == nil {
			c.failure = &r
		}
		return nil
	case r.Status != schema.StatusOK:
		return nil
	}
	for _, warning := range r.Warnings {
		if _, is := schema.FailedRequests(warning); is {
			c.requests++
			c.warning = warning
			return nil
		}
	}
	for i := range r.Metrics { // the samples are not needed
		r.Metrics[i].Ticks, r.Metrics[i].Reals = nil, nil
	}
	place := [2]string{r.PointID, r.Env.Machine}
	p := c.byPlace[place]
	if p == nil {
		p = &baselinePoint{}
		c.byPlace[place], c.points = p, append(c.points, p)
	}
	p.runs = append(p.runs, r)
	return nil
}

// check rejects runs that cannot be a baseline.
func (c *baselineRuns) check() error {
	switch {
	case c.all == 0:
		return answer.InputError("bless: no run matches %q", answer.Brief(c.req.Filter))
	case c.hasSessionless():
		return answer.InputError("bless: some of %d runs have no session, and a baseline is made from one session", c.all)
	case !c.continued():
		return answer.InputError("bless: the runs are from %d sessions, and a baseline is made from one: session=%s is the newest", len(c.sessions), c.newest())
	case c.sides["base"] && c.sides["head"]:
		return answer.InputError("bless: the session has two sides: choose one, for example side=head")
	case c.failed > 0:
		why := cmp.Or(strings.SplitN(c.failure.Error, "\n", 2)[0], c.failure.ErrorKind, string(c.failure.Status))
		return answer.InputError("bless: %d of %d runs failed or have a wrong result (%s: %s): repeat them with bench --rerun failed, or leave the point out",
			c.failed, c.all, answer.Brief(c.failure.Benchmark), answer.Brief(why))
	case c.requests > 0:
		return requestsFailed(c.requests, c.all, c.warning)
	case c.withoutMachine != nil:
		return answer.InputError("bless: run %s has no machine, so nothing can be compared with it: import it with ingest --machine NAME", c.withoutMachine.RunID)
	case len(c.points) == 0:
		return answer.InputError("bless: none of %d runs is ok", c.all)
	}
	return nil
}

// hasSessionless reports whether runs have no session.
func (c *baselineRuns) hasSessionless() bool { _, some := c.sessions[""]; return some }

// newest returns the id of the newest session.
func (c *baselineRuns) newest() string { return slices.Max(slices.Collect(maps.Keys(c.sessions))) }

// continued reports whether the newest session has continued all others, directly or not.
func (c *baselineRuns) continued() bool {
	n := 0
	for id := c.newest(); n < len(c.sessions); id, n = c.sessions[id], n+1 {
		if _, blessed := c.sessions[id]; !blessed {
			return false
		}
	}
	return true
}

// session has the properties that all runs share.
func (c *baselineRuns) session() baseline.Session {
	first := &c.points[0].runs[0]
	s := baseline.Session{
		Began: first.StartedAt, Suite: first.Suite, Commit: first.Env.GitCommit, Branch: first.Env.GitBranch, Dirty: first.Env.GitDirty, Versions: baseline.VersionsOf(first),
	}
	for _, p := range c.points {
		for i := range p.runs {
			r := &p.runs[i]
			if r.StartedAt.Before(s.Began) {
				s.Began = r.StartedAt
			}
			if r.Suite != s.Suite {
				s.Suite = ""
			}
			if r.Env.GitCommit != s.Commit {
				s.Commit, s.Branch, s.Dirty = "", "", nil
			}
			if s.Dirty != nil && (r.Env.GitDirty == nil || *r.Env.GitDirty != *s.Dirty) {
				s.Dirty = nil
			}
			own := baseline.VersionsOf(r)
			maps.DeleteFunc(s.Versions, func(name, version string) bool { return own[name] != version })
		}
	}
	return s
}

// toFile returns the point in the form of a file.
func (p *baselinePoint) toFile(asked []string) (baseline.Point, error) {
	slices.SortStableFunc(p.runs, func(a, b schema.Run) int { return cmp.Compare(a.RunID, b.RunID) })
	first := &p.runs[0]
	out := baseline.Point{
		ID: first.PointID, Machine: first.Env.Machine, Session: first.SessionID, Point: schema.PointOf(first),
	}
	for i := range p.runs {
		out.Warnings = append(out.Warnings, p.runs[i].Warnings...)
	}
	slices.Sort(out.Warnings)
	out.Warnings = slices.Compact(out.Warnings)
	names := asked
	if len(names) == 0 {
		names = []string{first.Primary}
	}
	for _, name := range names {
		m, has, err := p.metric(name)
		if err != nil {
			return out, err
		}
		if has {
			out.Metrics = append(out.Metrics, m)
		}
	}
	if len(out.Metrics) == 0 {
		return out, answer.InputError("bless: no run of %s has the metric %s", answer.Brief(first.Benchmark), answer.Brief(strings.Join(names, ", ")))
	}
	return out, nil
}

// metric returns a metric over all runs of the point; has is false if no run has it.
func (p *baselinePoint) metric(name string) (m baseline.Metric, has bool, err error) {
	for i := range p.runs {
		r := &p.runs[i]
		of := r.Metric(name)
		if of == nil {
			continue
		}
		kind := baseline.Metric{Name: of.Name, Unit: of.Unit, Better: of.Better, Clock: of.Clock, Level: of.Level}
		if len(m.Runs) > 0 && (kind.Unit != m.Unit || kind.Better != m.Better || kind.Clock != m.Clock || kind.Level != m.Level) {
			return m, false, answer.InputError("bless: runs of %s measured %s in different ways: unit, direction, clock or level differ", answer.Brief(r.Benchmark), name)
		}
		location := scan.ValueOfMetric(of)
		if math.IsNaN(location) || math.IsInf(location, 0) {
			return m, false, answer.InputError("bless: run %s of %s has no value of %s: leave the run out", r.RunID, answer.Brief(r.Benchmark), name)
		}
		kind.Runs, kind.Samples = append(m.Runs, location), append(m.Samples, 0)
		if of.Summary.N != nil {
			kind.Samples[len(kind.Samples)-1] = *of.Summary.N
		}
		m = kind
	}
	if n := len(m.Runs); n > 0 && n < len(p.runs) {
		return m, false, answer.InputError("bless: %d of %d runs of %s have the metric %s: want all or none", n, len(p.runs), answer.Brief(p.runs[0].Benchmark), name)
	}
	return m, len(m.Runs) > 0, nil
}

// CheckRequests returns an ErrInput if more requests failed than are allowed in an ok run that a filter selects for a baseline with a
// name. The values of such a run cover only the completed requests. ReadBaseline rejects it for a baseline in a file.
func CheckRequests(ctx context.Context, db *query.DB, filter string) error {
	all, requests, warning := 0, 0, ""
	err := db.Pages(ctx, query.ListRequest{Filter: filter}, []string{"status", "warnings"}, func(page query.Page) error {
		for _, row := range page.Rows {
			all++
			if row[0] != string(schema.StatusOK) {
				continue
			}
			warnings, _ := row[1].([]any)
			for _, w := range warnings {
				text, _ := w.(string)
				if _, is := schema.FailedRequests(text); is {
					requests, warning = requests+1, text
					break
				}
			}
		}
		return nil
	})
	if err != nil || requests == 0 {
		return err
	}
	return requestsFailed(requests, all, warning)
}

// requestsFailed returns the error of a baseline with runs in which requests failed. warning is the warning of one of these runs.
func requestsFailed(requests, all int, warning string) error {
	return answer.InputError("bless: in %d of %d runs requests failed (%s): measure them again, or leave the point out", requests, all, answer.Brief(warning))
}

// machineInName is the placeholder for the machine in the name of a file.
const machineInName = "{machine}"

// BaselineWritten describes what Write did.
type BaselineWritten struct {
	File     string
	Session  string
	Points   int // points that were written
	Replaced int // of these, points that the file had before
	Kept     int // other points in the file
	Few      int // written points with fewer runs than a gate needs
}

// Write writes the points to a baseline file. Points that the file already has are replaced; others are kept. {machine} in its name
// stands for the machine. It is an ErrInput if the file exists and is not a baseline. The file is replaced as a whole or not at all.
func (b *Baseline) Write(path string) (BaselineWritten, error) {
	w := BaselineWritten{File: path, Session: b.SessionID, Points: len(b.Points)}
	if strings.Contains(path, machineInName) {
		machine := b.Points[0].Machine
		if slices.ContainsFunc(b.Points, func(p baseline.Point) bool { return p.Machine != machine }) {
			return w, answer.InputError("bless: the runs are from several machines, and the file name contains %s: add machine=NAME to the filter", machineInName)
		}
		w.File = strings.ReplaceAll(path, machineInName, strings.ReplaceAll(machine, "/", "_"))
	}
	var d baseline.Document
	switch text, err := os.ReadFile(w.File); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return w, answer.InputError("bless: %v", err)
	default:
		there, err := baseline.Decode(text)
		if err != nil {
			return w, answer.InputError("bless: %s is not a baseline file and is not replaced: %v", w.File, err)
		}
		d = *there
	}
	w.Replaced = d.Replace(b.SessionID, b.Session, b.Points)
	w.Kept = len(d.Points) - len(b.Points)
	for _, p := range b.Points {
		if len(p.Metrics[0].Runs) < judge.FirmRuns {
			w.Few++
		}
	}
	text, err := baseline.Encode(&d)
	if err != nil {
		return w, err
	}
	err = files.Replace(w.File, text)
	if folder := filepath.Dir(w.File); errors.Is(err, fs.ErrNotExist) {
		err = answer.InputError("writing %s: there is no folder %s", answer.Brief(w.File), answer.Brief(folder))
	}
	return w, err
}

// BaselineFields returns the columns of BaselineWritten.
func BaselineFields() []answer.Field[BaselineWritten] {
	column := answer.NewField[BaselineWritten]
	return []answer.Field[BaselineWritten]{
		column("file", answer.TypeText, "the file", func(w *BaselineWritten) any { return w.File }),
		column("session", answer.TypeText, "session of the points", func(w *BaselineWritten) any { return w.Session }),
		column("points", answer.TypeInteger, "number of points that were written", func(w *BaselineWritten) any { return int64(w.Points) }),
		column("replaced", answer.TypeInteger, "number of written points that the file had before", func(w *BaselineWritten) any { return int64(w.Replaced) }),
		column("kept", answer.TypeInteger, "number of other points in the file", func(w *BaselineWritten) any { return int64(w.Kept) }),
		column("few_runs", answer.TypeInteger, "number of written points with fewer runs than a gate needs", func(w *BaselineWritten) any { return int64(w.Few) }),
	}
}
