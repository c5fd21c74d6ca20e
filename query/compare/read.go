package compare

import (
	"cmp"
	"context"
	"database/sql/driver"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/query/internal/scan"
	"github.com/neurolens/neurolens/schema"
)

// read reads a row of the query of gather.
func (g *sideGroup) read(row []driver.Value, a sideColumns) {
	g.MinSamples, g.MaxSamples, g.First = duck.Integer(row[0]), duck.Integer(row[1]), duck.Integer(row[2])
	list := duck.List(row[3])
	row = row[4:]
	g.OK = int64(len(list))
	g.Locations = a.Shared.numbers(len(list))
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
		g.Order(started, sessions, blocks, repeats)
	} else {
		slices.Sort(g.Locations)
	}
	g.LeaveOut()
	if a.kinds {
		g.readKind(row)
		row = row[9:]
	}
	if a.Names {
		g.ReadIdentity(row, a.Shared)
	}
}

// Located is the group with other locations of its ok runs, in the order of the other arguments, which are columns of these runs.
// Repeats are left out if the group has none. The group itself may be the base of other points.
func (g *sideGroup) Located(locations []float64, started, sessions, blocks, repeats []any) *sideGroup {
	g = g.clone()
	if g.notes != nil {
		g.notes.NoValue, g.notes.NonPositive = 0, 0
	}
	if g.Noted().Repeats == nil {
		repeats = nil
	}
	g.Locations, g.Sessions = slices.Clone(locations), nil
	g.Order(started, sessions, blocks, repeats)
	g.LeaveOut()
	return g
}

// LeaveOut removes the runs without a finite location, and counts them in the notes.
func (g *sideGroup) LeaveOut() {
	kept := 0
	for i, location := range g.Locations {
		switch {
		case math.IsNaN(location):
			g.Note().NoValue++
			continue
		case math.IsInf(location, 0):
			g.Note().NoValue++
			if location < 0 {
				g.Note().NonPositive++
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
		if repeats := g.Noted().Repeats; repeats != nil {
			repeats[kept] = repeats[i]
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
	if repeats := g.Noted().Repeats; repeats != nil {
		g.notes.Repeats = repeats[:kept]
	}
}

// readKind reads the kind from the minimum and the maximum of each of its fields, and notes the first field in which runs differ.
func (g *sideGroup) readKind(row []driver.Value) {
	g.Metric = &metricKind{Better: duck.Text(row[8])}
	fields := []*string{&g.Metric.Name, &g.Metric.Unit, &g.Metric.Clock, &g.Metric.Level}
	for i, what := range []string{"metric", "unit", "clock", "level"} {
		*fields[i] = duck.Text(row[2*i])
		if row[2*i] != row[2*i+1] && g.Noted().Differing == "" {
			g.Note().Differing = what
		}
	}
}

// ReadIdentity reads the columns of query.IdentitySQL.
func (g *sideGroup) ReadIdentity(row []driver.Value, shared *interner) {
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

// Order sorts the locations by when the runs ran. sessions, blocks and repeats are nil if they were not read.
func (g *sideGroup) Order(started, sessions, blocks, repeats []any) {
	type run struct {
		started  int64
		location float64
		runPlace
		repeat int64
	}
	const few = 32 // up to which it needs no memory from the heap
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
		g.Note().Repeats = make([]int64, len(runs))
	}
	for i, r := range runs {
		g.Locations[i], g.Started[i] = r.location, r.started
		if g.Places != nil {
			g.Places[i] = r.runPlace
		}
		if repeats != nil {
			g.notes.Repeats[i] = r.repeat
		}
	}
}

// remarks adds to the groups the runs that are not ok, points without any ok run, and the warnings.
func remarks(ctx context.Context, r *scan.Reader, of *gathered) (sideGroups, error) {
	s, rows, found := of.side, of.runs, of.found
	var more sideGroups
	if slices.ContainsFunc(s.Strata, func(t Stratum) bool { return t.status != string(schema.StatusOK) }) {
		text := "SELECT point_id, " + machineSQL + " AS m, status, count(*), mode(error ORDER BY error), count(*) FILTER (" + scan.WrongSQL + "), " + query.IdentitySQL() + " FROM " + rows.SQL +
			" WHERE status <> 'ok' GROUP BY point_id, m, status ORDER BY point_id NULLS FIRST, m, status"
		err := r.Conn.Query(ctx, duck.Statement{SQL: text, Args: rows.Args}, func(row []driver.Value) error {
			g := found.of(duck.Text(row[0]), duck.Text(row[1]))
			if g == nil {
				g = more.of(duck.Text(row[0]), duck.Text(row[1]))
			}
			if g == nil {
				g = &sideGroup{PointID: duck.Text(row[0]), Machine: duck.Text(row[1]), Metric: &metricKind{}}
				more = append(more, g)
			}
			note := g.Note()
			if note.Failed == nil {
				note.Failed = map[string]any{}
			}
			note.Failed[duck.Text(row[2])] = row[3]
			if note.Failure == "" {
				note.Failure = duck.Text(row[4])
			}
			note.Wrong += duck.Integer(row[5])
			if g.Point == nil {
				g.ReadIdentity(row[6:], of.Shared)
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
	if !slices.ContainsFunc(s.Strata, func(t Stratum) bool { return t.warned }) {
		return found, nil
	}
	text := "SELECT DISTINCT point_id, " + machineSQL + " AS m, unnest(warnings) AS warning FROM " + rows.SQL + " WHERE len(warnings) > 0 ORDER BY warning"
	err := r.Conn.Query(ctx, duck.Statement{SQL: text, Args: rows.Args}, func(row []driver.Value) error {
		if g := found.of(duck.Text(row[0]), duck.Text(row[1])); g != nil {
			note := g.Note()
			note.Warnings = append(note.Warnings, duck.Text(row[2]))
		}
		return nil
	})
	return found, err
}
