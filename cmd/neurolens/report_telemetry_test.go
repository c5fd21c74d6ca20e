//go:build linux

package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestReportHasTelemetry: the page of a session with readings draws those of one run, and says which command draws them; the page of a
// session without has no such chart.
func TestReportHasTelemetry(t *testing.T) {
	t.Parallel()
	random, began := rand.New(rand.NewPCG(1, 2)), time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for _, watched := range []bool{true, false} {
		dir := folderOfReader(t, nil)
		var runs []schema.Run
		for i := range 12 {
			r := programtest.MadeUpRun(random, began.Add(time.Duration(i)*time.Second), schema.NewULID(began).String(), schema.Env{Machine: "lab3"}, i%4, 20)
			if watched {
				r = runtest.Telemetry(r, 1980, 1410)
			}
			runs = append(runs, r)
		}
		programtest.NewStore(t, filepath.Join(dir, "runs_store"), runs...)
		valuetest.Must(shell(t, dir, "neurolens report --html page.html session=last"))
		page := string(valuetest.Must(os.ReadFile(filepath.Join(dir, "page.html"))))
		valuetest.Equal(t, strings.Contains(page, "Readings of the device in run "), watched)
		valuetest.Equal(t, strings.Contains(page, "neurolens plot telemetry "), watched)
	}
}
