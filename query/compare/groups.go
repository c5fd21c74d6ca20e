package compare

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// sideGroup has the runs of one point on one machine and one side, for one metric.
type sideGroup struct {
	PointID, Machine string
	Metric           *metricKind // kind of its ok runs
	MinSamples       int64       // smallest n_samples of an ok run
	MaxSamples       int64       // largest n_samples of an ok run
	Locations        []float64   // of its ok runs, in the order in which they ran; ascending if the order was not read. As read they are logarithms, unless schema.ScaleOf of the metric is ScaleDifference
	Started          []int64     // start of each, in Unix microseconds; nil if not read
	Places           []runPlace  // session and block of each; nil if not read
	Sessions         []string    // sessions of its ok runs, ascending
	OK               int64       // number of ok runs
	notes            *notes      // nil: nothing to note, which saves memory for very many groups
	InOrder          bool        // the order in which the runs ran is known: see ForgetTimes
	Absent           bool        // there are no runs: it represents a point that only the other side has
	Matched          bool        // of the base: it is paired with a group of the head

	First int64        // start of the first ok run in Unix microseconds; 0: unknown
	Point *query.Point // nil if not read
}

// notes are the unusual properties of the runs of a group.
type notes struct {
	Differing   string         // the first of metric, unit, clock and level in which the ok runs differ; empty: none
	NoValue     int64          // ok runs without a location
	NonPositive int64          // number of those whose value has no logarithm
	Failed      map[string]any // numbers of runs per status other than ok
	Failure     string         // error of one of these
	Wrong       int64          // number of these with a wrong result
	Warnings    []string       // warnings of its runs, without repetition, ascending
	OneBlock    int            // number of runs, if the locations are those of their processes; 0: they are those of runs
	Tick        float64        // step of the clock, if runs have the warning that it is coarse
	Repeats     []int64        // repeat of each location; nil if not read
	Lacks       string         // the parameter that is the compared axis, if the group represents a point without it
}

// Noted are the notes of a group.
func (g *sideGroup) Noted() notes {
	if g.notes == nil {
		return notes{}
	}
	return *g.notes
}

// Note returns the notes of a group, to be changed.
func (g *sideGroup) Note() *notes {
	if g.notes == nil {
		g.notes = &notes{}
	}
	return g.notes
}

// clone returns a copy of the group whose notes can be changed on their own.
func (g *sideGroup) clone() *sideGroup {
	other := *g
	if g.notes != nil {
		own := *g.notes
		other.notes = &own
	}
	return &other
}

// metricKind has the properties of a metric that must be equal for values to be comparable.
type metricKind struct{ Name, Unit, Better, Clock, Level string }

// runPlace is the session and block of a run.
type runPlace struct {
	session string
	Block   int64 // -1: none
}

// pointKey is a point on a machine.
type pointKey struct{ Point, Machine string }

// Key is the point and machine of the group.
func (g *sideGroup) Key() pointKey { return pointKey{g.PointID, g.Machine} }

// compareGroups orders groups by point and machine.
func compareGroups(a, b *sideGroup) int {
	if a.PointID != b.PointID {
		return strings.Compare(a.PointID, b.PointID)
	}
	return strings.Compare(a.Machine, b.Machine)
}

// sideGroups are the groups of a side, sorted by point and machine.
type sideGroups []*sideGroup

// InTurn returns a function that finds the group with the same point and machine. It must be called in ascending order.
func (gs sideGroups) InTurn() func(g *sideGroup) *sideGroup {
	i := 0
	return func(g *sideGroup) *sideGroup {
		for i < len(gs) && compareGroups(gs[i], g) < 0 {
			i++
		}
		if i < len(gs) && compareGroups(gs[i], g) == 0 {
			return gs[i]
		}
		return nil
	}
}

