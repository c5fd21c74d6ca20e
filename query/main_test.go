package query_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
)

// start is when the first run of the tests started.
var start = time.Date(2026, 11, 21, 6, 45, 12, 345678000, time.UTC)

// newRun makes a run whose latency samples are around base ns. n makes its id and start: one second apart.
func newRun(n int, base int64, edit func(*schema.Run)) schema.Run {
	r := schema.Run{
		SessionID: sessionID(1), Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens,
		Suite: "quick start", Benchmark: "tiny_linear", Executor: schema.ExecutorBuiltin, Backend: "builtin", Model: "builtin:tiny_linear",
		Precision: "fp32", BatchSize: new(int64(1 << (n % 5))), SeqLen: new(int64(64)),
		Params:    map[string]string{"dim": fmt.Sprint(64 << (n % 3))},
		Tags:      map[string]string{"who": "me"},
		StartedAt: start.Add(time.Duration(n) * time.Second), TimeSource: schema.TimeClock,
		Stages: schema.Stages{Measure: new(int64(1_000_000))},
		Status: schema.StatusOK, RepeatIndex: new(int64(n)),
		Env: schema.Env{Machine: "lab3", CPUCount: new(int64(2)), MemoryBytes: new(int64(16 << 30)), Facts: map[string]string{"governor": "performance"}},
	}
	if edit != nil {
		edit(&r)
	}
	if r.Status == schema.StatusOK && r.Metrics == nil {
		ticks := []int64{base, base + 10, base + 20, base + 1000, base + 5}
		m := schema.Metric{Name: "latency", Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 1, Ticks: ticks}
		m.Summary = stat.Summarize(m.Values())
		r.Metrics, r.Primary = []schema.Metric{m}, "latency"
	}
	if r.RunID == "" {
		r.RunID = schema.ULIDFrom(r.StartedAt, [10]byte{8: byte(n >> 8), 9: byte(n)}).String()
	}
	r.PointID = schema.PointID(&r)
	return r
}

func sessionID(n int) string {
	return schema.ULIDFrom(start.Add(time.Duration(n)*time.Hour), [10]byte{9: byte(n)}).String()
}

// newStore makes a store of runs.
func newStore(t testing.TB, runs ...schema.Run) string {
	t.Helper()
	dir := t.TempDir() + "/runs_store"
	if err := ingest.Init(dir); err != nil {
		t.Fatal(err)
	}
	appendRuns(t, dir, runs...)
	return dir
}

func appendRuns(t testing.TB, dir string, runs ...schema.Run) {
	t.Helper()
	s, err := ingest.Open(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if err := s.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// manyRuns are n runs, no two of the same second.
func manyRuns(n int) []schema.Run {
	runs := make([]schema.Run, n)
	for i := range runs {
		runs[i] = newRun(i, int64(100_000+i*10), nil)
	}
	return runs
}

func open(t testing.TB, stores ...string) *query.DB {
	t.Helper()
	db, err := query.Open(context.Background(), stores, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// ids are the repeat_index values of a listing: the n of newRun.
func ids(t testing.TB, db *query.DB, req query.ListRequest) []int {
	t.Helper()
	req.Columns = []string{"repeat_index"}
	l, err := db.List(context.Background(), req)
	if err != nil {
		t.Fatalf("%+v: %v", req, err)
	}
	var all []int
	for _, row := range l.Rows {
		all = append(all, int(row[0].(int64)))
	}
	return all
}

// wantInput checks that an error is the asker's, of one line, and says something.
func wantInput(t testing.TB, err error, says string) {
	t.Helper()
	switch {
	case !errors.Is(err, query.ErrInput):
		t.Errorf("got error %v, want one that wraps ErrInput", err)
	case strings.ContainsAny(err.Error(), "\n\r\x00"):
		t.Errorf("error is not one line: %q", err)
	case !strings.Contains(err.Error(), says):
		t.Errorf("error %q does not say %q", err, says)
	}
}
