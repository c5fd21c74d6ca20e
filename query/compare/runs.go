package compare

import (
	"context"
	"database/sql/driver"
	"math"
	"strings"

	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// sideOfPoint describes the runs of a point on one side.
type sideOfPoint struct {
	runs     int
	statuses map[string]int // number of runs that are not ok, per status, stage and kind of error
	warnings map[string]int // number of runs per warning
	metrics  []string       // metrics of ok runs, ascending
	stages   map[string][]float64
	profiled int
	ops      map[opKey][]float64 // time in each profiled run that has the op, in ns
}

// opKey identifies the same operator in different runs.
type opKey struct{ name, kind string }

// explainedStages are the stages that are compared. Building belongs to the session, and the time of measuring is the metric itself.
var explainedStages = []schema.Stage{schema.StageSetup, schema.StageWarmup, schema.StageValidate, schema.StageTeardown}

// details reads the runs of both sides. A filter is empty if the side does not have the point.
func (x *explaining) details(ctx context.Context, filters ...string) ([2]sideOfPoint, error) {
	var sides [2]sideOfPoint
	err := x.db.Stores().QueryTwo(ctx, x.req.BaseDB.Beside(x.db), func(head, base *scan.Reader) error {
		readers := [2]*scan.Reader{base, head}
		for i, filter := range filters {
			sides[i] = sideOfPoint{statuses: map[string]int{}, warnings: map[string]int{}, stages: map[string][]float64{}, ops: map[opKey][]float64{}}
			if filter == "" {
				continue
			}
			if err := sides[i].read(ctx, readers[i], filter); err != nil {
				return err
			}
		}
		return nil
	})
	x.BaseProfiles, x.HeadProfiles = sides[0].profiled, sides[1].profiled
	return sides, err
}

// read reads the runs that a filter matches.
func (s *sideOfPoint) read(ctx context.Context, r *scan.Reader, filter string) error {
	names := []string{"run_id", "purpose", "status", "stage", "error_kind", "warnings"}
	for _, stage := range explainedStages {
		names = append(names, string(stage)+"_ns")
	}
	columns, err := scan.RunColumns(names)
	if err != nil {
		return err
	}
	sel, err := r.Selected(ctx, scan.Question{Filter: filter})
	if err != nil {
		return err
	}
	var ok, profiled []schema.ULID
	text := "SELECT " + scan.ColumnNames(columns) + " FROM " + sel.Src.Scan(scan.WithColumns(columns, sel.Columns), sel.SQL) + " ORDER BY run_id"
	err = r.Conn.Query(ctx, duck.Statement{SQL: text, Args: sel.Args}, func(row []driver.Value) (err error) {
		well := duck.Text(row[2]) == string(schema.StatusOK)
		switch schema.Purpose(duck.Text(row[1])) {
		case schema.PurposeMeasure:
			s.add(row[1:])
			if well {
				ok, err = scan.AppendID(ok, row[0])
			}
		case schema.PurposeProfile:
			if well {
				profiled, err = scan.AppendID(profiled, row[0])
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if s.metrics, err = metricsOf(ctx, r, ok); err != nil {
		return err
	}
	return s.readOps(ctx, r, profiled)
}

// add adds a run. The row has purpose, status, stage, kind of error, warnings and the durations of stages.
func (s *sideOfPoint) add(row []driver.Value) {
	s.runs++
	if status := duck.Text(row[1]); status != string(schema.StatusOK) {
		words := []string{status}
		if stage := duck.Text(row[2]); stage != "" {
			words = append(words, "in", stage)
		}
		if kind := duck.Text(row[3]); kind != "" && kind != status {
			words = append(words, "("+kind+")")
		}
		s.statuses[strings.Join(words, " ")]++
		return
	}
	for _, word := range duck.List(row[4]) {
		s.warnings[duck.Text(word)]++
	}
	for i, stage := range explainedStages {
		if took, ok := row[5+i].(int64); ok && took > 0 {
			s.stages[string(stage)] = append(s.stages[string(stage)], math.Log(float64(took)))
		}
	}
}

// metricsOf are the names of the metrics of runs, ascending.
func metricsOf(ctx context.Context, r *scan.Reader, ids []schema.ULID) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var names []string
	text := "SELECT DISTINCT metric FROM " + r.Src.Of(ids).Nested(schema.Samples, "") + scan.OfRuns + " ORDER BY metric"
	err := r.Conn.Query(ctx, duck.Statement{SQL: text, Args: []any{scan.IDTexts(ids)}}, func(row []driver.Value) error {
		names = append(names, duck.Text(row[0]))
		return nil
	})
	return names, err
}

// readOps reads the operators of profiled runs.
func (s *sideOfPoint) readOps(ctx context.Context, r *scan.Reader, ids []schema.ULID) error {
	if len(ids) == 0 {
		return nil
	}
	runs := map[string]bool{}
	text := "SELECT run_id, name, type, sum(duration_ns)::DOUBLE FROM " + r.Src.Of(ids).Nested(schema.Ops, "") + scan.OfRuns +
		" WHERE duration_ns IS NOT NULL GROUP BY ALL ORDER BY run_id"
	err := r.Conn.Query(ctx, duck.Statement{SQL: text, Args: []any{scan.IDTexts(ids)}}, func(row []driver.Value) error {
		key := opKey{duck.Text(row[1]), duck.Text(row[2])}
		if took, ok := row[3].(float64); ok {
			s.ops[key] = append(s.ops[key], took)
			runs[duck.Text(row[0])] = true
		}
		return nil
	})
	s.profiled = len(runs)
	return err
}