// of is the group of a point on a machine, or nil.
func (gs sideGroups) of(point, machine string) *sideGroup {
	i, ok := slices.BinarySearchFunc(gs, &sideGroup{PointID: point, Machine: machine}, compareGroups)
	if !ok {
		return nil
	}
	return gs[i]
}

// With are the groups that have a requested metric, or have no ok run; all if metric is empty.
func (gs sideGroups) With(metric string) sideGroups {
	if metric == "" {
		return gs
	}
	return slices.DeleteFunc(gs, func(g *sideGroup) bool { return g.Metric.Name == "" && g.OK > 0 })
}

// Have reports whether a group has a requested metric; true if metric is empty.
func (gs sideGroups) Have(metric string) bool {
	return metric == "" || slices.ContainsFunc(gs, func(g *sideGroup) bool { return g.Metric.Name == metric })
}

// groupRun and groupMetric are the columns that are read. For a metric other than the primary one, groupMetric is read from samples.
var (
	groupRun = []string{
		"run_id", "session_id", "point_id", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params", "machine",
		"status", "stage", "error_kind", "error", "warnings", "started_at", "block_index", "repeat_index", "side", "purpose",
	}
	groupMetric = []string{"metric", "unit", "better", "clock", "level", "n_samples", "p50", "mean", "log_median"}
)

// sideColumns says what to read about groups, in addition to their locations.
type sideColumns struct {
	Metric  string // empty: the primary one of each point
	Order   bool   // the start of each run
	Blocks  bool   // the block of each run
	Repeats bool   // the repeat of each run
	Names   bool   // the identity of the points

	Shared *interner // stores equal texts of groups once

	// Set by gather if the runs differ in it.
	sessions bool // the session of each run
	kinds    bool // the unit, clock and level of each run
}

// readSides reads the points of both sides. The groups of the base are made while DuckDB reads the head.
func readSides(ctx context.Context, r *scan.Reader, sides [2]*selectedSide, a sideColumns) (base, head sideGroups, err error) {
	of, err := gather(ctx, r, sides[0], a)
	if err != nil {
		return nil, nil, err
	}
	made := make(chan error, 1)
	go func() { made <- of.make() }()
	as, err := gather(ctx, r, sides[1], a)
	err = errors.Join(<-made, of.rows.Close(), err)
	if as != nil {
		as.others = of.found
		err = errors.Join(err, as.make(), as.rows.Close())
	}
	if err != nil {
		return nil, nil, duck.Translate(ctx, err)
	}
	if base, err = remarks(ctx, r, of); err != nil {
		return nil, nil, err
	}
	head, err = remarks(ctx, r, as)
	return base, head, err
}

// gathered are the rows of the points of a side, and the groups that are made of them.
type gathered struct {
	sideColumns
	side  *selectedSide
	runs  duck.Statement // the SQL of a row for each run
	rows  driver.Rows
	found sideGroups

	others sideGroups // of the side that was read before, ascending
}

// gather starts to read the points of a side.
func gather(ctx context.Context, r *scan.Reader, s *selectedSide, a sideColumns) (*gathered, error) {
	// If all runs have the same session, kind and machine, these need not be read for each.
	a.sessions = len(s.Sessions) > 1 || s.Sessionless()
	a.Order = a.Order || a.sessions || a.Blocks || a.Repeats
	a.kinds = a.Metric != "" || len(s.Kinds) != 1
	rows, args, err := s.Rows(a)
	if err != nil {
		return nil, err
	}
	g := &gathered{sideColumns: a, side: s, runs: duck.Statement{SQL: rows, Args: slices.Clone(args)}}
	key, order := "point_id, m", "point_id NULLS FIRST, m"
	if _, ok := s.onlyMachine(); ok {
		key, order = "point_id", "point_id NULLS FIRST"
	}
	located := "(SELECT *, epoch_us(started_at) AS started, " + s.location(a) + " AS location, " + machineSQL + " AS m FROM " + rows + " WHERE status = 'ok')"
	text := "SELECT " + a.aggregates() + ", " + key + " FROM " + located + " GROUP BY " + key + " ORDER BY " + order
	if g.rows, err = r.Conn.Run(ctx, duck.Statement{SQL: text, Args: args}); err != nil {
		return nil, err
	}
	if err := r.Conn.Trim(ctx); err != nil {
		return nil, errors.Join(err, g.rows.Close())
	}
	return g, nil
}

