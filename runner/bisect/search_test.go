package bisect

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// machine is made-up measurements: of each point the change at each commit, and noise.
type machine struct {
	changes  map[string]func(commit int) float64 // by point
	points   []string
	noise    float64
	random   *rand.Rand
	looks    []int
	measured []string // commits, in order
}

func (m *machine) measure(_ context.Context, t Trial) (*Session, error) {
	m.measured = append(m.measured, t.Commit.ID)
	session := &Session{ID: "session"}
	for _, point := range m.points {
		if t.Point == "" || t.Point == point {
			session.Points = append(session.Points, &Series{Point: Point{ID: point, Name: point}, Metric: schema.PrimaryMetric, unit: "ns", Scale: schema.ScaleRatio})
		}
	}
	for _, look := range m.looks {
		for _, s := range session.Points {
			for s.pairs.ran < look {
				s.pairs.ran++
				difference := m.changes[s.Point.ID](commitNumber(t.Commit)) + m.noise*m.random.NormFloat64()
				s.blocks = append(s.blocks, difference)
			}
		}
		if len(t.Open(session)) == 0 {
			break
		}
	}
	return session, nil
}

// searched returns a search of a line of commits on a machine.
func searched(t *testing.T, m *machine, commits int, known []Step) (*Search, End) {
	t.Helper()
	if m.looks == nil {
		m.looks = []int{6, 9, 14, 20, 30}
	}
	m.random = rand.New(rand.NewPCG(7, 7))
	h := straight(commits)
	s := New(Options{
		History: h, Looks: len(m.looks), MaxBlocks: m.looks[len(m.looks)-1], Known: known,
		MinChange: func(*Series) float64 { return math.Log1p(.02) }, Decide: halfway, Measure: m.measure, Decided: func(*Step) error { return nil },
	})
	end := valuetest.Must(s.Run(t.Context()))
	return s, end
}

func changedFrom(first int, by float64) func(int) float64 {
	return func(commit int) float64 {
		if commit >= first {
			return math.Log1p(by)
		}
		return 0
	}
}

func candidatesOf(end End) string {
	var all []string
	for _, c := range end.Candidates {
		all = append(all, c.ID)
	}
	return strings.Join(all, " ")
}

// TestChoosesPoint: of several points that differ, the one that differs most surely is bisected, and measured alone.
func TestChoosesPoint(t *testing.T) {
	t.Parallel()
	m := &machine{noise: .01, looks: []int{9}, points: []string{"none", "small", "large"}, changes: map[string]func(int) float64{
		"none": changedFrom(99, 0), "small": changedFrom(3, .1), "large": changedFrom(6, -.3),
	}}
	s, end := searched(t, m, 8, nil)
	if s.ends.point != "large" || candidatesOf(end) != "c6" {
		t.Errorf("point %s, candidates %s", s.ends.point, candidatesOf(end))
	}
	if step := s.Steps[0]; step.Result != Bad || math.Abs(step.Change+.3) > .05 || !(step.Low < step.Change && step.Change < step.High) {
		t.Errorf("%+v", step)
	}
}

// TestSteps: a commit that is changed by a little is like the good end, by more than half like the bad one, and what
// is half-way is not decided and skipped: it is a candidate, and said to be one.
func TestSteps(t *testing.T) {
	t.Parallel()
	at := func(commit int) float64 {
		return math.Log1p([]float64{0, 0, .05, .05, .14, .14, .2, .2, .2}[commit])
	}
	m := &machine{noise: .002, points: []string{"p"}, changes: map[string]func(int) float64{"p": at}}
	if _, end := searched(t, m, 8, nil); candidatesOf(end) != "c4" {
		t.Errorf("candidates %s, want c4", candidatesOf(end))
	}
	half := func(commit int) float64 { return []float64{0, 0, 0, 0, .1, .2, .2, .2, .2}[commit] }
	m = &machine{noise: .02, points: []string{"p"}, changes: map[string]func(int) float64{"p": half}}
	s, end := searched(t, m, 8, nil)
	if step := s.stepOf(worktree.Commit{ID: "c4"}); candidatesOf(end) != "c5 c4" || step.Result != Skip || step.Reason != "" || step.Blocks != 30 {
		t.Errorf("candidates %s, c4 %+v", candidatesOf(end), step)
	}
}

