package runner

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/stat"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestCheckOfSomeValues: values that are no numbers fail a condition, and a metric that only some iterations have leaves it
// unchecked; nothing is derived of either.
func TestCheckOfSomeValues(t *testing.T) {
	s := sweepOf(t, "file: x.py\ncheck: [metric.loss < 1]\nderived: {twice: {expr: 2 * metric.loss, unit: ratio}}\n")
	for _, c := range []struct {
		losses  []float64
		facts   map[string]string
		status  schema.Status
		checked bool
		want    string // of the error, or of why it is not checked
		twice   int
	}{
		{[]float64{.5, .25}, nil, schema.StatusOK, true, "", 2},
		{[]float64{.5, 2}, nil, schema.StatusError, true, "metric.loss < 1 does not hold: loss is 2", 2},
		{[]float64{.5}, map[string]string{"runner.not_finite.loss": "1"}, schema.StatusError, true, "metric.loss < 1 does not hold: loss is infinite or not a number, times: 1", 0},
		{nil, map[string]string{"runner.not_finite.loss": "2"}, schema.StatusError, true, "loss is infinite or not a number, times: 2", 0},
		{[]float64{.5}, nil, schema.StatusOK, false, "loss has 1 values for 2 iterations", 0},
		{nil, nil, schema.StatusOK, false, "metric.loss < 1: the run has no metric.loss", 0},
	} {
		o := task.Outcome{Status: schema.StatusOK, Facts: c.facts, Missing: map[string]string{}}
		o.Metrics = append(o.Metrics, schema.Metric{Name: "latency", Unit: "ns", Level: schema.LevelIteration, Tick: 1, Ticks: []int64{1, 2}})
		if c.losses != nil {
			o.Metrics = append(o.Metrics, schema.Metric{Name: "loss", Level: schema.LevelIteration, Reals: c.losses})
		}
		run := assembled(s, o, nil)
		checked := !slices.Contains(run.Warnings, schema.WarnUnchecked)
		if said := run.Error + run.Env.Missing[missingCheck]; run.Status != c.status || checked != c.checked || !strings.Contains(said, c.want) {
			t.Errorf("%v, %v: %s, checked %t, %q; want %s, %t, %q", c.losses, c.facts, run.Status, checked, said, c.status, c.checked, c.want)
		}
		twice := 0
		if m := run.Metric("twice"); m != nil {
			twice = len(m.Reals)
		}
		valuetest.DeepEqual(t, twice, c.twice, c.losses, c.facts, run.Env.Missing["twice"])
	}
}

// TestAccuracy: a percentage without its unit is no accuracy.
func TestAccuracy(t *testing.T) {
	s := sweepOf(t, "command: [x]\ncheck: [accuracy >= 0.8]\n")
	for value, want := range map[float64]schema.Status{.1788: schema.StatusError, 17.88: schema.StatusError, 1: schema.StatusOK, .9: schema.StatusOK} {
		o := task.Outcome{Status: schema.StatusOK, Facts: map[string]string{}, Missing: map[string]string{}}
		o.Metrics = []schema.Metric{{Name: "accuracy", Unit: "ratio", Better: schema.BetterHigher, Level: schema.LevelProcess, Reals: []float64{.9, value}}}
		run := assembled(s, o, nil)
		valuetest.DeepEqual(t, run.Status, want, value, run.Error)
		if value > 1 && run.Error != `accuracy is 17.88, which is 1788 %: if it is a percentage, set its unit to "%"` {
			t.Errorf("%s", run.Error)
		}
	}
}

