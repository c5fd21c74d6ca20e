package query

import (
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

// Fields returns the columns of the groups: the keys, then all others, except columns with the name of a key.
func (g *Grouping) Fields() []answer.Field[Group] {
	fields := make([]answer.Field[Group], len(g.Keys))
	for i, key := range g.Keys {
		fields[i] = answer.Field[Group]{Column: key, Meaning: "value of this key, which all runs of the group share", Of: func(group *Group) any { return group.Keys[i] }}
	}
	others := slices.Concat(countFields(), metricFields(), rangeFields())
	if g.Best {
		others = slices.Concat(countFields(), metricFields(), bestFields())
	}
	isKey := func(f answer.Field[Group]) bool {
		return slices.ContainsFunc(g.Keys, func(key answer.Column) bool { return key.Name == f.Name })
	}
	return append(fields, slices.DeleteFunc(others, isKey)...)
}

// countFields returns the numbers of runs of a group.
func countFields() []answer.Field[Group] {
	count := func(name, meaning string, of func(*Group) int) answer.Field[Group] {
		return answer.NewField(name, answer.TypeInteger, meaning, func(g *Group) any { return int64(of(g)) })
	}
	return []answer.Field[Group]{
		count("points", "number of different points", func(g *Group) int { return g.Points }),
		count("runs", "number of runs that match", func(g *Group) int { return g.Runs }),
		count("ok_runs", "number of measuring runs with status ok; only these are measurements", func(g *Group) int { return g.OKRuns }),
		count("failed_runs", "number of runs with a status other than ok, unsupported or skipped", func(g *Group) int { return g.FailedRuns }),
		count("wrong_runs", "number of failed runs with a wrong result", func(g *Group) int { return g.WrongRuns }),
		answer.NewField("statuses", answer.TypeMap, "number of runs per status", func(g *Group) any { return statusCounts(g.Statuses) }),
	}
}

func statusCounts(statuses map[string]int) any {
	counts := make(map[string]any, len(statuses))
	for status, n := range statuses {
		counts[status] = int64(n)
	}
	return counts
}

// metricFields describe the metric of a group.
func metricFields() []answer.Field[Group] {
	return []answer.Field[Group]{
		answer.TextField("metric", "metric; NULL if the runs have different ones", func(g *Group) string { return g.Metric }),
		answer.TextField("unit", "unit of the metric; NULL if the runs have different ones", func(g *Group) string { return g.Unit }),
		answer.TextField("better", "which direction is better: lower or higher; NULL if unknown, or if the runs differ", func(g *Group) string { return g.Better }),
		answer.TextField("reason", "why there are no numbers: "+ReasonNoValue+", "+ReasonMixed+" or, with --best, "+ReasonNoDirection+", "+ReasonUnchecked+", "+ReasonRequests+"; NULL if there are some", func(g *Group) string { return g.Reason }),
	}
}

// rangeFields returns the numbers over all points of a group.
func rangeFields() []answer.Field[Group] {
	return []answer.Field[Group]{
		inUnit("median", "median of the points' medians, each of which is the plain median of its runs' medians", medianOf),
		inUnit("lowest", "lowest of the points' medians; a point that was measured on several machines or sides has one for each", func(g *Group) *float64 { return g.Lowest }),
		inUnit("highest", "highest of the points' medians; a point that was measured on several machines or sides has one for each", func(g *Group) *float64 { return g.Highest }),
		ratio("spread", "how much samples vary within a run: median of the points' spreads (1.4826 MAD / median); runs with one sample are ignored", spreadOf),
	}
}

// bestFields returns the columns of the best point.
func bestFields() []answer.Field[Group] {
	field := func(name string, t answer.Type, meaning string, of func(*BestPoint) any) answer.Field[Group] {
		return answer.NewField(name, t, meaning, func(g *Group) any {
			if g.Best == nil {
				return nil
			}
			return of(g.Best)
		})
	}
	fields := []answer.Field[Group]{
		field("point_id", answer.TypeText, "id of the best point", func(p *BestPoint) any { return answer.Text(p.PointID) }),
		field("machine", answer.TypeText, PointMeanings["machine"], func(p *BestPoint) any { return answer.Text(p.Machine) }),
		field("side", answer.TypeText, schema.RunColumn("side").Doc, func(p *BestPoint) any { return answer.Text(p.Side) }),
	}
	for _, c := range answer.ColumnsNamed(IdentityColumns()...) {
		fields = append(fields, field(c.Name, c.Type, PointMeanings[c.Name], func(p *BestPoint) any { return p.Value(c.Name) }))
	}
	return append(fields,
		field("best_runs", answer.TypeInteger, "number of ok runs of the best point that have a value", func(p *BestPoint) any { return int64(p.Runs) }),
		field("samples_min", answer.TypeInteger, "smallest number of samples in such a run", func(p *BestPoint) any { return answer.Value(p.SamplesMin) }),
		field("samples_max", answer.TypeInteger, "largest number of samples in such a run", func(p *BestPoint) any { return answer.Value(p.SamplesMax) }),
		inUnit("median", "plain median of the medians of the best point's runs", medianOf),
		inUnit("p99", "median of the 99th percentiles of the best point's runs; NULL if a run has only one sample", func(g *Group) *float64 {
			if g.Best == nil {
				return nil
			}
			return g.Best.P99
		}),
		ratio("spread", "how much samples vary within a run: median of the runs' robust spreads (1.4826 MAD / median); runs with one sample are ignored", spreadOf))
}

// inUnit returns a column of numbers in the unit of the row.
func inUnit(name, meaning string, of func(*Group) *float64) answer.Field[Group] {
	return answer.NewField(name, answer.TypeReal, meaning, func(g *Group) any { return answer.Statistic(of(g)) }).In(schema.UnitOfRow)
}

// ratio returns a column of computed ratios.
func ratio(name, meaning string, of func(*Group) *float64) answer.Field[Group] {
	return answer.NewField(name, answer.TypeReal, meaning, func(g *Group) any { return answer.ComputedValue(of(g)) }).In("ratio")
}

func medianOf(g *Group) *float64 { return g.Median }

func spreadOf(g *Group) *float64 { return g.Spread }

// Grouping is the result of Groups. The totals include groups beyond the limit.
type Grouping struct {
	Keys       []answer.Column
	Best       bool // each group has its best point instead of the range of its points
	Groups     []Group
	Total      int            // number of groups
	Points     int            // number of different points
	Runs       int            // number of matching runs
	Statuses   map[string]int // number of runs per status
	NotNumbers map[string]int // as in Found
	Same       Shared

	SidesTogether bool     // a group has points of base and of head
	Combined      int      // number of sessions, where those that continue one another count as one, if a median is over runs of several; else 0
	Varied        []string // the columns, gpu_name or cpu_model, that the ok runs of some point differ in
	Bisected      int      // number of runs that are left out, because bisect measured them; not in Runs
}

// Group sums up the runs with equal values of the keys. Grouping.Fields describes each value. A missing value is nil or an empty
// text.
type Group struct {
	Keys                             []any // of the types of Grouping.Keys
	Points, Runs, OKRuns, FailedRuns int
	WrongRuns                        int // number of failed runs with a wrong result
	Statuses                         map[string]int
	Metric, Unit, Better             string
	Reason                           string     // reason why there are no numbers: ReasonNoValue ...; empty: there are numbers
	Median, Spread                   *float64   // of all points, or of the best one
	Lowest, Highest                  *float64   // not set with Grouping.Best
	Best                             *BestPoint // only set with Grouping.Best, if there are numbers
}

// BestPoint is the point of a group with the best median, on one machine and of one side.
type BestPoint struct {
	PointID, Side string
	Point
	Runs                   int // its ok runs that have a value
	SamplesMin, SamplesMax *int64
	P99                    *float64
}

// Shared has the values that all points have in common, parameter by parameter. Values that differ between points are empty or nil.
type Shared struct {
	Point
	Side           string
	Metric, Better string // common to all points that have a metric
}

// groupOf reads a row of rowsSQL.
func (g *grouper) groupOf(row []any) Group {
	keys, c := row[:len(g.keys)], cells{row[len(g.keys):]}
	group := Group{
		Keys: keys, Points: c.count(), Runs: c.count(), OKRuns: c.count(), FailedRuns: c.count(), WrongRuns: c.count(), Statuses: statusesOf(c.count(), c.next()),
		Metric: c.text(), Unit: c.text(), Better: c.text(), Reason: c.text(), Median: c.real(), Spread: c.real(),
	}
	if !g.req.Best {
		group.Lowest, group.Highest = c.real(), c.real()
		return group
	}
	best := BestPoint{
		PointID: c.text(), Side: c.text(), Point: c.point(), Runs: c.count(), SamplesMin: c.integer(), SamplesMax: c.integer(), P99: c.real(),
	}
	if group.Reason == "" {
		group.Best = &best
	}
	return group
}

// statusesOf returns the numbers of runs by status: the ok ones, and a map of the others, which is nil if there are none.
func statusesOf(ok int, others any) map[string]int {
	statuses := countsOf(others)
	if ok > 0 {
		statuses[string(schema.StatusOK)] = ok
	}
	return statuses
}

// sharedOf reads the row of sharedSQL.
func sharedOf(row []any) Shared {
	c := cells{row}
	return Shared{Metric: c.text(), Better: c.text(), Side: c.text(), Point: c.point()}
}

// cells are the cells of a row that have not been read; each call reads one or more.
type cells struct{ left []any }

func (c *cells) next() any {
	v := c.left[0]
	c.left = c.left[1:]
	return v
}

func (c *cells) text() string { return duck.Text(c.next()) }

func (c *cells) count() int { return int(duck.Integer(c.next())) }

func (c *cells) counts() map[string]int { return countsOf(c.next()) }

// countsOf returns the numbers in a map of DuckDB.
func countsOf(value any) map[string]int {
	m, _ := value.(map[string]any)
	counts := make(map[string]int, len(m))
	for name, n := range m {
		counts[name] = int(duck.Integer(n))
	}
	return counts
}

func (c *cells) integer() *int64 { return known[int64](c.next()) }

func (c *cells) real() *float64 { return known[float64](c.next()) }

// known returns a pointer to the value of a cell; nil for NULL.
func known[T any](cell any) *T {
	if v, ok := cell.(T); ok {
		return &v
	}
	return nil
}

// point reads the columns of Identity, and params.
func (c *cells) point() Point {
	identity := c.left[:len(Identity)]
	c.left = c.left[len(Identity):]
	params, _ := c.next().(map[string]any)
	return PointOf(identity, params)
}
