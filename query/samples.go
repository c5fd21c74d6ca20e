package query

import (
	"cmp"
	"context"
	"database/sql/driver"
	"slices"
	"strconv"
	"time"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// SamplesRequest selects the runs and the metric.
type SamplesRequest struct {
	Filter  string    // selects the runs; empty: all
	Since   time.Time // only runs that started at or after this time; the zero time: no bound
	Metric  string    // empty: the primary metric of most of the runs
	MaxRuns int       // maximum number of runs, the newest ones; 0: no limit
}

// SampledRun is a run with samples.
type SampledRun struct {
	ListedRun
	Warnings []string
}

// SampledRuns are the selected runs, oldest first.
type SampledRuns struct {
	Metric, Unit string
	Runs         []SampledRun
	Matching     int // number of matching runs
	Looked       int // number of these that were considered: the newest Request.MaxRuns
	Other        int // number of considered runs without samples of the metric in this unit
	Failed       int // number of considered runs that are not ok, or are profiler runs
	Absent       Absent
	NotNumbers   map[string]int // as in query.Found
}

// FindSamples finds the runs with samples of one metric in one unit. Runs that are not ok and profiler runs are left out and counted. It
// is an ErrInput if no run matches.
func FindSamples(ctx context.Context, db *DB, req SamplesRequest) (SampledRuns, error) {
	var metrics []string
	if req.Metric != "" {
		metrics = []string{req.Metric}
	}
	list, err := db.List(ctx, ListRequest{Filter: req.Filter, Since: req.Since, Limit: req.MaxRuns, Metrics: metrics})
	if err != nil {
		return SampledRuns{}, err
	}
	if len(list.Runs) == 0 {
		return SampledRuns{}, answer.InputError("plot: no run matches%s; neurolens ls lists the runs", ofFilter(req.Filter))
	}
	f := SampledRuns{Matching: list.Total, Looked: len(list.Runs), Absent: list.Absent, NotNumbers: list.NotNumbers}
	f.choose(list.Runs)
	return f, f.addWarnings(ctx, db)
}

// ofFilter returns the filter for an error message.
func ofFilter(filter string) string {
	if filter == "" {
		return ""
	}
	return " " + answer.Brief(filter)
}

// kind is a metric in a unit.
type kind struct{ metric, unit string }

// choose keeps the runs with samples of the most frequent metric and unit.
func (f *SampledRuns) choose(all []ListedRun) {
	counts := map[kind]int{}
	for i := range all {
		if r := &all[i]; isMeasured(r) && withSamples(r) {
			counts[kind{r.Metric, r.Unit}]++
		}
	}
	var common kind
	for k, n := range counts {
		if c := cmp.Or(n-counts[common], cmp.Compare(common.metric, k.metric), cmp.Compare(common.unit, k.unit)); c > 0 {
			common = k
		}
	}
	f.Metric, f.Unit = common.metric, common.unit
	for i := len(all) - 1; i >= 0; i-- { // the list is newest first
		switch r := &all[i]; {
		case !isMeasured(r):
			f.Failed++
		case !withSamples(r) || (kind{r.Metric, r.Unit}) != common:
			f.Other++
		default:
			f.Runs = append(f.Runs, SampledRun{ListedRun: *r})
		}
	}
}

func isMeasured(r *ListedRun) bool {
	return r.Status == schema.StatusOK && r.Purpose == schema.PurposeMeasure
}

func withSamples(r *ListedRun) bool { return r.Samples != nil && *r.Samples > 0 && r.Metric != "" }

// addWarnings reads the warnings of the runs.
func (f *SampledRuns) addWarnings(ctx context.Context, db *DB) error {
	ids, err := f.ids()
	if err != nil || len(ids) == 0 {
		return err
	}
	columns := []*schema.Column{schema.RunColumn("warnings")}
	return db.Stores().Query(ctx, func(r *scan.Reader) error {
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

func (f *SampledRuns) ids() ([]schema.ULID, error) {
	texts := make([]string, len(f.Runs))
	for i := range f.Runs {
		texts[i] = f.Runs[i].RunID
	}
	return parseIDs(texts)
}

// memory is the number of bytes that DuckDB may use to sort samples; more goes to temporary files.
const memory = 256 << 20

// source is the SQL of the samples of the runs, one row per run: place, more, "values".
type source struct {
	reader *scan.Reader
	from   duck.Statement
}

// source makes a source. place is the index of the run, more a number that the caller gives each run.
func (f *SampledRuns) source(ctx context.Context, r *scan.Reader, more []int64) (source, error) {
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

// ask is Stores.Query with enough memory for samples.
func ask(ctx context.Context, db *DB, do func(r *scan.Reader) error) error {
	return db.Stores().Query(ctx, func(r *scan.Reader) error {
		if err := r.Conn.Raise(ctx, memory); err != nil {
			return err
		}
		return do(r)
	})
}

// each calls do with each row of the statement before + source + after.
func (s source) each(ctx context.Context, before, after string, do func(row []driver.Value)) error {
	return s.reader.Conn.Query(ctx, duck.Statement{SQL: before + s.from.SQL + after, Args: s.from.Args}, func(row []driver.Value) error {
		do(row)
		return nil
	})
}

func number(n int) string { return strconv.Itoa(n) }

func realSamples(v driver.Value) float64 {
	f, _ := v.(float64)
	return f
}
