package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// Group aggregates the points with equal values of some keys, for one metric.
type Group struct {
	Keys          []any // values of the keys, as cells
	Metric        string
	Points        int
	Verdicts      map[judge.Verdict]int
	GeometricMean float64 // of head / base over the points that are compared by ratio, minus 1; NaN: none
}

// countedVerdicts are the verdicts that have a column in groups.
var countedVerdicts = []judge.Verdict{judge.Regressed, judge.Improved, judge.Changed, judge.Unchanged, judge.Inconclusive}

// GroupFields returns the columns of groups by keys.
func GroupFields(keys []string) []answer.Field[Group] {
	column := answer.NewField[Group]
	var fields []answer.Field[Group]
	for i, key := range keys {
		fields = append(fields, answer.Field[Group]{
			Column: keyColumn(key), Meaning: "value of this key, which all points of the group share", Of: func(g *Group) any { return g.Keys[i] },
		})
	}
	fields = append(fields,
		column("metric", answer.TypeText, "metric that is compared", func(g *Group) any { return answer.Text(g.Metric) }),
		column("points", answer.TypeInteger, "number of points", func(g *Group) any { return int64(g.Points) }))
	for _, v := range countedVerdicts {
		fields = append(fields, column(string(v), answer.TypeInteger, "number of points with this verdict", func(g *Group) any { return int64(g.Verdicts[v]) }))
	}
	return append(fields,
		column("other", answer.TypeInteger, "number of points with another verdict or none", func(g *Group) any { return int64(g.others()) }),
		column("geometric_mean", answer.TypeReal, "geometric mean of the ratios head / base, minus 1, of the points that are compared by ratio; NULL if there are none", func(g *Group) any { return answer.Computed(g.GeometricMean) }))
}

// others returns the number of points whose verdict has no column.
func (g *Group) others() int {
	n := g.Points
	for _, v := range countedVerdicts {
		n -= g.Verdicts[v]
	}
	return n
}

// By groups the rows by keys (identity columns, machine, metric, parameters), separately for each metric, sorted by the keys. It is an
// ErrInput if no point has a key.
func (c *Comparison) By(keys []string) ([]Group, error) {
	values := make([]func(r *Row) any, len(keys))
	for i, key := range keys {
		value, err := c.valueOf(key)
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	places := map[string]int{}
	var groups []Group
	var logs []PrintedFirst[float64] // of ratios, by group
	for i := range c.Rows {
		row := &c.Rows[i]
		own := make([]any, len(keys))
		for k, value := range values {
			own[k] = value(row)
		}
		name := fmt.Sprintf("%#v", append(slices.Clone(own), row.Metric))
		at, known := places[name]
		if !known {
			at = len(groups)
			places[name], logs = at, append(logs, PrintedFirst[float64]{})
			groups = append(groups, Group{Keys: own, Metric: row.Metric, Verdicts: map[judge.Verdict]int{}})
		}
		g := &groups[at]
		g.Points++
		g.Verdicts[row.Verdict]++
		if e := row.Estimates; row.Ratio && e != nil && !math.IsInf(e.Change, 0) {
			logs[at].Add(math.Log1p(e.Change), row.Printed)
		}
	}
	for at := range groups {
		groups[at].GeometricMean = geometricMean(logs[at].Independent())
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return slices.CompareFunc(a.Keys, b.Keys, compareValues) })
	return groups, nil
}

// GeometricMean returns the geometric mean of head / base of a metric, minus 1, over the points that both sides have and that are not
// controls. points is the number of points with a ratio, and others the number of points that are compared by difference. If some points
// are results that programs printed, the programs' own points, whose times contain them, are left out: programs is their number. The mean is
// NaN if points is 0.
func (c *Comparison) GeometricMean(metric string) (mean float64, points, others, programs int) {
	var changes PrintedFirst[float64]
	for _, p := range c.Points {
		switch {
		case p.Metric != metric || math.IsNaN(p.Change) || p.Control:
		case p.Ratio:
			changes.Add(p.Change, p.Printed)
		default:
			others++
		}
	}
	return geometricMean(changes.Independent()), len(changes.Independent()), others, changes.contained()
}

