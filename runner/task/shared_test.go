//go:build linux

package task

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestRunHasNothingOfTheLast: what a run has printed, told and measured is not in the next one, not even where that starts no process.
func TestRunHasNothingOfTheLast(t *testing.T) {
	u := newTurns(t)
	supervisor := u.parent()
	full := shell(`echo printed; echo error >&2; echo '{"event":"metric","metric":{"name":"m","unit":"B"},"reals":[1]}' >&3`)
	full.Iterations, full.Keep = 40, []string{stdoutFile}
	for _, c := range []struct {
		name string
		spec Spec
	}{
		{"ends well", shell("true")},
		{"is missing", commandSpec("/no/such/program")},
		{"fails", shell("exit 3")},
	} {
		full.Read = func(kept Kept) Reading {
			valuetest.DeepEqual(t, len(kept.Outputs), full.Iterations)
			return Reading{}
		}
		if o, _ := u.run(t.Context(), full); o.StderrTail != "error\n" || len(metric(t, o, "m").Reals) != full.Iterations {
			t.Fatalf("%s %q: %+v", o.Status, o.StderrTail, o.Metrics)
		}
		c.spec.Iterations, c.spec.Keep = 2, []string{stdoutFile}
		c.spec.Read = func(kept Kept) Reading {
			for _, output := range kept.Outputs {
				if output.Size > 0 {
					t.Errorf("%s: kept %+v", c.name, output)
				}
			}
			return Reading{}
		}
		o, printed := u.run(t.Context(), c.spec)
		if printed != "" || strings.Contains(o.StderrTail, "error") || len(latencies(o)) > 2 {
			t.Errorf("%s: printed %q and %q, %d samples", c.name, printed, o.StderrTail, len(latencies(o)))
		}
		for _, m := range o.Metrics {
			if m.Name == "m" {
				t.Errorf("%s: metric %+v", c.name, m)
			}
		}
	}
	if after := u.parent(); after != supervisor && !raced() {
		t.Errorf("supervisor %s after %s: nothing was shared", after, supervisor)
	}
}

// TestStrangerWithOutput: somebody outside of the run who has one of its files open writes nothing into those of the next run.
func TestStrangerWithOutput(t *testing.T) {
	for fd := 1; fd <= fdCommandEvents; fd++ {
		t.Run(fmt.Sprint("descriptor ", fd), func(t *testing.T) {
			u := newTurns(t)
			before, dir := u.parent(), t.TempDir()
			exists := func(name string) func() bool {
				return func() bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
			}
			create := func(name string) {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
					t.Error(err)
				}
			}
			first := shell("echo $$ > made; mv made pid; while [ ! -e opened ]; do sleep 0.01; done")
			next := shell(": > begun; while [ ! -e written ]; do sleep 0.01; done; echo $PPID")
			first.Dir, first.Iterations, next.Dir, next.Iterations = dir, 1, dir, 1
			ended := make(chan struct{})
			go func() { // the stranger
				defer close(ended)
				await(t, "the first process", exists("pid"))
				pid, err := os.ReadFile(filepath.Join(dir, "pid"))
				if err != nil {
					t.Error(err)
				}
				f, err := os.OpenFile(fmt.Sprintf("/proc/%s/fd/%d", strings.TrimSpace(string(pid)), fd), os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					t.Error(err)
				}
				create("opened")
				await(t, "the next process", exists("begun"))
				_, err = io.WriteString(f, "from a stranger\n")
				if err := errors.Join(err, f.Close()); err != nil {
					t.Error(err)
				}
				create("written")
			}()
			o, _ := u.run(t.Context(), first)
			check(t, o, schema.StatusOK, "", "")
			o, after := u.run(t.Context(), next)
			<-ended
			check(t, o, schema.StatusOK, "", "")
			if o.StderrTail != "" || after == before || strings.Contains(after, "stranger") {
				t.Errorf("printed %q and %q after supervisor %s", after, o.StderrTail, before)
			}
		})
	}
}

// TestFilesOfShortRun: a run of a command makes two folders and nothing else, unless its job or its samples are large.
func TestFilesOfShortRun(t *testing.T) {
	u := newTurns(t)
	for _, c := range []struct {
		name       string
		iterations int
		variable   string
		want       string
	}{
		{"short", 1, "", ownDir},
		{"many samples", 40_000, "", ownDir + "\n" + samplesFile},
		{"long job", 1, strings.Repeat("x", maxOrder), jobFile + "\n" + ownDir},
	} {
		spec := shell("ls -A $NEUROLENS_RUN_DIR/.. | LC_ALL=C sort; exit 1")
		spec.Iterations, spec.Env = c.iterations, []string{"A=" + c.variable}
		if _, printed := u.run(t.Context(), spec); printed != c.want {
			t.Errorf("%s: %q, want %q", c.name, printed, c.want)
		}
	}
}
