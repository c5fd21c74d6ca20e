package runner

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// controlSweep has a point that is a control and one that is none.
const controlSweep = `
command: [sh, -c, ': {n}']
grid: {n: [1, 2]}
repeats: 2
warmup: 0
iterations: 1
env: {A: b}
`

// facts writes which runs have the fact of a control, sorted.
func facts(runs []schema.Run) string {
	var all []string
	for _, r := range runs {
		name := r.Variant + r.Params["n"] + r.Side
		if value, ok := r.Env.Facts[schema.FactControl]; ok {
			name += "=" + value
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestControlFacts: the runs of controls say that they are, and no others. The kernels of calibrate measure what they
// are to, whatever the sweep says of launching, and their results are checked.
func TestControlFacts(t *testing.T) {
	s, k := parse(t, controlSweep+"calibrate: true\ncontrol: n=1\n"), &shelf{}
	result := k.bench(t, s, 0, nil)
	if got, want := facts(k.runs), "1=true 1=true 2 2 branch-v1=true branch-v1=true integer-v1=true integer-v1=true memory-v1=true memory-v1=true"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if result.Failed() != 0 || result.Statuses[schema.StatusOK] != 10 {
		t.Errorf("%v", result.Statuses)
	}
	for _, r := range k.runs {
		if err := r.Validate(); err != nil {
			t.Error(err)
		}
		if r.Benchmark != "calibration" {
			continue
		}
		m := r.Metric(schema.PrimaryMetric)
		if r.Executor != schema.ExecutorBuiltin || m == nil || len(m.Ticks) != 100 || len(m.WarmupTicks) != 10 || r.Stages.Validate == nil {
			t.Errorf("%s: %s, %+v, stages %+v", r.Variant, r.Executor, m, r.Stages)
		}
		if r.Applied["calibration"] != r.Variant || r.Env.Facts["runner.iterations"] != "100" || r.BackendVersion != "test" {
			t.Errorf("%s: applied %v, %s of %s", r.Variant, r.Applied, r.Env.Facts["runner.iterations"], r.BackendVersion)
		}
	}
}

// TestControlFactsOfSides: base and head of a control both say that they are one.
func TestControlFactsOfSides(t *testing.T) {
	inRepository(t, map[string]string{"run.sh": "exit 0\n"})
	s := parse(t, "command: [sh, run.sh, '{n}']\ngrid: {n: [1, 2]}\nrepeats: 1\nwarmup: 0\niterations: 1\ncalibrate: true\ncontrol: n=2\n")
	k := &shelf{}
	k.bench(t, s, 0, func(o *Options) { o.Against = "HEAD" })
	want := "1base 1head 2base=true 2head=true branch-v1base=true branch-v1head=true integer-v1base=true integer-v1head=true " +
		"memory-v1base=true memory-v1head=true"
	valuetest.DeepEqual(t, facts(k.runs), want)
}

// plan returns what a session would do.
func (k *shelf) plan(t *testing.T, text string) string {
	t.Helper()
	p := k.bench(t, parse(t, text), 0, func(o *Options) { o.DryRun = true }).Plan
	var left []string
	for _, l := range p.Launches {
		if l.Done == nil {
			left = append(left, l.Launch.Point.Variant+l.Launch.Point.Params["n"])
		}
	}
	slices.Sort(left)
	anew := "goes on"
	if p.Resumes == "" {
		anew = "anew"
	}
	return fmt.Sprintf("%s, %d done, %s", anew, p.Done, strings.Join(left, " "))
}

// TestControlsResume: a finished sweep that is typed again with calibrate measures its points alone, and then it is
// done; without it, it goes on from what there is. What is a control is not compared.
func TestControlsResume(t *testing.T) {
	k := &shelf{}
	check := func(text, want string) {
		t.Helper()
		valuetest.DeepEqual(t, k.plan(t, text), want)
	}
	calibrated := controlSweep + "calibrate: true\n"
	k.bench(t, parse(t, controlSweep), 3, nil)
	check(controlSweep, "goes on, 3 done, 2")
	check(controlSweep+"control: n=1\n", "goes on, 3 done, 2")
	k.bench(t, parse(t, controlSweep), 0, nil)
	check(controlSweep+"control: n=1\n", "anew, 0 done, 1 1 2 2")
	check(calibrated, "goes on, 4 done, branch-v1 branch-v1 integer-v1 integer-v1 memory-v1 memory-v1")
	before := len(k.runs)
	result := k.bench(t, parse(t, calibrated), 4, nil)
	if result.Runs() != 4 || strings.Contains(facts(k.runs[before:]), "1 ") || result.Plan.Resumes != k.runs[before-1].SessionID {
		t.Errorf("ran %s, goes on from %s", facts(k.runs[before:]), result.Plan.Resumes)
	}
	check(calibrated+"control: [n=1, n=2]\n", "goes on, 8 done, "+remaining(k.runs[before:]))
	k.bench(t, parse(t, calibrated), 0, nil)
	check(calibrated, "anew, 0 done, 1 1 2 2 branch-v1 branch-v1 integer-v1 integer-v1 memory-v1 memory-v1")
	check(controlSweep, "anew, 0 done, 1 1 2 2")
}

// remaining returns the kernels that two repeats have beyond these runs.
func remaining(runs []schema.Run) string {
	left := []string{"branch-v1", "branch-v1", "integer-v1", "integer-v1", "memory-v1", "memory-v1"}
	for _, r := range runs {
		at := slices.Index(left, r.Variant)
		left = slices.Delete(left, at, at+1)
	}
	return strings.Join(left, " ")
}

// TestControlsResumeAmongVariations: a sweep is known by its points without those of calibrate, so that it goes on from
// its own session and not from a newer variation of it.
func TestControlsResumeAmongVariations(t *testing.T) {
	k := &shelf{}
	k.bench(t, parse(t, controlSweep), 0, nil)
	own := k.runs[0].SessionID
	k.bench(t, parse(t, strings.Replace(controlSweep, "[1, 2]", "[1, 3]", 1)), 0, nil)
	p := k.bench(t, parse(t, controlSweep+"calibrate: true\n"), 0, func(o *Options) { o.DryRun = true }).Plan
	if p.Resumes != own || p.Done != 4 {
		t.Errorf("goes on from %s with %d runs, want %s with 4", p.Resumes, p.Done, own)
	}
}

// TestBaselineFact: every run says which baseline its sweep names, in canonical text; without the key none does.
func TestBaselineFact(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{controlSweep + "baseline: n=1.0\n", "n=1"},
		{controlSweep, ""},
	} {
		s, k := parse(t, c.text), &shelf{}
		k.bench(t, s, 0, nil)
		if len(k.runs) != 4 {
			t.Fatalf("%d runs, want 4", len(k.runs))
		}
		for _, r := range k.runs {
			valuetest.DeepEqual(t, r.Env.Facts[schema.FactBaseline], c.want, "the baseline")
		}
	}
}
