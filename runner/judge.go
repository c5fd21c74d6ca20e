package runner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/sweep"
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
	if startsTool(p) && run.Env.Facts[factRead] == "" { // conditions are about the results of the tool
		return
	}
	for _, c := range p.Checks {
		if run.Status != schema.StatusOK {
			return
		}
		check(p, c, run)
	}
}

// judgeRequests warns of a run in which requests of a server failed. Those that the sweep allows do not keep the run from being the best.
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
			continue // which the expression may ask for
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

// leftOut says that values of a metric were left out because they were infinite or not a number; empty: none was.
func leftOut(run *schema.Run, metric string) string {
	if n := run.Env.Facts[factNotFinite+metric]; n != "" {
		return metric + " is infinite or not a number, times: " + n
	}
	return ""
}

// iterationsOf is how many iterations have a latency.
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
