package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

// missingCheck is the key in env_missing with the reason why a condition could not be checked.
const missingCheck = "runner.check"

// judge adds derived metrics to a run, and makes it an error if it does not meet its conditions. A run that failed gets the
// metrics that can be derived, and its conditions are not checked.
func judge(p *sweep.Point, run *schema.Run) {
	checkAccuracy(run)
	for _, d := range p.Derived {
		m, why := derive(p, d, run)
		if why != "" {
			run.Env.Missing[d.Name] = why
			continue
		}
		run.Metrics = slices.DeleteFunc(run.Metrics, func(old schema.Metric) bool { return old.Name == d.Name })
		run.Metrics = append(run.Metrics, m)
	}
	judgeRequests(p, run)
	if startsTool(p) && run.Env.Facts[schema.FactRead] == "" { // conditions are about the results of the tool
		return
	}
	for _, c := range p.Checks {
		if run.Status != schema.StatusOK {
			return
		}
		check(p, c, run)
	}
}

// judgeRequests adds a warning to a run in which requests of a server failed. Failures that the sweep allows do not keep the run from
// being the best.
func judgeRequests(p *sweep.Point, run *schema.Run) {
	if run.Metric(schema.MetricFailedRequests) == nil || run.Status != schema.StatusOK {
		return
	}
	run.Warnings = slices.DeleteFunc(run.Warnings, func(w string) bool { _, is := schema.FailedRequests(w); return is })
	failed, all := schema.RequestsOf(run)
	switch text := schema.RequestsFailed(failed, all); {
	case failed == 0:
	case p.FailedAllowed(failed, all):
		run.Warnings = append(run.Warnings, text+", as allow_failed: "+p.AllowFailed+" allows")
	default:
		run.Warnings = append(run.Warnings, text)
	}
}

// derive computes a metric, sample by sample, or returns the reason why it cannot.
func derive(p *sweep.Point, d *sweep.Result, run *schema.Run) (schema.Metric, string) {
	in, why := inputsOf(d, run)
	if why != "" {
		return schema.Metric{}, why
	}
	m := schema.Metric{Name: d.Name, Unit: d.Unit, Better: d.Better, Level: in.level}
	for i := range in.samples {
		value, err := d.Eval(p, in.at(i))
		if err != nil {
			return schema.Metric{}, err.Error()
		}
		number, ok := value.(float64)
		if !ok {
			return schema.Metric{}, fmt.Sprintf("%s is not a number", d.Text)
		}
		m.Reals = append(m.Reals, number)
	}
	return m, ""
}

// startsTool reports whether a point is a benchmark tool whose results become runs.
func startsTool(p *sweep.Point) bool {
	return slices.ContainsFunc(p.Metrics, func(r output.ExtractRule) bool { return r.Read != "" })
}

// accuracy is a metric that is a share of a whole. People often write it as a percentage.
const accuracy = "accuracy"

// checkAccuracy makes a run an error if its accuracy is above 1. 17.88 without a unit would be 1788 %, better than every correct
// result.
func checkAccuracy(run *schema.Run) {
	m := run.Metric(accuracy)
	if m == nil || m.Unit != "ratio" || run.Status != schema.StatusOK {
		return
	}
	if worst := slices.Max(append(m.Values(), 0)); worst > 1 {
		run.Status, run.Stage, run.ErrorKind = schema.StatusError, schema.StageValidate, schema.KindCheck
		run.Error = fmt.Sprintf("accuracy is %v, which is %s: if it is a percentage, set its unit to \"%%\"", worst, schema.ForPeople(worst, "ratio"))
	}
}

// factNotFinite is the prefix of facts that count the values of a metric that were infinite or not a number, and left out. The
// name of the metric follows.
const factNotFinite = "runner.not_finite."

// check evaluates a condition, which must hold for every sample. It does not hold for a sample that is not a number.
func check(p *sweep.Point, c *sweep.Result, run *schema.Run) {
	fail := func(why string) {
		run.Status, run.Stage, run.ErrorKind = schema.StatusError, schema.StageValidate, schema.KindCheck
		run.Error = c.Text + " does not hold" + why
	}
	for _, name := range c.Metrics() {
		if why := leftOut(run, name); why != "" {
			fail(": " + why)
			return
		}
	}
	in, why := inputsOf(c, run)
	for i := 0; i < in.samples && why == ""; i++ {
		holds, err := c.Eval(p, in.at(i))
		switch {
		case err != nil:
			why = err.Error()
		case holds != true:
			fail(in.describe(i))
			return
		}
	}
	if why != "" {
		run.Env.Missing[missingCheck] = c.Text + ": " + why
		if !slices.Contains(run.Warnings, schema.WarnUnchecked) {
			run.Warnings = append(run.Warnings, schema.WarnUnchecked)
		}
	}
}

