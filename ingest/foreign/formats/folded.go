package formats

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/schema"
	regexp "github.com/neurolens/neurolens/schema/lazyregexp"
)

// foldedStacks reads folded stacks, the lines that flame graphs are drawn of: the frames of a stack from the outermost on, and how often the
// profiler saw it.
var foldedStacks = foreign.Format{
	Name:      "folded",
	About:     "folded stacks, `frame;frame;frame count` a line: perf script with stackcollapse, py-spy record --format raw",
	Level:     "a run is a file; an operator is a stack, and its count the number of samples in which the profiler saw it",
	Recognize: isFolded,
	Read:      readFolded,
}

// foldedLine is a stack. Only the outermost frame may have no other below it.
var foldedLine = regexp.MustCompile(`^\S.* (\d{1,19})$`)

// isFolded reports whether every line of the beginning of a file is a stack, and most have several frames.
func isFolded(h *foreign.Head) bool {
	lines, deep := 0, 0
	for line := range bytes.Lines(h.Bytes) {
		text := strings.TrimRight(string(line), "\r\n")
		switch whole := h.Whole || bytes.HasSuffix(line, []byte("\n")); {
		case text == "", !whole:
			continue
		case !foldedLine.MatchString(text):
			return false
		}
		lines++
		if strings.Contains(text, ";") {
			deep++
		}
	}
	return lines > 0 && 2*deep > lines
}

// opStack is the type of an operator that is a stack.
const opStack = "stack"

func readFolded(in *foreign.Input, out *foreign.Output) error {
	stacks, places, room := []schema.Op{}, map[string]int{}, maxNames
	ended := in.EachLine(func(n int, text string) error {
		text = strings.TrimRight(text, "\r")
		if text == "" {
			return nil
		}
		m := foldedLine.FindStringSubmatch(text)
		if m == nil {
			out.Refuse(fmt.Sprintf("line %d", n), fmt.Errorf("%q is no stack: want FRAME;FRAME;FRAME COUNT", foreign.Brief(text)))
			return nil
		}
		count, err := strconv.ParseInt(m[1], 10, 64)
		stack := strings.TrimSpace(strings.TrimSuffix(text, m[1]))
		place, known := places[stack]
		switch {
		case err != nil:
			out.Refuse(fmt.Sprintf("line %d", n), err)
		case count == 0:
		case known && *stacks[place].Count > math.MaxInt64-count:
			out.Refuse(fmt.Sprintf("line %d", n), fmt.Errorf("the samples of a stack add up to more than %d", int64(math.MaxInt64)))
		case known:
			*stacks[place].Count += count
		default:
			if room -= len(stack) + perName; room < 0 {
				out.Refuse(fmt.Sprintf("line %d", n), fmt.Errorf("there are too many different stacks"))
				return nil
			}
			places[stack] = len(stacks)
			stacks = append(stacks, schema.Op{Index: int64(len(stacks)), Name: stack, Type: opStack, Count: &count})
		}
		return nil
	})
	if ended != nil || len(stacks) == 0 {
		return ended
	}
	return out.RunOr("line 1", schema.Run{Purpose: schema.PurposeProfile, Benchmark: outermost(stacks), Ops: stacks}, nil)
}

// outermost returns the frame that all stacks begin with, such as a process; "folded" if they have none in common.
func outermost(stacks []schema.Op) string {
	first, _, _ := strings.Cut(stacks[0].Name, ";")
	for _, s := range stacks {
		if frame, _, _ := strings.Cut(s.Name, ";"); frame != first {
			return "folded"
		}
	}
	return first
}
