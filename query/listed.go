package query

import (
	"context"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// ListedRun is a run as listings show it. Unknown values are empty or nil. It is small, because there may be very many.
type ListedRun struct {
	RunID, Suite, Side string
	Session, Resumes   string // Resumes is the session that its session resumed
	Point
	Purpose      schema.Purpose
	Status       schema.Status
	Wrong        bool      // its result is wrong: see schema.IsWrong
	Error        string    // why it is not ok, as far as is known
	StartedAt    time.Time // the zero time: unknown
	Metric, Unit string
	Level        schema.Level // what a sample measures
	Samples      *int64
	Median, Mean *float64
	P99          *float64
	UnitInFile   string      // for a rate: its unit in the imported file, if that is a different one
	Metrics      []RunMetric // the requested metrics, if there are several
}

// listedColumns are the columns of runs that ListedRunOf needs, except env.
var listedColumns = []string{
	"run_id", "session_id", "resumes", "started_at", "side", "purpose", "suite", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params", "machine",
	"metric", "unit", "level", "n_samples", "mean", "p50", "p99", "status", "stage", "error_kind", "error",
}

// ListedRunOf converts a run, stored or not, to the form that listings show.
func ListedRunOf(r *schema.Run) ListedRun {
	l := ListedRun{
		RunID: r.RunID, Suite: r.Suite, Side: r.Side, Session: r.SessionID, Resumes: r.Resumes,
		Purpose: r.Purpose, Status: r.Status, Wrong: schema.IsWrong(r.Status, r.Stage, r.ErrorKind), Error: r.Error, StartedAt: r.StartedAt,
		Point: Point{
			Benchmark: r.Benchmark, Variant: r.Variant, Backend: r.Backend, Model: r.Model, Precision: r.Precision,
			BatchSize: r.BatchSize, SeqLen: r.SeqLen, Machine: r.Env.Machine, Params: r.Params,
		},
	}
	if m := r.Metric(r.Primary); m != nil {
		l.Metric, l.Unit, l.UnitInFile = m.Name, m.Unit, UnitInFile(r, m.Name)
		l.Level, l.Samples, l.Median, l.Mean, l.P99 = m.Level, m.Summary.N, m.Summary.P50, m.Summary.Mean, m.Summary.P99
	}
	return l
}

// UnitInFile returns the unit of a metric in the imported file of a run, if it is not the stored one; otherwise empty.
func UnitInFile(r *schema.Run, metric string) string { return r.Env.Facts["source.unit."+metric] }

// rateUnit is the stored unit of rates, whatever is counted. The imported file may say what it is.
const rateUnit = "1/s"

// listed converts the runs of a part that was read with listedColumns.
func (p *part) listed(ctx context.Context, metrics []string) ([]ListedRun, error) {
	rows := scan.NewStoredRows(schema.Runs, p.columns)
	all := make([]ListedRun, len(p.Rows))
	var rates []schema.ULID
	var places []int
	for i, row := range p.Rows {
		run := rows.Run(row)
		all[i] = ListedRunOf(&run)
		if p.beside != nil {
			all[i].Metrics = p.beside[i]
		}
		if all[i].hasRate() {
			rates, places = append(rates, p.ids[i]), append(places, i)
		}
	}
	if len(rates) == 0 {
		return all, nil
	}
	env := []*schema.Column{schema.RunColumn("env")}
	t, err := p.reader.Rows(ctx, rates, env)
	if err != nil {
		return nil, err
	}
	rows = scan.NewStoredRows(schema.Runs, env)
	for i, row := range t.Rows {
		run, listed := rows.Run(row), &all[places[i]]
		listed.UnitInFile = UnitInFile(&run, listed.Metric)
		for k := range listed.Metrics {
			listed.Metrics[k].UnitInFile = UnitInFile(&run, metrics[k])
		}
	}
	return all, nil
}

// hasRate reports whether any value is a rate.
func (l *ListedRun) hasRate() bool {
	return l.Unit == rateUnit || slices.ContainsFunc(l.Metrics, func(m RunMetric) bool { return m.Unit == rateUnit })
}
