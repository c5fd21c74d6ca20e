package benchmarks

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// benchstat builds the tool that ratios are to.
func benchstat(tb testing.TB) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "benchstat")
	if out, err := exec.Command("go", "build", "-o", name, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		tb.Fatalf("building benchstat: %v: %s", err, out)
	}
	return name
}

// text writes the values of a session as the lines of Go benchmarks.
func (g grid) text(name string, session int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	random := rand.New(rand.NewPCG(uint64(session), 7))
	for n := range g.points * g.runs {
		r := g.run(random, n%g.points, n/g.points, gridStart(session))
		fmt.Fprintf(w, "BenchmarkKernel/bs=%d/tile=%s/case=%s 1 %d ns/op\n", *r.BatchSize, r.Params["tile"], r.Params["case"], r.Metrics[0].Ticks[0])
	}
	return errors.Join(w.Flush(), f.Close())
}

// The most that a comparison of 100,000 points may take: as a ratio to benchstat, as a ratio to runs with one sample, and in memory.
const (
	compareGoal, csvGoal = .1, .4
	samplesGoal          = 1.1
	compareMegabytes     = 512
)

// BenchmarkCompare compares 100,000 points of 10 runs a side, by turns with benchstat on the same values, and with a store
// whose runs have 50 samples each.
func BenchmarkCompare(b *testing.B) {
	one, fifty := grid{100_000, 10, 1}, grid{100_000, 10, 50}
	store, more := gridOf(b, one), gridOf(b, fifty)
	neurolens, peer := program(b), benchstat(b)
	base, head := filepath.Join(b.TempDir(), "base.txt"), filepath.Join(b.TempDir(), "head.txt")
	must(b, errors.Join(one.text(base, 0), one.text(head, 1)))
	var ours, csv, samples, theirs series
	command := func(store, format string) []string {
		return []string{neurolens, "compare", "session=last~1", "session=last", "--store", store, "--format", format}
	}
	for range 5 {
		ours.add(start(b, "NEUROLENS_FORMAT=", command(store, "table")...))
		samples.add(start(b, "NEUROLENS_FORMAT=", command(more, "table")...))
		csv.add(start(b, "NEUROLENS_FORMAT=", command(store, "csv")...))
		theirs.add(start(b, "NEUROLENS_FORMAT=", peer, base, head))
	}
	report(b, "benchstat on the same values", turns("a table", &ours, &theirs).within(compareGoal, compareMegabytes),
		turns("csv, every point", &csv, &theirs).within(csvGoal, compareMegabytes))
	report(b, "the same with a sample in each run", turns("50 samples in each run", &samples, &ours).within(samplesGoal, compareMegabytes))
}
