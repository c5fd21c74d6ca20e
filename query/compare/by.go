package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/facts"
	"github.com/neurolens/neurolens/query/filter"
	"github.com/neurolens/neurolens/query/internal/fault"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// By gives a row for each group of points with equal values of keys (identity columns, machine, metric, parameters), of
// each metric on its own: the keys, metric, points, how many of them there are of each verdict, and geometric_mean, that
// of the ratios less 1 of the points that both sides have; NULL where the metric is compared by its difference. Rows are
// in the order of the keys. It is an ErrInput if a key is none of a point.
func (c *Comparison) By(keys []string) (answer.Table, error) {
	places := make([]func(row []any) any, len(keys))
	var t answer.Table
	for i, key := range keys {
		place, column, err := c.valueOf(key)
		if err != nil {
			return answer.Table{}, err
		}
		places[i] = place
		t.Columns = append(t.Columns, column)
	}
	t.Columns = append(t.Columns, answer.Column{Name: "metric", Type: answer.TypeText}, answer.Column{Name: "points", Type: answer.TypeInteger})
	for _, v := range countedVerdicts {
		t.Columns = append(t.Columns, answer.Column{Name: string(v), Type: answer.TypeInteger})
	}
	t.Columns = append(t.Columns, answer.Column{Name: "other", Type: answer.TypeInteger}, answer.Column{Name: "geometric_mean", Type: answer.TypeReal})
	groups := map[string][][]any{}
	var order []string
	metric := c.Index("metric")
	for _, row := range c.Rows {
		values := make([]any, 0, len(keys)+1)
		for _, place := range places {
			values = append(values, place(row))
		}
		values = append(values, row[metric])
		name := fmt.Sprintf("%#v", values)
		if groups[name] == nil {
			order = append(order, name)
			groups[name] = append(groups[name], values)
		}
		groups[name] = append(groups[name], row)
	}
	for _, name := range order {
		t.Rows = append(t.Rows, append(slices.Clone(groups[name][0]), c.tally(groups[name][1:])...))
	}
	slices.SortStableFunc(t.Rows, func(a, b []any) int { return compareRows(a[:len(keys)], b[:len(keys)]) })
	return t, nil
}

// countedVerdicts are those that By counts each on its own.
var countedVerdicts = []judge.Verdict{judge.Regressed, judge.Improved, judge.Changed, judge.Unchanged, judge.Inconclusive}

// tally counts the verdicts of rows.
func (c *Comparison) tally(rows [][]any) []any {
	counts := map[judge.Verdict]int64{}
	for _, row := range rows {
		text, _ := row[c.Index("verdict")].(string)
		counts[judge.Verdict(text)]++
	}
	values := []any{int64(len(rows))}
	other := int64(len(rows))
	for _, v := range countedVerdicts {
		values = append(values, counts[v])
		other -= counts[v]
	}
	return append(values, other, c.meanOf(rows))
}

// meanOf is the geometric mean of the changes of rows.
func (c *Comparison) meanOf(rows [][]any) any {
	change, scale := c.Index("change"), c.Index("scale")
	var changes []float64
	for _, row := range rows {
		if v, ok := row[change].(float64); ok && row[scale] == string(schema.ScaleRatio) {
			changes = append(changes, math.Log1p(v))
		}
	}
	return answer.Real(geometricMean(changes))
}

// GeometricMean is the geometric mean of the ratios of a metric less 1, over the points that both sides have and that are no
// controls; points is how many they are. It is NaN where there are none.
func (c *Comparison) GeometricMean() (mean float64, points int) {
	var changes []float64
	for _, p := range c.Points {
		if p.Ratio && !math.IsNaN(p.Change) && !p.Control {
			changes = append(changes, p.Change)
		}
	}
	return geometricMean(changes), len(changes)
}

// What it takes for points to have moved alike: so many, of which so large a share moved the way of their middle, and half by
// what is within a quarter of that. Of 8 points that did not change all are slower, or all faster, once in 128 times.
const (
	leastAlike  = 8
	shareAlike  = .9
	withinAlike = .25
)

// MovedAlike is by how much the points that both sides have moved in the middle, as a ratio less 1, and how many of how many
// moved that way, where most did and by about as much: something that all of them share. moved is 0 where they did not.
func (c *Comparison) MovedAlike() (change float64, moved, of int) {
	var changes []float64
	for _, p := range c.Points {
		if p.Ratio && !math.IsNaN(p.Change) {
			changes = append(changes, p.Change)
		}
	}
	if len(changes) < leastAlike {
		return 0, 0, len(changes)
	}
	slices.Sort(changes)
	middle := stat.Quantile(changes, .5)
	near := 0
	for _, v := range changes {
		if v*middle > 0 {
			moved++
		}
		if math.Abs(v-middle) <= withinAlike*math.Abs(middle) {
			near++
		}
	}
	if math.Abs(middle) < math.Log1p(judge.DefaultThreshold) || float64(moved) < shareAlike*float64(len(changes)) || 2*near < len(changes) {
		return 0, 0, len(changes)
	}
	return math.Expm1(middle), moved, len(changes)
}

// geometricMean is that of ratios less 1, of their logarithms.
func geometricMean(logs []float64) float64 {
	sum := 0.0
	for _, v := range logs {
		sum += v
	}
	return math.Expm1(sum / float64(len(logs)))
}

// valueOf finds a key's value in a row: a column of what a point is, or a parameter.
func (c *Comparison) valueOf(key string) (func(row []any) any, answer.Column, error) {
	f := filter.FieldOf(key)
	if f.Entry == "" && (slices.Contains(facts.Identity, f.Column.Name) || f.Column.Name == "metric") {
		i := c.Index(f.Column.Name)
		return func(row []any) any { return row[i] }, c.Columns[i], nil
	}
	params := c.Index("params")
	known := f.Column.Name == "params" && f.Entry != "" && slices.ContainsFunc(c.Rows, func(row []any) bool {
		m, _ := row[params].(map[string]any)
		_, ok := m[f.Entry]
		return ok
	})
	if !known {
		return nil, answer.Column{}, fault.Input("compare: --by %s: no point has it", fault.Brief(key))
	}
	return func(row []any) any {
		m, _ := row[params].(map[string]any)
		return m[f.Entry]
	}, answer.Column{Name: key, Type: answer.TypeText}, nil
}

// compareRows orders values: NULL last, numbers by their value, also where they are text.
func compareRows(a, b []any) int {
	return slices.CompareFunc(a, b, compareValues)
}

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
