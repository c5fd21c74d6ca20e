package task

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// hooked is a command whose hooks and processes each write a word into a file, and the file.
func hooked(t *testing.T, script string) (spec Spec, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "log")
	word := func(text string) []string { return []string{"sh", "-c", "echo " + text + " >> " + log} }
	spec = shell("echo p >> " + log + "; " + script)
	spec.Hooks = Hooks{Setup: word("setup"), Prepare: word("prepare"), Cleanup: word("cleanup")}
	spec.Warmup, spec.Iterations = 1, 2
	return spec, log
}

func wordsIn(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// TestHooks: each runs when it is due, however the run ends, and a run whose hook fails says which and why.
func TestHooks(t *testing.T) {
	fails := []string{"sh", "-c", "echo so >&2; exit 3"}
	for name, c := range map[string]struct {
		script string
		change func(*Spec)
		status schema.Status
		stage  schema.Stage
		kind   string
		text   string // of the error
		ran    string
	}{
		"ok": {"true", nil, schema.StatusOK, "", "", "", "setup prepare p prepare p prepare p cleanup"},
		"fails": {
			"exit 4", nil, schema.StatusError, schema.StageWarmup, "exit", "process 1 of warmup: exit status 4", "setup prepare p cleanup",
		},
		"hangs": {
			"sleep 600", func(s *Spec) { s.Deadlines.Warmup = 300 * time.Millisecond },
			schema.StatusTimeout, schema.StageWarmup, "timeout", "one process of warmup, or its prepare, took more than 300ms", "setup prepare p cleanup",
		},
		"setup": {
			"true", func(s *Spec) { s.Hooks.Setup = fails }, schema.StatusError, schema.StageSetup, "exit", "setup: exit status 3: so", "cleanup",
		},
		"no setup": {
			"true", func(s *Spec) { s.Hooks.Setup = []string{"no-such-program"} }, schema.StatusError, schema.StageSetup, "start", `setup: starting "no-such-program"`, "cleanup",
		},
		"prepare": {
			"true", func(s *Spec) { s.Hooks.Prepare = fails }, schema.StatusError, schema.StageWarmup, "exit", "prepare: exit status 3: so", "setup cleanup",
		},
		"cleanup": {
			"echo mine >&2", func(s *Spec) { s.Hooks.Cleanup = fails },
			schema.StatusError, schema.StageTeardown, "cleanup", "cleanup: exit status 3: so", "setup prepare p prepare p prepare p",
		},
		"cleanup hangs": {
			"true", func(s *Spec) {
				s.Hooks.Cleanup, s.Deadlines.Teardown = []string{"sleep", "600"}, 200*time.Millisecond
			},
			schema.StatusTimeout, schema.StageTeardown, "timeout", "cleanup: took more than 200ms; raise timeouts.teardown", "setup prepare p prepare p prepare p",
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec, log := hooked(t, c.script)
			_ = os.WriteFile(log, nil, 0o600)
			if c.change != nil {
				c.change(&spec)
			}
			o := runSpec(t, t.Context(), spec, nil)
			check(t, o, c.status, c.stage, c.kind)
			if !strings.Contains(o.Error, c.text) || strings.Contains(o.Error, "mine") {
				t.Errorf("error %q, want %q in it", o.Error, c.text)
			}
			if got := wordsIn(t, log); got != c.ran {
				t.Errorf("ran %q, want %q", got, c.ran)
			}
		})
	}
}

// TestCleanupAfterCancel: the cleanup of a run that is cancelled runs, and what the setup has left is gone after it.
func TestCleanupAfterCancel(t *testing.T) {
	spec, log := hooked(t, "sleep 600")
	pid := filepath.Join(t.TempDir(), "pid")
	spec.Hooks.Setup = []string{"sh", "-c", "setsid sleep 600 & echo $! > " + pid}
	spec.Hooks.Cleanup = []string{"sh", "-c", "kill -0 $(cat " + pid + ") && echo cleanup >> " + log}
	ctx, cancel := context.WithCancel(t.Context())
	o := runSpec(t, ctx, spec, func(p Progress) {
		if p.Stage == schema.StageWarmup {
			cancel()
		}
	})
	check(t, o, schema.StatusCancelled, schema.StageWarmup, "cancelled")
	if got := wordsIn(t, log); !strings.HasSuffix(got, "cleanup") {
		t.Errorf("ran %q, want the cleanup, while what the setup has started runs; %v", got, o.Facts)
	}
}

