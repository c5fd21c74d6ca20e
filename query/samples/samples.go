// Package samples puts the samples of runs together for charts, which have room for some thousand marks at most.
//
// Find chooses the runs and the metric. Of their samples Shares gives steps of the empirical distribution, each of which lies on it,
// and InOrder gives them as they were taken, some at a time where they are many. DuckDB counts and sorts: what comes back is as small
// as was asked for, however many samples there are, and no sample is left out of what is counted.
package samples

import (
	"cmp"
	"context"
	"database/sql/driver"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Request says of which runs samples are wanted.
type Request struct {
	Filter string    // in the filter language; empty matches every run
	Since  time.Time // runs that started at or after; the zero time is no bound
	Metric string    // empty: the one that is the primary metric of most of these runs
	Most   int       // runs, the newest ones; 0: no bound
}

// Run is a run with samples.
type Run struct {
	query.ListedRun
	Warnings []string
}

// Found are runs whose samples are wanted, the oldest first.
type Found struct {
	Metric, Unit string
	Runs         []Run
	Matching     int // runs that match, of which the newest were looked at
	Looked       int // of these, runs that were looked at
	Other        int // of these, runs without samples of the metric in this unit
	Failed       int // of these, runs that did not end ok, and passes of a profiler
	Absent       query.Absent
	NotNumbers   map[string]int // as in query.Found
}

// Find finds the runs of which there are samples of one metric in one unit. Those that failed and those that were profiled are left
// out and counted, as they are for all statistics. None that matches is an ErrInput.
func Find(ctx context.Context, db *query.DB, req Request) (Found, error) {
	var metrics []string
	if req.Metric != "" {
		metrics = []string{req.Metric}
	}
	list, err := db.List(ctx, query.ListRequest{Filter: req.Filter, Since: req.Since, Limit: req.Most, Metrics: metrics})
	if err != nil {
		return Found{}, err
	}
	if len(list.Runs) == 0 {
		return Found{}, fault.Input("plot: no run matches%s; neurolens ls lists the runs", ofFilter(req.Filter))
	}
	f := Found{Matching: list.Total, Looked: len(list.Runs), Absent: list.Absent, NotNumbers: list.NotNumbers}
	f.choose(list.Runs)
	return f, f.addWarnings(ctx, db)
}

// ofFilter names a filter in an error; nothing where there is none.
func ofFilter(filter string) string {
	if filter == "" {
		return ""
	}
	return " " + fault.Brief(filter)
}

// kind is a metric in a unit.
type kind struct{ metric, unit string }

// choose keeps the runs with samples of the metric that most have.
func (f *Found) choose(all []query.ListedRun) {
	counts := map[kind]int{}
	for i := range all {
		if r := &all[i]; measured(r) && sampled(r) {
			counts[kind{r.Metric, r.Unit}]++
		}
	}
	var most kind
	for k, n := range counts {
		if c := cmp.Or(n-counts[most], cmp.Compare(most.metric, k.metric), cmp.Compare(most.unit, k.unit)); c > 0 {
			most = k
		}
	}
	f.Metric, f.Unit = most.metric, most.unit
	for i := len(all) - 1; i >= 0; i-- { // they are listed the newest first
		switch r := &all[i]; {
		case !measured(r):
			f.Failed++
		case !sampled(r) || (kind{r.Metric, r.Unit}) != most:
			f.Other++
		default:
			f.Runs = append(f.Runs, Run{ListedRun: *r})
		}
	}
}

func measured(r *query.ListedRun) bool {
	return r.Status == schema.StatusOK && r.Purpose == schema.PurposeMeasure
}

func sampled(r *query.ListedRun) bool { return r.Samples != nil && *r.Samples > 0 && r.Metric != "" }

// addWarnings reads the words of warning of the runs.
func (f *Found) addWarnings(ctx context.Context, db *query.DB) error {
	ids, err := f.ids()
	if err != nil || len(ids) == 0 {
		return err
	}
	columns := []*schema.Column{schema.RunColumn("warnings")}
	return db.Stores().Ask(ctx, func(r *scan.Reader) error {
		t, err := r.Rows(ctx, ids, columns)
		if err != nil {
			return err
		}
		for i, row := range t.Rows {
			f.Runs[i].Warnings = nil
			for _, word := range duck.List(row[0]) {
				f.Runs[i].Warnings = append(f.Runs[i].Warnings, duck.Text(word))
			}
		}
		return nil
	})
}

func (f *Found) ids() ([]schema.ULID, error) {
	ids := make([]schema.ULID, len(f.Runs))
	for i := range f.Runs {
		var err error
		if ids[i], err = schema.ParseULID(f.Runs[i].RunID); err != nil {
			return nil, fault.Input("run: %v", err)
		}
	}
	return ids, nil
}

// memory is how many bytes DuckDB may use to sort samples; the rest goes to temporary files.
const memory = 256 << 20

// source is the SQL of the samples of the runs, a row each, with numbers that the caller gives each run: run_id, own..., "values".
type source struct {
	reader *scan.Reader
	from   duck.Statement
}

// source is that of the samples, with a subquery of the columns place, more and "values".
func (f *Found) source(ctx context.Context, r *scan.Reader, more []int64) (source, error) {
	ids, err := f.ids()
	if err != nil {
		return source{}, err
	}
	texts, places := scan.IDTexts(ids), make([]int64, len(ids))
	for i := range places {
		places[i] = int64(i)
	}
	first, last := slices.MinFunc(ids, scan.CompareIDs).String(), slices.MaxFunc(ids, scan.CompareIDs).String()
	some := &scan.Reader{Conn: r.Conn, Src: r.Src.Of(ids)}
	if err := some.CheckSamples(ctx); err != nil {
		return source{}, err
	}
	return source{some, duck.Statement{
		SQL: "(SELECT place, more, " + scan.SampleValues + ` AS "values" FROM (SELECT * FROM ` + some.Src.Nested(schema.Samples, "run_id BETWEEN $1::VARCHAR AND $2::VARCHAR") +
			" WHERE metric = $6::VARCHAR) JOIN (SELECT unnest($3::VARCHAR[]) AS run_id, unnest($4::BIGINT[]) AS place, unnest($5::BIGINT[]) AS more) USING (run_id))",
		Args: []any{first, last, texts, places, more, f.Metric},
	}}, nil
}

// ask asks the stores of a DB with the memory that samples take.
func ask(ctx context.Context, db *query.DB, do func(r *scan.Reader) error) error {
	return db.Stores().Ask(ctx, func(r *scan.Reader) error {
		if err := r.Conn.Raise(ctx, memory); err != nil {
			return err
		}
		return do(r)
	})
}

// each calls do with each row of a statement that begins with before and ends with after.
func (s source) each(ctx context.Context, before, after string, do func(row []driver.Value)) error {
	return s.reader.Conn.Query(ctx, duck.Statement{SQL: before + s.from.SQL + after, Args: s.from.Args}, func(row []driver.Value) error {
		do(row)
		return nil
	})
}

func number(n int) string { return strconv.Itoa(n) }

func real(v driver.Value) float64 {
	f, _ := v.(float64)
	return f
}
