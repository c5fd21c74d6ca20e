package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/query/summary"
)

// TestPanels: of points that differ in three axes the charts over axes have a panel for each value of the third, with all points; of more
// points than there is room for, the median over it.
func TestPanels(t *testing.T) {
	a := &pictureMaker{report: &summary.Report{}, maker: chartdata.Maker{}}
	fill := func(dims, tiles, sizes int) {
		a.report.Points = nil
		for i := range dims * tiles * sizes {
			p := point(i, 0)
			p.BatchSize = new(int64(1 + i%sizes))
			p.Params = map[string]string{"dim": fmt.Sprint(1 + i/sizes%dims), "tile": fmt.Sprint(1 + i/sizes/dims)}
			a.report.Points = append(a.report.Points, p)
		}
	}
	fill(3, 2, 4)
	charts := a.axes()
	if len(charts) != 2 || a.err != nil {
		t.Fatal(len(charts), a.err)
	}
	for i, want := range []string{"neurolens plot lines", "neurolens plot heatmap"} {
		f := charts[i].Figure
		if charts[i].Command != want || len(f.Panels) != 2 || f.Panels[1].Title != "tile=2" || f.Marks() != 24 || strings.Contains(strings.Join(f.Notes, ""), "tile") {
			t.Errorf("%s: %d panels, %d marks, notes %q", charts[i].Command, len(f.Panels), f.Marks(), f.Notes)
		}
	}
	fill(12, 12, 20)
	for i, want := range []string{"neurolens plot lines --median", "neurolens plot heatmap --median"} {
		chart := a.axes()[i]
		if chart.Command != want || len(chart.Figure.Panels) > 0 || !strings.Contains(strings.Join(chart.Figure.Notes, ""), "The median of the points that differ in tile (12)") {
			t.Errorf("%s: %d panels, notes %q", chart.Command, len(chart.Figure.Panels), chart.Figure.Notes)
		}
	}
}
