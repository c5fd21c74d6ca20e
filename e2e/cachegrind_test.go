package e2e

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestCachegrind counts the instructions of a loop without performance counters: they are equal in all passes of a point, a loop that is 1 %
// longer fails the gate, and a later session counts the same.
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
profile: cachegrind
warmup: 0
iterations: 1
repeats: 5
`)
	programtest.Output(t, dir, "bench", "sweep.yaml")
	counts := func(session string) (all [][]string) {
		text := programtest.Output(t, dir, "query", "--format", "csv",
			"SELECT r.params['n'] AS n, list_distinct(flatten(list(s.values))) AS v FROM samples s JOIN runs r USING (run_id) WHERE s.metric = 'instructions' AND r.purpose = 'profile' "+session+" GROUP BY n ORDER BY n")
		return valuetest.Must(csv.NewReader(strings.NewReader(text)).ReadAll())[1:]
	}
	first := counts("")
	if len(first) != 2 || strings.Contains(first[0][1]+first[1][1], ",") || first[0][1] == first[1][1] {
		t.Fatalf("instructions %v: want one number for each n", first)
	}
	for _, c := range []struct {
		base, head string
		exit       int
	}{{"n=200000", "n=202000", 1}, {"n=202000", "n=200000", 0}} {
		err := programtest.Program(t, dir, "compare", c.base, c.head, "--metric", "instructions", "--threshold", "0.5%", "--gate=regression").Run()
		exit := 0
		if failed, is := errors.AsType[*exec.ExitError](err); is {
			exit = failed.ExitCode()
		} else {
			valuetest.OK(t, err)
		}
		valuetest.Equal(t, exit, c.exit, c.base, c.head)
	}
	programtest.Output(t, dir, "bench", "sweep.yaml", "--rerun", "all", "--repeats", "1")
	valuetest.Equal(t, fmt.Sprint(counts("")), fmt.Sprint(first), "with a later session")
}
