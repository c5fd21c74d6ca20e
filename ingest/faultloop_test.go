package ingest

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// faultLoop lets file operations of a task fail in turn: of those that write, and then of those that read. With
// NEUROLENS_LONG=1 of the errors each takes every ninth, from another one on, so that together they take every third; where a
// failed operation happens all the same, or all after it fail too, every 33rd. With NEUROLENS_LONG=all each takes
// all, and else few: those of one way lie between those of the others.
func faultLoop(t *testing.T, task func(t *testing.T, files *faultyFiles, reading bool)) {
	modes := []struct {
		name string
		faultyFiles
		long int // step with NEUROLENS_LONG
	}{{"early", faultyFiles{}, 9}, {"late", faultyFiles{Late: true}, 33}, {"lasting", faultyFiles{Lasting: true}, 33}}
	ways := 0
	for first, fault := range []error{syscall.EIO, syscall.ENOSPC, syscall.EACCES} {
		for _, mode := range modes {
			for _, side := range []string{"target", "source"} {
				reading := side == "source"
				if reading && (mode.Late || fault == syscall.ENOSPC) {
					continue
				}
				if first > 0 && (reading || mode.name != "early") && tier(0, 1, 1) == 0 {
					continue
				}
				plan, step := mode.faultyFiles, tier(401, mode.long, 1)
				plan.Fault, plan.At = fault, tier(19*ways, 3*first, 0)%step
				ways++
				t.Run(fmt.Sprintf("%v, %s, %s", fault, mode.name, side), func(t *testing.T) {
					t.Parallel()
					for hit := true; hit; plan.At += step {
						files := plan
						task(t, &files, reading)
						if hit = files.Hit; !hit && len(files.Trace) < 30 {
							t.Errorf("%d file operations do not do much", len(files.Trace))
						}
					}
				})
			}
		}
	}
}

// checkFault fails where an error is not the one that was made, or where there is none though an fsync failed.
func checkFault(t *testing.T, files *faultyFiles, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, files.Fault) {
		t.Fatalf("operation %d failed with %v; the error is %v", files.At, files.Fault, err)
	}
	if err == nil && files.Unsync > 0 {
		t.Fatalf("operation %d: done though an fsync failed", files.At)
	}
}
