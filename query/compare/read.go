package compare

import (
	"cmp"
	"context"
	"database/sql/driver"
	"math"
	"slices"
	"strconv"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// read reads a row of what was asked.
func (g *group) read(row []driver.Value, a asked, interned *interning) {
	g.least, g.most, g.first = duck.Integer(row[0]), duck.Integer(row[1]), duck.Integer(row[2])
	list := duck.List(row[3])
	row = row[4:]
	g.ok = int64(len(list))
	g.locations = make([]float64, len(list))
	for i, v := range list {
		location, ok := v.(float64)
		if !ok {
			location = math.NaN()
		}
		g.locations[i] = location
	}
	next := func(asked bool) (list []any) {
		if asked {
			list, row = duck.List(row[0]), row[1:]
		}
		return list
	}
	started, sessions, blocks, repeats := next(a.order), next(a.sessions), next(a.blocks), next(a.repeats)
	if a.order {
		g.order(started, sessions, blocks, repeats)
	} else {
		slices.Sort(g.locations)
	}
	g.leaveOut()
	if a.kinds {
		g.readKind(row)
		row = row[9:]
	}
	if a.names {
		g.readIdentity(row, interned)
	}
}

// interning keeps one of equal texts and one of equal sets of parameters: what points are called is mostly the same.
type interning struct {
	texts  map[string]any
	params map[string]map[string]any
	key    []byte // of params, for one look
}

func newInterning() *interning {
	return &interning{texts: map[string]any{}, params: map[string]map[string]any{}}
}

// value is a value of the driver as one of a Table.
func (in *interning) value(v driver.Value) any {
	text, ok := v.(string)
	if !ok {
		return duck.Plain(v)
	}
	if in.texts[text] == nil {
		in.texts[text] = text
	}
	return in.texts[text]
}

func (in *interning) text(v driver.Value) string { return duck.Text(in.value(v)) }

// parameters are those of a point, which nobody may change.
func (in *interning) parameters(v driver.Value) map[string]any {
	m, ok := v.(duckdb.OrderedMap)
	if !ok {
		return nil
	}
	in.key = in.key[:0]
	for _, part := range slices.Concat(m.Keys(), m.Values()) {
		in.key = strconv.AppendQuote(in.key, duck.Text(part))
	}
	params, ok := in.params[string(in.key)]
	if !ok {
		params = duck.PlainMap(m)
		in.params[string(in.key)] = params
	}
	return params
}

// leaveOut takes out the runs that have no location.
func (g *group) leaveOut() {
	kept := 0
	for i, location := range g.locations {
		switch {
		case math.IsNaN(location):
			g.note().useless++
			continue
		case math.IsInf(location, 0):
			g.note().useless++
			g.note().nonPositive++
			continue
		}
		g.locations[kept] = location
		if g.started != nil {
			g.started[kept] = g.started[i]
		}
		if g.places != nil {
			g.places[kept] = g.places[i]
		}
		if repeats := g.noted().repeats; repeats != nil {
			repeats[kept] = repeats[i]
		}
		kept++
	}
	g.locations = g.locations[:kept]
	if g.started != nil {
		g.started = g.started[:kept]
	}
	if g.places != nil {
		g.places = g.places[:kept]
	}
	if repeats := g.noted().repeats; repeats != nil {
		g.notes.repeats = repeats[:kept]
	}
}

// readKind reads the least and the most of what has to be the same for all runs.
func (g *group) readKind(row []driver.Value) {
	g.metric = &kindOfMetric{better: duck.Text(row[8])}
	fields := []*string{&g.metric.name, &g.metric.unit, &g.metric.clock, &g.metric.level}
	for i, what := range []string{"metric", "unit", "clock", "level"} {
		*fields[i] = duck.Text(row[2*i])
		if row[2*i] != row[2*i+1] && g.noted().differing == "" {
			g.note().differing = what
		}
	}
}

// readIdentity reads the identity fields but the machine, and the parameters.
func (g *group) readIdentity(row []driver.Value, interned *interning) {
	n := len(facts.Identity) - 1
	g.identity = make([]any, 0, len(facts.Identity))
	for _, v := range row[:n] {
		g.identity = append(g.identity, interned.value(v))
	}
	g.identity = append(g.identity, answer.Text(g.machine))
	g.params = interned.parameters(row[n])
}

// order puts the locations in the order in which the runs ran. Sessions, blocks and repeats are nil where they are not asked
// for.
func (g *group) order(started, sessions, blocks, repeats []any) {
	type run struct {
		started  int64
		location float64
		place
		repeat int64
	}
	runs := make([]run, len(g.locations))
	for i := range runs {
		runs[i] = run{duck.Integer(started[i]), g.locations[i], place{block: -1}, 0}
		if sessions != nil {
			runs[i].session = duck.Text(sessions[i])
			g.sessions = append(g.sessions, runs[i].session)
		}
		if blocks != nil {
			if block, ok := blocks[i].(int64); ok {
				runs[i].block = block
			}
		}
		if repeats != nil {
			runs[i].repeat = duck.Integer(repeats[i])
		}
	}
	slices.Sort(g.sessions)
	g.sessions = slices.Compact(g.sessions)
	slices.SortFunc(runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.started, b.started), cmp.Compare(a.session, b.session), cmp.Compare(a.block, b.block), cmp.Compare(a.location, b.location))
	})
	g.started = make([]int64, len(runs))
	if sessions != nil || blocks != nil {
		g.places = make([]place, len(runs))
	}
	if repeats != nil {
		g.note().repeats = make([]int64, len(runs))
	}
	for i, r := range runs {
		g.locations[i], g.started[i] = r.location, r.started
		if g.places != nil {
			g.places[i] = r.place
		}
		if repeats != nil {
			g.notes.repeats[i] = r.repeat
		}
	}
}

