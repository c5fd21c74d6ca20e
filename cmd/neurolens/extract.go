package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/neurolens/neurolens/query/sandbox"
	"github.com/neurolens/neurolens/runner/output"
)

// What the process that reads metrics out of outputs may take.
const (
	extractMemory = 512 << 20
	grace         = 100 * time.Millisecond
)

// order is what that process is asked.
type order struct{ Extract *output.ExtractJob }

// extractInChild reads metrics in a process of its own: what a sweep asks for may never end, or take all memory there is. It
// tells the number of the rule at which it failed.
func extractInChild(ctx context.Context, job output.ExtractJob, kept *os.File) (found []output.Extracted, began int, err error) {
	marks := marksOfRules{}
	err = sandbox.Run(ctx, sandbox.Job{
		Argument: order{&job}, Stdout: &marks, Grace: grace, Memory: extractMemory, Keep: kept,
	}, &found)
	if errors.Is(err, sandbox.ErrMemory) {
		err = fmt.Errorf("reading it takes more than %d MiB of memory", extractMemory>>20)
	}
	return found, max(marks.n-1, 0), err
}

// marksOfRules counts the bytes that the process writes, one when it begins a rule.
type marksOfRules struct{ n int }

func (m *marksOfRules) Write(p []byte) (int, error) {
	m.n += len(p)
	return len(p), nil
}

// extractChild returns what that process does with its argument. What is no such argument is for others.
func extractChild(others func(context.Context, []byte) any) func(context.Context, []byte) any {
	return func(ctx context.Context, argument []byte) any {
		var o order
		if json.Unmarshal(argument, &o) != nil || o.Extract == nil {
			return others(ctx, argument)
		}
		debug.SetGCPercent(50) // less garbage leaves more of the limit
		kept := os.NewFile(sandbox.KeptFile, "outputs")
		return output.Extract(ctx, *o.Extract, kept, func(int) { _, _ = os.Stdout.Write([]byte{'.'}) })
	}
}
