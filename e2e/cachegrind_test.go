package e2e

import (
	"encoding/csv"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestCachegrind counts the instructions of a loop without performance counters: they are equal in all runs, a loop that is 1 % longer
// fails the gate, and the pass of profile counts the same.
func TestCachegrind(t *testing.T) {
	valuetest.Program(t, "gcc")
	valuetest.Program(t, "valgrind")
	dir := t.TempDir()
	programtest.WriteFile(t, dir, "loop.c", `#include <stdlib.h>
int main(int argc, char **argv) { volatile long x = 0; for (long i = 0; i < atol(argv[1]); i++) x += i; return 0; }
`)
	build := exec.Command("gcc", "-O0", "-o", "loop", "loop.c")
	build.Dir = dir
	valuetest.Run(t, build)
	programtest.WriteFile(t, dir, "sweep.yaml", `
command: [./loop, "{n}"]
grid: {n: [200000, 202000]}
wrapper: [valgrind, --tool=cachegrind, --cache-sim=no, "--cachegrind-out-file={run_dir}/cachegrind.out"]
metrics:
  instructions: {from: "{run_dir}/cachegrind.out", regex: '^summary: ([0-9]+)'}
primary: instructions
warmup: 0
iterations: 1
repeats: 6
`)
	programtest.Output(t, dir, "bench", "sweep.yaml")
	counts := func(where string) (all [][]string) {
		text := programtest.Output(t, dir, "query", "--format", "csv",
			"SELECT r.params['n'] AS n, list_distinct(flatten(list(s.values))) AS v FROM samples s JOIN runs r USING (run_id) WHERE s.metric = 'instructions' AND "+where+" GROUP BY n ORDER BY n")
		return valuetest.Must(csv.NewReader(strings.NewReader(text)).ReadAll())[1:]
	}
	measured := counts("r.purpose = 'measure'")
	if len(measured) != 2 || strings.Contains(measured[0][1]+measured[1][1], ",") || measured[0][1] == measured[1][1] {
		t.Fatalf("instructions %v: want one number for each n", measured)
	}
	for _, c := range []struct {
		base, head string
		exit       int
	}{{"n=200000", "n=202000", 1}, {"n=202000", "n=200000", 0}} {
		err := programtest.Program(t, dir, "compare", c.base, c.head, "--threshold", "0.5%", "--gate=regression").Run()
		exit := 0
		if failed, is := errors.AsType[*exec.ExitError](err); is {
			exit = failed.ExitCode()
		} else {
			valuetest.OK(t, err)
		}
		valuetest.Equal(t, exit, c.exit, c.base, c.head)
	}
	programtest.WriteFile(t, dir, "pass.yaml", "command: [./loop, \"200000\"]\niterations: 1\nrepeats: 1\nprofile: cachegrind\n")
	programtest.Output(t, dir, "bench", "pass.yaml")
	first := counts("r.purpose = 'profile'")
	programtest.Output(t, dir, "bench", "pass.yaml", "--rerun", "all")
	if again := counts("r.purpose = 'profile'"); len(first) != 1 || strings.Contains(again[0][1], ",") || again[0][1] != first[0][1] {
		t.Errorf("instructions of passes %v, and again %v: want the same number", first, again)
	}
}
