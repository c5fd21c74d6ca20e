package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// stopping ends a context when something is written to it.
type stopping struct {
	bytes.Buffer
	stop func()
}

func (s *stopping) Write(b []byte) (int, error) {
	s.stop()
	return s.Buffer.Write(b)
}

// TestLsPrintsBeforeItHasRead: ls of all runs prints the first page before it reads the next one: what ends it at its first line keeps it
// from having the others.
func TestLsPrintsBeforeItHasRead(t *testing.T) {
	t.Parallel()
	const runs = 10_000
	dir := t.TempDir()
	var lines strings.Builder
	for i := range runs {
		fmt.Fprintf(&lines, `{"benchmark": "b", "machine": "m", "started_at": %q, "samples": [{"metric": "latency", "unit": "ns", "values": [%d]}]}`+"\n",
			time.Unix(1e9+int64(i), 0).UTC().Format(time.RFC3339), 1000+i)
	}
	programtest.WriteFile(t, dir, "runs.jsonl", lines.String())
	programtest.Output(t, dir, "ingest", "runs.jsonl")
	ctx, stop := context.WithCancel(t.Context())
	out, errs := stopping{stop: stop}, strings.Builder{}
	root := newRootCommand(&app{stdout: &out, stderr: &errs, getenv: os.Getenv, now: time.Now, width: 80})
	root.SetArgs([]string{"ls", "--limit", "0", "--store", dir + "/runs_store"})
	if err := root.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ls ends with %v", err)
	}
	if n := strings.Count(out.String(), "\n"); n == 0 || n > runs/2 {
		t.Errorf("%d lines of %d were printed", n, runs)
	}
	valuetest.Equal(t, errs.String(), "")
}
