package views

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestAgainCombinesPoints: failed points that fill a grid need one command; one more point, or another number of repeats, needs its own.
func TestAgainCombinesPoints(t *testing.T) {
	t.Chdir(t.TempDir()) // without s.yaml
	var points []query.NewestPoint
	add := func(benchmark, a, b string, repeat int64) {
		run := schema.Run{Executor: schema.ExecutorCommand, Benchmark: benchmark, Params: map[string]string{"a": a, "b": b}, RepeatIndex: &repeat}
		run.Env.Facts = map[string]string{"sweep.file": "s.yaml", "runner.axis.a": a, "runner.axis.b": b}
		points = append(points, query.NewestPoint{Run: run})
	}
	for _, benchmark := range []string{"x", "y"} {
		for _, a := range []string{"1", "2"} {
			for _, b := range []string{"7", "8", "9"} {
				add(benchmark, a, b, 2)
			}
		}
	}
	add("x", "3", "7", 2)
	add("x", "1", "7", 0)
	commands, moved := againCommands(points, nil, failedTimes)
	want := []string{
		"neurolens bench s.yaml --targets x,y -P a=1,2 -P b=7,8,9 --repeats 3 --rerun failed",
		"neurolens bench s.yaml --targets x -P a=3 -P b=7 --repeats 3 --rerun failed",
		"neurolens bench s.yaml --targets x -P a=1 -P b=7 --repeats 1 --rerun failed",
	}
	if !slices.Equal(commands, want) || moved != "s.yaml" {
		t.Errorf("%s\nmoved %q, want\n%s", strings.Join(commands, "\n"), moved, strings.Join(want, "\n"))
	}
	if again := Again(points, false, nil); again != nil {
		t.Errorf("without the sweep file: %q", again)
	}
	valuetest.Equal(t, Enough(points[:12], false, nil), "", "without the sweep file")
	if err := os.WriteFile("s.yaml", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	valuetest.Equal(t, Enough(points[:12], false, nil), "neurolens bench s.yaml --targets x,y -P a=1,2 -P b=7,8,9 --repeats 6")
	valuetest.Equal(t, Enough(points[:12], true, nil)+Enough(points, false, nil), "", "more points, or not of one command")
}
