package runner

import (
	"strconv"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// TestCommandWarmsUpOnce: the first run of a point of a session has a warm-up process, the others have none, unless
// warmup says how many each has. What iterations says is exact.
func TestCommandWarmsUpOnce(t *testing.T) {
	t.Parallel()
	const text = "command: [sleep, '0.04']\nrepeats: 3\niterations: 1\n"
	for _, c := range []struct {
		more string
		want string // whether each run of a point had a warm-up
		fact string
	}{{"", "yes no no ", "1 per session"}, {"warmup: 1\n", "yes yes yes ", "1"}, {"warmup: 0\n", "no no no ", "0"}, {"cold_start: true\n", "no no no ", "0"}} {
		warm := map[string]string{}
		_, err := Run(t.Context(), parse(t, text+c.more), Options{Locks: t.TempDir()}, func(r schema.Run) error {
			if r.Stages.Warmup != nil {
				warm[r.PointID] += "yes "
			} else {
				warm[r.PointID] += "no "
			}
			if n := len(r.Metric("latency").Ticks); n != 1 || r.Env.Facts["runner.warmup"] != c.fact {
				t.Errorf("%q: %d samples, runner.warmup is %q", c.more, n, r.Env.Facts["runner.warmup"])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for point, got := range warm {
			if got != c.want {
				t.Errorf("%q: warm-ups of point %s: %s, want %s", c.more, point, got, c.want)
			}
		}
	}
}

// TestCommandDefaultsResume: a session that was interrupted within the 10 repeats of a command goes on with the others, of
// which the first one warms up again.
func TestCommandDefaultsResume(t *testing.T) {
	const text = "command: ['true', '{n}']\ngrid: {n: [1]}\nbudget: 1ns\n"
	k := &shelf{}
	k.bench(t, parse(t, text), 4, nil)
	result := k.bench(t, parse(t, text), 0, nil)
	if len(k.runs) != 10 || result.Plan.Done != 4 || result.Plan.Resumes != k.runs[0].SessionID {
		t.Fatalf("%d runs, %d done, resumes %q", len(k.runs), result.Plan.Done, result.Plan.Resumes)
	}
	warm := ""
	for _, r := range k.runs {
		warm += strconv.FormatBool(r.Stages.Warmup != nil) + " "
	}
	if want := "true false false false true false false false false false "; warm != want {
		t.Errorf("warm-ups %s, want %s", warm, want)
	}
}