// TestCheckOfTool: conditions are about the results of a tool, and not about the process that started it.
func TestCheckOfTool(t *testing.T) {
	s := sweepOf(t, "command: [x]\nmetrics: {r: {from: stdout, read: go-bench}}\ncheck: [latency < 1e-6]\n")
	for read, want := range map[string]schema.Status{"": schema.StatusOK, "go-bench": schema.StatusError} {
		o := task.Outcome{Status: schema.StatusOK, Facts: map[string]string{}, Missing: map[string]string{}}
		if read != "" {
			o.Facts[schema.FactRead] = read
		}
		o.Metrics = []schema.Metric{{Name: "latency", Unit: "ns", Better: schema.BetterLower, Level: schema.LevelProcess, Tick: 1, Ticks: []int64{1e6}}}
		if run := assembled(s, o, nil); run.Status != want || slices.Contains(run.Warnings, schema.WarnUnchecked) {
			t.Errorf("read %q: %s, %s %v", read, run.Status, run.Error, run.Warnings)
		}
	}
}

// TestTimesBelowZero: no result of a tool takes less than no time.
func TestTimesBelowZero(t *testing.T) {
	for unit, refused := range map[string]bool{"ns": true, "B": true, "ratio": false} {
		run := schema.Run{Benchmark: "Copy", Metrics: []schema.Metric{{Name: "m", Unit: unit, Reals: []float64{2, -5}}}}
		if err := checkTimes(&run); (err != nil) != refused {
			t.Errorf("%s: %v", unit, err)
		}
	}
}

// TestWarningsOfPrimary: warnings about samples are about the metric that a sweep names as primary.
func TestWarningsOfPrimary(t *testing.T) {
	steady, spread := make([]float64, 20), make([]float64, 20)
	for i := range steady {
		steady[i], spread[i] = 100+.1*float64(i*7%10), 100*float64(1+i*7%10)
	}
	for _, test := range []struct {
		latency, other []float64
		level          schema.Level
		warned         bool
	}{
		{spread, steady, schema.LevelProcess, false},
		{steady, spread, schema.LevelProcess, true},
		{steady, spread, schema.LevelIteration, true},
		{steady, spread, schema.LevelRequest, false}, // requests are different from each other
	} {
		s := sweepOf(t, "command: [x]\nprimary: t\n")
		o := task.Outcome{Status: schema.StatusOK, Facts: map[string]string{}, Missing: map[string]string{}, Metrics: []schema.Metric{
			{Name: schema.PrimaryMetric, Unit: "ns", Better: schema.BetterLower, Level: schema.LevelProcess, Reals: test.latency},
			{Name: "t", Unit: "ns", Better: schema.BetterLower, Level: test.level, Reals: test.other},
		}}
		run := assembled(s, o, nil)
		if run.Primary != "t" || slices.Contains(run.Warnings, stat.WarnSpread) != test.warned {
			t.Errorf("values of level %s: primary %s, warnings %v, want one about its spread: %t", test.level, run.Primary, run.Warnings, test.warned)
		}
	}
}

// TestFailedRequests: the warning of failed requests says how many of how many failed, and is another one where the sweep allows so many.
func TestFailedRequests(t *testing.T) {
	for _, c := range []struct {
		allow, completed string
		failed           []int64
		said             []string // by the importer
		want             string
	}{
		{"", "8", []int64{16}, []string{"16 of 24 requests failed"}, "16 of 24 requests failed"},
		{"", "", []int64{16}, nil, "16 requests failed"},
		{"", "", []int64{1, 0}, nil, "1 request failed"},
		{"", "24", []int64{0}, nil, ""},
		{"0", "23", []int64{1}, nil, "1 of 24 requests failed"},
		{"16", "8", []int64{16}, []string{"16 of 24 requests failed", "mean"}, "mean 16 of 24 requests failed, as allow_failed: 16 allows"},
		{"15", "8", []int64{16}, nil, "16 of 24 requests failed"},
		{"1%", "99", []int64{1}, nil, "1 of 100 requests failed, as allow_failed: 1% allows"},
		{"1%", "98", []int64{1}, nil, "1 of 99 requests failed"},
		{"1%", "", []int64{1}, nil, "1 request failed"},
		{"7", "", []int64{3, 4}, nil, "7 requests failed, as allow_failed: 7 allows"},
		{"7", "", []int64{3, 5}, nil, "8 requests failed"},
	} {
		text := "command: [x]\n"
		if c.allow != "" {
			text += "allow_failed: " + c.allow + "\n"
		}
		run := schema.Run{Status: schema.StatusOK, Warnings: c.said, Env: schema.Env{Facts: map[string]string{}, Missing: map[string]string{}}}
		if c.completed != "" {
			run.Env.Facts[schema.FactCompletedRequests] = c.completed
		}
		run.Metrics = []schema.Metric{{Name: schema.MetricFailedRequests, Better: schema.BetterLower, Level: schema.LevelProcess, Tick: 1, Ticks: c.failed}}
		judgeRequests(&sweepOf(t, text).Points[0], &run)
		valuetest.DeepEqual(t, strings.Join(run.Warnings, " "), c.want, c.allow, c.failed, c.completed)
	}
}

