package worktree

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// BenchmarkOpen opens and closes two sides of 5,000 files of 3 kB, in turns with git making and removing two linked working trees of the same
// commits, and reports the medians of the processor time that each takes.
//
//	go test ./runner/worktree -run XXX -bench Open -benchtime 6x
func BenchmarkOpen(b *testing.B) {
	dir, root := sample(b)
	for i := range 5000 {
		valuetest.Files(b, dir, map[string]string{fmt.Sprintf("d%d/e%d/f%d.txt", i%20, i%7, i): strings.Repeat(fmt.Sprintln("line", i), 300)})
	}
	save(b, dir)
	git(b, dir, "gc", "-q")
	ways := map[string]func(){
		"sides": func() {
			p := valuetest.Must(Open(b.Context(), Options{Dir: dir, Against: "HEAD", Session: "s", Root: root}))
			valuetest.OK(b, p.Close())
		},
		"worktrees": func() {
			for _, side := range []string{"base", "head"} {
				git(b, dir, "worktree", "add", "-q", "--detach", filepath.Join(root, side), "HEAD")
			}
			for _, side := range []string{"base", "head"} {
				git(b, dir, "worktree", "remove", "--force", filepath.Join(root, side))
			}
		},
	}
	took := map[string][]float64{}
	for b.Loop() {
		for way, do := range ways {
			began := processorTime(b)
			do()
			took[way] = append(took[way], (processorTime(b) - began).Seconds())
		}
	}
	for way, times := range took {
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2], way+"-s")
	}
}

// processorTime is that of this process and of its children so far.
func processorTime(b *testing.B) (total time.Duration) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var usage unix.Rusage
		valuetest.OK(b, unix.Getrusage(who, &usage))
		total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return total
}
