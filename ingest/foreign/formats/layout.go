package formats

import (
	"fmt"
	"time"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/jsontext"
)

// layoutRun is the member neurolens of results that NeuroLens wrote in the layout of a harness. It has the values of the
// run for which the harness has no member, or another meaning.
type layoutRun struct {
	RunID     string `json:"run_id"`
	Purpose   string `json:"purpose"`
	StartedAt string `json:"started_at"`
	Machine   string `json:"machine"`
	Status    string `json:"status"`
	Stage     string `json:"stage"`
	ErrorKind string `json:"error_kind"`
	Error     string `json:"error"`
	ExitCode  *int64 `json:"exit_code"`
	Signal    string `json:"signal"`
	Suite     string `json:"suite"`
	Commit    string `json:"commit"`
	Repeat    *int64 `json:"repeat"`

	Tags     map[string]foreign.Text `json:"tags"`
	Warnings []string                `json:"warnings"`

	Point   schema.Point      `json:"point"`
	Clock   string            `json:"clock"`
	Level   string            `json:"level"`
	Better  string            `json:"better"`
	Metrics map[string]string `json:"metrics"`
	Raw     jsontext.Value    `json:"raw_times_ms"`
	Primary string            `json:"primary"`
	Values  []layoutValue     `json:"values"`
}

// layoutValue is a metric of the run.
type layoutValue struct {
	Metric string         `json:"metric"`
	Unit   string         `json:"unit"`
	Better string         `json:"better"`
	Clock  string         `json:"clock"`
	Level  string         `json:"level"`
	N      *int64         `json:"n"`
	Mean   bool           `json:"mean"`
	Value  foreign.Number `json:"value"`
}

// known returns l, or nil if it names no run or no benchmark: then another program wrote it.
func (l *layoutRun) known() *layoutRun {
	if l == nil || l.RunID == "" || l.Point.Benchmark == "" {
		return nil
	}
	return l
}

// identify sets the point, the start and the outcome of a run. l is nil for files that a harness wrote.
func (l *layoutRun) identify(r *schema.Run) {
	if l == nil {
		return
	}
	l.Point.Set(r)
	r.Suite = l.Suite
	r.Purpose, r.Status, r.Stage = schema.Purpose(l.Purpose), schema.Status(l.Status), schema.Stage(l.Stage)
	r.ErrorKind, r.Error, r.ExitCode, r.Signal = l.ErrorKind, l.Error, l.ExitCode, l.Signal
	r.RepeatIndex, r.Warnings = l.Repeat, l.Warnings
	setTags(r, l.Tags)
	if l.Commit != "" && l.Commit != r.Env.GitCommit { // the file describes another commit
		r.Env.GitCommit, r.Env.GitBranch, r.Env.GitDirty = l.Commit, "", nil
	}
	if l.Machine != "" { // files of earlier versions may name it elsewhere
		r.Env.Machine = l.Machine
	}
	r.StartedAt, r.TimeSource = time.Time{}, ""
	if at, err := time.Parse(time.RFC3339Nano, l.StartedAt); err == nil {
		foreign.SetStart(r, at, schema.TimeFile)
	}
	foreign.SetFact(r, "source.run_id", l.RunID)
}

// metric returns the metric in a member of the harness. usual is the one that the harness measures.
func (l *layoutRun) metric(member, usual string) string {
	if l != nil && l.Metrics[member] != "" {
		return l.Metrics[member]
	}
	return usual
}

// shown reports whether a member of the harness has a metric that is only there, and not computed from others.
func (l *layoutRun) shown(member string) bool { return l == nil || l.Metrics[member] == "" }

// times returns the samples that no member of the harness has; empty if a harness wrote the file.
func (l *layoutRun) times() (foreign.Series, error) {
	if l == nil || l.Raw.Kind() != jsontext.KindBeginArray {
		return foreign.Series{}, nil
	}
	return foreign.ReadSeries(l.Raw, "ms")
}

// timing sets how the times of a run were measured.
func (l *layoutRun) timing(m *schema.Metric) {
	if l != nil {
		m.Clock, m.Level = l.Clock, schema.Level(l.Level)
		if l.Better != "" {
			m.Better = schema.Better(l.Better)
		}
	}
}

// values sets the metrics of the run, also those that a member of the harness has in another form, and the primary one.
func (l *layoutRun) values(r *schema.Run) {
	if l == nil {
		return
	}
	for _, v := range l.Values {
		s, err := foreign.SeriesOf([]foreign.Number{v.Value}, "")
		if err != nil || v.Metric == "" || v.N != nil && *v.N < 1 {
			continue
		}
		m := s.Metric(v.Metric, schema.Level(v.Level))
		if v.N == nil || *v.N != 1 {
			m = schema.Metric{Name: v.Metric, Level: m.Level, Summary: schema.Summary{N: v.N, P50: v.Value.Float64()}}
			if v.Mean {
				m.Summary.P50, m.Summary.Mean = nil, m.Summary.P50
			}
		}
		m.Unit, m.Better, m.Clock = v.Unit, schema.Better(v.Better), v.Clock
		if shown := r.Metric(v.Metric); shown != nil {
			*shown = m
			continue
		}
		r.Metrics = append(r.Metrics, m)
	}
	if r.Metric(l.Primary) != nil {
		r.Primary = l.Primary
	}
}

// time sets the name and the samples of the time. The member of the harness has only their mean.
func (l *layoutRun) time(r *schema.Run, member string) error {
	m := r.Metric(schema.PrimaryMetric)
	if m == nil {
		return nil
	}
	s, err := l.times()
	if err != nil {
		return fmt.Errorf("reading raw_times_ms: %w", err)
	}
	if s.Len() > 0 {
		*m = s.Metric(m.Name, m.Level)
	}
	m.Name = l.metric(member, schema.PrimaryMetric)
	l.timing(m)
	return nil
}
