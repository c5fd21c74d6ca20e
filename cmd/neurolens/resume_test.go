//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/sql"
)

// testPython is the interpreter of the tests, with a framework that they measure.
func testPython(t testing.TB, framework string) string {
	t.Helper()
	python := testInterpreter()
	out, err := exec.Command(python, "-c", "import "+framework).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s does not import %s (NEUROLENS_TEST_PYTHON names another interpreter): %w: %.200s", python, framework, err, out)
	}
	needs(t, framework, err)
	return python
}

const resumedSweep = `suite: resumed
backend: onnxrt
model: add.onnx
grid:
  batch_size: [1, 2, 4, 8]
  seq_len: [16, 32, 64]
  threads: [1, 2]
repeats: 3
warmup: 2
iterations: 20
`

// TestResume: 24 points three times on ONNX Runtime, killed twice at a random moment. Each time the same command goes
// on, and in the end each of the 72 launches has one ok run.
func TestResume(t *testing.T) {
	t.Parallel()
	python := testPython(t, "onnxruntime")
	dir := t.TempDir()
	write(t, dir, "sweep.yaml", resumedSweep)
	program(t, dir, "model", "gen", "add", "--out", "add.onnx").run(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 2 {
		bench := program(t, dir, "bench", "sweep.yaml", "--python", python)
		if err := bench.Start(); err != nil {
			t.Fatal(err)
		}
		// A session that has stored nothing cannot be gone on from.
		enough := filesOf(t, dir) + 1 + random.IntN(12)
		for end := time.Now().Add(5 * time.Minute); filesOf(t, dir) < enough; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it stores nothing")
			}
		}
		_ = bench.Process.Kill()
		_ = bench.Wait()
		t.Logf("killed with %v in the store", rows(t, dir, "SELECT status, count(*) FROM runs GROUP BY ALL"))
	}
	last := program(t, dir, "bench", "sweep.yaml", "--python", python)
	last.run(t)
	if !strings.Contains(last.stderr.String(), "continues session") {
		t.Errorf("it does not say that it goes on:\n%s", last.stderr.String())
	}
	got := rows(t, dir, `SELECT count(*), count(DISTINCT (point_id, repeat_index)), count(DISTINCT point_id),
		count(*) FILTER (status = 'ok'), count(DISTINCT session_id), count(DISTINCT resumes) FROM runs`)
	if got != "[72 72 24 72 3 2]" {
		t.Errorf("runs, launches, points, ok runs, sessions, sessions resumed: %s, want [72 72 24 72 3 2]", got)
	}
}

// filesOf counts the files of runs in the store of a directory; there need not be one.
func filesOf(t testing.TB, dir string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "runs_store", "live", "*", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// write writes a file of a test.
func write(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// process is a call of the program.
type process struct {
	*exec.Cmd
	stdout, stderr strings.Builder
}

// program is a call of the program in a directory.
func program(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(self, args...)}
	p.Dir, p.Env = dir, programEnviron(t)
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	return p
}

// programEnviron makes the test binary the program, with locks of its own: tests run side by side.
func programEnviron(t testing.TB) []string {
	return append(os.Environ(), programRole+"=1", locksVariable+"="+t.TempDir(), "NEUROLENS_PAGER=")
}

// run runs it to its end, which has to be a good one.
func (p *process) run(t testing.TB) {
	t.Helper()
	if err := p.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(p.Args[1:], " "), err, p.stdout.String(), p.stderr.String())
	}
}

// rows asks the store of a directory; a row is [a b].
func rows(t testing.TB, dir, text string) string {
	t.Helper()
	ctx := context.Background()
	db, err := query.Open(ctx, []string{filepath.Join(dir, "runs_store")}, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	table, err := sql.Select(ctx, db, text)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, row := range table.Rows {
		all = append(all, fmt.Sprint(row))
	}
	return strings.Join(all, " ")
}
