package chartdata_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/schema"
)

// TestLinesInPanels: each value of a third axis has a panel with its own points, and nothing is folded over it.
func TestLinesInPanels(t *testing.T) {
	req := points(t, stored(t, grid()...), "")
	req.Panels = "backend"
	f, err := maker.Lines(req)
	sound(t, f, err)
	if len(f.Panels) != 2 || f.Y.Own || !f.X.Whole || f.Y.Whole || strings.Contains(strings.Join(f.Notes, "\n"), "each place shows") {
		t.Fatalf("%d panels, own %v, notes %q", len(f.Panels), f.Y.Own, f.Notes)
	}
	medians := map[string]float64{}
	for _, p := range req.All {
		for _, v := range p.Metrics {
			if v.Metric == "latency" {
				medians[fmt.Sprint(p.Backend, " dim=", p.Params["dim"], " ", *p.BatchSize)] = *v.Median
			}
		}
	}
	seen := 0
	for _, p := range f.Panels {
		for s, k := range p.All() {
			want, ok := medians[fmt.Sprint(p.Title, " ", s.Name, " ", k.X)]
			if ok && k.Y != want || !ok && k.Tone != chart.Failed || !strings.Contains(k.Text, p.Title) {
				t.Errorf("%s %s at %v is %v, want %v: %s", p.Title, s.Name, k.X, k.Y, want, k.Text)
			}
			seen++
		}
	}
	if seen != len(req.All) {
		t.Errorf("%d marks of %d points", seen, len(req.All))
	}
	for flags, says := range map[[3]string]string{
		{"", "", "dims"}:            "--panels dims: no point has it",
		{"dim", "", "dim"}:          "--x dim and --panels dim: want two axes",
		{"", "dim", "dim"}:          "--by dim and --panels dim: want two axes",
		{"backend", "dim", "batch"}: "",
	} {
		req.X, req.By, req.Panels = flags[0], flags[1], flags[2]
		if _, err := maker.Lines(req); fmt.Sprint(err) != "<nil>" && says == "" || says != "" && !strings.Contains(fmt.Sprint(err), says) {
			t.Errorf("%q: %v", flags, err)
		}
	}
}

// TestPanelsOfTheRest: no place shows several points: what differs otherwise has panels, in which benchmarks have ranges of their own.
func TestPanelsOfTheRest(t *testing.T) {
	several := grid()
	for i, r := range grid() {
		other := runOf(100+i, 0, *r.BatchSize, 64, 5000)
		other.Benchmark, other.Backend, other.Params = "conv", r.Backend, r.Params
		other.PointID = schema.PointID(&other)
		several = append(several, other)
	}
	for _, of := range []struct {
		runs   []schema.Run
		filter string
		titles []string
	}{
		{grid(), "", []string{"dim=64", "dim=128"}},
		{grid(), "backend=cpu", nil},
		{several, "", []string{"matmul dim=64", "matmul dim=128", "conv dim=64", "conv dim=128"}},
		{several, "backend=cpu dim=64", nil}, // a line each
	} {
		req := points(t, stored(t, of.runs...), of.filter)
		f, err := maker.Lines(req)
		sound(t, f, err)
		var titles []string
		for _, p := range f.Panels {
			titles = append(titles, p.Title)
		}
		slices.Sort(titles)
		slices.Sort(of.titles)
		if !slices.Equal(titles, of.titles) || f.Y.Own != strings.Contains(strings.Join(titles, " "), "conv") || strings.Contains(strings.Join(f.Notes, "\n"), "median of the points") {
			t.Errorf("%q: panels %q, own %v, notes %q", of.filter, titles, f.Y.Own, f.Notes)
		}
		for _, k := range f.All() {
			if k.Count > 1 {
				t.Errorf("%q: several points in one place: %s", of.filter, k.Text)
			}
		}
	}
}
