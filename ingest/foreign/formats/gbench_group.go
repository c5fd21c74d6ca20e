package formats

import (
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
)

// gbenchGroup collects the consecutive rows of a benchmark: its repetitions, then their aggregates.
type gbenchGroup struct {
	context *gbenchContext
	in      *foreign.Input
	out     *foreign.Output

	gbenchRun
}

// gbenchRun is what the rows of a benchmark give.
type gbenchRun struct {
	first   *gbenchRow
	last    *gbenchRow // but for its values
	metrics []gbenchMetric
	label   string
	status  schema.Status
	message string
}

// gbenchMetric is what the rows have of a metric.
type gbenchMetric struct {
	gbenchValue
	numbers    []foreign.Number
	iterations []int64
	summary    schema.Summary
}

// add takes a row. The first one of another benchmark yields the run of the one before.
func (g *gbenchGroup) add(row *gbenchRow) error {
	if row.isFit() {
		g.out.LeaveOut("complexity fits", 1)
		return nil
	}
	if g.first != nil && !g.goesOn(row) {
		if err := g.flush(); err != nil {
			return err
		}
	}
	if row.aggregate != "" && g.first != nil && g.first.aggregate == "" {
		g.out.LeaveOut("aggregates of repetitions", 1)
		return nil
	}
	if row.aggregate != "" && !known(row.aggregate) {
		g.out.LeaveOut("aggregates without a column: "+row.aggregate, 1)
		return nil
	}
	if g.first == nil {
		g.first = row
	}
	g.last = row
	g.setOutcome(row)
	for _, v := range row.values {
		g.metric(v).add(v, row)
	}
	return nil
}

// setOutcome reads from a row how it ended, and its label.
func (b *gbenchRun) setOutcome(row *gbenchRow) {
	if label := string(row.text["label"]); label != "" {
		b.label = label
	}
	switch {
	case row.text["error_occurred"] == "true":
		b.status, b.message = schema.StatusError, string(row.text["error_message"])
	case row.text["skipped"] == "true" && b.status == "":
		b.status, b.message = schema.StatusSkipped, string(row.text["skip_message"])
	}
}

// goesOn reports whether a row belongs to the same benchmark as the rows before.
func (g *gbenchGroup) goesOn(row *gbenchRow) bool {
	if row.key != g.last.key || row.aggregate == "" && g.last.aggregate != "" {
		return false
	}
	return row.index == nil || g.last.index == nil || *row.index > *g.last.index
}

// metric is the metric of a value; a new one where the rows had none yet.
func (g *gbenchGroup) metric(v gbenchValue) *gbenchMetric {
	for i := range g.metrics {
		if g.metrics[i].metric == v.metric {
			return &g.metrics[i]
		}
	}
	g.metrics = append(g.metrics, gbenchMetric{gbenchValue: v})
	return &g.metrics[len(g.metrics)-1]
}

func (m *gbenchMetric) add(v gbenchValue, row *gbenchRow) {
	if row.aggregate == "" {
		m.numbers = append(m.numbers, v.number)
		if row.iterations != nil && *row.iterations > 0 {
			m.iterations = append(m.iterations, *row.iterations)
		}
		return
	}
	if column := aggregateColumn(&m.summary, row.aggregate); column != nil {
		*column = v.number.Finite(v.unit)
		m.summary.N = row.iterations // of an aggregate: repetitions
	}
}

// aggregateColumn is where a summary has the aggregate of a name; nil if it has none.
func aggregateColumn(s *schema.Summary, name string) **float64 {
	switch name {
	case "mean":
		return &s.Mean
	case "median", "p50":
		return &s.P50
	case "stddev":
		return &s.StdDev
	case "min":
		return &s.Min
	case "max":
		return &s.Max
	case "p90":
		return &s.P90
	case "p95":
		return &s.P95
	case "p99":
		return &s.P99
	}
	return nil
}

// known reports whether a summary has the aggregate of a name.
func known(aggregate string) bool { return aggregateColumn(&schema.Summary{}, aggregate) != nil }

// flush yields the run of the rows, and forgets them.
func (g *gbenchGroup) flush() error {
	b := g.gbenchRun
	g.gbenchRun = gbenchRun{}
	if b.first == nil {
		return nil
	}
	r := g.context.run(g.in)
	g.context.setName(&r, b.first.key.name)
	if threads := b.first.key.threads; threads != "" && threads != "1" && r.Params["threads"] == "" {
		foreign.SetParam(&r, "threads", threads)
	}
	if b.label != "" {
		r.Tags = map[string]string{"label": b.label}
	}
	if r.Status, r.Error = b.status, b.message; b.status == schema.StatusError {
		r.Stage = schema.StageMeasure
	}
	for i := range b.metrics {
		m, err := b.metrics[i].made()
		if err != nil {
			g.out.Refuse(b.first.where, err)
			return nil
		}
		foreign.Add(&r, m, b.metrics[i].unit)
	}
	for _, fact := range g.context.own {
		g.out.Also(fact.name, fact.text)
	}
	return g.out.Run(b.first.where, r)
}

// made is the metric of the rows.
func (m *gbenchMetric) made() (schema.Metric, error) {
	if m.numbers == nil {
		made := foreign.Aggregate(m.metric, m.unit, m.summary)
		made.Better, made.Level = m.better, schema.LevelIteration
		return made, nil
	}
	series, err := foreign.SeriesOf(m.numbers, m.unit)
	if err != nil {
		return schema.Metric{}, err
	}
	made := series.Metric(m.metric, schema.LevelIteration)
	made.Better = m.better
	made.IterationsPerSample = iterationsOf(m.iterations, series.Len())
	return made, nil
}

// iterationsOf are the iterations of samples as a metric has them: one number where all are equal, nothing where one is
// missing.
func iterationsOf(iterations []int64, samples int) []int64 {
	if len(iterations) != samples || samples == 0 {
		return nil
	}
	for _, n := range iterations {
		if n != iterations[0] {
			return iterations
		}
	}
	return iterations[:1]
}
