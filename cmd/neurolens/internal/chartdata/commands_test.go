package chartdata_test

import (
	"context"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/compare"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/schema"
)

// TestCommandsOfPoints: the command of a mark selects the runs of its point alone, by names. Of a point whose name is very long it has the id.
func TestCommandsOfPoints(t *testing.T) {
	drawn := stored(t, grid()...)
	over := stored(t, twelve()...)
	figures := map[*chart.Figure]*query.DB{}
	add := func(db *query.DB, f *chart.Figure, err error) {
		ok(t, err)
		figures[f] = db
	}
	f, err := maker.Lines(points(t, drawn, "backend=cpu"))
	add(drawn, f, err)
	f, err = maker.Heatmap(chartdata.Points{All: points(t, drawn, "").All, By: "backend"})
	add(drawn, f, err)
	f, _, err = maker.History(ctx, over, history.Request{Metric: "latency"})
	add(over, f, err)
	sides := []string{"session=" + sessionID(1), "session=" + sessionID(8)}
	f, err = maker.Forest(compared(t, over, compare.Request{Base: sides[0], Head: sides[1]}), chartdata.Selection{Selections: sides})
	add(over, f, err)
	for f, db := range figures {
		named := 0
		for _, k := range f.All() {
			if k.Point == "" || strings.HasPrefix(k.Command, "neurolens show ") {
				continue
			}
			named++
			if strings.Contains(k.Command, "point_id=") {
				t.Errorf("%s names a point by its id: %s", f.Kind, k.Command)
			}
			quoted := strings.Split(k.Command, "'")
			for i := 1; i < len(quoted); i += 2 {
				onlyOf(t, db, quoted[i], k.Point)
			}
			if len(quoted) == 1 {
				onlyOf(t, db, strings.Fields(k.Command)[2], k.Point)
			}
		}
		if named == 0 {
			t.Errorf("%s has no mark of a point", f.Kind)
		}
	}

	runs := grid()
	for i := range runs {
		runs[i].Params["layer"] = strings.Repeat("x", 300) + runs[i].Params["dim"]
		delete(runs[i].Params, "dim")
		runs[i].PointID = schema.PointID(&runs[i])
	}
	f, err = maker.Lines(points(t, stored(t, runs...), "bs=1 backend=cpu"))
	ok(t, err)
	for _, k := range f.All() {
		if !strings.Contains(k.Command, "point_id="+k.Point) {
			t.Errorf("a point with a very long name has the command %s", k.Command)
		}
	}
}

// onlyOf checks that a filter selects runs of one point, with at least one.
func onlyOf(t *testing.T, db *query.DB, filter, point string) {
	t.Helper()
	runs, err := db.Runs(context.Background(), query.ListRequest{Filter: filter}, "run_id", "point_id")
	ok(t, err)
	if len(runs) == 0 {
		t.Errorf("%s selects no run", filter)
	}
	for i := range runs {
		if runs[i].PointID != point {
			t.Errorf("%s selects runs of another point than %s", filter, point)
			return
		}
	}
}
