package summary

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// SimilarRequest selects a run and the runs to compare it with.
type SimilarRequest struct {
	Run    *schema.Run // as query.DB.Show returns it
	Filter string      // selects the other runs; empty: all
	Since  time.Time   // bounds of the other runs, as in query.ListRequest
	Until  time.Time
	Limit  int // maximum number of rows; 0: no limit
}

// Similar are the runs that are most similar to a run, sorted by distance, then newest first.
type Similar struct {
	// To is the id of the run whose operators were compared: the requested run or, if it has no operators, the newest profiled run
	// of the same point in the same session.
	To         string
	Rows       []SimilarRun
	Compared   int // number of runs that were compared
	Without    int // number of other matching runs: they have no operators with durations, or are not ok
	NotNumbers map[string]int
}

// SimilarRun is a run with its distance from the requested run.
type SimilarRun struct {
	query.ListedRun
	Distance float64 // see the package comment
	Shared   float64 // share of time that both spend in the same operators: the sum of the smaller shares
	Sized    float64 // the part of Shared in operators whose sizes are compared
	// Differences are the operators, at most ten, whose shares differ most, or that only one of the two runs has.
	Differences []OperatorDifference
}

// OperatorDifference is an operator whose share or size differs. nil means that the run does not have it, or that it is unknown.
type OperatorDifference struct {
	Operator string
	To       *float64 // share of the time of the requested run
	Share    *float64 // share of the time of the row's run
	ToSize   *float64 // mean size per call in the requested run
	Size     *float64 // mean size per call in the row's run, in the same unit
	Unit     string   // unit of the sizes; empty: they are not compared
}

// FindSimilar finds the most similar runs. It is an ErrInput if neither the run nor another run of its point in its session has operators.
func FindSimilar(ctx context.Context, db *query.DB, req SimilarRequest) (Similar, error) {
	var found Similar
	err := db.Stores().Query(ctx, func(r *scan.Reader) error {
		n := nearest{reader: r, req: req, window: runsPerWindow}
		err := n.find(ctx)
		found = n.found
		return err
	})
	if err != nil {
		return Similar{}, err
	}
	return found, nil
}

// nearest finds the runs of a request.
type nearest struct {
	reader *scan.Reader
	req    SimilarRequest
	found  Similar
	window int // see runsPerWindow
	to     mix // mix of the run that the others are compared with
}

func (n *nearest) find(ctx context.Context) error {
	if err := n.chooseTo(ctx); err != nil {
		return err
	}
	if err := n.compare(ctx); err != nil {
		return err
	}
	ids, err := n.rank(ctx)
	if err != nil {
		return err
	}
	places := make(map[schema.ULID]int, len(ids))
	for i, id := range ids {
		places[id] = i
	}
	slices.SortFunc(ids, scan.CompareIDs) // so that each file is read for few parts
	for part := range slices.Chunk(ids, scan.PageRows) {
		rows := make([]*SimilarRun, len(part))
		for i, id := range part {
			rows[i] = &n.found.Rows[places[id]]
		}
		if err := n.describe(ctx, part, rows); err != nil {
			return err
		}
		if err := n.explain(ctx, part, rows); err != nil {
			return err
		}
	}
	return nil
}

