package summary

import (
	"slices"
	"strings"

	"github.com/neurolens/neurolens/schema"
)

// The types of operators that are stacks, and of the functions that these are added up to.
const (
	stackType    = "stack"
	functionType = "function"
)

// IsStacks reports whether the operators of a run are stacks, whose count is the number of samples in which a profiler saw them. The name of
// a stack has its frames, the outermost first, separated by semicolons.
func IsStacks(ops []schema.Op) bool {
	return len(ops) > 0 && !slices.ContainsFunc(ops, func(op schema.Op) bool { return op.Type != stackType || op.Count == nil })
}

// functionsOf adds up stacks by their innermost frame: the own samples of each function, without its callees.
func functionsOf(stacks []schema.Op) []schema.Op {
	var functions []schema.Op
	places := map[string]int{}
	for _, s := range stacks {
		name := s.Name[strings.LastIndexByte(s.Name, ';')+1:]
		place, known := places[name]
		if !known {
			place = len(functions)
			places[name] = place
			functions = append(functions, schema.Op{Index: s.Index, Name: name, Type: functionType, Count: new(int64)})
		}
		*functions[place].Count += *s.Count
	}
	return functions
}

// Frame is a function in the stacks of a profile, called by the frame that contains it.
type Frame struct {
	Name    string
	Samples int64 // including its callees
	Calls   []*Frame
}

// Frames makes a tree of stacks: its root stands for all samples. Frames that a frame called are in alphabetical order, as in a flame graph
// (Gregg, Communications of the ACM 59, 2016).
func Frames(stacks []schema.Op) *Frame {
	root := &Frame{}
	for _, s := range stacks {
		at := root
		at.Samples += *s.Count
		for name := range strings.SplitSeq(s.Name, ";") {
			at = at.called(name)
			at.Samples += *s.Count
		}
	}
	return root
}

// called returns the frame of a function that the frame called.
func (f *Frame) called(name string) *Frame {
	place, known := slices.BinarySearchFunc(f.Calls, name, func(c *Frame, name string) int { return strings.Compare(c.Name, name) })
	if !known {
		f.Calls = slices.Insert(f.Calls, place, &Frame{Name: name})
	}
	return f.Calls[place]
}
