package query

import (
	"context"
	"time"

	"github.com/neurolens/neurolens/query/answer"
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
	err := db.pages(ctx, lister{req: req, counts: true}, listedColumns, func(p part) error {
		runs, err := p.listed(ctx, req.Metrics)
		all = Listing{p.Found, append(all.Runs, runs...)}
		return err
	})
	if err != nil {
		return Listing{}, err
	}
	return all, nil
}

// Runs returns the matching runs with only the given columns filled in. If `metric` is among them, a run has its primary metric, with
// the summary and without samples; it has no other metrics.
func (db *DB) Runs(ctx context.Context, req ListRequest, columns ...string) ([]schema.Run, error) {
	var all []schema.Run
	err := db.pages(ctx, lister{req: req}, columns, func(p part) error {
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
	return db.pages(ctx, lister{req: req, counts: req.Count}, columns, func(p part) error {
		if len(req.Metrics) > 1 {
			p.Table = withMetrics(p.Table, req.Metrics, p.beside)
		}
		return page(p.Page)
	})
}
