package query

import (
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
)

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
}

// Group sums up the runs with equal values of the keys. Grouping.Fields describes each value. A missing value is nil or an empty
// text.
type Group struct {
	Keys                             []any // of the types of Grouping.Keys
	Points, Runs, OKRuns, FailedRuns int
	WrongRuns                        int // number of failed runs with a wrong result
	Statuses                         map[string]int
	Metric, Unit, Better             string
	Reason                           string     // why there are no numbers: ReasonNoValue ...; empty: there are
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

// Shared has the values that all points have in common, parameter by parameter. Values in which they differ are empty or nil.
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

// statusesOf are the numbers of runs by status: of the ok ones, and a map of the others, which is nil if there are none.
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

// countsOf are the numbers in a map of DuckDB.
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

// known is a pointer to the value of a cell; nil for NULL.
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
