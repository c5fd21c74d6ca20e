package ingest

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// Where these are set, the test binary is a process that appends so many runs to a store and prints the ids of those
// that were acknowledged.
const (
	childStore = "NEUROLENS_INGEST_CHILD"
	childRuns  = "NEUROLENS_INGEST_RUNS"
	childEager = "NEUROLENS_INGEST_EAGER" // seals every few runs, and removes claims at once
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childStore); dir != "" {
		if err := appendRuns(dir, os.Getenv(childRuns)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if from := os.Getenv(childCompactFrom); from != "" {
		if err := compactChild(from, os.Getenv(childCompactInto)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(runtest.InMemory{M: m}.Run())
}

func appendRuns(dir, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	store, err := Open(dir, "test")
	if err != nil {
		return err
	}
	if os.Getenv(childEager) != "" {
		store.sealer.Rules.Runs, store.sealer.Rules.Grace = 3, 0
	}
	for i := range n {
		run := smallRun()
		if i%2 == 0 {
			run = realisticRun()
		}
		if err := store.Append(run); err != nil {
			return err
		}
		fmt.Println(run.RunID) // one write: whole or not there
	}
	return store.Close()
}

// child starts a process that appends; its output are the ids acknowledged.
func child(t *testing.T, dir string, runs int) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childStore+"="+dir, fmt.Sprintf("%s=%d", childRuns, runs))
	cmd.Stderr = os.Stderr
	out := must(cmd.StdoutPipe())
	mustDo(t, cmd.Start())
	return cmd, out
}

// drain reads the ids that a child acknowledges.
func drain(out io.Reader) []string {
	var ids []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		ids = append(ids, lines.Text())
	}
	return ids
}

// TestKill ends appending processes with SIGKILL at random moments: with NEUROLENS_LONG=1 30 times, with NEUROLENS_LONG=all
// 200 times.
func TestKill(t *testing.T) {
	t.Parallel()
	kill(t, func(*testing.T, string) {})
}

// TestKillSealing does it with processes that seal every few runs, and take over what the one before them left.
func TestKillSealing(t *testing.T) {
	t.Setenv(childEager, "1")
	kill(t, func(t *testing.T, dir string) {
		for range 3 {
			mustSeal(t, dir)
		}
		if live, sealed, claims := whereRuns(t, dir); len(live)+len(claims) > 0 || len(sealed) == 0 {
			t.Fatalf("live %v, %d sealed, claims %v", live, len(sealed), claims)
		}
	})
}

// kill ends processes after up to ten runs each, and at the end calls a function for the store.
func kill(t *testing.T, end func(t *testing.T, dir string)) {
	t.Helper()
	kills := tier(6, 30, 200)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	_, dir := newStore(t)
	var acked []string
	for range kills {
		cmd, out := child(t, dir, 1_000_000)
		lines := bufio.NewScanner(out)
		var ids []string
		for range 1 + random.IntN(10) {
			if !lines.Scan() {
				t.Fatalf("the child ended by itself after %d runs", len(ids))
			}
			ids = append(ids, lines.Text())
		}
		time.Sleep(time.Duration(random.Int64N(int64(4 * time.Millisecond)))) // about two runs
		_ = cmd.Process.Kill()
		for lines.Scan() {
			ids = append(ids, lines.Text())
		}
		_ = cmd.Wait()
		acked = append(acked, ids...)
		checkAcknowledged(t, dir, ids)
	}
	checkAcknowledged(t, dir, acked)
	end(t, dir)
	checkAcknowledged(t, dir, acked)
	t.Logf("%d kills, %d runs acknowledged, %d in the store", kills, len(acked), len(checkStore(t, dir)))
}

func checkAcknowledged(t *testing.T, dir string, ids []string) {
	t.Helper()
	there := checkStore(t, dir)
	for _, id := range ids {
		valuetest.Equal(t, there[id], 1, "run", id, "was acknowledged and is in the store")
	}
}

// TestProcesses appends from 8 processes at once.
func TestProcesses(t *testing.T) {
	t.Parallel()
	const processes, runs = 8, 50
	_, dir := newStore(t)
	ids := make(chan string, processes*runs)
	var wg sync.WaitGroup
	for range processes {
		cmd, out := child(t, dir, runs)
		wg.Go(func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				ids <- lines.Text()
			}
			valuetest.NoError(t, cmd.Wait(), "child")
		})
	}
	wg.Wait()
	close(ids)
	checkAll(t, dir, ids, processes*runs)
}

// TestGoroutines appends from 8 goroutines to one Store at once.
func TestGoroutines(t *testing.T) {
	t.Parallel()
	const goroutines, runs = 8, 25
	store, dir := newStore(t)
	ids := make(chan string, goroutines*runs)
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range runs {
				run := smallRun()
				valuetest.NoError(t, store.Append(run))
				ids <- run.RunID
			}
		})
	}
	wg.Wait()
	close(ids)
	checkAll(t, dir, ids, goroutines*runs)
}

func checkAll(t *testing.T, dir string, ids <-chan string, want int) {
	t.Helper()
	there := checkStore(t, dir)
	valuetest.Equal(t, len(there), want)
	for id := range ids {
		valuetest.Equal(t, there[id], 1, "run", id, "is in the store")
	}
}
