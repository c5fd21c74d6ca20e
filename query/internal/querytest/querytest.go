// Package querytest makes runs and stores for the tests of queries.
package querytest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/internal/duck"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// Start is when the first run of the tests starts.
var Start = time.Date(2026, 11, 21, 6, 45, 12, 345678000, time.UTC)

// NewRun makes a run whose latency samples are around base ns. n determines its id and its start: one second apart.
func NewRun(n int, base int64, edit func(*schema.Run)) schema.Run {
	r := schema.Run{
		SessionID: SessionID(1), Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens,
		Suite: "quick start", Benchmark: "tiny_linear", Executor: schema.ExecutorBuiltin, Backend: "builtin", Model: "builtin:tiny_linear",
		Precision: "fp32", BatchSize: new(int64(1 << (n % 5))), SeqLen: new(int64(64)),
		Params:    map[string]string{"dim": fmt.Sprint(64 << (n % 3))},
		Tags:      map[string]string{"who": "me"},
		StartedAt: Start.Add(time.Duration(n) * time.Second), TimeSource: schema.TimeClock,
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

// SessionID returns the id of a session, by its number.
func SessionID(n int) string {
	return schema.ULIDFrom(Start.Add(time.Duration(n)*time.Hour), [10]byte{9: byte(n)}).String()
}

// NewStore makes a store of runs.
func NewStore(t testing.TB, runs ...schema.Run) string {
	t.Helper()
	dir := t.TempDir() + "/runs_store"
	valuetest.OK(t, ingest.Init(dir))
	Append(t, dir, runs...)
	return dir
}

// Append adds runs to a store.
func Append(t testing.TB, dir string, runs ...schema.Run) {
	t.Helper()
	s := valuetest.Must(ingest.Open(dir, "test"))
	for _, r := range runs {
		valuetest.OK(t, s.Append(r))
	}
	valuetest.OK(t, s.Close())
}

// ManyRuns returns n runs, no two of the same second.
func ManyRuns(n int) []schema.Run {
	runs := make([]schema.Run, n)
	for i := range runs {
		runs[i] = NewRun(i, int64(100_000+i*10), nil)
	}
	return runs
}

// Open opens stores until the test ends.
func Open(t testing.TB, stores ...string) *query.DB {
	t.Helper()
	db := valuetest.Must(query.Open(context.Background(), stores, query.Options{}))
	t.Cleanup(func() {
		valuetest.NoError(t, db.Close())
	})
	return db
}

// IDs returns the repeat_index values of a listing: the n of NewRun.
func IDs(t testing.TB, db *query.DB, req query.ListRequest) []int {
	t.Helper()
	runs, err := db.Runs(context.Background(), req, "repeat_index")
	valuetest.OK(t, err, req)
	var all []int
	for i := range runs {
		all = append(all, int(*runs[i].RepeatIndex))
	}
	return all
}

// Pages returns all pages of a listing in one.
func Pages(t testing.TB, db *query.DB, req query.ListRequest, columns ...string) query.Page {
	t.Helper()
	var all query.Page
	err := db.Pages(context.Background(), req, columns, func(page query.Page) error {
		page.Rows = append(all.Rows, page.Rows...)
		all = page
		return nil
	})
	valuetest.OK(t, err, req)
	return all
}

// WantInput checks that an error is an ErrInput of one line that contains says.
func WantInput(t testing.TB, err error, says string) {
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

// Connect opens a connection of an engine of its own, until the test ends.
func Connect(t testing.TB) *duck.Conn {
	t.Helper()
	e := valuetest.Must(duck.Open(0, ""))
	c := valuetest.Must(e.Connect(context.Background()))
	t.Cleanup(func() {
		valuetest.NoError(t, errors.Join(c.Close(), e.Close()))
	})
	return c
}