// inputs are the metrics of an expression in a run.
type inputs struct {
	samples int // at which it is evaluated
	level   schema.Level
	metrics []*schema.Metric
	values  [][]float64 // of each metric, one, or as many as there are samples
}

// inputsOf finds the metrics of an expression. Those with several samples must have the same number of samples. A metric with a
// single sample is used with each of them.
func inputsOf(r *sweep.Result, run *schema.Run) (inputs, string) {
	in := inputs{samples: 1, level: schema.LevelProcess}
	of := ""
	for _, name := range r.Metrics() {
		if why := leftOut(run, name); why != "" {
			return in, why
		}
		m := run.Metric(name)
		if m == nil {
			continue // the expression may refer to it
		}
		values := m.Values()
		if iterations := iterationsOf(run); m.Level == schema.LevelIteration && len(values) < iterations {
			return in, fmt.Sprintf("%s has %d values for %d iterations", name, len(values), iterations)
		}
		switch n := len(values); {
		case n == 0:
			return in, name + " has no samples"
		case n == 1 || n == in.samples:
		case in.samples > 1:
			return in, fmt.Sprintf("%s has %d samples, %s has %d", of, in.samples, name, n)
		default:
			in.samples, in.level, of = n, m.Level, name
		}
		in.metrics, in.values = append(in.metrics, m), append(in.values, values)
	}
	return in, ""
}

// leftOut returns a text with the number of values of a metric that were left out because they were infinite or not a number; empty:
// none was.
func leftOut(run *schema.Run, metric string) string {
	if n := run.Env.Facts[factNotFinite+metric]; n != "" {
		return metric + " is infinite or not a number, times: " + n
	}
	return ""
}

// iterationsOf returns how many iterations have a latency.
func iterationsOf(run *schema.Run) int {
	m := run.Metric(schema.PrimaryMetric)
	if m == nil || m.Level != schema.LevelIteration {
		return 0
	}
	return max(len(m.Ticks), len(m.Reals))
}

// at returns the values of one sample.
func (in *inputs) at(i int) map[string]sweep.Measured {
	values := make(map[string]sweep.Measured, len(in.metrics))
	for k, m := range in.metrics {
		values[m.Name] = sweep.Measured{Value: in.values[k][min(i, len(in.values[k])-1)], Unit: m.Unit}
	}
	return values
}

// describe lists the values of a sample for a message.
func (in *inputs) describe(i int) string {
	var words []string
	for name, m := range in.at(i) {
		words = append(words, name+" is "+schema.ForPeople(m.Value, m.Unit))
	}
	slices.Sort(words)
	text := ""
	if len(words) > 0 {
		text = ": " + strings.Join(words, ", ")
	}
	if in.samples > 1 {
		text += " in sample " + strconv.Itoa(i+1) + " of " + strconv.Itoa(in.samples)
	}
	return text
}

const metricMismatched = "mismatched"

// judgeOutputs makes a run an error if the output of one of its processes is wrong, and adds metrics for the distance from the
// correct output.
func (c *comparer) judgeOutputs(l sweep.Launch, o *task.Outcome, got []checked, want *computed) {
	noteFacts(o, got, seedOfOutput(l.Point))
	if o.Status != schema.StatusOK {
		return
	}
	if len(got) == 0 {
		o.Fail(schema.StageValidate, schema.KindOutput, noOutput)
	}
	for i := range got {
		if got[i].problem != "" {
			o.Fail(schema.StageValidate, schema.KindOutput, got[i].problem+inProcess(i, len(got)))
		}
	}
	if o.Status == schema.StatusOK && l.Point.Deterministic {
		c.checkSame(l, o, got)
	}
	switch {
	case want == nil, o.Status != schema.StatusOK && o.ErrorKind == schema.KindOutput:
	case want.problem != "":
		o.Warnings = append(o.Warnings, schema.WarnUnchecked)
		o.Missing[metricMismatched] = want.problem
	default:
		judgeErrors(o, l.Point, got, want)
	}
}

// checkSame fails a run whose output differs from the output of the first run of its point.
func (c *comparer) checkSame(l sweep.Launch, o *task.Outcome, got []checked) {
	sub := subjectOf(l)
	if c.first[sub] == "" {
		c.first[sub] = got[0].hash
	}
	for i := range got {
		if got[i].hash != c.first[sub] {
			const digits = 12 // enough to distinguish hashes
			o.Fail(schema.StageValidate, schema.KindNotDeterministic, fmt.Sprintf("the output differs from that of the first run: sha256 %.*s, not %.*s%s",
				digits, got[i].hash, digits, c.first[sub], inProcess(i, len(got))))
		}
	}
}

