//go:build linux

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/runner/device"
	"github.com/neurolens/neurolens/schema/valuetest"
)

const oneRunSweep = "command: [\"true\"]\nrepeats: 1\niterations: 1\n"

// TestBusyDevice: what another session measures is not measured at the same time. Without --wait that is exit 2 and
// one line, and nothing is stored; with it the sweep runs once the other one is done.
func TestBusyDevice(t *testing.T) {
	locks, dir := t.TempDir(), t.TempDir()
	held := valuetest.Must(device.Lock(t.Context(), locks, []string{"cpu"}, nil))
	defer held.Release()
	programtest.WriteFile(t, dir, "one.yaml", oneRunSweep)
	programtest.Program(t, dir, "bench", "one.yaml").MustRun(t) // with other locks: there is a run that a summary could have
	before := filesOf(t, dir)
	for _, format := range []string{"table", "arrow"} {
		bench := programtest.Program(t, dir, "bench", "one.yaml", "--format", format)
		bench.Env = append(bench.Env, programtest.LocksVariable+"="+locks)
		_ = bench.Run()
		text := bench.Messages.String()
		if code := bench.ProcessState.ExitCode(); code != exitInput || strings.Count(text, "\n") != 1 || !strings.Contains(text, "cpu is being measured by pid ") {
			t.Errorf("%s: exit %d, want %d: %s", format, code, exitInput, text)
		}
		if bench.Printed.Len() > 0 {
			t.Errorf("%s: %d bytes on standard output", format, bench.Printed.Len())
		}
		valuetest.Equal(t, filesOf(t, dir), before, format)
	}

	refused := programtest.Program(t, dir, "bench", "one.yaml", "--store", "fresh")
	refused.Env = append(refused.Env, programtest.LocksVariable+"="+locks)
	_ = refused.Run()
	valuetest.Fails(t, valuetest.Error(os.Stat(filepath.Join(dir, "fresh"))), "", "a session that did not begin has created a store")

	waiting := programtest.Program(t, dir, "bench", "one.yaml", "--wait")
	waiting.Env = append(waiting.Env, programtest.LocksVariable+"="+locks)
	waiting.Stderr = nil
	stderr := valuetest.Must(waiting.StderrPipe())
	valuetest.OK(t, waiting.Start())
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "wait") {
			valuetest.Equal(t, filesOf(t, dir), before)
			held.Release()
		}
	}
	valuetest.NoError(t, waiting.Wait())
	valuetest.Equal(t, rows(t, dir, "SELECT status FROM runs"), "[ok] [ok]", "runs")
}
