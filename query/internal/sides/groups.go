package sides

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// Group is the runs of one point on one machine, of one side, as to one metric.
type Group struct {
	PointID, Machine string
	Metric           *Kind     // of its ok runs
	MinSamples       int64     // smallest n_samples of an ok run
	MaxSamples       int64     // largest n_samples of an ok run
	Locations        []float64 // of its ok runs, in the order in which they ran, or ascending where places are not known
	Started          []int64   // when each ran, in Unix microseconds; nil where that was not asked for
	Places           []Place   // where each ran; likewise
	Sessions         []string  // of its ok runs, ascending
	OK               int64     // runs that ended well
	notes            *notes    // nil where there is nothing to note: there are very many groups
	InOrder          bool      // it is known in which order the runs ran: see settle
	Absent           bool      // there are no runs: it stands for a point that the other side has
	Matched          bool      // of the base: some point of the head is compared with it

	First int64        // start of the first ok run in Unix microseconds; 0 where not known
	Point *facts.Point // nil where not asked for
	Lacks string       // the parameter of the axis, where it stands for a point without a value of it
}

// notes are what is out of the ordinary with the runs of a group.
type notes struct {
	Differing   string         // which of metric, unit, clock, level differ among the ok runs; empty: none
	NoValue     int64          // ok runs without a location
	NonPositive int64          // of those, runs of a metric compared by its ratio that is not positive
	Failed      map[string]any // numbers of runs by the status that they ended with, but ok
	Failure     string         // what one of these says went wrong
	Wrong       int64          // of these, runs whose result is wrong
	Warnings    []string       // of its runs, each once, ascending
	OneBlock    int            // runs whose processes the locations are; 0: these are the runs' own
	Tick        float64        // of the metric, where runs say that it is coarse
	Repeats     []int64        // of each of the locations; nil where that was not asked for
}

// Noted is what was noted of a group.
func (g *Group) Noted() notes {
	if g.notes == nil {
		return notes{}
	}
	return *g.notes
}

// Note is where to note something of a group.
func (g *Group) Note() *notes {
	if g.notes == nil {
		g.notes = &notes{}
	}
	return g.notes
}

// Kind is what has to agree for values to be comparable.
type Kind struct{ Name, Unit, Better, Clock, Level string }

// Place is where a run ran.
type Place struct {
	session string
	Block   int64 // -1: none
}

// PointKey is a point on a machine.
type PointKey struct{ Point, Machine string }

// Key is the point of the group, on its machine.
func (g *Group) Key() PointKey { return PointKey{g.PointID, g.Machine} }

// compareGroups orders groups by their points and machines.
func compareGroups(a, b *Group) int {
	if a.PointID != b.PointID {
		return strings.Compare(a.PointID, b.PointID)
	}
	return strings.Compare(a.Machine, b.Machine)
}

// Groups are those of a side in ascending order of point and machine.
type Groups []*Group

// InTurn is of, for groups that are asked for in their order.
func (gs Groups) InTurn() func(g *Group) *Group {
	i := 0
	return func(g *Group) *Group {
		for i < len(gs) && compareGroups(gs[i], g) < 0 {
			i++
		}
		if i < len(gs) && compareGroups(gs[i], g) == 0 {
			return gs[i]
		}
		return nil
	}
}

// of finds the group of a point on a machine, or nil.
func (gs Groups) of(point, machine string) *Group {
	i, ok := slices.BinarySearchFunc(gs, &Group{PointID: point, Machine: machine}, compareGroups)
	if !ok {
		return nil
	}
	return gs[i]
}

// With are the groups that have a metric that was asked for, or could have had it; all where none was.
func (gs Groups) With(metric string) Groups {
	if metric == "" {
		return gs
	}
	return slices.DeleteFunc(gs, func(g *Group) bool { return g.Metric.Name == "" && g.OK > 0 })
}

// Have tells whether a group has a metric that was asked for; where none was they all have what they have.
func (gs Groups) Have(metric string) bool {
	return metric == "" || slices.ContainsFunc(gs, func(g *Group) bool { return g.Metric.Name == metric })
}

// What groups reads of runs: of all, and of the metric. Of others than the primary one the latter are in samples.
var (
	groupRun = []string{
		"run_id", "session_id", "point_id", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params", "machine",
		"status", "stage", "error_kind", "error", "warnings", "started_at", "block_index", "repeat_index", "side", "purpose",
	}
	groupMetric = []string{"metric", "unit", "better", "clock", "level", "n_samples", "p50", "mean", "log_median"}
)

