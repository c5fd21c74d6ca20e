package benchmarks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// The most that an event of all runs may make of a question: as a ratio to the question without it, and how much more memory.
const (
	wideGoal      = 1.1
	wideMegabytes = 50
)

// BenchmarkWideEvent measures commands on the largest store with an event of all of its runs, by turns with the store as it is.
func BenchmarkWideEvent(b *testing.B) {
	neurolens := program(b)
	dir := storeOf(b, recipes[len(recipes)-1])
	var lines []line
	for _, event := range [][]string{{"tag", "p50>0ns", "wide=yes"}, {"note", "p50>0ns", "the fan was loud"}} {
		with := withEvent(b, neurolens, dir, event)
		for _, c := range [][]string{
			{"ls", "--format", "plain", "--limit", "20"},
			{"ls", "--format", "plain", "--limit", "20", "tag.kept=yes"},
			{"query", "--format", "plain", "SELECT count(*) FROM runs WHERE p50 > 53.9e6"},
		} {
			var without, said series
			for range rounds {
				without.add(start(b, "NEUROLENS_FORMAT=", append([]string{neurolens, "--store", dir}, c...)...))
				said.add(start(b, "NEUROLENS_FORMAT=", append([]string{neurolens, "--store", with}, c...)...))
			}
			l := turns(fmt.Sprintf("%s of all, then %s %s", event[0], c[0], c[len(c)-1]), &said, &without)
			lines = append(lines, l.within(wideGoal, without.peak/1e6+wideMegabytes))
		}
	}
	report(b, "the same without the event", lines...)
}

// withEvent copies a store, of which it links the runs, and says something about all of them.
func withEvent(b *testing.B, neurolens, dir string, event []string) string {
	b.Helper()
	copied := filepath.Join(scaleDir(b), "with-"+event[0])
	must(b, os.RemoveAll(copied))
	b.Cleanup(func() { must(b, os.RemoveAll(copied)) })
	for _, c := range [][]string{
		{"cp", "-al", dir, copied}, // files of runs, packs and events are never written again
		append([]string{neurolens, "--store", copied}, event...),
	} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			b.Fatal(fmt.Errorf("%v: %w: %s", c, err, out))
		}
	}
	if forms, err := filepath.Glob(filepath.Join(copied, schema.PacksDir, "event-*")); err != nil || len(forms) != 1 {
		b.Fatalf("%v, %v: the event has no wide form", forms, err)
	}
	return copied
}
