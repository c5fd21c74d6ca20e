package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// The facts of an output: the hash of all its bytes, and its shape as JSON; of a command those of its last process. The third one
// says how many of how many values were compared, where that was not all.
const (
	factOutput = "output.sha256"
	factShape  = "output.shape"
	factSample = "output.sample"
)

// The facts of how many values of a large output, of which a worker leaves a sample, are no number, and infinite.
const (
	factNaN      = "output.nan"
	factInfinite = "output.infinite"
)

// oddOf returns the counts that a worker reported for its whole output, or those of the sample.
func oddOf(facts map[string]string, known output.Odd) output.Odd {
	for fact, to := range map[string]*int{factNaN: &known.NaN, factInfinite: &known.Infinite} {
		if n, err := strconv.Atoi(facts[fact]); err == nil {
			*to = n
		}
	}
	return known
}

const noOutput = "there is no output"

// processOutput is the output of one process of a run. A worker has only one.
type processOutput struct {
	part    *io.SectionReader
	missing string // why there is none
}

// outputsIn finds the outputs of all processes of a run among the kept ones.
func outputsIn(kept task.Kept, p *sweep.Point) []processOutput {
	found := make([]processOutput, kept.Processes)
	for i := range found {
		found[i].missing = noOutput
	}
	from := task.Output
	if p.Output != nil {
		from = p.Output.From
	}
	for _, o := range kept.Outputs {
		switch {
		case o.Name != from:
		case o.Missing != "":
			found[o.Process].missing = fmt.Sprintf("the output %s: %s", from, o.Missing)
		default:
			found[o.Process] = processOutput{part: io.NewSectionReader(kept.File, o.Offset, o.Size)}
		}
	}
	return found
}

// formatOf is the format of the output of a point.
func formatOf(p *sweep.Point) string {
	if p.Output == nil {
		return "npy"
	}
	return p.Output.Format
}

// checked is the output of a process, compared with the correct one.
type checked struct {
	hash, shape string
	errors      output.Errors
	differs     string // why it cannot be compared
	values      int    // that were compared
	problem     string // why it is not known
	odd         output.Odd
}

// checkOutputs compares the output of each process with the correct one; want is nil if there is none. Equal outputs are read
// once, and different ones one after the other, because there may be many large ones.
func checkOutputs(ctx context.Context, kept task.Kept, p *sweep.Point, want *computed) []checked {
	var all []checked
	known := map[string]checked{}
	for _, o := range outputsIn(kept, p) {
		if ctx.Err() != nil {
			return append(all, checked{problem: ctx.Err().Error()})
		}
		if o.missing != "" {
			all = append(all, checked{problem: o.missing})
			continue
		}
		digest := sha256.New()
		if _, err := io.Copy(digest, o.part); err != nil {
			all = append(all, checked{problem: err.Error()})
			continue
		}
		hash := hex.EncodeToString(digest.Sum(nil))
		if _, same := known[hash]; !same {
			_, _ = o.part.Seek(0, io.SeekStart)
			known[hash] = checkOutput(computedOf(o, p), p, want)
		}
		one := known[hash]
		one.hash = hash
		all = append(all, one)
	}
	return all
}

func checkOutput(got computed, p *sweep.Point, want *computed) checked {
	c := checked{shape: got.shape, problem: got.problem, odd: got.odd}
	if got.problem != "" || want == nil || want.problem != "" {
		return c
	}
	errors, err := output.Compare(output.Array{Values: got.values}, output.Array{Values: want.values}, p.Reference.Tolerance)
	if err != nil {
		c.differs = err.Error()
	}
	c.errors, c.values = errors, len(got.values)
	return c
}

// noteFacts takes over what a worker reported about its output, of which its file may be a sample, and adds the result as facts
// of the run.
func noteFacts(o *task.Outcome, all []checked, seed uint64) {
	if len(all) == 0 || all[len(all)-1].problem != "" {
		return
	}
	last := &all[len(all)-1]
	if hash := o.Facts[factOutput]; hash != "" {
		last.hash, last.shape, last.odd = hash, o.Facts[factShape], oddOf(o.Facts, last.odd)
	}
	o.Facts[factOutput], o.Facts[factShape] = last.hash, last.shape
	if size := sizeOf(last.shape); last.values > 0 && last.values < size {
		o.Facts[factSample] = fmt.Sprintf("%d of %d, seed %d", last.values, size, seed)
	}
}

// inProcess names the process in a message, if there are several.
func inProcess(i, of int) string {
	if of == 1 {
		return ""
	}
	return fmt.Sprintf(" in process %d of %d", i+1, of)
}

// fail turns a run that was ok into an error of the stage validate.
func fail(o *task.Outcome, kind, text string) {
	if o.Status == schema.StatusOK {
		o.Status, o.Stage, o.ErrorKind, o.Error = schema.StatusError, schema.StageValidate, kind, text
	}
}
