package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// computed is a correct output, as far as it is known.
type computed struct {
	values  []float64 // a sample of the values, if there are many
	shape   string    // of all values, as JSON
	problem string    // why it is not known
	odd     output.Odd
}

// Reference describes a reference: a point or a file with which outputs are compared.
type Reference struct {
	// File is set for a file, Function for a function in the file of the benchmark. If both are empty, the reference is the point
	// of the event's launch. A point or a function runs for its output.
	File, Function string
	Problem        string // why there is no reference; the runs that need it are then unchecked
}

// comparer compares the outputs of runs with the correct ones.
type comparer struct {
	points map[subject]computed // of references that are points
	files  map[string]computed  // of references that are files, by path and format
	first  map[subject]string   // the hash of the first output of a point on a side
}

func newComparer() comparer {
	return comparer{points: map[subject]computed{}, files: map[string]computed{}, first: map[subject]string{}}
}

// expected returns the output that a launch must have; nil: none is defined. It is determined once per session.
func (r *launcher) expected(ctx context.Context, l sweep.Launch) (*computed, error) {
	switch reference := l.Point.Reference; {
	case reference == nil:
		return nil, nil
	case reference.Point == nil:
		c := r.expectedFile(l)
		return &c, nil
	default:
		c, err := r.expectedPoint(ctx, subject{Point: reference.Point, Side: l.Side}, reference.Function)
		return &c, err
	}
}

// expectedPoint returns the output of a point. The point runs once per session, only for its output, and is not measured.
func (r *launcher) expectedPoint(ctx context.Context, sub subject, function string) (computed, error) {
	known, ok := r.comparer.points[sub]
	if ok {
		return known, nil
	}
	told := Event{Launch: sweep.Launch{Point: sub.Point, Side: sub.Side}}
	if skip := sub.Point.Skip; skip != nil {
		known.problem = "the reference is skipped: " + skip.Reason
	} else {
		told.Reference = &Reference{Function: function}
		r.tell(told)
		var err error
		if known, err = r.compute(ctx, sub); err != nil || ctx.Err() != nil {
			return known, err
		}
	}
	if known.problem != "" {
		told.Reference = &Reference{Function: function, Problem: known.problem}
		r.tell(told)
	}
	r.comparer.points[sub] = known
	return known, nil
}

// compute runs a point once, for its output.
func (r *launcher) compute(ctx context.Context, sub subject) (found computed, err error) {
	t, err := r.target(ctx, sub)
	if err != nil {
		return computed{}, err
	}
	if t.Refused != nil {
		return computed{problem: "the reference: " + t.Refused.Error}, nil
	}
	spec := t.SpecOf(sweep.Launch{Point: sub.Point, Side: sub.Side}, "")
	spec.Warmup, spec.Iterations, spec.Budget, spec.Enough = 0, 1, 0, nil
	spec.RunDir = sweep.RunDir
	found.problem = noOutput
	spec.Read = func(kept task.Kept) task.Reading {
		for _, o := range outputsIn(kept, sub.Point) {
			found = computedOf(o, sub.Point)
		}
		return task.Reading{}
	}
	outcome, err := r.pool.Run(ctx, spec, nil)
	if err != nil {
		return computed{}, fmt.Errorf("running the reference %s: %w", sub.Point.Benchmark, err)
	}
	if t.Check(&outcome); outcome.Status != schema.StatusOK {
		return computed{problem: fmt.Sprintf("the reference is %s: %s", outcome.Status, outcome.Error)}, nil
	}
	if shape := outcome.Facts[factShape]; shape != "" { // its file may be a sample
		found.shape, found.odd = shape, oddOf(outcome.Facts, found.odd)
	}
	if found.problem != "" {
		found.problem = "the reference: " + found.problem
	}
	return found, nil
}

// computedOf reads the output of a process.
func computedOf(o processOutput, p *sweep.Point) computed {
	if o.missing != "" {
		return computed{problem: o.missing}
	}
	return readComputed(o.part, formatOf(p), seedOfOutput(p))
}

func readComputed(from io.ReadSeeker, format string, seed uint64) computed {
	array, err := output.Read(from, format, seed)
	if err != nil {
		return computed{problem: "the output: " + err.Error()}
	}
	if len(array.Values) == 0 {
		return computed{problem: "the output has no values"}
	}
	return computed{values: array.Values, shape: shapeText(array.Shape), odd: array.Odd}
}

// expectedFile returns the output that a file contains.
func (r *launcher) expectedFile(l sweep.Launch) computed {
	reference, seed := l.Point.Reference, seedOfOutput(l.Point)
	path := r.targets.Path(subjectOf(l), reference.File)
	key := fmt.Sprint(reference.Format, " ", seed, " ", path)
	known, ok := r.comparer.files[key]
	if ok {
		return known
	}
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		known = readComputed(f, reference.Format, seed)
	} else {
		known.problem = err.Error()
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			known.problem = path.Err.Error()
		}
	}
	if known.problem != "" {
		known.problem = "the reference " + path + ": " + known.problem
		r.tell(Event{Launch: l, Reference: &Reference{File: path, Problem: known.problem}})
	}
	r.comparer.files[key] = known
	return known
}

// seedOfOutput returns the seed that selects the compared values of a large output.
func seedOfOutput(p *sweep.Point) uint64 {
	if p.Seed == nil {
		return 0
	}
	return uint64(*p.Seed)
}

func shapeText(shape []int) string {
	text, err := json.Marshal(append([]int{}, shape...))
	if err != nil {
		return "" // integers always have one
	}
	return string(text)
}
