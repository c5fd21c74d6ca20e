package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/bisect"
	"github.com/neurolens/neurolens/runner/worktree"
	"github.com/neurolens/neurolens/schema"
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

func (m *machine) measure(_ context.Context, t trial) (string, []*bisectSeries, error) {
	m.measured = append(m.measured, t.commit.ID)
	var all []*bisectSeries
	for _, point := range m.points {
		if t.point == "" || t.point == point {
			all = append(all, &bisectSeries{id: point, name: point, metric: schema.PrimaryMetric, unit: "ns", scale: schema.ScaleRatio})
		}
	}
	for _, look := range m.looks {
		for _, s := range all {
			for s.ran < look {
				s.ran++
				difference := m.changes[s.id](commitNumber(t.commit)) + m.noise*m.random.NormFloat64()
				s.blocks, s.base = append(s.blocks, difference), append(s.base, 0)
			}
		}
		if len(t.open(all)) == 0 {
			break
		}
	}
	return "session", all, nil
}

// searched is a search of a line of commits on a machine.
func searched(t *testing.T, m *machine, commits int, known []bisectStep) (*bisection, bisectEnd) {
	t.Helper()
	if m.looks == nil {
		m.looks = []int{6, 9, 14, 20, 30}
	}
	m.random = rand.New(rand.NewPCG(7, 7))
	h := straight(commits)
	b := &bisection{
		history: h, search: bisect.New(h), looks: len(m.looks), most: m.looks[len(m.looks)-1], known: known,
		least: func(*bisectSeries) float64 { return math.Log1p(.02) }, measure: m.measure, decided: func(bisectStep) error { return nil },
	}
	end, err := b.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b, end
}

func changedFrom(first int, by float64) func(int) float64 {
	return func(commit int) float64 {
		if commit >= first {
			return math.Log1p(by)
		}
		return 0
	}
}

func candidatesOf(end bisectEnd) string {
	var all []string
	for _, c := range end.candidates {
		all = append(all, c.ID)
	}
	return strings.Join(all, " ")
}

// TestBisectChoosesPoint: of several points that differ, the one that differs most surely is bisected, and measured alone.
func TestBisectChoosesPoint(t *testing.T) {
	t.Parallel()
	m := &machine{noise: .01, looks: []int{9}, points: []string{"none", "small", "large"}, changes: map[string]func(int) float64{
		"none": changedFrom(99, 0), "small": changedFrom(3, .1), "large": changedFrom(6, -.3),
	}}
	b, end := searched(t, m, 8, nil)
	if b.point != "large" || candidatesOf(end) != "c6" {
		t.Errorf("point %s, candidates %s", b.point, candidatesOf(end))
	}
	if step := b.steps[0]; step.Result != testedBad || math.Abs(step.Change+.3) > .05 || !(step.Low < step.Change && step.Change < step.High) {
		t.Errorf("%+v", step)
	}
}

// TestBisectSteps: a commit that is changed by a little is like the good end, by more than half like the bad one, and what
// is half-way is not decided and skipped: it is a candidate, and said to be one.
func TestBisectSteps(t *testing.T) {
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
	b, end := searched(t, m, 8, nil)
	if step := b.found(worktree.Commit{ID: "c4"}); candidatesOf(end) != "c5 c4" || step.Reason != "not decided: 30 blocks" {
		t.Errorf("candidates %s, c4 %+v", candidatesOf(end), step)
	}
}

// TestBisectGoesOn: what was decided is not measured again, but for what fewer blocks did not decide.
func TestBisectGoesOn(t *testing.T) {
	t.Parallel()
	m := &machine{noise: .01, points: []string{"p"}, changes: map[string]func(int) float64{"p": changedFrom(5, .2)}}
	whole, _ := searched(t, m, 16, nil)
	for n := range whole.steps {
		m := &machine{noise: .01, points: m.points, changes: m.changes}
		b, end := searched(t, m, 16, whole.steps[:n+1])
		if candidatesOf(end) != "c5" || len(m.measured) != len(whole.steps)-n-1 || b.spent != whole.spent {
			t.Errorf("after %d steps: %s, measured %v", n+1, candidatesOf(end), m.measured)
		}
	}
	undecided := bisectStep{Commit: "c8", Result: testedSkip, Reason: "not decided", Blocks: 20, Confidence: .99}
	m.measured = nil
	b, end := searched(t, m, 16, []bisectStep{whole.steps[0], undecided})
	if candidatesOf(end) != "c5" || m.measured[0] != "c8" || b.spent != whole.spent+1 {
		t.Errorf("%s, measured %v, %d spent", candidatesOf(end), m.measured, b.spent)
	}
}

