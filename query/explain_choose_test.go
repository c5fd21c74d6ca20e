package query

import (
	"context"
	"slices"
	"testing"

	"github.com/neurolens/neurolens/query/compare"
)

// TestChosenOfOneComparison: the row and the point are of one comparison, though each finds other points than the one
// before, as there is a writer.
func TestChosenOfOneComparison(t *testing.T) {
	point := func(metric string, verdict compare.Verdict, change float64) ComparedPoint {
		return ComparedPoint{Metric: metric, Verdict: verdict, Change: change, Ratio: true}
	}
	// The order of rows is missing, regressed, ...; what is explained is the regression.
	first := []ComparedPoint{point("a", Missing, 0), point("a", compare.Regressed, .1)}
	second := []ComparedPoint{point("a", Missing, 0), point("a", Missing, 0), point("a", Missing, 0), point("a", compare.Regressed, .3), point("a", compare.Regressed, .2)}
	third := []ComparedPoint{point("b", Missing, 0), point("b", compare.Unchanged, 0), point("a", Missing, 0), point("a", compare.Regressed, .4), point("a", compare.Unchanged, 0)}
	for _, c := range []struct {
		answers [][]ComparedPoint
		limits  []int
		want    ComparedPoint
	}{
		{[][]ComparedPoint{first, first}, []int{1, 2}, first[1]},
		{[][]ComparedPoint{first, second, third}, []int{1, 2, 0}, third[3]},
		{[][]ComparedPoint{second, third}, []int{1, 4}, third[3]},
		{[][]ComparedPoint{third, third}, []int{1, 2}, third[3]},
		{[][]ComparedPoint{third[3:]}, []int{1}, third[3]},
		{[][]ComparedPoint{first, nil}, []int{1, 2}, ComparedPoint{}},
	} {
		var limits []int
		x := explaining{req: ExplainRequest{Regressed: true}}
		err := x.choose(context.Background(), func(_ context.Context, req CompareRequest) (Comparison, error) {
			points := c.answers[len(limits)]
			limits = append(limits, req.Limit)
			return Comparison{Points: points, Table: Table{Rows: worstRows(points, req.Limit)}}, nil
		})
		if err != nil || !slices.Equal(limits, c.limits) {
			t.Fatalf("limits %v, want %v: %v", limits, c.limits, err)
		}
		if x.Point < 0 {
			if c.want != (ComparedPoint{}) || len(x.Comparison.Rows) != 0 {
				t.Errorf("nothing is explained, want %+v", c.want)
			}
			continue
		}
		if got := x.Comparison.Points[x.Point]; got != c.want || len(x.Comparison.Rows) != 1 || x.Comparison.Rows[0][0] != c.want {
			t.Errorf("the point is %+v, the row %v, want %+v", got, x.Comparison.Rows, c.want)
		}
	}
}

// worstRows are rows of a comparison that has the worst first, made as compare makes them, each of its point alone.
func worstRows(points []ComparedPoint, limit int) (rows [][]any) {
	m := comparing{req: CompareRequest{Limit: limit, Worst: true}}
	of := map[*pairing]ComparedPoint{}
	var all []*pairing
	for _, p := range points {
		one := &pairing{name: p.Metric, verdict: p.Verdict, outcome: &compare.Outcome{}, head: &group{identity: []any{}}}
		one.outcome.Change.Value = p.Change
		all, of[one] = append(all, one), p
	}
	if err := m.choose(context.Background(), all); err != nil {
		panic(err)
	}
	for _, p := range m.chosen {
		rows = append(rows, []any{of[p]})
	}
	return rows
}