// make makes the groups from the rows.
func (g *gathered) make() error {
	machine, only := g.side.onlyMachine()
	return duck.EachRow(g.rows, func(row []driver.Value) error {
		one := g.Shared.group()
		one.Machine = machine
		if !only {
			one.Machine = g.Shared.text(row[len(row)-1])
			row = row[:len(row)-1]
		}
		one.PointID = g.sameID(duck.Text(row[len(row)-1]))
		one.read(row, g.sideColumns)
		if !g.sessions {
			one.Sessions = g.side.Sessions
		}
		if !g.kinds {
			one.Metric = &g.side.Kinds[0]
		}
		g.found = append(g.found, one)
		return nil
	})
}

// sameID is the id of a point as the other side has it, if that has the point: a text takes memory once. Ids must be given in
// ascending order.
func (g *gathered) sameID(id string) string {
	for len(g.others) > 0 && g.others[0].PointID < id {
		g.others = g.others[1:]
	}
	if len(g.others) > 0 && g.others[0].PointID == id {
		return g.others[0].PointID
	}
	return id
}

// location is the SQL of the location of an ok run. If possible it reads one column instead of three, which takes a fifth less CPU.
func (s *selectedSide) location(a sideColumns) string {
	if a.kinds {
		return scan.LocationSQL()
	}
	scale := schema.ScaleOf(s.Kinds[0].Name)
	if scale == schema.ScaleRatio && !slices.ContainsFunc(s.Strata, func(t Stratum) bool { return t.noLog && t.status == string(schema.StatusOK) }) {
		return "log_median"
	}
	return scan.LocationSQLOf(scale)
}

// machineSQL is the SQL of a machine; NULL is the empty name.
const machineSQL = "coalesce(machine, '')"

// aggregates is the SQL of the columns that Group.read reads.
func (a sideColumns) aggregates() string {
	text := "min(n_samples), max(n_samples), min(started), list(location)"
	if a.Order {
		text += ", list(started)"
	}
	if a.sessions {
		text += ", list(session_id)"
	}
	if a.Blocks {
		text += ", list(block_index)"
	}
	if a.Repeats {
		text += ", list(repeat_index)"
	}
	if a.kinds {
		text += ", min(metric), max(metric), min(unit), max(unit), min(clock), max(clock), min(level), max(level), min(better)"
	}
	if a.Names {
		text += ", " + query.IdentitySQL()
	}
	return text
}

// Rows is the SQL of one row per run of a side, with the columns of the metric.
func (s *selectedSide) Rows(a sideColumns) (rows string, args []any, err error) {
	names := groupRun
	if a.Metric == "" {
		names = slices.Concat(groupRun, groupMetric)
	}
	columns, err := scan.RunColumns(names)
	if err != nil {
		return "", nil, err
	}
	args = slices.Clone(s.Sel.Args)
	rows = s.Sel.Src.Scan(scan.WithColumns(columns, s.Sel.Columns), s.Sel.RestrictedTo(scan.IsMeasurement))
	if a.Metric == "" {
		return rows, args, nil
	}
	args = append(args, a.Metric)
	return fmt.Sprintf("(SELECT %s, %s FROM %s AS r LEFT JOIN %s AS s ON s.run_id = r.run_id AND s.metric = $%d::VARCHAR)",
		scan.ColumnNamesOf("r", groupRun), scan.ColumnNamesOf("s", groupMetric), rows, s.Sel.Src.Nested(schema.Samples, ""), len(args)), args, nil
}