// TestGoesOn: what was decided is not measured again, but for what fewer blocks did not decide.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	m := &machine{noise: .01, points: []string{"p"}, changes: map[string]func(int) float64{"p": changedFrom(5, .2)}}
	whole, _ := searched(t, m, 16, nil)
	for n := range whole.Steps {
		m := &machine{noise: .01, points: m.points, changes: m.changes}
		s, end := searched(t, m, 16, whole.Steps[:n+1])
		if candidatesOf(end) != "c5" || len(m.measured) != len(whole.Steps)-n-1 || s.budget.spent != whole.budget.spent {
			t.Errorf("after %d steps: %s, measured %v", n+1, candidatesOf(end), m.measured)
		}
	}
	undecided := Step{Commit: "c8", Result: Skip, Reason: "not decided", Blocks: 20, Confidence: .99}
	m.measured = nil
	s, end := searched(t, m, 16, []Step{whole.Steps[0], undecided})
	if candidatesOf(end) != "c5" || m.measured[0] != "c8" || s.budget.spent != whole.budget.spent+1 {
		t.Errorf("%s, measured %v, %d spent", candidatesOf(end), m.measured, s.budget.spent)
	}
}

// TestAlike: ends that do not differ, or of which that is not known, end the search, and say what would tell.
func TestAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by, noise float64
		want      Result
		more      bool
	}{{0, .005, Unchanged, false}, {0, .2, Inconclusive, true}, {.1, .2, Inconclusive, true}, {.005, .002, Unchanged, false}} {
		m := &machine{noise: c.noise, points: []string{"p"}, changes: map[string]func(int) float64{"p": changedFrom(1, c.by)}}
		s, end := searched(t, m, 8, nil)
		if blocks := s.Measured(end); blocks < 6 || blocks != end.Unchanged[0].Blocks {
			t.Errorf("%+v: %d blocks in all, %d of the point", c, blocks, end.Unchanged[0].Blocks)
		}
		if len(end.Candidates) > 0 || len(end.Unchanged) != 1 || s.Findings(end)[0].Result != c.want || end.Unmeasured() || (end.More > 30) != c.more {
			t.Errorf("%+v: %+v", c, end)
		}
	}
}

// TestSeries: blocks are runs of both sides with a value, whichever ran first; what fails is not one.
func TestSeries(t *testing.T) {
	t.Parallel()
	s := &Series{Point: Point{ID: "p"}}
	run := func(side string, repeat int64, ns float64) {
		r := schema.Run{
			PointID: "p", Side: side, RepeatIndex: &repeat, Purpose: schema.PurposeMeasure, Status: schema.StatusOK, Primary: schema.PrimaryMetric,
			Metrics: []schema.Metric{{Name: schema.PrimaryMetric, Unit: "ns", Tick: 1, Ticks: []int64{int64(ns)}}},
		}
		if ns == 0 {
			r.Status, r.Error, r.Metrics = schema.StatusCrashed, "crashed\nhere", nil
		}
		s.add(&r)
	}
	run("base", 0, 100)
	run("head", 0, 200)
	run("head", 1, 50)
	run("base", 1, 100)
	run("head", 2, 0)
	run("base", 2, 100)
	run("base", 3, 100)
	want := fmt.Sprintf("%.3f %.3f", math.Log(2), -math.Log(2))
	if got := fmt.Sprintf("%.3f %.3f", s.blocks[0], s.blocks[1]); len(s.blocks) != 2 || got != want || s.pairs.ran != 3 || s.why() != "crashed" || s.failing() {
		t.Errorf("%v of %d: %s", s.blocks, s.pairs.ran, s.why())
	}
}

