package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/neurolens/neurolens/query/guard"
	"github.com/neurolens/neurolens/runner/extract"
)

// What the process that reads metrics out of outputs may take.
const (
	extractMemory = 512 << 20
	extractGrace  = 100 * time.Millisecond
)

// extractOrder is what that process is asked.
type extractOrder struct{ Extract *extract.Job }

// extractApart reads metrics in a process of its own: what a sweep asks for may never end, or take all memory there is. It
// tells the number of the rule at which it failed.
func extractApart(ctx context.Context, job extract.Job, kept *os.File) (found []extract.Found, began int, err error) {
	marks := marksOfRules{}
	err = guard.Run(ctx, guard.Job{
		Argument: extractOrder{&job}, Stdout: &marks, Grace: extractGrace, Memory: extractMemory, Keep: kept,
	}, &found)
	if errors.Is(err, guard.ErrMemory) {
		err = fmt.Errorf("reading it needs more than %d MiB of memory", extractMemory>>20)
	}
	return found, max(marks.n-1, 0), err
}

// marksOfRules counts the bytes that the process writes, one when it begins a rule.
type marksOfRules struct{ n int }

func (m *marksOfRules) Write(p []byte) (int, error) {
	m.n += len(p)
	return len(p), nil
}

// guardedPart does in a process of its own what the program wants done there.
func guardedPart(ctx context.Context, argument []byte) any {
	var order extractOrder
	if json.Unmarshal(argument, &order) != nil || order.Extract == nil {
		return answerPart(ctx, argument)
	}
	debug.SetGCPercent(50) // less garbage leaves more of the limit
	kept := os.NewFile(guard.KeptFile, "outputs")
	return extract.Read(ctx, *order.Extract, kept, func(int) { _, _ = os.Stdout.Write([]byte{'.'}) })
}