// TestNotFinite: an output that is not finite is wrong in every format, also where the reference is not finite either, and whatever
// conditions the sweep has. Two equal infinities are equal.
func TestNotFinite(t *testing.T) {
	write := map[string]func(values ...float64) string{
		"csv": func(values ...float64) string {
			return strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", ",")
		},
		"text": func(values ...float64) string { return strings.Trim(fmt.Sprint(values), "[]") },
		"json": func(values ...float64) string {
			return strings.NewReplacer(" ", ", ", "+Inf", "Infinity", "-Inf", "-Infinity").Replace(fmt.Sprint(values))
		},
		"npy": func(values ...float64) string {
			header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }", len(values))
			file := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
			file = append(file, header...)
			for _, v := range values {
				file = binary.LittleEndian.AppendUint64(file, math.Float64bits(v))
			}
			return string(file)
		},
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want []float64
		error     string
	}{
		{[]float64{1, 2}, []float64{1, 2}, ""},
		{[]float64{1, inf}, []float64{1, inf}, ""},
		{[]float64{1, nan}, []float64{1, 2}, "1 of 2 values of the output are not finite"},
		{[]float64{-inf, nan}, []float64{1, 2}, "2 of 2 values of the output are not finite"},
		{[]float64{1, nan}, []float64{1, nan}, "of 2 values, 1 of the output and 1 of the reference are not finite, and NaN equals nothing"},
		{[]float64{1, 2}, []float64{1, nan}, "1 of 2 values of the reference are not finite"},
	} {
		for _, format := range output.Formats {
			for _, checks := range [][]*sweep.Result{nil, {{Text: "rmse < 1"}}} {
				want := readComputed(strings.NewReader(write[format](c.want...)), format, 0)
				point := &sweep.Point{Reference: &sweep.Reference{}, Checks: checks}
				got := checkOutput(readComputed(strings.NewReader(write[format](c.got...)), format, 0), point, &want)
				o := task.Outcome{Status: schema.StatusOK, Facts: map[string]string{}, Missing: map[string]string{}}
				comparer := newComparer()
				comparer.judgeOutputs(sweep.Launch{Point: point}, &o, []checked{got}, &want)
				if o.Error != c.error || schema.IsWrong(o.Status, o.Stage, o.ErrorKind) != (c.error != "") {
					t.Errorf("%s, %v for %v: %s %q", format, c.got, c.want, o.Status, o.Error)
				}
			}
		}
	}
}

// TestSampledOutput: a run says how many of how many values were compared, and by which seed these were chosen.
func TestSampledOutput(t *testing.T) {
	point := &sweep.Point{Reference: &sweep.Reference{}}
	point.Seed = new(int64(7))
	for values, want := range map[int]string{1 << 20: "1048576 of 100000000, seed 7", 100_000_000: ""} {
		o := task.Outcome{Status: schema.StatusOK, Facts: map[string]string{}, Missing: map[string]string{}}
		comparer := newComparer()
		comparer.judgeOutputs(sweep.Launch{Point: point}, &o,
			[]checked{{shape: "[10000,10000]", values: values}}, &computed{shape: "[10000,10000]"})
		if got := o.Facts[factSample]; got != want || o.Status != schema.StatusOK {
			t.Errorf("%d values: %q, want %q; %s", values, got, want, o.Error)
		}
	}
}