// TestBisectAlike: ends that do not differ, or of which that is not known, end the search, and say what would tell.
func TestBisectAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by, noise float64
		want      string
		more      bool
	}{{0, .005, bisectUnchanged, false}, {0, .2, bisectOpen, true}, {.1, .2, bisectOpen, true}, {.005, .002, bisectUnchanged, false}} {
		m := &machine{noise: c.noise, points: []string{"p"}, changes: map[string]func(int) float64{"p": changedFrom(1, c.by)}}
		b, end := searched(t, m, 8, nil)
		if blocks := b.blocks(end); blocks < leastMaxBlocks || blocks != end.unchanged[0].Blocks {
			t.Errorf("%+v: %d blocks in all, %d of the point", c, blocks, end.unchanged[0].Blocks)
		}
		if len(end.candidates) > 0 || len(end.unchanged) != 1 || end.unchanged[0].endResult() != c.want || (end.more > 30) != c.more {
			t.Errorf("%+v: %+v", c, end)
		}
	}
}

// TestBisectSeries: blocks are runs of both sides with a value, whichever ran first; what fails is not one.
func TestBisectSeries(t *testing.T) {
	t.Parallel()
	s := &bisectSeries{id: "p"}
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
	if got := fmt.Sprintf("%.3f %.3f", s.blocks[0], s.blocks[1]); len(s.blocks) != 2 || got != want || s.ran != 3 || s.why() != "crashed" || s.failing() {
		t.Errorf("%v of %d: %s", s.blocks, s.ran, s.why())
	}
}

// TestBisectLog: what is written is read again; a line that is taken out is not known, one of git bisect is.
func TestBisectLog(t *testing.T) {
	t.Parallel()
	path, h := filepath.Join(t.TempDir(), "log"), straight(4)
	l, err := openBisectLog(path, "key", h)
	if err != nil {
		t.Fatal(err)
	}
	steps := []bisectStep{
		{Commit: "c4", Result: testedBad, PointID: "p", Change: .2, Low: .1, High: .3, Confidence: .99, Blocks: 6, Session: "s"},
		{Commit: "c2", Result: testedSkip, Reason: "is not\nbuilt"},
	}
	for _, step := range steps {
		if err := l.add(step); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want ...bisectStep) {
		t.Helper()
		l, err := openBisectLog(path, "key", h)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%+v", l.steps); got != fmt.Sprintf("%+v", want) {
			t.Errorf("got  %s\nwant %+v", got, want)
		}
	}
	check(steps...)
	text, _ := os.ReadFile(path)
	edit := func(from, to string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit("git bisect skip c2\n", "git bisect good c1\n")
	check(steps[0], bisectStep{Commit: "c1", Result: testedGood, Reason: "by the log"})
	edit("git bisect bad c4\n", "")
	check(steps[1])
	for from, want := range map[string]string{
		"git bisect bad c4":  `log:8: want git bisect good, bad or skip with one commit, got "git bisect reset"`,
		"git bisect skip c2": `log:11: want git bisect good, bad or skip with one commit, got "git bisect reset"`,
	} {
		edit(from, "git bisect reset")
		if _, err := openBisectLog(path, "key", h); err == nil || exitCode(err) != exitInput || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	edit("bad c4", "bad c9")
	if _, err := openBisectLog(path, "key", h); err == nil || !strings.Contains(err.Error(), `commit "c9" is not between the two`) {
		t.Error(err)
	}
	if _, err := openBisectLog(path, "another", h); err == nil || !strings.Contains(err.Error(), "not the log of this search") {
		t.Error(err)
	}
}

// TestBisectContradiction: a log by which no commit can be the first changed one is an error, not an answer.
func TestBisectContradiction(t *testing.T) {
	t.Parallel()
	m := &machine{noise: .01, points: []string{"p"}, changes: map[string]func(int) float64{"p": changedFrom(5, .2)}, looks: []int{6}}
	m.random = rand.New(rand.NewPCG(1, 1))
	h := straight(8)
	b := &bisection{
		history: h, search: bisect.New(h), looks: 1, most: 6, least: func(*bisectSeries) float64 { return 0 },
		measure: m.measure, decided: func(bisectStep) error { return nil },
		known: []bisectStep{{Commit: "c3", Result: testedBad}, {Commit: "c6", Result: testedGood}},
	}
	if _, err := b.run(t.Context()); err != errContradiction {
		t.Error(err)
	}
}
