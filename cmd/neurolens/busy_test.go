//go:build linux

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/device"
)

const oneRunSweep = "command: [\"true\"]\nrepeats: 1\niterations: 1\n"

// TestBusyDevice: what another session measures is not measured at the same time. Without --wait that is exit 2 and
// one line, and nothing is stored; with it the sweep runs once the other one is done.
func TestBusyDevice(t *testing.T) {
	locks, dir := t.TempDir(), t.TempDir()
	held, err := device.Lock(t.Context(), locks, []string{"cpu"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	write(t, dir, "one.yaml", oneRunSweep)
	program(t, dir, "bench", "one.yaml").run(t) // with other locks: there is a run that a summary could have
	before := filesOf(t, dir)
	for _, format := range []string{"table", "arrow"} {
		bench := program(t, dir, "bench", "one.yaml", "--format", format)
		bench.Env = append(bench.Env, locksVariable+"="+locks)
		_ = bench.Run()
		text := bench.stderr.String()
		if code := bench.ProcessState.ExitCode(); code != exitInput || strings.Count(text, "\n") != 1 || !strings.Contains(text, "cpu is being measured by pid ") {
			t.Errorf("%s: exit %d, want %d: %s", format, code, exitInput, text)
		}
		if bench.stdout.Len() > 0 {
			t.Errorf("%s: %d bytes on standard output", format, bench.stdout.Len())
		}
		if n := filesOf(t, dir); n != before {
			t.Errorf("%s: %d files in the store, want %d", format, n, before)
		}
	}

	refused := program(t, dir, "bench", "one.yaml", "--store", "fresh")
	refused.Env = append(refused.Env, locksVariable+"="+locks)
	_ = refused.Run()
	if _, err := os.Stat(filepath.Join(dir, "fresh")); err == nil {
		t.Error("a session that did not begin has created a store")
	}

	waiting := program(t, dir, "bench", "one.yaml", "--wait")
	waiting.Env = append(waiting.Env, locksVariable+"="+locks)
	waiting.Stderr = nil
	stderr, err := waiting.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "wait") {
			if n := filesOf(t, dir); n != before {
				t.Errorf("%d files in the store while it waits, want %d", n, before)
			}
			held.Release()
		}
	}
	if err := waiting.Wait(); err != nil {
		t.Error(err)
	}
	if got := rows(t, dir, "SELECT status FROM runs"); got != "[ok] [ok]" {
		t.Errorf("runs %q, want two that are ok", got)
	}
}
