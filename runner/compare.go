package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// The facts of an output: the hash of all its bytes, and its shape as JSON.
const (
	factOutput = "output.sha256"
	factShape  = "output.shape"
)

const metricMismatched = "mismatched"

// computed is what a run computed, as far as it is known.
type computed struct {
	array   output.Array // a sample of it, where it is large
	shape   string       // of all of it
	hashes  []string     // of the output of each process
	problem string       // why it is not known
}

// comparer holds what runs compute against what they have to compute.
type comparer struct {
	points map[subject]computed // of references that are points
	files  map[string]computed  // of references that are files, by path and format
	first  map[subject]string   // the hash of the first output of a point on a side
}

func newComparer() comparer {
	return comparer{points: map[subject]computed{}, files: map[string]computed{}, first: map[subject]string{}}
}

// expected is what a launch has to compute; nil: nothing says so. A reference that is a point is run once a session, for its
// output alone: it is no measurement.
func (r *launcher) expected(ctx context.Context, l sweep.Launch) (*computed, error) {
	reference := l.Point.Reference
	switch {
	case reference == nil:
		return nil, nil
	case reference.Point == nil:
		c := r.comparer.file(r.targets.Path(subjectOf(l), reference.File), reference.Format, seedOfOutput(l.Point))
		return &c, nil
	case reference.Point.Skip != nil:
		return &computed{problem: "the reference is skipped: " + reference.Point.Skip.Reason}, nil
	}
	sub := subject{Point: reference.Point, Side: l.Side}
	known, ok := r.comparer.points[sub]
	if !ok {
		var err error
		if known, err = r.compute(ctx, sub); err != nil {
			return nil, err
		}
		if ctx.Err() == nil {
			r.comparer.points[sub] = known
		}
	}
	return &known, nil
}

// compute runs a point once, for its output.
func (r *launcher) compute(ctx context.Context, sub subject) (computed, error) {
	t := r.targets.Fresh(ctx, sub)
	if t.Refused != nil {
		return computed{problem: "the reference: " + t.Refused.Error}, nil
	}
	spec := t.SpecOf(sweep.Launch{Point: sub.Point, Side: sub.Side})
	spec.Warmup, spec.Iterations, spec.Budget, spec.Enough, spec.TracePeak = 0, 1, 0, nil, false
	var found computed
	spec.Read = func(kept task.Kept) task.Reading {
		found = outputIn(kept, sub.Point)
		return task.Reading{}
	}
	outcome, err := r.pool.Run(ctx, spec, nil)
	if err != nil {
		return computed{}, fmt.Errorf("running the reference %s: %w", sub.Point.Benchmark, err)
	}
	if t.Check(&outcome); outcome.Status != schema.StatusOK {
		return computed{problem: fmt.Sprintf("the reference is %s: %s", outcome.Status, outcome.Error)}, nil
	}
	if found.noteFacts(&outcome); found.problem != "" {
		found.problem = "the reference: " + found.problem
	}
	return found, nil
}

// file reads a reference from a file.
func (c *comparer) file(path, format string, seed uint64) computed {
	key := format + " " + path
	known, ok := c.files[key]
	if ok {
		return known
	}
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		known = computedOf(f, format, seed)
	} else {
		known.problem = err.Error()
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			known.problem = path.Err.Error()
		}
	}
	if known.problem != "" {
		known.problem = "the reference " + path + ": " + known.problem
	}
	c.files[key] = known
	return known
}

// seedOfOutput chooses the values of a large output that are compared.
func seedOfOutput(p *sweep.Point) uint64 {
	if p.Seed == nil {
		return 0
	}
	return uint64(*p.Seed)
}

// outputIn finds what a run computed in what was kept of it: of a command, what its last process wrote.
func outputIn(kept task.Kept, p *sweep.Point) (found computed) {
	found.problem = "there is no output"
	from, format := task.Output, "npy"
	if p.Output != nil {
		from, format = p.Output.From, p.Output.Format
	}
	for _, o := range kept.Outputs {
		if o.Name != from {
			continue
		}
		if o.Missing != "" {
			found.problem = fmt.Sprintf("the output %s: %s", from, o.Missing)
			continue
		}
		part := io.NewSectionReader(kept.File, o.Offset, o.Size)
		digest := sha256.New()
		if _, err := io.Copy(digest, part); err != nil {
			return computed{problem: err.Error()}
		}
		hashes := append(found.hashes, hex.EncodeToString(digest.Sum(nil)))
		if o.Process == kept.Processes-1 {
			_, _ = part.Seek(0, io.SeekStart)
			found = computedOf(part, format, seedOfOutput(p))
		}
		found.hashes = hashes
	}
	return found
}

// computedOf reads an output.
func computedOf(from io.Reader, format string, seed uint64) computed {
	array, err := output.Read(from, format)
	if err != nil {
		return computed{problem: "the output: " + err.Error()}
	}
	return computed{array: array.Sample(seed), shape: shapeText(array.Shape)}
}