// judgeErrors adds the errors of outputs as metrics, with a value for each process. If the sweep has conditions, they decide which
// errors are too large.
func judgeErrors(o *task.Outcome, p *sweep.Point, got []checked, want *computed) {
	for i := range got {
		switch {
		case got[i].shape != want.shape:
			o.Fail(schema.StageValidate, schema.KindOutput, fmt.Sprintf("the output has shape %s, the reference %s%s", got[i].shape, want.shape, inProcess(i, len(got))))
			return
		case got[i].differs != "":
			o.Fail(schema.StageValidate, schema.KindOutput, got[i].differs+inProcess(i, len(got)))
			return
		}
	}
	for _, m := range []struct {
		name string
		of   func(e *output.Errors) float64
	}{
		{"rmse", func(e *output.Errors) float64 { return e.RMSE }},
		{"max_error", func(e *output.Errors) float64 { return e.MaxError }},
		{"relative_error", func(e *output.Errors) float64 { return e.Relative }},
		{metricMismatched, func(e *output.Errors) float64 { return float64(e.Mismatched) }},
		{"cosine_similarity", func(e *output.Errors) float64 { return e.Cosine }},
	} {
		addErrors(o, m.name, got, m.of)
	}
	for i := range got {
		if text := tooFar(&got[i], want, p); text != "" {
			o.Fail(schema.StageValidate, schema.KindOutput, text+inProcess(i, len(got)))
		}
	}
}

// tooFar describes how an output differs too much from its reference; empty: it does not.
func tooFar(got *checked, want *computed, p *sweep.Point) string {
	switch e, t := got.errors, p.Reference.Tolerance; {
	case e.NotFinite+e.Reference > 0:
		return notFinite(e, got.values)
	case got.odd.NaN+want.odd.NaN > 0:
		return fmt.Sprintf("of %d values, %d of the output and %d of the reference are not a number, and NaN equals nothing", sizeOf(got.shape), got.odd.NaN, want.odd.NaN)
	case got.odd.Infinite != want.odd.Infinite:
		return fmt.Sprintf("of %d values, %d of the output and %d of the reference are infinite", sizeOf(got.shape), got.odd.Infinite, want.odd.Infinite)
	case e.Mismatched > 0 && len(p.Checks) == 0:
		return fmt.Sprintf("%d of %d values differ too much from the reference, by up to %.3g (rtol %v, atol %v)",
			e.Mismatched, got.values, e.MaxError, t.Relative, t.Absolute)
	}
	return ""
}

// notFinite returns a text with the number of values that are infinite or not a number.
func notFinite(e output.Errors, of int) string {
	switch {
	case e.Reference == 0:
		return fmt.Sprintf("%d of %d values of the output are not finite", e.NotFinite, of)
	case e.NotFinite == 0:
		return fmt.Sprintf("%d of %d values of the reference are not finite", e.Reference, of)
	}
	return fmt.Sprintf("of %d values, %d of the output and %d of the reference are not finite, and NaN equals nothing", of, e.NotFinite, e.Reference)
}

// addErrors adds a metric with a number for each process. If one of them is not a number, the metric is missing.
func addErrors(o *task.Outcome, name string, got []checked, of func(*output.Errors) float64) {
	kind, _ := schema.KindOfMetric(name)
	m := schema.Metric{Name: name, Unit: kind.Unit, Better: kind.Better, Level: schema.LevelProcess}
	for i := range got {
		value := of(&got[i].errors)
		if value-value != 0 {
			o.Missing[name] = "not finite" + inProcess(i, len(got))
			o.Facts[factNotFinite+name] = "1" // so that no condition on it holds
			return
		}
		m.Reals = append(m.Reals, value)
	}
	o.Metrics = append(o.Metrics, m)
}

// sizeOf returns the number of values in an output of a shape.
func sizeOf(shape string) int {
	var dimensions []int
	if json.Unmarshal([]byte(shape), &dimensions) != nil {
		return 0
	}
	size := 1
	for _, n := range dimensions {
		size *= n
	}
	return size
}

// The facts of an output: the hash of all its bytes, and its shape as JSON; for a command, of its last process. The third one is the
// number of compared values out of all, if not all were compared.
const (
	factOutput = "output.sha256"
	factShape  = "output.shape"
	factSample = "output.sample"
)

// The facts with the numbers of NaN and infinite values in a large output, of which a worker leaves only a sample.
const (
	factNaN      = "output.nan"
	factInfinite = "output.infinite"
)

// oddOf returns the counts that a worker reported for its whole output, else the counts of the sample.
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
	missing string // why there is no output
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

// formatOf returns the format of the output of a point.
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

// noteFacts takes over the report of a worker about its output, of which its file may be a sample, and adds the result as facts of the
// run.
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