// remarks adds how runs that are not ok ended, points of which none is ok, and the warnings.
func (m *comparing) remarks(ctx context.Context, of *gathered) (groups, error) {
	s, rows, found := of.side, of.runs, of.found
	var more groups
	if slices.ContainsFunc(s.strata, func(t stratum) bool { return t.status != string(schema.StatusOK) }) {
		text := "SELECT point_id, " + knownMachine + " AS m, status, count(*), mode(error), " + facts.IdentitySQL() + " FROM " + rows.SQL +
			" WHERE status <> 'ok' GROUP BY point_id, m, status ORDER BY point_id NULLS FIRST, m, status"
		err := m.Conn.Query(ctx, duck.Statement{SQL: text, Args: rows.Args}, func(row []driver.Value) error {
			g := found.of(duck.Text(row[0]), duck.Text(row[1]))
			if g == nil {
				g = more.of(duck.Text(row[0]), duck.Text(row[1]))
			}
			if g == nil {
				g = &group{pointID: duck.Text(row[0]), machine: duck.Text(row[1]), metric: &kindOfMetric{}}
				more = append(more, g)
			}
			note := g.note()
			if note.failed == nil {
				note.failed = map[string]any{}
			}
			note.failed[duck.Text(row[2])] = row[3]
			if note.failure == "" {
				note.failure = duck.Text(row[4])
			}
			if g.identity == nil {
				g.readIdentity(row[5:], newInterning())
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
	text := "SELECT DISTINCT point_id, " + knownMachine + " AS m, unnest(warnings) AS warning FROM " + rows.SQL + " WHERE len(warnings) > 0 ORDER BY warning"
	err := m.Conn.Query(ctx, duck.Statement{SQL: text, Args: rows.Args}, func(row []driver.Value) error {
		if g := found.of(duck.Text(row[0]), duck.Text(row[1])); g != nil {
			note := g.note()
			note.warnings = append(note.warnings, duck.Text(row[2]))
		}
		return nil
	})
	return found, err
}