// chooseTo finds the run whose operators are compared: see Nearest.To.
func (n *nearest) chooseTo(ctx context.Context) error {
	run := n.req.Run
	words := []string{"run=" + filter.Quote(run.RunID)}
	if run.Purpose == schema.PurposeMeasure && run.SessionID != "" {
		words = append(words, fmt.Sprintf("or (point_id=%s session=%s side=%s status=ok)", filter.Quote(run.PointID), filter.Quote(run.SessionID), sideWord(run.Side)))
	}
	sel, err := n.reader.Selected(ctx, scan.Question{Filter: strings.Join(words, " ")})
	if err != nil {
		return err
	}
	text := "SELECT run_id FROM " + sel.Src.Scan(scan.WithRunID(sel.Columns), sel.Matches()) + " ORDER BY run_id DESC"
	ids, err := n.reader.ListIDs(ctx, duck.Statement{SQL: text, Args: sel.Args})
	if err != nil {
		return err
	}
	mixes, err := n.mixes(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range slices.Insert(scan.IDTexts(ids), 0, run.RunID) {
		if of := mixes[id]; len(of) > 0 {
			n.found.To, n.to = id, of
			return nil
		}
	}
	return answer.InputError("like: run %s has no operators with durations: %s", run.RunID, remedy(run))
}

// sideWord returns a side as a value of a filter.
func sideWord(side string) string {
	if side == "" {
		return "null"
	}
	return filter.Quote(side)
}

// remedy returns the command that makes a profile.
func remedy(run *schema.Run) string {
	sweep := run.Env.Facts["sweep.file"]
	if sweep == "" {
		sweep = "SWEEP"
	}
	switch {
	case run.Source != schema.SourceNeuroLens:
	case run.Executor == schema.ExecutorONNXRT:
		return "`neurolens bench " + sweep + " --profile ort` profiles its point"
	case run.Executor == schema.ExecutorTorch, run.Executor == schema.ExecutorPython:
		return "`neurolens bench " + sweep + " --profile torch` profiles its point"
	}
	return "`neurolens ingest PROFILE` reads one of Nsight Systems (SQLite or nsys stats), torch.profiler, ONNX Runtime or layers of trtexec, and `neurolens bench SWEEP --profile ort` makes one"
}

// runsPerWindow is about how many runs are compared at a time: their operators are summed in memory.
const runsPerWindow = 8192

// compare makes the table like_found of the matching runs: run_id, alike, shared, sized.
func (n *nearest) compare(ctx context.Context) error {
	if err := n.makeTo(ctx); err != nil {
		return err
	}
	sel, err := n.reader.Selected(ctx, scan.Question{Filter: n.req.Filter, Bounds: scan.NewPeriod(n.req.Since, n.req.Until)})
	if err != nil {
		return err
	}
	matched := 0
	windows, err := n.reader.Windows(ctx, sel, n.window)
	if err != nil {
		return err
	}
	for _, b := range windows {
		part := sel
		part.Src, part.Args = sel.Src.Within(b), slices.Clone(sel.Args)
		part.Restrict(b)
		in, err := n.compareSome(ctx, part)
		if err != nil {
			return err
		}
		matched += in
	}
	if n.found.NotNumbers, err = n.reader.CountNotNumbers(ctx, sel); err != nil {
		return err
	}
	row, err := n.reader.Conn.One(ctx, duck.Statement{SQL: "SELECT count(*) FROM like_found"})
	if err != nil {
		return err
	}
	compared, _ := row[0].(int64)
	n.found.Compared, n.found.Without = int(compared), matched-int(compared)
	if matched > 0 {
		return nil
	}
	return n.reader.ExplainEmpty(ctx, sel)
}

// makeTo makes the table like_to with the mix that the others are compared with, and the empty table like_found.
func (n *nearest) makeTo(ctx context.Context) error {
	for _, text := range []string{
		"CREATE OR REPLACE TEMP TABLE like_to (place INTEGER, operator VARCHAR, share DOUBLE, size DOUBLE, unit VARCHAR)",
		"CREATE OR REPLACE TEMP TABLE like_found (run_id VARCHAR, alike DOUBLE, shared DOUBLE, sized DOUBLE)",
	} {
		if _, err := n.reader.Conn.Exec(ctx, text); err != nil {
			return err
		}
	}
	for place, operator := range slices.Sorted(maps.Keys(n.to)) {
		p := n.to[operator]
		var size, unit any
		if p.size != nil {
			size, unit = *p.size, p.unit
		}
		if _, err := n.reader.Conn.Exec(ctx, "INSERT INTO like_to VALUES ($1, $2, $3, $4, $5)", int64(place), operator, p.share, size, unit); err != nil {
			return err
		}
	}
	return nil
}

// compareSome adds the runs of a part of the stores to like_found, and counts the matching runs except the requested one.
func (n *nearest) compareSome(ctx context.Context, sel scan.Selection) (matched int, err error) {
	columns, err := scan.RunColumns([]string{"run_id", "status"})
	if err != nil {
		return 0, err
	}
	to := fmt.Sprintf("$%d::VARCHAR", len(sel.Args)+1)
	text := "CREATE OR REPLACE TEMP TABLE like_part AS SELECT run_id, status = 'ok' AS well, (row_number() OVER ())::INTEGER AS run FROM " +
		sel.Src.Scan(scan.WithColumns(columns, sel.Columns), sel.Matches()) + " WHERE run_id != " + to
	if _, err := n.reader.Conn.Exec(ctx, text, append(sel.Args, n.found.To)...); err != nil {
		return 0, err
	}
	row, err := n.reader.Conn.One(ctx, duck.Statement{SQL: "SELECT count(*), count(*) FILTER (well) FROM like_part"})
	if err != nil {
		return 0, err
	}
	all, _ := row[0].(int64)
	if well, _ := row[1].(int64); well > 0 {
		_, err = n.reader.Conn.Exec(ctx, "INSERT INTO like_found "+alikeSQL(sel.Src.Nested(schema.Ops, ""), n.to.hasSizes()))
	}
	return int(all), err
}

// rank finds the nearest runs and their distances. A distance below 1e-6 is a rounding error and becomes 0.
func (n *nearest) rank(ctx context.Context) ([]schema.ULID, error) {
	text := "SELECT run_id, CASE WHEN alike > 1 - 1e-12 THEN 0.0::DOUBLE ELSE sqrt(1 - alike) END AS distance, least(shared, 1), least(sized, 1) FROM like_found " +
		"ORDER BY distance, run_id DESC"
	if n.req.Limit > 0 {
		text += fmt.Sprintf(" LIMIT %d", n.req.Limit)
	}
	var ids []schema.ULID
	err := n.reader.Conn.Query(ctx, duck.Statement{SQL: text}, func(row []driver.Value) (err error) {
		var r SimilarRun
		r.Distance, _ = row[1].(float64)
		r.Shared, _ = row[2].(float64)
		r.Sized, _ = row[3].(float64)
		n.found.Rows = append(n.found.Rows, r)
		ids, err = scan.AppendID(ids, row[0])
		return err
	})
	return ids, err
}

// describedColumns are the columns of runs that rows have.
var describedColumns = []string{
	"run_id", "started_at", "side", "purpose", "suite", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params", "machine", "status",
}

// describe reads the runs of rows.
func (n *nearest) describe(ctx context.Context, ids []schema.ULID, rows []*SimilarRun) error {
	columns, err := scan.RunColumns(describedColumns)
	if err != nil {
		return err
	}
	t, err := n.reader.Rows(ctx, ids, columns)
	if err != nil {
		return err
	}
	table := scan.NewStoredRows(schema.Runs, columns)
	for i, row := range t.Rows {
		run := table.Run(row)
		rows[i].ListedRun = query.ListedRunOf(&run)
	}
	return nil
}
