package summary_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/query/summary"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// stacksOf makes operators of folded stacks.
func stacksOf(lines ...string) []schema.Op {
	var ops []schema.Op
	for i, line := range lines {
		var count int64
		at := strings.LastIndexByte(line, ' ')
		if _, err := fmt.Sscan(line[at:], &count); err != nil {
			panic(err)
		}
		ops = append(ops, schema.Op{Index: int64(i), Name: line[:at], Type: "stack", Count: &count})
	}
	return ops
}

// TestFrames: a frame has its own samples and those of the frames that it called, so that each level adds up to at most the one above.
func TestFrames(t *testing.T) {
	t.Parallel()
	var text func(f *summary.Frame) string
	text = func(f *summary.Frame) string {
		var calls []string
		for _, c := range f.Calls {
			calls = append(calls, text(c))
		}
		return fmt.Sprint(f.Name, f.Samples, calls)
	}
	valuetest.Equal(t, text(summary.Frames(stacksOf("a;c 3", "a;b 2", "a 1", "a;b;a 4", "d 5"))), "15 [a10 [b6 [a4 []] c3 []] d5 []]")
}

// TestFunctions: the operators of stacks are functions, each with the samples in the function itself.
func TestFunctions(t *testing.T) {
	t.Parallel()
	n := 0
	run := profileOf(&n, 1, "", stacksOf("a;c 3", "a;b 2", "a 1", "a;b;a 4")...)
	all := valuetest.Must(summary.Operators(t.Context(), querytest.SealedRuns(t, []schema.Run{run}), &run, ""))
	var rows []string
	for _, o := range all {
		rows = append(rows, fmt.Sprint(o.Name, " ", *o.Count, " ", *o.Share))
	}
	valuetest.DeepEqual(t, rows, []string{"a 5 0.5", "c 3 0.3", "b 2 0.2"})
}