// TestStdin: each process reads the file from its first byte on, and standard output goes to a file that has that of the last one.
func TestStdin(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"in": "some text\n", "out": "what was there before, and is longer"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := commandSpec("cat")
	spec.Dir, spec.Stdin, spec.Stdout, spec.Warmup, spec.Iterations = dir, "in", "out", 2, 3
	o := runSpec(t, t.Context(), spec, nil)
	check(t, o, schema.StatusOK, "", "")
	if got := wordsIn(t, filepath.Join(dir, "out")); got != "some text" {
		t.Errorf("the file has %q", got)
	}
	spec.Stdin = "absent"
	o = runSpec(t, t.Context(), spec, nil)
	check(t, o, schema.StatusError, schema.StageWarmup, "start")
}

// TestIgnoredExits: an exit status that counts as well is no failure, and is told.
func TestIgnoredExits(t *testing.T) {
	spec := shell("exit 3")
	spec.Iterations, spec.Exits = 2, []int{4, 3}
	o := runSpec(t, t.Context(), spec, nil)
	check(t, o, schema.StatusOK, "", "")
	if o.Facts[factExits] != "3" || len(metric(t, o, "latency").Ticks) != 2 {
		t.Errorf("facts %v, metrics %v", o.Facts, o.Metrics)
	}
	spec.Exits = []int{4}
	check(t, runSpec(t, t.Context(), spec, nil), schema.StatusError, schema.StageMeasure, "exit")
	spec.AnyExit = true
	check(t, runSpec(t, t.Context(), spec, nil), schema.StatusOK, "", "")
}

// TestStartReadsNothing: the starts of a shell after the processes that read a file are as those before them.
func TestStartReadsNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("some text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := shell("cat >/dev/null; sleep 0.05")
	spec.Dir, spec.Stdin, spec.Warmup, spec.Iterations = dir, "in", 1, 2
	spec.Start = []string{"sh", "-c", "readlink /proc/$$/fd/0 >> log"}
	_ = runSpec(t, t.Context(), spec, nil) // whether these starts can be told from the processes is another matter
	got := strings.Fields(wordsIn(t, filepath.Join(dir, "log")))
	if want := slices.Repeat([]string{"/dev/null"}, 2*(startsWarmup+starts)); !slices.Equal(got, want) {
		t.Errorf("starts read %q, want %q", got, want)
	}
}

// TestShellStart: what a shell takes to start is no part of the latency; the whole time stands beside it.
func TestShellStart(t *testing.T) {
	spec := shell("sleep 0.05; :")
	spec.Start, spec.Warmup, spec.Iterations = []string{"sh", "-c", ""}, 1, 3
	o := runSpec(t, t.Context(), spec, nil)
	check(t, o, schema.StatusOK, "", "")
	latency, wall := metric(t, o, "latency"), metric(t, o, "wall_time")
	median, err := strconv.ParseInt(o.Facts[factStart], 10, 64)
	if err != nil || median <= 0 || o.Facts[factStarts] != strconv.Itoa(2*starts) {
		t.Fatalf("facts %v", o.Facts)
	}
	for i, ticks := range wall.Ticks {
		if latency.Ticks[i] != ticks-median {
			t.Errorf("latency %d of wall time %d and start %d", latency.Ticks[i], ticks, median)
		}
	}
	spec.Start = []string{"sh", "-c", "exit 3"}
	check(t, runSpec(t, t.Context(), spec, nil), schema.StatusError, schema.StageSetup, "exit")
}

// TestSubtract: where wall times cannot be told from the start, there is no latency.
func TestSubtract(t *testing.T) {
	s := start{median: 1000, spread: 10}
	for _, c := range []struct {
		wall []int64
		want []int64
	}{
		{[]int64{1031, 1035, 1040}, []int64{31, 35, 40}},
		{[]int64{1030, 1030, 1040}, nil}, // within three spreads
		{[]int64{1000, 2000, 2000}, nil}, // one is no longer than the start
		{[]int64{900}, nil},
		{nil, nil},
	} {
		got, ok := s.subtract(c.wall)
		if ok != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, %v, want %v", c.wall, got, ok, c.want)
		}
	}
}

// TestNoHashBang: of a file that can be executed and begins with no #! the error says what is missing.
func TestNoHashBang(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte("echo\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	spec := shell("")
	spec.Command, spec.Iterations = []string{file}, 1
	o := runSpec(t, t.Context(), spec, nil)
	check(t, o, schema.StatusError, schema.StageSetup, kindStart)
	if want := "nor a script with a first line like #!/bin/sh"; !strings.Contains(o.Error, want) {
		t.Errorf("%s, want %q in it", o.Error, want)
	}
}
