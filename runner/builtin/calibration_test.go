package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestCalibrationsGolden: every part of every kernel gives the result that is known. The results were computed by a program in Python that was written from the comments of the kernels.
func TestCalibrationsGolden(t *testing.T) {
	for _, c := range calibrations {
		kernel := c.prepare()
		for part, want := range c.golden {
			valuetest.DeepEqual(t, kernel(part), want, c.name, part)
		}
		if different := slices.Compact(slices.Sorted(slices.Values(c.golden))); len(different) != len(c.golden) {
			t.Errorf("%s: two parts have one result: a part that stands for another would not be seen", c.name)
		}
	}
}

// TestCalibrationsAreFixed: what a name stands for. A change here needs a new name, v2.
func TestCalibrationsAreFixed(t *testing.T) {
	var got []string
	for _, name := range Calibrations() {
		op := valuetest.Must(New(map[string]string{CalibrationKey: name}))
		bytes := int64(0)
		if op.Work.Bytes != nil {
			bytes = *op.Work.Bytes
		}
		got = append(got, fmt.Sprintf("%s: %v steps, %d B, applied %s", name, *op.Work.Items, bytes, op.Applied[CalibrationKey]))
	}
	want := []string{
		"integer-v1: 131072 steps, 0 B, applied integer-v1",
		"memory-v1: 131072 steps, 8388608 B, applied memory-v1",
		"branch-v1: 32768 steps, 0 B, applied branch-v1",
	}
	valuetest.DeepEqual(t, got, want)
	if CalibrationWarmup != 10 || CalibrationIterations != 100 || memorySlices*memorySliceWords*8 != 128<<20 {
		t.Error("another number of iterations, or another buffer, is another measurement")
	}
}

// TestCalibrationValidates: the parts come in turns, and one wrong result of many is an error that is kept.
func TestCalibrationValidates(t *testing.T) {
	var parts []int
	wrong := -1
	c := calibration{name: "x-v1", golden: []uint64{10, 11, 12}, prepare: func() func(int) uint64 {
		return func(part int) uint64 {
			parts = append(parts, part)
			if len(parts)-1 == wrong {
				return 7
			}
			return uint64(10 + part)
		}
	}}
	iterate := func() error {
		parts = nil
		op := c.operation()
		for range 7 {
			op.Iterate()
		}
		return op.Validate()
	}
	if err := iterate(); err != nil || !slices.Equal(parts, []int{0, 1, 2, 0, 1, 2, 0}) {
		t.Errorf("%v, parts %v", err, parts)
	}
	wrong = 4
	valuetest.ErrorText(t, iterate(), "calibration x-v1: part 1 gives 0x7, want 0xb", "a wrong result")
}

func TestCalibrationAllocatesNothing(t *testing.T) {
	for _, name := range Calibrations() {
		op := valuetest.Must(New(map[string]string{CalibrationKey: name}))
		valuetest.DeepEqual(t, testing.AllocsPerRun(2, op.Iterate), 0, name)
		if err := op.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestCalibrationRefuses(t *testing.T) {
	for _, c := range []struct {
		config map[string]string
		kind   string
		words  string
	}{
		{map[string]string{CalibrationKey: "integer"}, kindOperation, `no calibration "integer"; it has integer-v1 memory-v1 branch-v1`},
		{map[string]string{CalibrationKey: ""}, kindOperation, "no calibration"},
		{map[string]string{CalibrationKey: "branch-v1", "batch_size": "2"}, kindNotApplied, "branch-v1 has no parameters: its work is fixed"},
	} {
		_, err := New(c.config)
		var unsupported *UnsupportedError
		if !errors.As(err, &unsupported) || unsupported.Kind != c.kind || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%v: %v, want kind %s, %q", c.config, err, c.kind, c.words)
		}
		if checked := Check(c.config); fmt.Sprint(checked) != fmt.Sprint(err) {
			t.Errorf("%v: Check says %v, New %v", c.config, checked, err)
		}
	}
}

func BenchmarkCalibration(b *testing.B) {
	for _, name := range Calibrations() {
		b.Run(name, func(b *testing.B) {
			op := valuetest.Must(New(map[string]string{CalibrationKey: name}))
			for b.Loop() {
				op.Iterate()
			}
		})
	}
}
