package chartdata_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/internal/chart"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestFlame: a frame lies within the one that called it, is as wide as its samples, and frames of a row do not overlap. Of too many frames
// those with the most samples are drawn.
func TestFlame(t *testing.T) {
	t.Parallel()
	stack := func(name string, count int64) schema.Op { return schema.Op{Name: name, Type: "stack", Count: &count} }
	run := schema.Run{RunID: sessionID(1), Ops: []schema.Op{stack("a;c", 3), stack("a;b;d", 2), stack("a", 1), stack("e", 4)}}
	f := valuetest.Must(maker.Flame(&run))
	var rows []string
	for _, k := range f.All() {
		rows = append(rows, fmt.Sprint(k.Label, " ", k.Y, " ", k.Low, "-", k.High))
	}
	valuetest.DeepEqual(t, rows, []string{"all 0 0-10", "a 1 0-6", "b 2 0-2", "d 3 0-2", "c 2 2-5", "e 1 6-10"})
	valuetest.Equal(t, f.Series[0].Marks[1].Text, "a: 6 of 10 samples, 60.0 %")

	run.Ops = nil
	for i := range 3000 {
		run.Ops = append(run.Ops, stack(fmt.Sprintf("f%d;g", i), int64(1+i)))
	}
	run.Ops = append(run.Ops, stack(strings.Repeat("deep;", 150)+"end", 100_000))
	f = valuetest.Must(maker.Flame(&run))
	if f.Marks() > chart.MaxMarks || f.Marks() < chart.MaxMarks/2 || len(f.Y.Categories) > 100 || !slices.ContainsFunc(f.Notes, func(note string) bool { return strings.Contains(note, "not drawn: frames with fewer than ") }) {
		t.Errorf("%d marks in %d rows, %q", f.Marks(), len(f.Y.Categories), f.Notes)
	}
	if _, err := maker.Flame(&schema.Run{RunID: sessionID(1), Ops: []schema.Op{{Name: "gemm", Type: "kernel"}}}); err == nil || !strings.Contains(err.Error(), "has no stacks") {
		t.Error(err)
	}
	pass := schema.Run{RunID: sessionID(1), Purpose: schema.PurposeProfile, Error: "ncu: No kernels were profiled"}
	if _, err := maker.Flame(&pass); err == nil || !strings.HasSuffix(err.Error(), " has no stacks: "+pass.Error) {
		t.Error(err)
	}
}
