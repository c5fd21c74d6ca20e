package query

import (
	"context"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/stored"
	"github.com/neurolens/neurolens/schema"
)

// ListRequest says which runs are listed, and in which order.
type ListRequest struct {
	Filter string    // in the filter language; empty matches every run
	Since  time.Time // runs that started at or after; the zero time is no bound
	Until  time.Time // runs that started before; the zero time is no bound
	Sort   []string  // keys as in a filter (columns, param.k ...), "-p99" for descending; NULL last; nil is newest first
	Limit  int       // at most so many rows; 0 is no limit
	Count  bool      // of Pages: Total is wanted, where there is a Limit
	// Metrics are those whose values are wanted, each once; nil is the primary one of each run. Of one, the columns that sum
	// samples up, also in Filter and Sort, are of it, NULL of runs without it. Of several, each has columns of its own behind the others, which are
	// of the primary one: metric.NAME, the median or, where none is known, the mean, and metric.NAME.unit.
	Metrics []string
}

// Found is what is known of all runs that match.
type Found struct {
	Total int // runs that match, before Limit; 0 of Pages with a Limit, unless they Count
	// NotNumbers are, by key of the filter, values that an ordering could not use, being no numbers: of runs that nothing
	// else in the filter leaves out.
	NotNumbers map[string]int
	Absent     Absent // of the runs of a page
}

// Listing is what List found.
type Listing struct {
	Found
	Runs []ListedRun
}

// Page is a part of what Pages found.
type Page struct {
	Found
	answer.Table
}

// List gives the runs that match, as listings show them. Bounds are cut to milliseconds; a run without a start time is
// within no bounds. Without filter, bounds and order Total counts from the names of files alone.
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

// Runs gives the runs that match, of which some columns of runs are read: what is in others is left empty. Of its metrics a run
// has the primary one alone, where `metric` is read, with its summary and without samples.
func (db *DB) Runs(ctx context.Context, req ListRequest, columns ...string) ([]schema.Run, error) {
	var all []schema.Run
	err := db.pages(ctx, lister{req: req, counts: true}, columns, func(p part) error {
		rows := stored.New(schema.Runs, p.columns)
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

// Pages gives columns of the runs that match, in the order wanted; nil is every column. It hands them over in pages, one
// after another, of which there is at least one, so that there may be any number. An error of page ends it and is returned.
func (db *DB) Pages(ctx context.Context, req ListRequest, columns []string, page func(Page) error) error {
	return db.pages(ctx, lister{req: req, counts: req.Count}, columns, func(p part) error {
		if len(req.Metrics) > 1 {
			p.Table = withMetrics(p.Table, req.Metrics, p.beside)
		}
		return page(p.Page)
	})
}
