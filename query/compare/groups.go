package compare

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

// group is the runs of one point on one machine, of one side, as to one metric.
type group struct {
	pointID, machine string
	metric           *kindOfMetric // of its ok runs
	least, most      int64         // n_samples of the runs that have least and most
	locations        []float64     // of its ok runs, in the order in which they ran, or ascending where places are not known
	started          []int64       // when each ran, in Unix microseconds; nil where that was not asked for
	places           []place       // where each ran; likewise
	sessions         []string      // of its ok runs, ascending
	ok               int64         // runs that ended well
	notes            *notes        // nil where there is nothing to note: there are very many groups
	inOrder          bool          // it is known in which order the runs ran: see settle
	absent           bool          // there are no runs: it stands for a point that the other side has
	matched          bool          // of the base: some point of the head is compared with it

	first    int64 // start of the first ok run in Unix microseconds; 0 where not known
	identity []any // of identityFields; nil where not asked for
	params   map[string]any
}

// notes are what is out of the ordinary with the runs of a group.
type notes struct {
	differing   string         // which of metric, unit, clock, level differ among the ok runs; empty: none
	useless     int64          // ok runs that give no location
	nonPositive int64          // of those, runs of a metric compared by its ratio that is not positive
	failed      map[string]any // numbers of runs by the status that they ended with, but ok
	failure     string         // what one of these says went wrong
	warnings    []string       // of its runs, each once, ascending
	oneBlock    int            // runs whose processes the locations are; 0: these are the runs' own
	tick        float64        // of the metric, where runs say that it is coarse
	repeats     []int64        // of each of the locations; nil where that was not asked for
}

// noted is what was noted of a group.
func (g *group) noted() notes {
	if g.notes == nil {
		return notes{}
	}
	return *g.notes
}

// note is where to note something of a group.
func (g *group) note() *notes {
	if g.notes == nil {
		g.notes = &notes{}
	}
	return g.notes
}

// kindOfMetric is what has to agree for values to be comparable.
type kindOfMetric struct{ name, unit, better, clock, level string }

// place is where a run ran.
type place struct {
	session string
	block   int64 // -1: none
}

// pointKey is a point on a machine.
type pointKey struct{ point, machine string }

func (g *group) key() pointKey { return pointKey{g.pointID, g.machine} }

// compareGroups orders groups by their points and machines.
func compareGroups(a, b *group) int {
	if a.pointID != b.pointID {
		return strings.Compare(a.pointID, b.pointID)
	}
	return strings.Compare(a.machine, b.machine)
}

// groups are those of a side in ascending order of point and machine.
type groups []*group

