package benchmarks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
)

// growthGoal is the most that what has an answer of one size may take in a larger store, as a ratio to the smallest.
const growthGoal = 1.3

// rareSessions are those of a benchmark that each store has in the same number, spread over all of its time.
const rareSessions = 20

// grown are the stores in which the same is done by turns. Each sealed file of the largest has ten sessions, so that it has no more files
// than that of a million runs, and can be made in less time.
var grown = []recipe{recipes[1], recipes[2], recipes[3], {"10M", 10_080_000, 10, 10 * perFile}}

// growing are questions whose answers do not grow with the store: the newest 20 runs, a session, two sessions, and the 20 runs of a rare
// point.
var growing = []command{
	{"newest 20", []string{"ls", "--format", "plain", "--limit", "20"}, growthGoal},
	{"ls of a session", []string{"ls", "--format", "plain", "session=last"}, growthGoal},
	{"compare", []string{"compare", "--format", "plain", "session=last~1", "session=last"}, growthGoal},
	{"history, rare", []string{"history", "--format", "plain", "benchmark=rare"}, growthGoal},
	{"ls, rare", []string{"ls", "--format", "plain", "benchmark=rare"}, growthGoal},
}

// BenchmarkGrowth measures on stores of 10,000 to ten million runs what should cost the same in all of them: whole processes, and a writer,
// by turns with the smallest store.
func BenchmarkGrowth(b *testing.B) {
	neurolens := program(b)
	var dirs []string
	var stores []*ingest.Store
	for _, r := range grown {
		dir := rareOf(b, r)
		dirs, stores = append(dirs, dir), append(stores, copyToWrite(b, dir))
	}
	settle(b, dirs)
	asked := make([][]series, len(grown)) // of each store
	written := make([][4]series, len(grown))
	for i := range asked {
		asked[i] = make([]series, len(growing))
	}
	for range 2 * rounds {
		for i, dir := range dirs {
			for j, c := range growing {
				if asked[i][j].total() < longTime {
					asked[i][j].add(start(b, "NEUROLENS_FORMAT=", append([]string{neurolens, "--store", dir}, c.args...)...))
				}
			}
		}
	}
	for range 2 * rounds {
		for i, store := range stores {
			for j, took := range writeOnce(b, store) {
				written[i][j].add(measured{Wall: took})
			}
		}
	}
	var lines []line
	for i, r := range grown { // the smallest against itself: its times, for a plot
		for j, c := range growing {
			lines = append(lines, turns(r.of(c.name), &asked[i][j], &asked[0][j]).within(c.goal, commandMegabytes))
		}
		for j, name := range writes[:2] {
			lines = append(lines, turns(r.of(name), &written[i][j], &written[0][j]).within(growthGoal, 0))
		}
	}
	report(b, "the same in a store of "+grown[0].name+" runs", lines...)
}

// of returns the name of an operation in a store of this size. The size is a parameter of the name, so that a plot can have it as its axis.
func (r recipe) of(name string) string { return fmt.Sprintf("%s/runs=%d", name, r.runs) }

// rareOf gives the directory of a copy of a store, of which it links the files, with sessions of a rare benchmark among the others.
func rareOf(b *testing.B, r recipe) string {
	b.Helper()
	from := storeOf(b, r)
	return made(b, r.name+"-rare", func(dir string) error {
		if err := linkStore(from, dir); err != nil {
			return err
		}
		return writeRare(dir, r.samples)
	})
}

// writeRare adds the rare sessions to a store.
func writeRare(dir string, samples int) error {
	var runs []schema.Run
	for i := range rareSessions {
		s := runtest.NewSweep(uint64(1<<40+i), samples)
		s.Start = s.Start.AddDate(0, 0, i*months*30/rareSessions).Add(time.Minute / 2)
		run := s.Next()
		run.Benchmark = "rare"
		run.PointID = schema.PointID(&run)
		runs = append(runs, run)
	}
	store, err := ingest.Open(dir, "scale")
	if err != nil {
		return err
	}
	done, err := store.AppendAll(runtest.Each(runs...))
	if err == nil && done.Added != rareSessions {
		err = fmt.Errorf("%d rare runs of %d were added", done.Added, rareSessions)
	}
	return errors.Join(err, store.Close())
}

// copyToWrite opens a copy of a store, which is removed at the end.
func copyToWrite(b *testing.B, dir string) *ingest.Store {
	b.Helper()
	into := copyStore(b, dir)
	store, err := ingest.Open(into, "scale")
	must(b, err)
	b.Cleanup(func() { must(b, errors.Join(store.Close(), os.RemoveAll(into))) })
	return store
}

// unchanged is for how long the folder of a month must not have changed before its size is kept.
const unchanged = time.Minute

// settle packs stores when their folders have not changed for long enough, as a writer does that comes later.
func settle(b *testing.B, dirs []string) {
	b.Helper()
	for _, dir := range dirs {
		folders, err := filepath.Glob(filepath.Join(dir, schema.RunsDir, "*"))
		must(b, err)
		for _, folder := range folders {
			info, err := os.Stat(folder)
			must(b, err)
			<-time.After(time.Until(info.ModTime().Add(unchanged)))
		}
		must(b, pack(dir))
	}
}
