package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// Decode parses a baseline file. It is strict, so that a value that was changed by hand or left behind is noticed: an unknown key, a key
// or a point that appears twice, a point id that does not fit its fields, and a location that does not fit the runs are errors.
func Decode(text []byte) (*Document, error) {
	var once any
	if err := jsontext.UnmarshalOnce(text, &once); err != nil {
		return nil, err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	var d Document
	if err := in.Decode(&d); err != nil {
		return nil, err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected text after the document")
	}
	if d.Version != formVersion {
		return nil, fmt.Errorf("neurolens_baseline is %d, and this version reads %d", d.Version, formVersion)
	}
	seen := map[[2]string]bool{}
	for i := range d.Points {
		p := &d.Points[i]
		if err := p.check(d.Sessions); err != nil {
			return nil, fmt.Errorf("point %d (%s): %w", i+1, p.Benchmark, err)
		}
		place := [2]string{p.ID, p.Machine}
		if seen[place] {
			return nil, fmt.Errorf("point %d (%s) appears twice for machine %s", i+1, p.Benchmark, p.Machine)
		}
		seen[place] = true
	}
	return &d, nil
}

// check returns an error if a point is inconsistent.
func (p *Point) check(sessions map[string]Session) error {
	if _, known := sessions[p.Session]; !known {
		return fmt.Errorf("session %q is not among the sessions", p.Session)
	}
	if _, err := schema.ParseULID(p.Session); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	run := p.run()
	if id := schema.PointID(&run); id != p.ID {
		return fmt.Errorf("point is %q, but its fields give %s", p.ID, id)
	}
	switch {
	case p.Machine == "":
		return errors.New("machine is missing")
	case len(p.Metrics) == 0:
		return errors.New("it has no metric")
	}
	for i := range p.Metrics {
		if err := p.Metrics[i].check(len(p.Metrics[0].Runs)); err != nil {
			return fmt.Errorf("metric %s: %w", p.Metrics[i].Name, err)
		}
	}
	return nil
}

// alike is the relative difference that is allowed between a number and its computed value.
const alike = 1e-6

// check returns an error if a metric is inconsistent. runs is the number of runs of its point.
func (m *Metric) check(runs int) error {
	switch {
	case len(m.Runs) == 0 || len(m.Runs) != runs:
		return fmt.Errorf("it has %d runs, but the first metric has %d", len(m.Runs), runs)
	case len(m.Samples) != runs:
		return fmt.Errorf("samples has %d numbers for %d runs", len(m.Samples), runs)
	case slices.ContainsFunc(m.Samples, func(n int64) bool { return n < 0 }):
		return errors.New("a number of samples is negative")
	}
	stored := *m
	m.Summarize()
	same := slices.EqualFunc(append([]float64{stored.Location}, stored.Interval...), append([]float64{m.Location}, m.Interval...), func(a, b float64) bool {
		return math.Abs(a-b) <= alike*max(math.Abs(a), math.Abs(b))
	})
	if !same {
		return fmt.Errorf("its runs give location %.10g and interval %.10g, but the file says %.10g and %.10g; write it again with bless --to", m.Location, m.Interval, stored.Location, stored.Interval)
	}
	return nil
}

// run returns a run of the point, without its metrics.
func (p *Point) run() schema.Run {
	r := schema.Run{PointID: p.ID, Warnings: p.Warnings, Env: schema.Env{Machine: p.Machine}}
	p.Set(&r)
	return r
}

// RunsOf returns the runs of a point of the document. They have no samples, only the location of each metric.
func (d *Document) RunsOf(p *Point) []schema.Run {
	session := d.Sessions[p.Session]
	var runs []schema.Run
	for i := range p.Metrics[0].Runs {
		r := p.run()
		r.SessionID, r.Suite, r.RepeatIndex, r.StartedAt, r.TimeSource = p.Session, session.Suite, new(int64(i)), session.Began, schema.TimeFile
		r.Env.GitCommit, r.Env.GitBranch, r.Env.GitDirty = session.Commit, session.Branch, session.Dirty
		for column, at := range versions(&r) {
			*at = session.Versions[column]
		}
		for k := range p.Metrics {
			r.Metrics = append(r.Metrics, p.Metrics[k].of(i))
		}
		runs = append(runs, r)
	}
	return runs
}

// of returns the metric of a run.
func (m *Metric) of(i int) schema.Metric {
	one := schema.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Clock: m.Clock, Level: m.Level}
	one.Summary.P50 = new(m.Runs[i])
	if m.Samples[i] > 0 {
		one.Summary.N = new(m.Samples[i])
	}
	if schema.ScaleOf(m.Name) == schema.ScaleRatio && m.Runs[i] > 0 {
		one.Summary.LogMedian = new(math.Log(m.Runs[i]))
	}
	return one
}

// versions returns the columns of runs that a session names the versions of.
func versions(r *schema.Run) map[string]*string {
	return map[string]*string{
		"backend_version": &r.BackendVersion, "os_kernel": &r.Env.OSKernel, "driver_version": &r.Env.DriverVersion,
		"cuda_version": &r.Env.CUDAVersion, "python_version": &r.Env.PythonVersion,
	}
}

// VersionsOf returns the versions that a run names, by column.
func VersionsOf(r *schema.Run) map[string]string {
	stored := map[string]string{}
	for column, at := range versions(r) {
		if *at != "" {
			stored[column] = *at
		}
	}
	return stored
}
