// Package likeness finds the profiled runs that are most like one: whose time goes into the same operators, of the same
// sizes.
//
// A run is known by its mix: the share of its time that each operator takes. Operators are those that the profile itself
// names by a type (MatMul, aten::mm); of a profile without these the kernels, copies and sets of a device and the layers of
// an engine, by name; of one without those the operators of the host, by name. What only holds or calls others is none: ranges,
// annotations, calls of a driver. Operators without a duration have no share.
//
// The distance of two mixes p and q is that of Hellinger, in which each operator of both counts as far as its sizes are alike:
//
//	distance = sqrt(1 - Σ sqrt(p_i q_i) w_i)      w_i = sqrt(min(a_i, b_i) / max(a_i, b_i))
//
// a_i and b_i are the mean sizes of a call of operator i: the bytes of its tensors, else the bytes that it moved, else its
// floating-point operations. Where a profile does not have them, or the two have different ones, w_i is 1: what is not known
// tells nothing apart. Without w_i the sum is the coefficient of Bhattacharyya (1943), and the distance that of Hellinger (1909).
// w_i is the exponential kernel exp(-|ln a - ln b| / 2): with it the sum still is an inner product of unit vectors, so that the
// distance is a metric wherever sizes are known.
// 0 means the same shares and sizes, 1 no operator in common. Times as such do not count: a run is like one of a slower machine.
package likeness

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Request asks for the runs that are most like one.
type Request struct {
	Run    *schema.Run // as query.DB.Show gives it
	Filter string      // of the others; empty matches every run
	Since  time.Time   // of the others, as in query.ListRequest
	Until  time.Time
	Limit  int // at most so many rows; 0 is no limit
}

// Nearest are the runs that are most like one, the nearest first, of equally near ones the newest.
type Nearest struct {
	// To is the id of the run whose operators were compared: that of the request or, where it has none, the newest run of its
	// point in its session that has some: a pass of a profiler.
	To         string
	Rows       []Row
	Compared   int // runs that were compared
	Without    int // runs that match and were not: they have no operators with durations, or did not end well
	NotNumbers map[string]int
}

// Row is a run, and how far it is from the one that was asked for.
type Row struct {
	query.ListedRun
	Distance float64 // see the package
	Shared   float64 // the time that both spend in the same operators: the sum of the smaller shares
	Sized    float64 // the part of Shared in operators whose sizes are compared
	// Differences are the operators whose shares differ most, or that only one of the two has: ten at most.
	Differences []Difference
}

// Difference is an operator whose share or size differs. What is nil the run does not have, or it is not known.
type Difference struct {
	Operator string
	To       *float64 // share of the time of the run that was asked for
	Share    *float64 // of that of the row
	ToSize   *float64 // mean of a call; both sizes are of the same unit
	Size     *float64
	Unit     string // of the sizes; empty where they are not compared
}

// Of finds them. A run that has no operators, and of whose point its session has no profile, is an ErrInput.
func Of(ctx context.Context, db *query.DB, req Request) (Nearest, error) {
	var found Nearest
	err := db.Stores().Ask(ctx, func(r *scan.Reader) error {
		n := nearest{reader: r, req: req}
		err := n.find(ctx)
		found = n.found
		return err
	})
	if err != nil {
		return Nearest{}, err
	}
	return found, nil
}

// nearest finds the runs of a request.
type nearest struct {
	reader *scan.Reader
	req    Request
	found  Nearest
}

func (n *nearest) find(ctx context.Context) error {
	if err := n.choose(ctx); err != nil {
		return err
	}
	for _, text := range mixSQL(n.reader.Src.Nested(schema.Ops, "")) {
		if _, err := n.reader.Conn.Exec(ctx, text); err != nil {
			return err
		}
	}
	if err := n.chooseTo(ctx); err != nil {
		return err
	}
	if err := n.count(ctx); err != nil {
		return err
	}
	ids, err := n.measure(ctx)
	if err != nil || len(ids) == 0 {
		return err
	}
	if err := n.describe(ctx, ids); err != nil {
		return err
	}
	return n.explain(ctx, ids)
}

// choose makes the table like_runs: the runs that match, whether they ended well, and those of like_asked.
func (n *nearest) choose(ctx context.Context) error {
	sel, err := n.reader.Selected(ctx, scan.Question{Filter: n.req.Filter, Bounds: scan.NewBounds(n.req.Since, n.req.Until)})
	if err != nil {
		return err
	}
	columns, err := scan.RunColumns([]string{"run_id", "status"})
	if err != nil {
		return err
	}
	text := "CREATE OR REPLACE TEMP TABLE like_runs AS SELECT run_id, status = 'ok' AS well, true AS matches FROM " +
		sel.Src.Scan(scan.WithColumns(columns, sel.Columns), sel.Matches())
	if _, err := n.reader.Conn.Exec(ctx, text, sel.Args...); err != nil {
		return err
	}
	row, err := n.reader.Conn.One(ctx, duck.Statement{SQL: "SELECT count(*) FROM like_runs"})
	if err != nil {
		return err
	}
	if matches, _ := row[0].(int64); matches == 0 {
		if err := n.reader.Nothing(ctx, sel); err != nil {
			return err
		}
	}
	if n.found.NotNumbers, err = n.reader.CountNotNumbers(ctx, sel); err != nil {
		return err
	}
	return n.addPasses(ctx)
}

