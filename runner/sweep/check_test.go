package sweep

import (
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// checkSweep holds for every sweep that Read accepts.
func checkSweep(t *testing.T, s *Sweep) {
	t.Helper()
	ids := map[string]bool{}
	for i := range s.Points {
		p := &s.Points[i]
		var run schema.Run
		p.Fill(&run)
		if want := schema.PointID(&run); p.PointID != want {
			t.Errorf("point %d has the id %s, its fields give %s", i, p.PointID, want)
		}
		if ids[p.PointID] {
			t.Errorf("point_id %s appears twice", p.PointID)
		}
		ids[p.PointID] = true
		command, file := p.Executor == schema.ExecutorCommand, p.Executor == schema.ExecutorPython
		if p.Benchmark == "" || p.Executor == "" || command != (len(p.Command) > 0) || file != (p.File != "") {
			t.Errorf("point %d cannot be launched: %+v", i, p)
		}
	}
	checkLaunches(t, s, LaunchOptions{})
	checkLaunches(t, s, LaunchOptions{Sides: 2, Seed: 3})
}

// checkLaunches checks that every point is launched as often as it is to be, and that the members of a block are
// neighbours.
func checkLaunches(t *testing.T, s *Sweep, o LaunchOptions) {
	t.Helper()
	type subject struct {
		point   *Point
		side    int
		profile string
	}
	launched := map[subject]int{}
	blocks := map[int]bool{}
	launches := s.Launches(o)
	for i, l := range launches {
		launched[subject{l.Point, l.Side, l.Profile}]++
		switch {
		case l.Position == 0 && blocks[l.Block]:
			t.Errorf("launch %d begins block %d again", i, l.Block)
		case l.Position > 0 && (l.Block != launches[i-1].Block || l.Position != launches[i-1].Position+1):
			t.Errorf("launch %d is at %d:%d after %+v", i, l.Block, l.Position, launches[i-1])
		}
		blocks[l.Block] = true
	}
	for i := range s.Points {
		for side := range o.sides() {
			if n := launched[subject{&s.Points[i], side, ""}]; n != s.Points[i].Repeats {
				t.Errorf("point %d is launched %d times on side %d, want %d", i, n, side, s.Points[i].Repeats)
			}
		}
		for _, tool := range s.Points[i].Profile {
			if n := launched[subject{&s.Points[i], 0, tool}]; n != 1 {
				t.Errorf("%d passes of %s for point %d", n, tool, i)
			}
		}
	}
	if s.MaxRepeats < s.Repeats {
		t.Errorf("at most %d repeats of %d", s.MaxRepeats, s.Repeats)
	}
}
