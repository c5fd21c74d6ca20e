package task

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/neurolens/neurolens/schema"
)

// TestRunnerThatWasStopped: a run that ends while its runner is stopped, as by Ctrl-Z, for longer than each deadline is what it was, with
// all of its samples, and none of them has the stop in it.
func TestRunnerThatWasStopped(t *testing.T) {
	const limit = 500 * time.Millisecond
	for range 2 { // which of two things that happened the runner sees first is left to chance
		spec := builtin("ok")
		spec.Deadlines.Measure, spec.Deadlines.Teardown = limit, limit
		stopped := time.Duration(0)
		o := runSpec(t, t.Context(), spec, func(p Progress) {
			if p.Stage == schema.StageMeasure && stopped == 0 {
				began := time.Now()
				untilOver(t)
				for len(survivors("")) > 0 { // the worker, of whatever mark: however long the machine takes, it is not late by itself
					time.Sleep(time.Millisecond)
				}
				time.Sleep(2 * time.Second) // longer than both, and than a runner may be late
				stopped = time.Since(began)
			}
		})
		check(t, o, schema.StatusOK, "", "")
		m := metric(t, o, "latency")
		if len(m.Ticks) != 40 || stopped == 0 {
			t.Errorf("%d samples, stopped for %v", len(m.Ticks), stopped)
		}
	}
}

// untilOver waits until the worker has come to a result.
func untilOver(t *testing.T) {
	t.Helper()
	for {
		files, err := filepath.Glob(filepath.Join(os.TempDir(), "neurolens-run-*", samplesFile))
		if err != nil || len(files) != 1 {
			t.Fatalf("the files of samples are %q: %v", files, err)
		}
		header, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		const state = 56 // where PROTOCOL.md has it
		if binary.LittleEndian.Uint16(header[state:]) != 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
