package chartdata_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/cmd/neurolens/internal/chartdata"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// ofSides asks for the samples of two sessions.
var ofSides = chartdata.Sampled{Base: "session=" + sessionID(1), SamplesRequest: query.SamplesRequest{Filter: "session=" + sessionID(2)}}

// twoSided returns runs of two points in two sessions, of a third one in the second alone.
func twoSided() (runs []schema.Run) {
	for session := 1; session <= 2; session++ {
		for n := range 3 {
			runs = append(runs, runOf(n, session, 1, 64, 1000*float64(session)), runOf(n+10, session, 2, 64, 2000))
		}
	}
	return append(runs, runOf(99, 2, 4, 64, 1))
}

// TestECDFOfSides: each point that both sides have is a panel with a curve of all samples of each side.
func TestECDFOfSides(t *testing.T) {
	db := stored(t, twoSided()...)
	f, _, err := maker.ECDF(ctx, db, ofSides)
	sound(t, f, err)
	if len(f.Panels) != 2 || f.Panels[0].Title != "bs=1" || f.Panels[1].Title != "bs=2" || !slices.Contains(f.Notes, "2 of 3 points drawn: those that both sides have") {
		t.Fatalf("panels are %+v, notes %q", f.Panels, f.Notes)
	}
	for _, p := range f.Panels {
		for i, side := range []string{"base", "head"} {
			s := p.Series[i]
			_, values := all(t, db, strings.Join([]string{p.Title, "session=" + sessionID(i+1)}, " "))
			var own []float64
			for _, v := range values {
				own = append(own, v...)
			}
			counted := 0
			for _, k := range s.Marks {
				counted += k.Count
			}
			last := s.Marks[len(s.Marks)-1]
			if s.Name != side || counted != len(own) || counted != 15 || last.X != slices.Max(own) || s.Marks[0].X != slices.Min(own) {
				t.Errorf("%s: %s has %d samples up to %v, want %d up to %v", p.Title, s.Name, counted, last.X, len(own), slices.Max(own))
			}
			if want := "neurolens ls 'session=" + sessionID(i+1) + " batch_size=" + p.Title[3:] + "'"; last.Command != want {
				t.Errorf("%s: %s, want %s", p.Title, last.Command, want)
			}
		}
	}
}

// TestRunsOfSides: in the panel of a point the runs of the base stand first, and a line lies where those of the head begin.
func TestRunsOfSides(t *testing.T) {
	db := stored(t, twoSided()...)
	f, _, err := maker.Runs(ctx, db, ofSides)
	sound(t, f, err)
	if len(f.Panels) != 2 || !f.X.Whole { // samples are counted
		t.Fatalf("%d panels, whole %v", len(f.Panels), f.X.Whole)
	}
	for _, p := range f.Panels {
		if len(p.Guides) != 1 || p.Guides[0].At != 15.5 || p.Guides[0].Text != "head" {
			t.Errorf("%s: lines are %+v", p.Title, p.Guides)
		}
		ids, _ := all(t, db, p.Title+" session="+sessionID(1))
		for _, k := range marks(p, "") {
			if slices.Contains(ids, k.Run) != (k.X < 15.5) {
				t.Errorf("%s: sample %v is of %s", p.Title, k.X, k.Run)
			}
		}
	}
}

// TestSidesByAxis: what tells the sides is not in the names of points.
func TestSidesByAxis(t *testing.T) {
	runs := twoSided()
	for i := range runs {
		if runs[i].SessionID == sessionID(2) {
			runs[i].Backend = "cuda"
			runs[i].PointID = schema.PointID(&runs[i])
		}
	}
	db := stored(t, runs...)
	_, _, err := maker.ECDF(ctx, db, ofSides)
	valuetest.Fails(t, err, "no point is on both sides", "the sessions have different backends, which nobody named")
	f, _, err := maker.ECDF(ctx, db, chartdata.Sampled{Base: "backend=cpu bs=1", SamplesRequest: query.SamplesRequest{Filter: "backend=cuda bs=1"}})
	ok(t, err)
	if len(f.Panels) != 0 || len(f.Series) != 2 || f.Series[0].Name != "base" || f.Series[1].Name != "head" || f.Kind != chart.ECDF || strings.Contains(f.Title, "backend") {
		t.Errorf("%s: %d panels, %d series", f.Title, len(f.Panels), len(f.Series))
	}
}

// TestSidesRefused: sides that cannot be drawn together are refused with the reason.
func TestSidesRefused(t *testing.T) {
	inSeconds := runOf(50, 3, 1, 64, 5)
	inSeconds.Metrics[0].Unit, inSeconds.Metrics[0].Ticks, inSeconds.Metrics[0].Reals = "s", nil, []float64{1, 2}
	db := stored(t, append(twoSided(), runOf(70, 5, 8, 32, 1), runOf(71, 5, 16, 32, 1), inSeconds, fail(runOf(60, 4, 1, 64, 1)))...)
	for says, req := range map[string]chartdata.Sampled{
		"latency is in s on the base and in ns on the head": {Base: "session=" + sessionID(3), SamplesRequest: ofSides.SamplesRequest},
		"no run of the base is ok":                          {Base: "session=" + sessionID(4), SamplesRequest: ofSides.SamplesRequest},
		"7 runs match both BASE and HEAD":                   {Base: "dim=64 session!=" + sessionID(3), SamplesRequest: ofSides.SamplesRequest},
		"1 run matches both BASE and HEAD":                  {Base: "bs=4", SamplesRequest: ofSides.SamplesRequest},
		"no point is on both sides":                         {Base: "session=" + sessionID(5), SamplesRequest: ofSides.SamplesRequest},
		"--by dim and two selections":                       {Base: ofSides.Base, SamplesRequest: ofSides.SamplesRequest, By: "dim"},
	} {
		if _, _, err := maker.ECDF(ctx, db, req); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %s", err, says)
		}
	}
}
