package query

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// ListRequest says which runs List gives.
type ListRequest struct {
	Filter  string    // in the filter language; empty matches every run
	Since   time.Time // runs that started at or after; the zero time is no bound
	Until   time.Time // runs that started before; the zero time is no bound
	Columns []string  // of runs, in the order wanted; nil is every column
	Sort    []string  // keys as in a filter (columns, param.k ...), "-p99" for descending; NULL last; nil is newest first
	Limit   int       // at most so many rows; 0 is no limit
}

// Listing is what List found.
type Listing struct {
	Table
	Total      int            // runs that match, before Limit
	NotNumbers map[string]int // by key of the filter: values that an ordering could not use, being no numbers
}

// List gives the runs that match. Bounds are cut to milliseconds; a run without a start time is within no bounds.
func (db *DB) List(ctx context.Context, req ListRequest) (Listing, error) {
	columns, err := runColumns(req.Columns)
	if err != nil {
		return Listing{}, err
	}
	var listing Listing
	err = db.ask(ctx, func(c *conn, files []file) error {
		ch := &chooser{conn: c, all: files}
		found, err := ch.choose(ctx, question{filter: req.Filter, since: req.Since, until: req.Until, sort: req.Sort})
		if err != nil {
			return err
		}
		listing.Total, listing.NotNumbers = len(found.files), found.notNumbers
		if req.Limit > 0 && req.Limit < len(found.files) {
			found.files = found.files[:req.Limit]
		}
		listing.Table, err = c.rows(ctx, found.files, columns)
		return err
	})
	if err != nil {
		return Listing{}, err
	}
	return listing, nil
}

// runColumns finds columns of runs by name; nil is all of them.
func runColumns(names []string) ([]*schema.Column, error) {
	if names == nil {
		return schema.Runs.Columns, nil
	}
	columns := make([]*schema.Column, len(names))
	for i, name := range names {
		c, ok := schema.Runs.Column(name)
		if !ok {
			return nil, input("columns: runs has no column %q", brief(name))
		}
		columns[i] = c
	}
	return columns, nil
}

// rows reads columns of runs from files, a row a file in the order of the files.
func (c *conn) rows(ctx context.Context, files []file, columns []*schema.Column) (Table, error) {
	t, err := c.table(ctx, statement{text: "FROM " + scan(files, withRunID(columns), "")})
	if err != nil {
		return Table{}, err
	}
	byID := make(map[string][]any, len(files))
	runID := t.Index("run_id")
	for _, row := range t.Rows {
		if id, ok := row[runID].(string); ok {
			byID[id] = row
		}
	}
	if err := oneRowEach(int64(len(byID)), files); err != nil {
		return Table{}, err
	}
	out := Table{Rows: make([][]any, len(files))}
	for i, f := range files {
		row := byID[f.run.String()]
		for _, column := range columns {
			out.Rows[i] = append(out.Rows[i], row[t.Index(column.Name)])
		}
	}
	for _, column := range columns {
		out.Columns = append(out.Columns, t.Columns[t.Index(column.Name)])
	}
	out.setUnits(nil)
	return out, nil
}

// one keeps the only row of a result.
func (c *conn) one(ctx context.Context, q statement) ([]driver.Value, error) {
	var row []driver.Value
	err := c.query(ctx, q, func(r []driver.Value) error {
		row = append(row[:0], r...)
		return nil
	})
	return row, err
}
