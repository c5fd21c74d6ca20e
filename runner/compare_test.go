package runner

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/runner/output"
	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/runner/task"
	"github.com/neurolens/neurolens/schema"
)

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
