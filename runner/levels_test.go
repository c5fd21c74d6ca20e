package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// TestLevels: the worker is told the level of the first good run of its point, but never one that the user chose, or that the
// clock is too slow for.
func TestLevels(t *testing.T) {
	run := func(point string, level schema.Level) schema.Run {
		return schema.Run{
			PointID: point, Executor: schema.ExecutorPython, Status: schema.StatusOK, Purpose: schema.PurposeMeasure,
			Metrics: []schema.Metric{{Name: schema.PrimaryMetric, Level: level}},
		}
	}
	short, asked, failed, command := run("short", schema.LevelIteration), run("asked", schema.LevelIteration), run("failed", schema.LevelMean), run("command", schema.LevelProcess)
	short.Warnings = []string{stat.WarnShort}
	asked.Env.Facts = map[string]string{"runner.iterations_per_sample": "1"}
	failed.Status = schema.StatusTimeout
	command.Executor = schema.ExecutorCommand
	known := levels{}
	known.learn([]schema.Run{run("a", schema.LevelMean), run("a", schema.LevelIteration), run("b", schema.LevelIteration), short, asked, failed, command})
	now := run("b", schema.LevelMean)
	known.note("b", &now)
	known.note("new", &now)
	for point, want := range map[string]schema.Level{
		"a": schema.LevelMean, "b": schema.LevelIteration, "new": schema.LevelMean, "short": "", "asked": "", "failed": "", "command": "",
	} {
		if got := known.of(&sweep.Point{PointID: point}); got != want {
			t.Errorf("%s: %q, want %q", point, got, want)
		}
	}
	if got := known.of(&sweep.Point{PointID: "a", Worker: sweep.Worker{IterationsPerSample: 3}}); got != "" {
		t.Errorf("a point with its own number of iterations is told %q", got)
	}
}

// TestLevelOfAPoint: a point keeps the level of its first run, whatever a call takes in later ones: within a session, and
// in the next one.
func TestLevelOfAPoint(t *testing.T) {
	path, dir := pythonWith(t, "json"), t.TempDir()
	const text = `
import os, time
first = not os.path.exists("again")
open("again", "w").close()
def bench_it():
    if first: time.sleep(.001)
`
	if err := os.WriteFile(filepath.Join(dir, "b.py"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sweep.Read("s.yaml", strings.NewReader("file: b.py\ncwd: "+dir+"\nrepeats: 2\n"), sweep.Overrides{Given: map[string]string{"python": path}})
	if err != nil {
		t.Fatal(err)
	}
	session := func(earlier ...schema.Run) (runs []schema.Run) {
		_, err := Run(t.Context(), s, Options{
			Version: "test", Machine: "lab3", Locks: t.TempDir(), Rerun: RerunAll,
			Done: func(string) ([]schema.Run, error) { return earlier, nil },
		}, func(r schema.Run) error { runs = append(runs, r); return nil })
		if err != nil || len(runs) != 2 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		return runs
	}
	check := func(runs []schema.Run, want schema.Level) {
		t.Helper()
		for i := range runs {
			m := runs[i].Metric(schema.PrimaryMetric)
			if m == nil || m.Level != want || (want == schema.LevelMean) != (len(m.IterationsPerSample) == 1) {
				t.Fatalf("run %d is %s (%s): %+v, want level %s", i, runs[i].Status, runs[i].Error, m, want)
			}
		}
	}
	slowFirst := session()
	check(slowFirst, schema.LevelIteration)
	mean := slowFirst[0]
	mean.Metrics = slices.Clone(mean.Metrics)
	mean.Metric(schema.PrimaryMetric).Level = schema.LevelMean
	if err := os.Remove(filepath.Join(dir, "again")); err != nil {
		t.Fatal(err)
	}
	check(session(mean), schema.LevelMean)
}