// PrintedFirst collects points of which a mean is taken, or a value of each. A program's own time contains the results that it printed, so
// both are not independent.
type PrintedFirst[T any] struct{ printed, own []T }

// Add adds a point.
func (v *PrintedFirst[T]) Add(value T, printed bool) {
	if printed {
		v.printed = append(v.printed, value)
	} else {
		v.own = append(v.own, value)
	}
}

// Independent returns the points that are printed results if there are any, and otherwise all points.
func (v *PrintedFirst[T]) Independent() []T {
	if len(v.printed) > 0 {
		return v.printed
	}
	return v.own
}

// contained returns the number of points that Independent leaves out.
func (v *PrintedFirst[T]) contained() int { return len(v.printed) + len(v.own) - len(v.Independent()) }

// Conditions of MovedAlike: at least minAlike points; shareAlike of them moved in the direction of their median; and half of them moved
// by the median to within withinAlike of it. Of 8 unchanged points, all are slower or all are faster once in 128 times.
const (
	minMoved       = 8
	minMovedShare  = .9
	maxMovedSpread = .25
)

// CommonShift reports whether most points changed in the same direction by about the same amount, so that the cause is probably
// common to all. change is the median change, as head / base - 1; moved of the of points changed in its direction. moved is 0 if they
// did not move alike.
func (c *Comparison) CommonShift() (change float64, moved, of int) {
	var changes []float64
	for _, p := range c.Points {
		if p.Ratio && !math.IsNaN(p.Change) {
			changes = append(changes, p.Change)
		}
	}
	if len(changes) < minMoved {
		return 0, 0, len(changes)
	}
	slices.Sort(changes)
	middle := stat.Quantile(changes, .5)
	near := 0
	for _, v := range changes {
		if v*middle > 0 {
			moved++
		}
		if math.Abs(v-middle) <= maxMovedSpread*math.Abs(middle) {
			near++
		}
	}
	if math.Abs(middle) < math.Log1p(judge.DefaultThreshold) || float64(moved) < minMovedShare*float64(len(changes)) || 2*near < len(changes) {
		return 0, 0, len(changes)
	}
	return math.Expm1(middle), moved, len(changes)
}

// geometricMean returns the geometric mean of ratios minus 1, from their logarithms.
func geometricMean(logs []float64) float64 {
	sum := 0.0
	for _, v := range logs {
		sum += v
	}
	return math.Expm1(sum / float64(len(logs)))
}

// keyColumn returns the column of a key of a group.
func keyColumn(key string) answer.Column {
	if f := filter.FieldOf(key); f.Entry == "" {
		return answer.ColumnsNamed(f.Column.Name)[0]
	}
	return answer.Column{Name: key, Type: answer.TypeText}
}

// valueOf returns a function that gives the value of a key in a row: an identity column or a parameter.
func (c *Comparison) valueOf(key string) (func(r *Row) any, error) {
	f := filter.FieldOf(key)
	switch {
	case f.Entry == "" && f.Column.Name == "metric":
		return func(r *Row) any { return answer.Text(r.Metric) }, nil
	case f.Entry == "" && slices.Contains(query.Identity, f.Column.Name):
		return func(r *Row) any { return r.Identity.Value(f.Column.Name) }, nil
	}
	known := f.Column.Name == "params" && f.Entry != "" && slices.ContainsFunc(c.Rows, func(r Row) bool {
		_, ok := r.Identity.Params[f.Entry]
		return ok
	})
	if !known {
		return nil, answer.InputError("compare: --by %s: no point has this key", answer.Brief(key))
	}
	return func(r *Row) any { return r.Identity.Parameter(f.Entry) }, nil
}

// compareValues orders values: numbers by value, even if they are text; NULL last.
func compareValues(a, b any) int {
	if a == nil || b == nil {
		switch {
		case a == b:
			return 0
		case a == nil:
			return 1
		}
		return -1
	}
	x, xok := numberOf(a)
	y, yok := numberOf(b)
	if xok && yok {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func numberOf(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case string:
		q, err := schema.ParseQuantity(v)
		return q.Value, err == nil && q.Unit == ""
	}
	return 0, false
}
