package ingest

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// faultLoop lets file operations of a task fail in turn: of those that write, and then of those that read. Of the errors
// each takes every third, from another one on, so that together they take all; where a failed operation happens all the
// same, or all after it fail too, every eleventh. With NEUROLENS_TORTURE=1 each takes all.
func faultLoop(t *testing.T, task func(t *testing.T, files *faultyFiles, reading bool)) {
	for first, fault := range []error{syscall.EIO, syscall.ENOSPC, syscall.EACCES} {
		for mode, plan := range map[string]faultyFiles{"early": {}, "late": {late: true}, "lasting": {lasting: true}} {
			for side, reading := range map[string]bool{"target": false, "source": true} {
				if reading && (plan.late || fault == syscall.ENOSPC) {
					continue
				}
				step := 3
				switch {
				case os.Getenv("NEUROLENS_TORTURE") != "":
					step = 1
				case testing.Short():
					step = 29
				case mode != "early":
					step = 11
				}
				plan := plan
				plan.fault, plan.at = fault, first%step
				t.Run(fmt.Sprintf("%v, %s, %s", fault, mode, side), func(t *testing.T) {
					t.Parallel()
					for hit := true; hit; plan.at += step {
						files := plan
						task(t, &files, reading)
						hit = files.hit
					}
					if plan.at < 30 {
						t.Errorf("%d file operations do not do much", plan.at)
					}
				})
			}
		}
	}
}

// checkFault fails where an error is not the one that was made, or where there is none though an fsync failed.
func checkFault(t *testing.T, files *faultyFiles, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, files.fault) {
		t.Fatalf("operation %d failed with %v; the error is %v", files.at, files.fault, err)
	}
	if err == nil && files.unsync > 0 {
		t.Fatalf("operation %d: done though an fsync failed", files.at)
	}
}