func shapeText(shape []int) string {
	text, err := json.Marshal(append([]int{}, shape...))
	if err != nil {
		return "" // integers always have one
	}
	return string(text)
}

// noteFacts takes over what a worker says of its output, of which its file may be a sample, and gives what is known as
// facts of the run.
func (c *computed) noteFacts(o *task.Outcome) {
	if hash := o.Facts[factOutput]; hash != "" {
		c.hashes, c.shape = []string{hash}, o.Facts[factShape]
	}
	if c.problem == "" && len(c.hashes) > 0 {
		o.Facts[factOutput], o.Facts[factShape] = c.hashes[len(c.hashes)-1], c.shape
	}
}

// compare makes a run whose output is wrong an error, and adds how far it is from what it has to be.
func (c *comparer) compare(l sweep.Launch, o *task.Outcome, got computed, want *computed) {
	got.noteFacts(o)
	if o.Status != schema.StatusOK {
		return
	}
	if got.problem != "" {
		fail(o, schema.KindOutput, got.problem)
		return
	}
	if l.Point.Deterministic {
		c.checkSame(l, o, got.hashes)
	}
	if want == nil {
		return
	}
	if want.problem != "" {
		o.Warnings = append(o.Warnings, schema.WarnUnchecked)
		o.Missing[metricMismatched] = want.problem
		return
	}
	compareWith(o, l.Point, got, *want)
}

// checkSame fails a run whose output is another one than that of the first run of its point.
func (c *comparer) checkSame(l sweep.Launch, o *task.Outcome, hashes []string) {
	sub := subjectOf(l)
	if c.first[sub] == "" {
		c.first[sub] = hashes[0]
	}
	if at := slices.IndexFunc(hashes, func(h string) bool { return h != c.first[sub] }); at >= 0 {
		const digits = 12 // tell hashes apart
		fail(o, schema.KindNotDeterministic, fmt.Sprintf("the output is another one than that of the first run: sha256 %.*s, not %.*s",
			digits, hashes[at], digits, c.first[sub]))
	}
}

// compareWith adds the errors of an output as metrics. Where the sweep has conditions, these say which errors are too large.
func compareWith(o *task.Outcome, p *sweep.Point, got, want computed) {
	t := p.Reference.Tolerance
	if got.shape != want.shape {
		fail(o, schema.KindOutput, fmt.Sprintf("the output has shape %s, the reference %s", got.shape, want.shape))
		return
	}
	got.array.Shape, want.array.Shape = nil, nil // of a sample it is none
	e, err := output.Compare(got.array, want.array, t)
	if err != nil {
		fail(o, schema.KindOutput, err.Error())
		return
	}
	for _, m := range []struct {
		name  string
		value float64
	}{
		{"rmse", e.RMSE},
		{"max_error", e.MaxError},
		{"relative_error", e.Relative},
		{metricMismatched, float64(e.Mismatched)},
		{"cosine_similarity", e.Cosine},
	} {
		addError(o, m.name, m.value)
	}
	switch {
	case e.NotFinite+e.Reference > 0:
		fail(o, schema.KindOutput, notFinite(e, len(want.array.Values)))
	case e.Mismatched > 0 && len(p.Checks) == 0:
		fail(o, schema.KindOutput, fmt.Sprintf("%d of %d values differ from the reference by too much, by up to %.3g (rtol %v, atol %v)",
			e.Mismatched, len(want.array.Values), e.MaxError, t.Relative, t.Absolute))
	}
}

// notFinite says where values are infinite or no number.
func notFinite(e output.Errors, of int) string {
	switch {
	case e.Reference == 0:
		return fmt.Sprintf("%d of %d values of the output are not finite", e.NotFinite, of)
	case e.NotFinite == 0:
		return fmt.Sprintf("%d of %d values of the reference are not finite", e.Reference, of)
	}
	return fmt.Sprintf("of %d values %d of the output and %d of the reference are not finite, and NaN is equal to nothing", of, e.NotFinite, e.Reference)
}

// addError adds one number as a metric; what is none is missing.
func addError(o *task.Outcome, name string, value float64) {
	kind, _ := schema.KindOfMetric(name)
	m := schema.Metric{Name: name, Unit: kind.Unit, Better: kind.Better, Level: schema.LevelProcess, Reals: []float64{value}}
	if value-value != 0 {
		o.Missing[name] = "not finite"
		return
	}
	o.Metrics = append(o.Metrics, m)
}

// fail makes a run that went well an error of the stage that looks at results.
func fail(o *task.Outcome, kind, text string) {
	if o.Status == schema.StatusOK {
		o.Status, o.Stage, o.ErrorKind, o.Error = schema.StatusError, schema.StageValidate, kind, text
	}
}
