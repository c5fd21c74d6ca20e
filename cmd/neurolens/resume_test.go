//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/sql"
	"github.com/neurolens/neurolens/schema/valuetest"
)

const resumedSweep = `suite: resumed
backend: onnxrt
model: add.onnx
grid:
  batch_size: [1, 2]
  seq_len: [16, 32, 64]
  threads: [1, 2]
repeats: 2
warmup: 2
iterations: 20
`

// TestResume: 12 points twice on ONNX Runtime, killed twice at a random moment. Each time the same command goes
// on, and in the end each of the 24 launches has one ok run.
func TestResume(t *testing.T) {
	t.Parallel()
	python := programtest.PythonWith(t, "onnxruntime", "onnxruntime")
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "sweep.yaml", resumedSweep)
	programtest.Program(t, dir, "model", "gen", "add", "--out", "add.onnx").MustRun(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 2 {
		bench := programtest.Program(t, dir, "bench", "sweep.yaml", "--python", python)
		valuetest.OK(t, bench.Start())
		// A session that has stored nothing cannot be gone on from.
		enough := filesOf(t, dir) + 1 + random.IntN(6)
		for end := time.Now().Add(5 * time.Minute); filesOf(t, dir) < enough; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it stores nothing")
			}
		}
		_ = bench.Process.Kill()
		_ = bench.Wait()
		t.Logf("killed with %v in the store", rows(t, dir, "SELECT status, count(*) FROM runs GROUP BY ALL"))
	}
	last := programtest.Program(t, dir, "bench", "sweep.yaml", "--python", python)
	last.MustRun(t)
	valuetest.Contains(t, last.Messages.String(), "continues session", "it does not say that it goes on")
	got := rows(t, dir, `SELECT count(*), count(DISTINCT (point_id, repeat_index)), count(DISTINCT point_id),
		count(*) FILTER (status = 'ok'), count(DISTINCT session_id), count(DISTINCT resumes) FROM runs`)
	valuetest.Equal(t, got, "[24 24 12 24 3 2]", "runs, launches, points, ok runs, sessions, sessions resumed")
}

// filesOf counts the files of runs in the store of a directory; there need not be one.
func filesOf(t testing.TB, dir string) int {
	t.Helper()
	found := valuetest.Must(filepath.Glob(filepath.Join(dir, "runs_store", "live", "*", "*.parquet")))
	return len(found)
}

// rows asks the store of a directory; a row is [a b].
func rows(t testing.TB, dir, text string) string {
	t.Helper()
	ctx := context.Background()
	db := valuetest.Must(query.Open(ctx, []string{filepath.Join(dir, "runs_store")}, query.Options{}))
	defer db.Close()
	table := valuetest.Must(sql.Select(ctx, db, text))
	var all []string
	for _, row := range table.Rows {
		all = append(all, fmt.Sprint(row))
	}
	return strings.Join(all, " ")
}
