package programtest

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/runner/probe"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// FillStore makes a store where there is none and appends runs of a sweep like quickstart, a second apart, with the environment of this
// machine and made-up samples.
func FillStore(t testing.TB, dir string, runs, samples int) {
	t.Helper()
	env := probe.Read(context.Background(), probe.Options{Environ: os.Environ(), Version: "test", Machine: "lab3"})
	start := time.Now().Add(-time.Duration(runs) * time.Second).Truncate(time.Millisecond)
	session := schema.NewULID(start).String()
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]schema.Run, runs)
	for i := range all {
		all[i] = MadeUpRun(random, start.Add(time.Duration(i)*time.Second), session, env, i, samples)
	}
	NewStore(t, dir, all...)
}

// MadeUpRun returns the i-th run of a sweep over precisions, batch sizes, lengths and a parameter, with made-up samples.
func MadeUpRun(random *rand.Rand, at time.Time, session string, env schema.Env, i, samples int) schema.Run {
	r := schema.Run{
		RunID: schema.NewULID(at).String(), SessionID: session, Purpose: schema.PurposeMeasure, Source: schema.SourceNeuroLens,
		RepeatIndex: new(int64(i / 32)), BlockIndex: new(int64(i)), PositionIndex: new(int64(0)),
		Suite: "quickstart", Benchmark: "tiny_linear", Executor: schema.ExecutorBuiltin, Backend: "builtin", Model: "builtin:tiny_linear",
		Precision: []string{"fp32", "fp64"}[i%2], BatchSize: new(int64(1 << (i / 2 % 4))), SeqLen: new(int64(64 << (i / 8 % 2))),
		Params: map[string]string{"dim": strconv.Itoa(64 << (i / 16 % 2))}, Tags: map[string]string{"note": "made up"},
		StartedAt: at, TimeSource: schema.TimeClock, Status: schema.StatusOK, Env: env, Primary: schema.PrimaryMetric,
	}
	ticks := make([]int64, samples)
	for j := range ticks {
		ticks[j] = int64(1e6 * (1 + .05*random.NormFloat64()) * float64(int(1)<<(i/2%4)))
	}
	r.Metrics = []schema.Metric{
		{Name: schema.PrimaryMetric, Unit: "ns", Better: schema.BetterLower, Clock: "monotonic", Level: schema.LevelIteration, Tick: 1, Ticks: ticks},
		{Name: "peak_memory", Unit: "B", Better: schema.BetterLower, Level: schema.LevelProcess, Tick: 1, Ticks: []int64{32 << 20}},
	}
	r.PointID = schema.PointID(&r)
	return r
}

// SealedStore makes the store runs_store of several sealed files in a new directory, which it returns. Its runs have a value in every
// column and every edge of a value.
func SealedStore(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 5 {
		sweep := runtest.NewSweep(uint64(i), 20)
		sweep.Start = sweep.Start.AddDate(0, i, 0)
		runs := []schema.Run{runtest.Full(), runtest.Small()}
		for range 30 {
			runs = append(runs, sweep.Next())
		}
		NewSealedStore(t, filepath.Join(dir, "runs_store"), runs...)
	}
	return dir
}

// NewStore makes a store where there is none and appends runs.
func NewStore(t testing.TB, dir string, runs ...schema.Run) {
	t.Helper()
	valuetest.OK(t, OpenStore(t, dir, runs...).Close())
}

// NewSealedStore makes a store where there is none, appends runs and seals them.
func NewSealedStore(t testing.TB, dir string, runs ...schema.Run) {
	t.Helper()
	store := OpenStore(t, dir, runs...)
	if n, err := store.Seal(context.Background()); n == 0 || err != nil {
		t.Fatalf("sealed %d runs: %v", n, err)
	}
	valuetest.OK(t, store.Close())
}

// OpenStore makes a store where there is none, appends runs, and leaves it open.
func OpenStore(t testing.TB, dir string, runs ...schema.Run) *ingest.Store {
	t.Helper()
	valuetest.OK(t, ingest.Init(dir))
	store := valuetest.Must(ingest.Open(dir, "test"))
	for _, r := range runs {
		valuetest.OK(t, store.Append(r))
	}
	return store
}
