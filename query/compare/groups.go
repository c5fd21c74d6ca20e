package compare

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// runGroup has the runs of one point on one machine and one side, for one metric.
type runGroup struct {
	PointID, Machine string
	Metric           *metricKind // kind of its ok runs
	MinSamples       int64       // smallest n_samples of an ok run
	MaxSamples       int64       // largest n_samples of an ok run
	Locations        []float64   // of its ok runs, in their order; ascending if it was not read. Logarithms, unless the scale is schema.ScaleDifference
	Median           *float64    // median of the medians of its ok runs, as query.SessionPoint has it; nil: none, or Locations are of fewer runs, or are means
	Started          []int64     // start of each, in Unix microseconds; nil if not read
	Places           []runPlace  // session and block of each; nil if not read
	Sessions         []string    // sessions of its ok runs, ascending
	OK               int64       // number of ok runs
	notes
	Absent  bool // there are no runs: the group represents a point that only the other side has
	Matched bool // of the base: it is paired with a group of the head

	First int64        // start of the first ok run in Unix microseconds; 0: unknown
	Point *query.Point // nil if not read
}

// notes are the unusual properties of the runs of a group.
type notes struct {
	Differing   string         // the first of metric, unit, clock and level in which the ok runs differ; empty: none
	NoValue     int64          // ok runs without a location
	NonPositive int64          // number of ok runs whose value has no logarithm
	Failed      map[string]any // numbers of runs per status other than ok
	Failure     string         // error of one failed run
	Wrong       int64          // number of these with a wrong result
	Warnings    []string       // warnings of its runs, without repetition, ascending
	OneBlock    int            // number of runs, if the locations are locations of their processes; 0: locations of runs
	Tick        float64        // step of the clock, if runs have the warning that it is coarse
	Repeats     []int64        // repeat of each location; nil if not read
	Lacks       string         // the parameter that is the compared axis, if the group represents a point without it
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

// key returns the point and machine of the group.
func (g *runGroup) key() pointKey { return pointKey{g.PointID, g.Machine} }

// compareGroups orders groups by point and machine.
func compareGroups(a, b *runGroup) int {
	if a.PointID != b.PointID {
		return strings.Compare(a.PointID, b.PointID)
	}
	return strings.Compare(a.Machine, b.Machine)
}

// runGroups are the groups of a side, sorted by point and machine.
type runGroups []*runGroup

// ascendingLookup returns a function that finds the group with the same point and machine. It must be called in ascending order.
func (gs runGroups) ascendingLookup() func(g *runGroup) *runGroup {
	i := 0
	return func(g *runGroup) *runGroup {
		for i < len(gs) && compareGroups(gs[i], g) < 0 {
			i++
		}
		if i < len(gs) && compareGroups(gs[i], g) == 0 {
			return gs[i]
		}
		return nil
	}
}

// of returns the group of a point on a machine, or nil.
func (gs runGroups) of(point, machine string) *runGroup {
	i, ok := slices.BinarySearchFunc(gs, &runGroup{PointID: point, Machine: machine}, compareGroups)
	if !ok {
		return nil
	}
	return gs[i]
}

// with returns the groups that have a requested metric, or have no ok run; all if metric is empty.
func (gs runGroups) with(metric string) runGroups {
	if metric == "" {
		return gs
	}
	return slices.DeleteFunc(gs, func(g *runGroup) bool { return g.Metric.Name == "" && g.OK > 0 })
}

// have reports whether a group has a requested metric; true if metric is empty.
func (gs runGroups) have(metric string) bool {
	return metric == "" || slices.ContainsFunc(gs, func(g *runGroup) bool { return g.Metric.Name == metric })
}

// groupRun and groupMetric are the columns that are read. For a metric other than the primary one, groupMetric is read from samples.
var (
	groupRun = []string{
		"run_id", "session_id", "point_id", "benchmark", "variant", "backend", "model", "precision", "batch_size", "seq_len", "params", "machine",
		"status", "stage", "error_kind", "error", "warnings", "started_at", "block_index", "repeat_index", "side", "purpose",
	}
	groupMetric = []string{"metric", "unit", "better", "clock", "level", "n_samples", "p50", "mean", "log_median"}
)

// groupColumns selects the columns to read about groups, in addition to their locations.
type groupColumns struct {
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
func readSides(ctx context.Context, ofBase, ofHead *selectedSide, a groupColumns) (base, head runGroups, err error) {
	of, err := ofBase.gather(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	made := make(chan error, 1)
	go func() { made <- of.make() }()
	as, err := ofHead.gather(ctx, a)
	err = errors.Join(<-made, of.rows.Close(), err)
	if as != nil {
		err = errors.Join(err, as.make(), as.rows.Close())
	}
	if err != nil {
		return nil, nil, duck.Translate(ctx, err)
	}
	if base, err = of.addFailures(ctx); err != nil {
		return nil, nil, err
	}
	head, err = as.addFailures(ctx)
	return base, head, err
}

// gathered are the rows of the points of a side, and the groups made of them.
type gathered struct {
	groupColumns
	side  *selectedSide
	runs  duck.Statement // the SQL of a row for each run
	rows  driver.Rows
	found runGroups
}

// gather starts to read the points of a side.
func (s *selectedSide) gather(ctx context.Context, a groupColumns) (*gathered, error) {
	// If all runs have the same session, kind and machine, these need not be read for each.
	a.sessions = len(s.Sessions) > 1 || s.hasSessionless()
	a.Order = a.Order || a.sessions || a.Blocks || a.Repeats
	a.kinds = a.Metric != "" || len(s.kinds) != 1
	rows, args, err := s.rows(a)
	if err != nil {
		return nil, err
	}
	g := &gathered{groupColumns: a, side: s, runs: duck.Statement{SQL: rows, Args: slices.Clone(args)}}
	key, order := "point_id, m", "point_id NULLS FIRST, m"
	if _, ok := s.onlyMachine(); ok {
		key, order = "point_id", "point_id NULLS FIRST"
	}
	located := "(SELECT *, epoch_us(started_at) AS started, " + s.location(a) + " AS location, " + machineSQL + " AS m FROM " + rows + " WHERE status = 'ok')"
	text := "SELECT " + a.aggregates() + ", " + key + " FROM " + located + " GROUP BY " + key + " ORDER BY " + order
	if g.rows, err = s.Conn.Run(ctx, duck.Statement{SQL: text, Args: args}); err != nil {
		return nil, err
	}
	if err := s.Conn.Trim(ctx); err != nil {
		return nil, errors.Join(err, g.rows.Close())
	}
	return g, nil
}

// make makes the groups from the rows.
func (g *gathered) make() error {
	machine, only := g.side.onlyMachine()
	return duck.EachRow(g.rows, func(row []driver.Value) error {
		one := &runGroup{Machine: machine}
		if !only {
			one.Machine = g.Shared.text(row[len(row)-1])
			row = row[:len(row)-1]
		}
		one.PointID = duck.Text(row[len(row)-1])
		one.read(row, g.groupColumns)
		if !g.sessions {
			one.Sessions = g.side.Sessions
		}
		if !g.kinds {
			one.Metric = &g.side.kinds[0]
		}
		g.found = append(g.found, one)
		return nil
	})
}

// location returns the SQL of the location of an ok run. If possible it reads one column instead of three, which takes a fifth less CPU.
func (s *selectedSide) location(a groupColumns) string {
	if a.kinds {
		return scan.LocationSQL()
	}
	scale := schema.ScaleOf(s.kinds[0].Name)
	if scale == schema.ScaleRatio && !slices.ContainsFunc(s.strata, func(t stratum) bool { return t.noLog && t.status == string(schema.StatusOK) }) {
		return "log_median"
	}
	return scan.LocationSQLOf(scale)
}

// machineSQL is the SQL of a machine; NULL is the empty name.
const machineSQL = "coalesce(machine, '')"

// aggregates returns the SQL of the columns that runGroup.read reads.
func (a groupColumns) aggregates() string {
	text := "min(n_samples), max(n_samples), min(started), median(coalesce(p50, mean)), list(location)"
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

// rows returns the SQL of one row per run of a side, with the columns of the metric.
func (s *selectedSide) rows(a groupColumns) (rows string, args []any, err error) {
	names := groupRun
	if a.Metric == "" {
		names = slices.Concat(groupRun, groupMetric)
	}
	columns, err := scan.RunColumns(names)
	if err != nil {
		return "", nil, err
	}
	args = slices.Clone(s.sel.Args)
	rows = s.sel.Src.Scan(scan.WithColumns(columns, s.sel.Columns), s.sel.RestrictedTo(s.purpose))
	if a.Metric == "" {
		return rows, args, nil
	}
	args = append(args, a.Metric)
	return fmt.Sprintf("(SELECT %s, %s FROM %s AS r LEFT JOIN %s AS s ON s.run_id = r.run_id AND s.metric = $%d::VARCHAR)",
		scan.ColumnNamesOf("r", groupRun), scan.ColumnNamesOf("s", groupMetric), rows, s.sel.Src.Nested(schema.Samples, ""), len(args)), args, nil
}

// read reads a row of the query of gather.
func (g *runGroup) read(row []driver.Value, a groupColumns) {
	g.MinSamples, g.MaxSamples, g.First = duck.Integer(row[0]), duck.Integer(row[1]), duck.Integer(row[2])
	if median, ok := row[3].(float64); ok {
		g.Median = &median
	}
	list := duck.List(row[4])
	row = row[5:]
	g.OK = int64(len(list))
	g.Locations = make([]float64, len(list))
	for i, v := range list {
		location, ok := v.(float64)
		if !ok {
			location = math.NaN()
		}
		g.Locations[i] = location
	}
	next := func(asked bool) (list []any) {
		if asked {
			list, row = duck.List(row[0]), row[1:]
		}
		return list
	}
	started, sessions, blocks, repeats := next(a.Order), next(a.sessions), next(a.Blocks), next(a.Repeats)
	if a.Order {
		g.sortByStart(started, sessions, blocks, repeats)
	} else {
		slices.Sort(g.Locations)
	}
	g.dropNonFinite()
	if a.kinds {
		g.readKind(row)
		row = row[9:]
	}
	if a.Names {
		g.readIdentity(row, a.Shared)
	}
}

// relocated returns the group with other locations of its ok runs, in the order of the other arguments, which are columns of these runs.
// Repeats are left out if the group has none. It does not change the group itself, which may be the base of other points.
func (g *runGroup) relocated(locations []float64, started, sessions, blocks, repeats []any) *runGroup {
	of := *g
	if g.Repeats == nil {
		repeats = nil
	}
	of.NoValue, of.NonPositive, of.Locations, of.Sessions = 0, 0, slices.Clone(locations), nil
	of.sortByStart(started, sessions, blocks, repeats)
	of.dropNonFinite()
	return &of
}

// dropNonFinite removes the runs without a finite location, and counts them in the notes.
func (g *runGroup) dropNonFinite() {
	kept := 0
	for i, location := range g.Locations {
		switch {
		case math.IsNaN(location):
			g.NoValue++
			continue
		case math.IsInf(location, 0):
			g.NoValue++
			if location < 0 {
				g.NonPositive++
			}
			continue
		}
		g.Locations[kept] = location
		if g.Started != nil {
			g.Started[kept] = g.Started[i]
		}
		if g.Places != nil {
			g.Places[kept] = g.Places[i]
		}
		if g.Repeats != nil {
			g.Repeats[kept] = g.Repeats[i]
		}
		kept++
	}
	g.Locations = g.Locations[:kept]
	if g.Started != nil {
		g.Started = g.Started[:kept]
	}
	if g.Places != nil {
		g.Places = g.Places[:kept]
	}
	if g.Repeats != nil {
		g.Repeats = g.Repeats[:kept]
	}
}

// readKind reads the kind from the minimum and the maximum of each of its fields, and notes the first field in which runs differ.
func (g *runGroup) readKind(row []driver.Value) {
	g.Metric = &metricKind{Better: duck.Text(row[8])}
	fields := []*string{&g.Metric.Name, &g.Metric.Unit, &g.Metric.Clock, &g.Metric.Level}
	for i, what := range []string{"metric", "unit", "clock", "level"} {
		*fields[i] = duck.Text(row[2*i])
		if row[2*i] != row[2*i+1] && g.Differing == "" {
			g.Differing = what
		}
	}
}

// readIdentity reads the columns of query.IdentitySQL.
func (g *runGroup) readIdentity(row []driver.Value, shared *interner) {
	integer := func(v driver.Value) *int64 {
		if n, ok := v.(int64); ok {
			return &n
		}
		return nil
	}
	g.Point = &query.Point{
		Benchmark: shared.text(row[0]), Variant: shared.text(row[1]), Backend: shared.text(row[2]), Model: shared.text(row[3]),
		Precision: shared.text(row[4]), BatchSize: integer(row[5]), SeqLen: integer(row[6]), Machine: g.Machine, Params: shared.parameters(duck.List(row[7]), duck.List(row[8])),
	}
}

// sortByStart sorts the locations by when the runs ran. sessions, blocks and repeats are nil if they were not read.
func (g *runGroup) sortByStart(started, sessions, blocks, repeats []any) {
	type run struct {
		started  int64
		location float64
		runPlace
		repeat int64
	}
	const few = 32 // number of runs up to which no heap memory is needed
	var space [few]run
	runs := space[:0]
	for i, location := range g.Locations {
		runs = append(runs, run{duck.Integer(started[i]), location, runPlace{Block: -1}, 0})
		if sessions != nil {
			runs[i].session = duck.Text(sessions[i])
			g.Sessions = append(g.Sessions, runs[i].session)
		}
		if blocks != nil {
			if block, ok := blocks[i].(int64); ok {
				runs[i].Block = block
			}
		}
		if repeats != nil {
			runs[i].repeat = duck.Integer(repeats[i])
		}
	}
	slices.Sort(g.Sessions)
	g.Sessions = slices.Compact(g.Sessions)
	slices.SortFunc(runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.started, b.started), cmp.Compare(a.session, b.session), cmp.Compare(a.Block, b.Block), cmp.Compare(a.location, b.location))
	})
	g.Started = make([]int64, len(runs))
	if sessions != nil || blocks != nil {
		g.Places = make([]runPlace, len(runs))
	}
	if repeats != nil {
		g.Repeats = make([]int64, len(runs))
	}
	for i, r := range runs {
		g.Locations[i], g.Started[i] = r.location, r.started
		if g.Places != nil {
			g.Places[i] = r.runPlace
		}
		if repeats != nil {
			g.Repeats[i] = r.repeat
		}
	}
}

// addFailures adds to the groups the runs that are not ok, points without any ok run, and the warnings.
func (of *gathered) addFailures(ctx context.Context) (runGroups, error) {
	s, rows, found := of.side, of.runs, of.found
	var more runGroups
	if slices.ContainsFunc(s.strata, func(t stratum) bool { return t.status != string(schema.StatusOK) }) {
		text := "SELECT point_id, " + machineSQL + " AS m, status, count(*), mode(error ORDER BY error), count(*) FILTER (" + scan.WrongSQL + "), " + query.IdentitySQL() + " FROM " + rows.SQL +
			" WHERE status <> 'ok' GROUP BY point_id, m, status ORDER BY point_id NULLS FIRST, m, status"
		err := s.Conn.Query(ctx, duck.Statement{SQL: text, Args: rows.Args}, func(row []driver.Value) error {
			g := found.of(duck.Text(row[0]), duck.Text(row[1]))
			if g == nil {
				g = more.of(duck.Text(row[0]), duck.Text(row[1]))
			}
			if g == nil {
				g = &runGroup{PointID: duck.Text(row[0]), Machine: duck.Text(row[1]), Metric: &metricKind{}}
				more = append(more, g)
			}
			if g.Failed == nil {
				g.Failed = map[string]any{}
			}
			g.Failed[duck.Text(row[2])] = row[3]
			if g.Failure == "" {
				g.Failure = duck.Text(row[4])
			}
			g.Wrong += duck.Integer(row[5])
			if g.Point == nil {
				g.readIdentity(row[6:], of.Shared)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(more) > 0 {
		found = append(found, more...)
		slices.SortFunc(found, compareGroups)
	}
	if !slices.ContainsFunc(s.strata, func(t stratum) bool { return t.warned }) {
		return found, nil
	}
	text := "SELECT DISTINCT point_id, " + machineSQL + " AS m, unnest(warnings) AS warning FROM " + rows.SQL + " WHERE len(warnings) > 0 ORDER BY warning"
	err := s.Conn.Query(ctx, duck.Statement{SQL: text, Args: rows.Args}, func(row []driver.Value) error {
		if g := found.of(duck.Text(row[0]), duck.Text(row[1])); g != nil {
			g.Warnings = append(g.Warnings, duck.Text(row[2]))
		}
		return nil
	})
	return found, err
}

// interner stores equal texts and equal sets of parameters once, because most points share them. It is for one goroutine at a time, and
// its values must not be changed.
type interner struct {
	texts  map[string]string
	params map[string]map[string]string
	key    []byte // buffer for a key of params
}

// newInterner makes an empty interner.
func newInterner() *interner {
	return &interner{texts: map[string]string{}, params: map[string]map[string]string{}}
}

// text returns a text of the driver; empty for NULL.
func (s *interner) text(v driver.Value) string {
	text := duck.Text(v)
	if same, ok := s.texts[text]; ok {
		return same
	}
	s.texts[text] = text
	return text
}

// parameters returns the parameters of a point with these names and values; nil if there are no names.
func (s *interner) parameters(names, values []any) map[string]string {
	if names == nil {
		return nil
	}
	s.key = s.key[:0]
	for i, name := range names {
		s.key = strconv.AppendQuote(s.key, duck.Text(name))
		s.key = strconv.AppendQuote(s.key, duck.Text(values[i]))
	}
	params, ok := s.params[string(s.key)]
	if !ok {
		params = map[string]string{}
		for i, value := range values {
			if text, ok := value.(string); ok { // without a value it is no parameter
				params[duck.Text(names[i])] = text
			}
		}
		s.params[string(s.key)] = params
	}
	return params
}