// inTurn is of, for groups that are asked for in their order.
func (gs groups) inTurn() func(g *group) *group {
	i := 0
	return func(g *group) *group {
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
func (gs groups) of(point, machine string) *group {
	i, ok := slices.BinarySearchFunc(gs, &group{pointID: point, machine: machine}, compareGroups)
	if !ok {
		return nil
	}
	return gs[i]
}

// with are the groups that have a metric that was asked for, or could have had it; all where none was.
func (gs groups) with(metric string) groups {
	if metric == "" {
		return gs
	}
	return slices.DeleteFunc(gs, func(g *group) bool { return g.metric.name == "" && g.ok > 0 })
}

// What groups reads of runs: of all, and of the metric. Of others than the primary one the latter are in samples.
var (
	groupRun = []string{
		"run_id", "session_id", "point_id", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params", "machine",
		"status", "error", "warnings", "started_at", "block_index", "repeat_index", "side", "purpose",
	}
	groupMetric = []string{"metric", "unit", "better", "clock", "level", "n_samples", "p50", "mean", "log_median"}
)

// asked says what is wanted of groups, beside their locations.
type asked struct {
	metric  string // empty: the primary one of each point
	order   bool   // when each run ran
	blocks  bool   // in which block
	repeats bool   // and in which repeat
	names   bool   // what the points are

	// Not asked for, but added where runs differ in it.
	sessions bool // of which session each run is
	kinds    bool // of which unit, clock and level
}

// groups reads the points of both sides: those of the base are made here while DuckDB gathers those of the head.
func (m *comparing) groups(ctx context.Context, a asked) (base, head groups, err error) {
	of, err := m.gather(ctx, m.base, a)
	if err != nil {
		return nil, nil, err
	}
	made := make(chan error, 1)
	go func() { made <- of.make() }()
	as, err := m.gather(ctx, m.head, a)
	err = errors.Join(<-made, of.rows.Close(), err)
	if as != nil {
		err = errors.Join(err, as.make(), as.rows.Close())
	}
	if err != nil {
		return nil, nil, duck.Translate(ctx, err)
	}
	if base, err = m.remarks(ctx, of); err != nil {
		return nil, nil, err
	}
	head, err = m.remarks(ctx, as)
	return base, head, err
}

// gathered are the points of a side as DuckDB gives them, and what is made of them.
type gathered struct {
	asked
	side  *side
	runs  duck.Statement // the SQL of a row for each run
	rows  driver.Rows
	found groups
}

// gather begins to read the points of a side.
func (m *comparing) gather(ctx context.Context, s *side, a asked) (*gathered, error) {
	// Where all runs are of one session, kind and machine, nobody has to look at each.
	a.sessions = len(s.Sessions) > 1 || s.sessionless()
	a.order = a.order || a.sessions || a.blocks || a.repeats
	a.kinds = a.metric != "" || len(s.kinds) != 1
	rows, args, err := m.groupRows(s, a)
	if err != nil {
		return nil, err
	}
	g := &gathered{asked: a, side: s, runs: duck.Statement{SQL: rows, Args: slices.Clone(args)}}
	key, order := "point_id, m", "point_id NULLS FIRST, m"
	if _, ok := s.onlyMachine(); ok {
		key, order = "point_id", "point_id NULLS FIRST"
	}
	located := "(SELECT *, epoch_us(started_at) AS started, " + s.location(a) + " AS location, " + knownMachine + " AS m FROM " + rows + " WHERE status = 'ok')"
	text := "SELECT " + a.aggregates() + ", " + key + " FROM " + located + " GROUP BY " + key + " ORDER BY " + order
	if g.rows, err = m.Conn.Run(ctx, duck.Statement{SQL: text, Args: args}); err != nil {
		return nil, err
	}
	return g, nil
}

// make makes groups of the rows.
func (g *gathered) make() error {
	interned := newInterning()
	machine, only := g.side.onlyMachine()
	return duck.EachRow(g.rows, func(row []driver.Value) error {
		one := &group{machine: machine}
		if !only {
			one.machine = interned.text(row[len(row)-1])
			row = row[:len(row)-1]
		}
		one.pointID = duck.Text(row[len(row)-1])
		one.read(row, g.asked, interned)
		if !g.sessions {
			one.sessions = g.side.Sessions
		}
		if !g.kinds {
			one.metric = &g.side.kinds[0]
		}
		g.found = append(g.found, one)
		return nil
	})
}

// location is the SQL of the location of an ok run: one column where that does, which takes a fifth less CPU than three.
func (s *side) location(a asked) string {
	if a.kinds {
		return scan.LocationSQL()
	}
	scale := schema.ScaleOf(s.kinds[0].name)
	if scale == schema.ScaleRatio && !slices.ContainsFunc(s.strata, func(t stratum) bool { return t.noLog && t.status == string(schema.StatusOK) }) {
		return "log_median"
	}
	return scan.LocationOf(scale)
}

// knownMachine is the SQL of a machine, of which an empty name and none are the same.
const knownMachine = "coalesce(machine, '')"

// aggregates is the SQL of what is asked: see read.
func (a asked) aggregates() string {
	text := "min(n_samples), max(n_samples), min(started), list(location)"
	if a.order {
		text += ", list(started)"
	}
	if a.sessions {
		text += ", list(session_id)"
	}
	if a.blocks {
		text += ", list(block_index)"
	}
	if a.repeats {
		text += ", list(repeat_index)"
	}
	if a.kinds {
		text += ", min(metric), max(metric), min(unit), max(unit), min(clock), max(clock), min(level), max(level), min(better)"
	}
	if a.names {
		text += ", " + facts.IdentitySQL()
	}
	return text
}

// groupRows is the SQL of a row for each run of a side, with what is known of the metric.
func (m *comparing) groupRows(s *side, a asked) (rows string, args []any, err error) {
	names := groupRun
	if a.metric == "" {
		names = slices.Concat(groupRun, groupMetric)
	}
	columns, err := scan.RunColumns(names)
	if err != nil {
		return "", nil, err
	}
	args = slices.Clone(s.sel.Args)
	rows = s.sel.Src.Scan(scan.WithColumns(columns, s.sel.Columns), s.sel.RestrictedTo(scan.Measured))
	if a.metric == "" {
		return rows, args, nil
	}
	args = append(args, a.metric)
	return fmt.Sprintf("(SELECT %s, %s FROM %s AS r LEFT JOIN %s AS s ON s.run_id = r.run_id AND s.metric = $%d::VARCHAR)",
		scan.NamesOf("r", groupRun), scan.NamesOf("s", groupMetric), rows, s.sel.Src.Nested(schema.Samples, ""), len(args)), args, nil
}
