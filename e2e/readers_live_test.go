//go:build linux

package e2e

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// writerVariable makes a test process append to the store that it names, and seal.
const writerVariable = "NEUROLENS_TEST_WRITER"

// TestWriter is a process of TestReadersWhileSealing: it appends and seals until its input ends, and prints each run that
// is acknowledged.
func TestWriter(t *testing.T) {
	dir := os.Getenv(writerVariable)
	if dir == "" {
		t.Skip("a process of TestReadersWhileSealing")
	}
	ended := make(chan bool)
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		close(ended)
	}()
	random := rand.New(rand.NewPCG(uint64(os.Getpid()), 0))
	for {
		s := valuetest.Must(ingest.Open(dir, "test"))
		for range 1 + random.IntN(30) {
			run := runtest.Small()
			ticks := []int64{random.Int64N(1000), random.Int64N(1000), random.Int64N(1000)}
			run.Metrics[0].Ticks, run.Work.Bytes = ticks, new(ticks[0]+ticks[1]+ticks[2])
			valuetest.OK(t, s.Append(run))
			fmt.Println("acknowledged", run.RunID)
		}
		if random.IntN(2) == 0 {
			valuetest.Must(s.Seal(context.Background()))
		}
		valuetest.OK(t, s.Close())
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// writerProcess returns a process that appends to a store and seals, until its input ends.
func writerProcess(t *testing.T, store string) *exec.Cmd {
	t.Helper()
	self := valuetest.Must(os.Executable())
	cmd := exec.Command(self, "-test.run", "^TestWriter$", "-test.v")
	cmd.Env = append(os.Environ(), writerVariable+"="+store)
	return cmd
}

// appendFor has processes append to a store and seal for some time; a third of them are killed before. It gives the runs
// that they were told are acknowledged.
func appendFor(t *testing.T, store string, processes int, lasting time.Duration) []string {
	t.Helper()
	cmds, inputs, outputs := make([]*exec.Cmd, processes), make([]io.Closer, processes), make([]strings.Builder, processes)
	for i := range cmds {
		cmds[i] = writerProcess(t, store)
		cmds[i].Stdout, cmds[i].Stderr = &outputs[i], &outputs[i]
		input, err := cmds[i].StdinPipe()
		if err == nil {
			err = cmds[i].Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		inputs[i] = input
	}
	time.Sleep(lasting / 2)
	for i := range processes / 3 {
		valuetest.NoError(t, cmds[i].Process.Kill())
	}
	time.Sleep(lasting / 2)
	var runs []string
	for i, cmd := range cmds {
		_ = inputs[i].Close() // of a killed process it is closed
		if err := cmd.Wait(); err != nil && i >= processes/3 {
			t.Errorf("a writer: %v\n%s", err, outputs[i].String())
		}
		for _, found := range regexp.MustCompile(`(?m)^acknowledged (\w{26})$`).FindAllStringSubmatch(outputs[i].String(), -1) {
			runs = append(runs, found[1])
		}
	}
	return runs
}

// sealRest seals what is left in the store of a directory, and lists all its runs.
func sealRest(t *testing.T, dir string) []string {
	t.Helper()
	s := valuetest.Must(ingest.Open(filepath.Join(dir, "runs_store"), "test"))
	valuetest.NoError(t, valuetest.Error(s.Seal(context.Background())))
	valuetest.NoError(t, s.Close())
	list := programtest.Program(t, dir, "query", "SELECT run_id FROM runs ORDER BY run_id", "--format", "csv")
	list.MustRun(t)
	return strings.Fields(list.Printed.String())[1:]
}

// TestReadersWhileSealing has each reader read a store again and again, as the page says, while processes append and
// seal, one of which is killed. There is never an error, a run twice, a run gone or a run without its samples; and in the
// end all that was acknowledged is there.
func TestReadersWhileSealing(t *testing.T) {
	dir, stop := t.TempDir(), filepath.Join(t.TempDir(), "stop")
	store := filepath.Join(dir, "runs_store")
	valuetest.OK(t, ingest.Init(store))
	acknowledged := appendFor(t, store, 1, 0)
	sealRest(t, dir) // there is something to read
	var watchers []*watcher
	for _, r := range readers {
		t.Run(r.module, func(t *testing.T) {
			python := programtest.PythonWith(t, r.module, strings.TrimSuffix(r.module+", "+r.also, ", "))
			watchers = append(watchers, newWatcher(t, r.module, stop, pythonScript(t, python, dir, "watch.py", r.module, readersPage(t), stop)))
		})
	}
	if len(watchers) == 0 {
		t.Skip("there is no reader")
	}
	seconds := 2 * time.Second // of work, whatever is done in it
	if programtest.Long() {
		seconds = 6 * time.Second
	}
	acknowledged = append(acknowledged, appendFor(t, store, 3, seconds)...)
	ids := sealRest(t, dir)
	for _, id := range acknowledged {
		if _, there := slices.BinarySearch(ids, id); !there {
			t.Errorf("run %s was acknowledged and is not there", id)
		}
	}
	programtest.WriteFile(t, filepath.Dir(stop), "stop", "")
	want := fmt.Sprintf("%d %x", len(ids), sha256.Sum256([]byte(strings.Join(ids, "\n"))))
	for _, w := range watchers {
		err := <-w.ended
		out := strings.TrimSpace(w.out.String())
		rounds, is, _ := strings.Cut(out, " ")
		valuetest.DeepEqual(t, []any{err, is}, []any{nil, want}, w.module, out)
		t.Logf("%s read %s times; %d runs in the end, %d acknowledged", w.module, rounds, len(ids), len(acknowledged))
	}
}

// watcher is a process that reads a store again and again.
type watcher struct {
	module string
	out    strings.Builder // complete when it has ended
	ended  chan error
}

// newWatcher starts one, and returns when it has read once.
func newWatcher(t *testing.T, module, stop string, cmd *exec.Cmd) *watcher {
	t.Helper()
	w := &watcher{module: module, ended: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = &w.out, &w.out
	valuetest.OK(t, cmd.Start())
	go func() { w.ended <- cmd.Wait() }()
	for {
		if _, err := os.Stat(stop + "." + module); err == nil {
			return w
		}
		select {
		case err := <-w.ended:
			t.Fatalf("%s: %v\n%s", module, err, w.out.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