// addPasses makes the table like_asked: the run asked for and, if that was measured, the runs of its point in its session, some of which may
// be passes of profilers.
func (n *nearest) addPasses(ctx context.Context) error {
	run := n.req.Run
	words := []string{"run=" + filter.Quote(run.RunID)}
	if run.Purpose == schema.PurposeMeasure && run.SessionID != "" {
		words = append(words, fmt.Sprintf("or (point_id=%s session=%s side=%s status=ok)", filter.Quote(run.PointID), filter.Quote(run.SessionID), sideWord(run.Side)))
	}
	sel, err := n.reader.Selected(ctx, scan.Question{Filter: strings.Join(words, " ")})
	if err != nil {
		return err
	}
	text := "CREATE OR REPLACE TEMP TABLE like_asked AS SELECT run_id FROM " + sel.Src.Scan(scan.WithRunID(sel.Columns), sel.Matches())
	if _, err := n.reader.Conn.Exec(ctx, text, sel.Args...); err != nil {
		return err
	}
	_, err = n.reader.Conn.Exec(ctx, "INSERT INTO like_runs SELECT run_id, true, false FROM like_asked")
	return err
}

// sideWord is a side as a value of a filter.
func sideWord(side string) string {
	if side == "" {
		return "null"
	}
	return filter.Quote(side)
}

// chooseTo finds the run whose operators are compared.
func (n *nearest) chooseTo(ctx context.Context) error {
	run := n.req.Run
	text := "SELECT max(run_id) FILTER (run_id = $1::VARCHAR), max(run_id) FILTER (run_id IN (SELECT run_id FROM like_asked)) FROM like_mix"
	row, err := n.reader.Conn.One(ctx, duck.Statement{SQL: text, Args: []any{run.RunID}})
	if err != nil {
		return err
	}
	own, pass := duck.Text(row[0]), duck.Text(row[1])
	switch {
	case own != "":
		n.found.To = own
	case pass != "":
		n.found.To = pass
	default:
		return fault.Input("like: run %s has no operators with durations: %s", run.RunID, remedy(run))
	}
	return nil
}

// remedy is what to type for a run to have operators.
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
	return "`neurolens ingest PROFILE` reads one of nsys, torch.profiler or ONNX Runtime, and `neurolens bench SWEEP --profile ort` makes one"
}

// count counts what is compared and what is not.
func (n *nearest) count(ctx context.Context) error {
	text := "SELECT count(*), count(*) FILTER (run_id IN (SELECT run_id FROM like_mix) AND well) FROM like_runs WHERE matches AND run_id != $1::VARCHAR"
	row, err := n.reader.Conn.One(ctx, duck.Statement{SQL: text, Args: []any{n.found.To}})
	if err != nil {
		return err
	}
	all, _ := row[0].(int64)
	compared, _ := row[1].(int64)
	n.found.Compared, n.found.Without = int(compared), int(all-compared)
	return nil
}

// measure finds the nearest runs, and how far they are.
func (n *nearest) measure(ctx context.Context) ([]schema.ULID, error) {
	var ids []schema.ULID
	q := duck.Statement{SQL: distanceSQL(n.req.Limit), Args: []any{n.found.To}}
	err := n.reader.Conn.Query(ctx, q, func(row []driver.Value) (err error) {
		var r Row
		r.Distance, _ = row[1].(float64)
		r.Shared, _ = row[2].(float64)
		r.Sized, _ = row[3].(float64)
		n.found.Rows = append(n.found.Rows, r)
		ids, err = scan.AppendID(ids, row[0])
		return err
	})
	return ids, err
}

// describe reads what the rows are of.
func (n *nearest) describe(ctx context.Context, ids []schema.ULID) error {
	columns, err := scan.RunColumns([]string{
		"run_id", "started_at", "side", "purpose", "suite", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params", "machine", "status",
	})
	if err != nil {
		return err
	}
	first := 0
	for part := range slices.Chunk(ids, scan.PageRows) {
		t, err := n.reader.Rows(ctx, part, columns)
		if err != nil {
			return err
		}
		stored := scan.NewStored(schema.Runs, columns)
		for i, row := range t.Rows {
			run := stored.Run(row)
			n.found.Rows[first+i].ListedRun = query.ListedRunOf(&run)
		}
		first += len(part)
	}
	return nil
}
