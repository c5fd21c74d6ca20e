package query

import (
	"context"
	"slices"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// ListRequest selects the runs of a listing and their order.
type ListRequest struct {
	Filter string    // in the filter language; empty matches every run
	Since  time.Time // only runs that started at or after this time; the zero time: no bound
	Until  time.Time // only runs that started before this time; the zero time: no bound
	Sort   []string  // keys as in a filter (columns, param.k ...); "-p99" is descending; NULL last; nil: newest first
	Limit  int       // maximum number of rows; 0: no limit
	Count  bool      // for Pages: compute Total although there is a Limit
	// Metrics are the metrics to show, without repetition; nil: the primary one of each run. With one metric, the summary
	// columns, also those in Filter and Sort, are of that metric, and NULL for runs without it. With several, each has two extra
	// columns at the end: metric.NAME, which is the median or, if unknown, the mean, and metric.NAME.unit.
	Metrics []string
}

// Found describes all runs that match.
type Found struct {
	Total int // number of matching runs, before Limit; 0 for Pages with a Limit but without Count
	// NotNumbers is, per key of the filter, the number of values that < or > could not compare because they are not numbers, in
	// runs that match the rest of the filter.
	NotNumbers map[string]int
	Absent     Absent // of the runs of a page
}

// Listing is the result of List.
type Listing struct {
	Found
	Runs []ListedRun
}

// Page is a part of the result of Pages.
type Page struct {
	Found
	answer.Table
}

// List returns the matching runs, as listings show them. Bounds are truncated to milliseconds; a run without a start is never within
// bounds. Without filter, bounds and order, Total is computed from the names of the files.
func (db *DB) List(ctx context.Context, req ListRequest) (Listing, error) {
	var all Listing
	err := db.ListPages(ctx, req, func(page Listing) error {
		all = Listing{page.Found, append(all.Runs, page.Runs...)}
		return nil
	})
	if err != nil {
		return Listing{}, err
	}
	return all, nil
}

// ListPages is List for listings of any length: it calls page with one part after another, at least once. An error of page ends it and is
// returned.
func (db *DB) ListPages(ctx context.Context, req ListRequest, page func(Listing) error) error {
	return db.pages(ctx, runLister{req: req, counts: true}, listedColumns, func(p part) error {
		if err := p.nameRates(ctx, req.Metrics); err != nil {
			return err
		}
		return page(Listing{p.Found, p.listed()})
	})
}

// Runs returns the matching runs with only the given columns filled in. If `metric` is among them, a run has its primary metric, with
// the summary and without samples; it has no other metrics.
func (db *DB) Runs(ctx context.Context, req ListRequest, columns ...string) ([]schema.Run, error) {
	var all []schema.Run
	err := db.pages(ctx, runLister{req: req}, columns, func(p part) error {
		rows := scan.NewStoredRows(schema.Runs, p.columns)
		for _, row := range p.Rows {
			all = append(all, rows.Run(row))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Pages reads columns of the matching runs, in the requested order, and calls page with one part after another, at least once; nil: all
// columns. So the number of runs is not limited by memory. An error of page ends it and is returned.
func (db *DB) Pages(ctx context.Context, req ListRequest, columns []string, page func(Page) error) error {
	return db.pages(ctx, runLister{req: req, counts: req.Count}, columns, func(p part) error {
		if err := p.nameRates(ctx, req.Metrics); err != nil {
			return err
		}
		if len(req.Metrics) > 1 {
			p.Table = withMetrics(p.Table, req.Metrics, p.beside)
		}
		return page(p.Page)
	})
}

// Absent has the requested metrics that none of some runs has, and the metrics that these runs have instead.
type Absent struct{ Metrics, Others []string }

// And returns the metrics that neither these runs nor others have.
func (a Absent) And(other Absent) Absent {
	lacks := func(name string) bool { return !slices.Contains(other.Metrics, name) }
	others := append(slices.Clone(a.Others), other.Others...)
	slices.Sort(others)
	return Absent{slices.DeleteFunc(slices.Clone(a.Metrics), lacks), slices.Compact(others)}
}

// metricsOf adds the requested metrics to the runs of a page: a single metric replaces the primary one, several are added.
func metricsOf(ctx context.Context, metrics []string, p *part) error {
	if len(metrics) == 0 || len(p.ids) == 0 {
		return nil
	}
	s, err := sampled(ctx, p.reader, p.ids)
	if err != nil {
		return err
	}
	var found map[string]bool
	if len(metrics) == 1 {
		found, err = s.inPlace(ctx, &p.Table, p.ids, metrics[0])
	} else {
		p.beside, found, err = s.beside(ctx, p.ids, metrics)
	}
	if err != nil {
		return err
	}
	p.Absent, err = s.absent(ctx, metrics, found)
	return err
}

// samplesOf reads the rows of samples of some runs.
type samplesOf struct {
	reader *scan.Reader
	from   duck.Statement // the statement from FROM on
}

// sampled returns the rows of samples of the runs with these ids; there must be at least one.
func sampled(ctx context.Context, r *scan.Reader, ids []schema.ULID) (samplesOf, error) {
	some := &scan.Reader{Conn: r.Conn, Src: r.Src.Of(ids)}
	if err := some.CheckSamples(ctx); err != nil {
		return samplesOf{}, err
	}
	first, last := slices.MinFunc(ids, scan.CompareIDs).String(), slices.MaxFunc(ids, scan.CompareIDs).String()
	return samplesOf{some, duck.Statement{
		SQL: " FROM " + some.Src.Nested(schema.Samples, "run_id BETWEEN $1::VARCHAR AND $2::VARCHAR") +
			" SEMI JOIN (SELECT unnest($3::VARCHAR[]) AS run_id) USING (run_id)",
		Args: []any{first, last, scan.IDTexts(ids)},
	}}, nil
}

// table reads columns of the rows of some metrics.
func (s samplesOf) table(ctx context.Context, columns string, metrics []string) (answer.Table, error) {
	return s.reader.Conn.Table(ctx, duck.Statement{
		SQL:  "SELECT " + columns + s.from.SQL + " WHERE metric IN (SELECT unnest($4::VARCHAR[]))",
		Args: append(slices.Clone(s.from.Args), metrics),
	})
}

// absent returns the metrics that were not found and, if there are any, the metrics that the runs have.
func (s samplesOf) absent(ctx context.Context, metrics []string, found map[string]bool) (a Absent, err error) {
	for _, metric := range metrics {
		if !found[metric] {
			a.Metrics = append(a.Metrics, metric)
		}
	}
	if len(a.Metrics) == 0 {
		return a, nil
	}
	t, err := s.reader.Conn.Table(ctx, duck.Statement{SQL: "SELECT DISTINCT metric" + s.from.SQL + " ORDER BY metric", Args: s.from.Args})
	for _, row := range t.Rows {
		a.Others = append(a.Others, row[0].(string))
	}
	return a, err
}

// inPlace replaces the values of the primary metric in the rows of t, one row per id, by the values of another metric. found contains
// the metric if any run has it.
func (s samplesOf) inPlace(ctx context.Context, t *answer.Table, ids []schema.ULID, metric string) (found map[string]bool, err error) {
	var columns []*schema.Column
	for _, c := range t.Columns {
		if own, ok := schema.Samples.Column(c.Name); ok && c.Name != "run_id" {
			columns = append(columns, own)
		}
	}
	rows, err := s.table(ctx, scan.ColumnNames(scan.WithRunID(columns)), []string{metric})
	if err != nil {
		return nil, err
	}
	replaceRows(t, rows, ids, columns)
	return map[string]bool{metric: len(rows.Rows) > 0}, nil
}

// replaceRows replaces the values of columns by the values of other rows, matched by run; NULL for runs without another row.
func replaceRows(t *answer.Table, other answer.Table, ids []schema.ULID, columns []*schema.Column) {
	byID, runID := map[string][]any{}, other.Index("run_id")
	for _, row := range other.Rows {
		id, _ := row[runID].(string)
		byID[id] = row
	}
	for i, id := range ids {
		row := slices.Clone(t.Rows[i])
		for _, c := range columns {
			row[t.Index(c.Name)] = nil
			if found := byID[id.String()]; found != nil {
				row[t.Index(c.Name)] = found[other.Index(c.Name)]
			}
		}
		t.Rows[i] = row
	}
}

// RunMetric is the value of one of several requested metrics of a run.
type RunMetric struct {
	Unit  string   // empty if the run does not have the metric
	Value *float64 // median or, if unknown, mean
}

// beside reads several metrics: one row per id, in the order of the metrics. found has the metrics that at least one run has.
func (s samplesOf) beside(ctx context.Context, ids []schema.ULID, metrics []string) (all [][]RunMetric, found map[string]bool, err error) {
	t, err := s.table(ctx, "run_id, metric, unit, coalesce(p50, mean)", metrics)
	if err != nil {
		return nil, nil, err
	}
	places, found := make(map[string]int, len(ids)), map[string]bool{}
	all = make([][]RunMetric, len(ids))
	for i, id := range ids {
		places[id.String()], all[i] = i, make([]RunMetric, len(metrics))
	}
	for _, row := range t.Rows {
		id, _ := row[0].(string)
		metric, _ := row[1].(string)
		found[metric] = true
		own := &all[places[id]][slices.Index(metrics, metric)]
		own.Unit, _ = row[2].(string)
		if value, ok := row[3].(float64); ok {
			own.Value = &value
		}
	}
	return all, found, nil
}

// metricColumns returns the columns of one of several requested metrics: its value and its unit.
func metricColumns(metric string) []answer.Column {
	return []answer.Column{{Name: "metric." + metric, Type: answer.TypeReal}, {Name: "metric." + metric + ".unit", Type: answer.TypeText}}
}

// withMetrics returns a table with the columns of metrics added at the end.
func withMetrics(t answer.Table, metrics []string, beside [][]RunMetric) answer.Table {
	wide := answer.Table{Columns: slices.Clone(t.Columns), Rows: make([][]any, len(t.Rows))}
	for _, metric := range metrics {
		wide.Columns = append(wide.Columns, metricColumns(metric)...)
	}
	for i, row := range t.Rows {
		wide.Rows[i] = slices.Clone(row)
		for _, m := range beside[i] {
			wide.Rows[i] = append(wide.Rows[i], answer.Statistic(m.Value), answer.Text(m.Unit))
		}
	}
	return wide
}