// TestSeriesOfZeros: with the first value that has no ratio, all blocks are differences; where the scale is that of a known change, the
// run has no value.
func TestSeriesOfZeros(t *testing.T) {
	t.Parallel()
	measured := func(scale schema.Scale, metric string, values ...float64) *Series {
		s := NewSession([]Point{{ID: "p", Scale: scale}}, "").Points[0]
		for i, v := range values {
			repeat, side := int64(i/2), []string{"base", "head"}[i%2]
			s.add(&schema.Run{
				PointID: "p", Side: side, RepeatIndex: &repeat, Purpose: schema.PurposeMeasure, Status: schema.StatusOK, Primary: metric,
				Metrics: []schema.Metric{{Name: metric, Unit: "allocs/op", Reals: []float64{v}}},
			})
		}
		return s
	}
	for _, c := range []struct {
		what  string
		s     *Series
		scale schema.Scale
		want  string
		level string
	}{
		{"positive", measured("", "allocs/op", 2, 4, 1, 1), schema.ScaleRatio, "[0.69 0.00]", "1.5 2.5"},
		{"a zero", measured("", "allocs/op", 2, 4, 0, 3), schema.ScaleDifference, "[2.00 3.00]", "1.0 3.5"},
		{"a zero first", measured("", "allocs/op", 0, 3, 2, 4), schema.ScaleDifference, "[3.00 2.00]", "1.0 3.5"},
		{"negative", measured("", "allocs/op", 2, 4, 1, -1), schema.ScaleDifference, "[2.00 -2.00]", "1.5 1.5"},
		{"by difference", measured(schema.ScaleDifference, "allocs/op", 2, 4, 1, 1), schema.ScaleDifference, "[2.00 0.00]", "1.5 2.5"},
		{"by ratio", measured(schema.ScaleRatio, "allocs/op", 2, 4, 0, 3), schema.ScaleRatio, "[0.69]", "2.0 4.0"},
		{"always by difference", measured("", "rmse", 2, 4, 1, 1), schema.ScaleDifference, "[2.00 0.00]", "1.5 2.5"},
	} {
		blocks, level := fmt.Sprintf("%.2f", c.s.blocks), fmt.Sprintf("%.1f %.1f", c.s.Level(0), c.s.Level(1))
		if c.s.Scale != c.scale || blocks != c.want || level != c.level {
			t.Errorf("%s: %s %s, levels %s, want %s %s, %s", c.what, c.s.Scale, blocks, level, c.scale, c.want, c.level)
		}
	}
}

// TestKnownContradicts: a log by which no commit can be the first changed one is an error, not an answer.
func TestKnownContradicts(t *testing.T) {
	t.Parallel()
	m := &machine{noise: .01, points: []string{"p"}, changes: map[string]func(int) float64{"p": changedFrom(5, .2)}, looks: []int{6}}
	m.random = rand.New(rand.NewPCG(1, 1))
	h := straight(8)
	s := New(Options{
		History: h, Looks: 1, MaxBlocks: 6, MinChange: func(*Series) float64 { return 0 }, Decide: halfway,
		Measure: m.measure, Decided: func(*Step) error { return nil },
		Known: []Step{{Commit: "c3", Result: Bad}, {Commit: "c6", Result: Good}},
	})
	if _, err := s.Run(t.Context()); err != ErrContradiction {
		t.Error(err)
	}
}

// TestBudget: the shares of all steps are no more than the whole, however many there are.
func TestBudget(t *testing.T) {
	t.Parallel()
	for expected := 1; expected < 20; expected++ {
		sum := 0.
		for step := range 60 {
			sum += budget{expected: expected, spent: step}.next()
		}
		if sum > wrongCommit*(1+1e-12) || sum < .0499 {
			t.Errorf("%d steps expected: %v", expected, sum)
		}
	}
}
