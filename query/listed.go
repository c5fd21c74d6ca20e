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
		l.Metric, l.Unit = m.Name, m.Unit
		l.Level, l.Samples, l.Median, l.Mean, l.P99 = m.Level, m.Summary.N, m.Summary.P50, m.Summary.Mean, m.Summary.Shown().P99
	}
	return l
}

// UnitIn returns the unit in which a metric of a run is shown: the stored one or, for a rate of an imported file that says what it counts,
// that of the file, such as req/s.
func UnitIn(r *schema.Run, m *schema.Metric) string {
	return scan.RateUnit(m.Unit, r.Env.Facts[scan.UnitFact+m.Name])
}

// listed converts the runs of a part that was read with listedColumns.
func (p *part) listed() []ListedRun {
	rows := scan.NewStoredRows(schema.Runs, p.columns)
	all := make([]ListedRun, len(p.Rows))
	for i, row := range p.Rows {
		run := rows.Run(row)
		all[i] = ListedRunOf(&run)
		if p.beside != nil {
			all[i].Metrics = p.beside[i]
		}
	}
	return all
}

// nameRates replaces the stored unit of rates by that of the files from which the runs were imported, where these say what is counted.
func (p *part) nameRates(ctx context.Context, metrics []string) error {
	unit, metric := p.Index("unit"), p.Index("metric")
	var rates []schema.ULID
	var places []int
	for i := range p.Rows {
		if unit >= 0 && metric >= 0 && p.Rows[i][unit] == scan.Rate ||
			p.beside != nil && slices.ContainsFunc(p.beside[i], func(m RunMetric) bool { return m.Unit == scan.Rate }) {
			rates, places = append(rates, p.ids[i]), append(places, i)
		}
	}
	if len(rates) == 0 {
		return nil
	}
	env := []*schema.Column{schema.RunColumn("env")}
	t, err := p.reader.Rows(ctx, rates, env)
	if err != nil {
		return err
	}
	rows := scan.NewStoredRows(schema.Runs, env)
	for i, row := range t.Rows {
		facts, at := rows.Run(row).Env.Facts, places[i]
		if unit >= 0 && metric >= 0 && p.Rows[at][unit] == scan.Rate {
			name, _ := p.Rows[at][metric].(string)
			p.Rows[at] = slices.Clone(p.Rows[at])
			p.Rows[at][unit] = scan.RateUnit(scan.Rate, facts[scan.UnitFact+name])
		}
		if p.beside != nil {
			for k := range p.beside[at] {
				own := &p.beside[at][k]
				own.Unit = scan.RateUnit(own.Unit, facts[scan.UnitFact+metrics[k]])
			}
		}
	}
	return nil
}