// Asked says what is wanted of groups, beside their locations.
type Asked struct {
	Metric  string // empty: the primary one of each point
	Order   bool   // when each run ran
	Blocks  bool   // in which block
	Repeats bool   // and in which repeat
	Names   bool   // what the points are

	Shared *Shared // keeps what groups have in common

	// Not asked for, but added where runs differ in it.
	sessions bool // of which session each run is
	kinds    bool // of which unit, clock and level
}

// Read reads the points of both sides: those of the base are made here while DuckDB gathers those of the head.
func Read(ctx context.Context, r *scan.Reader, sides [2]*Selected, a Asked) (base, head Groups, err error) {
	of, err := gather(ctx, r, sides[0], a)
	if err != nil {
		return nil, nil, err
	}
	made := make(chan error, 1)
	go func() { made <- of.make() }()
	as, err := gather(ctx, r, sides[1], a)
	err = errors.Join(<-made, of.rows.Close(), err)
	if as != nil {
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

// gathered are the points of a side as DuckDB gives them, and what is made of them.
type gathered struct {
	Asked
	side  *Selected
	runs  duck.Statement // the SQL of a row for each run
	rows  driver.Rows
	found Groups
}

// gather begins to read the points of a side.
func gather(ctx context.Context, r *scan.Reader, s *Selected, a Asked) (*gathered, error) {
	// Where all runs are of one session, kind and machine, nobody has to look at each.
	a.sessions = len(s.Sessions) > 1 || s.Sessionless()
	a.Order = a.Order || a.sessions || a.Blocks || a.Repeats
	a.kinds = a.Metric != "" || len(s.Kinds) != 1
	rows, args, err := s.Rows(a)
	if err != nil {
		return nil, err
	}
	g := &gathered{Asked: a, side: s, runs: duck.Statement{SQL: rows, Args: slices.Clone(args)}}
	key, order := "point_id, m", "point_id NULLS FIRST, m"
	if _, ok := s.onlyMachine(); ok {
		key, order = "point_id", "point_id NULLS FIRST"
	}
	located := "(SELECT *, epoch_us(started_at) AS started, " + s.location(a) + " AS location, " + MachineSQL + " AS m FROM " + rows + " WHERE status = 'ok')"
	text := "SELECT " + a.aggregates() + ", " + key + " FROM " + located + " GROUP BY " + key + " ORDER BY " + order
	if g.rows, err = r.Conn.Run(ctx, duck.Statement{SQL: text, Args: args}); err != nil {
		return nil, err
	}
	return g, nil
}

// make makes groups of the rows.
func (g *gathered) make() error {
	machine, only := g.side.onlyMachine()
	return duck.EachRow(g.rows, func(row []driver.Value) error {
		one := &Group{Machine: machine}
		if !only {
			one.Machine = g.Shared.text(row[len(row)-1])
			row = row[:len(row)-1]
		}
		one.PointID = duck.Text(row[len(row)-1])
		one.read(row, g.Asked)
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

// location is the SQL of the location of an ok run: one column where that does, which takes a fifth less CPU than three.
func (s *Selected) location(a Asked) string {
	if a.kinds {
		return scan.LocationSQL()
	}
	scale := schema.ScaleOf(s.Kinds[0].Name)
	if scale == schema.ScaleRatio && !slices.ContainsFunc(s.Strata, func(t Stratum) bool { return t.noLog && t.status == string(schema.StatusOK) }) {
		return "log_median"
	}
	return scan.LocationOf(scale)
}

// MachineSQL is the SQL of a machine, of which an empty name and none are the same.
const MachineSQL = "coalesce(machine, '')"

// aggregates is the SQL of what is asked: see read.
func (a Asked) aggregates() string {
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
		text += ", " + facts.IdentitySQL()
	}
	return text
}

// Rows is the SQL of a row for each run of a side, with what is known of the metric.
func (s *Selected) Rows(a Asked) (rows string, args []any, err error) {
	names := groupRun
	if a.Metric == "" {
		names = slices.Concat(groupRun, groupMetric)
	}
	columns, err := scan.RunColumns(names)
	if err != nil {
		return "", nil, err
	}
	args = slices.Clone(s.Sel.Args)
	rows = s.Sel.Src.Scan(scan.WithColumns(columns, s.Sel.Columns), s.Sel.RestrictedTo(scan.Measured))
	if a.Metric == "" {
		return rows, args, nil
	}
	args = append(args, a.Metric)
	return fmt.Sprintf("(SELECT %s, %s FROM %s AS r LEFT JOIN %s AS s ON s.run_id = r.run_id AND s.metric = $%d::VARCHAR)",
		scan.NamesOf("r", groupRun), scan.NamesOf("s", groupMetric), rows, s.Sel.Src.Nested(schema.Samples, ""), len(args)), args, nil
}
