package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/views"
	"github.com/neurolens/neurolens/query/summary"
)

// id is that of a point.
func id(i int) summary.Text {
	return summary.Text(fmt.Sprintf("%012x%s", i, strings.Repeat("0", 20)))
}

// point has this spread between its runs.
func point(i int, spread float64) summary.Point {
	return summary.Point{
		Subject: summary.Subject{PointID: id(i), BatchSize: new(int64(i + 1))}, OKRuns: 3, Metric: "latency",
		Metrics: []summary.Value{{Metric: "latency", Unit: "ns", Better: "lower", Median: new(float64(100 + i)), RunsSpread: &spread}, {Metric: "peak_memory", Unit: "B", Better: "lower", Median: new(float64(100 - i))}},
	}
}

// pair returns a point that is so many times as fast as its base.
func pair(i, base int, speedup float64, verdict string) summary.Pair {
	return summary.Pair{Subject: summary.Subject{PointID: id(i)}, BaseID: id(base), Speedup: &speedup, Verdict: verdict}
}

// TestChosen: samples are drawn of the points that changed most, each with its base; then of those whose runs differ most, 12 in all.
func TestChosen(t *testing.T) {
	r := &summary.Report{Pairs: []summary.Pair{pair(1, 0, .99, "unchanged"), pair(2, 0, .8, "regressed"), pair(3, 0, 2, "improved"), pair(4, 0, .5, "regressed")}}
	for i := range 30 {
		r.Points = append(r.Points, point(i, float64(i)))
	}
	r.Points[29].OKRuns = 0 // it has no samples
	want := []int{0, 4, 2, 3, 1, 28, 27, 26, 25, 24, 23, 22}
	var names []summary.Text
	for _, i := range want {
		names = append(names, id(i))
	}
	if got := chosen(r); !slices.Equal(got, names) {
		t.Errorf("got %q, want %q", got, names)
	}
}

// TestAxes: the primary metric is drawn over an axis, with the command that draws it again; where points differ in nothing, there is
// no chart, and no error.
func TestAxes(t *testing.T) {
	reader := views.Display{Stores: []string{"my store"}}
	a := &pictureMaker{reader: reader, maker: chartdata.Maker{Reader: reader}, report: &summary.Report{Selection: summary.Selection{Filter: "suite='a b'"}}}
	for i := range 4 {
		a.report.Points = append(a.report.Points, point(i, 0))
	}
	charts := slices.Concat(a.axes(), a.best())
	if len(charts) < 2 || a.err != nil {
		t.Fatal(len(charts), a.err)
	}
	if got, want := charts[0].Command, `neurolens plot lines 'suite='\''a b'\''' --store 'my store'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	a.report.Selection.Filter = ""
	if got, want := a.axes()[0].Command, "neurolens plot lines --store 'my store'"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i, k := range charts[0].Figure.Series[0].Marks {
		if k.Y != *a.report.Points[i].Metrics[0].Median {
			t.Errorf("mark %d is at %v", i, k.Y)
		}
	}
	if last := charts[len(charts)-1]; last.Figure.Kind != chart.Pareto || !strings.Contains(last.Command, "--x latency --y peak_memory") {
		t.Error(last.Figure.Kind, last.Command)
	}
	a.report.Points = a.report.Points[:1]
	a.report.Points[0].OKRuns = 0
	if charts := slices.Concat(a.axes(), a.samples(t.Context())); len(charts) != 0 || a.err != nil {
		t.Error(len(charts), a.err)
	}
}

// TestErrors: what goes wrong is kept, and no chart is drawn after it.
func TestErrors(t *testing.T) {
	a := &pictureMaker{report: &summary.Report{}}
	wrong := errors.New("wrong")
	none := func(*chart.Figure) string { return "" }
	f := &chart.Figure{Series: []chart.Series{{Marks: make([]chart.Mark, 3)}}}
	if a.chart(nil, wrong, none) != nil || a.chart(f, nil, none) != nil || !errors.Is(a.err, wrong) {
		t.Error(a.err)
	}
}

// TestWhy: points whose samples are drawn are said to have changed where one of them did, by its verdict.
func TestWhy(t *testing.T) {
	for want, pairs := range map[string][]summary.Pair{
		"vary most": nil,
		"differ most from their base, or vary most": {pair(1, 0, .5, "inconclusive")},
		"changed, or vary most":                     {pair(1, 0, .5, "inconclusive"), pair(2, 0, .8, "regressed")},
	} {
		if got := why(pairs); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestTitleHasWhatIsCommon: a chart of the page says of what it is, as its labels leave that out.
func TestTitleHasWhatIsCommon(t *testing.T) {
	f := &chart.Figure{Title: "latency · gemm fp16 · lab1", Series: []chart.Series{{Marks: make([]chart.Mark, 3)}}}
	a := &pictureMaker{report: &summary.Report{}}
	a.chart(f, nil, func(*chart.Figure) string { return "Latency over sizes" })
	if want := "Latency over sizes · gemm fp16 · lab1"; f.Title != want {
		t.Errorf("got %s, want %s", f.Title, want)
	}
}

// TestChosenVary: of points that nothing changed those are drawn that vary, between runs or within one; single samples are not.
func TestChosenVary(t *testing.T) {
	r := &summary.Report{}
	for i := range 20 {
		p := point(i, 0)
		switch p.Metrics[0].RunsSpread = nil; {
		case i >= 15:
			p.Metrics[0].RunsSpread = new(float64(i))
		case i >= 10:
			p.Metrics[0].Spread = new(float64(i) / 100)
		}
		r.Points = append(r.Points, p)
	}
	var want []summary.Text
	for _, i := range []int{19, 18, 17, 16, 15, 14, 13, 12, 11, 10} {
		want = append(want, id(i))
	}
	if got := chosen(r); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAxesOfHead: of two selections the head alone is drawn over axes, and the title says so once.
func TestAxesOfHead(t *testing.T) {
	r := &summary.Report{Selection: summary.Selection{Filter: "(dim=1) or (dim=2)", Base: "dim=1", Head: "dim=2"}}
	for i := range 4 {
		for _, side := range []summary.Text{"base", "head"} {
			p := point(i, 0)
			if p.Side = side; side == "base" {
				p.Metrics[0].Median = new(float64(1e9))
			}
			r.Points = append(r.Points, p)
		}
	}
	a := &pictureMaker{report: r}
	charts := a.axes()
	if len(charts) == 0 || a.err != nil {
		t.Fatal(len(charts), a.err)
	}
	f := charts[0].Figure
	if f.Title != "latency over batch_size, of the head" || !strings.HasSuffix(charts[0].Command, "plot lines dim=2") || f.Marks() != 4 || f.Series[0].Marks[0].Y != 100 {
		t.Errorf("%s: %d marks, drawn by %s", f.Title, f.Marks(), charts[0].Command)
	}
}
