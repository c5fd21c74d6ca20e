package python

import (
	"testing"

	"github.com/neurolens/neurolens/runner/sweep"
	"github.com/neurolens/neurolens/schema"
)

// TestLoadTime: a run says once how long its model took to load; a profiler's pass and a model without a file do not.
func TestLoadTime(t *testing.T) {
	dir := models(t)
	for _, cold := range []bool{false, true} {
		o := runModel(t, dir, Settings{Backend: "onnxrt", Model: "add.onnx", Worker: sweep.Worker{ColdStart: cold}}, nil)
		check(t, o, schema.StatusOK, "", "", "")
		m := metric(o, "load_time")
		if len(m.Ticks) != 1 || m.Ticks[0] <= 0 || m.Unit != "ns" || m.Better != schema.BetterLower || m.Level != schema.LevelProcess {
			t.Errorf("load_time is %+v", m)
		}
	}
	o := runModel(t, dir, Settings{Backend: "onnxrt", Model: "add.onnx", Profile: "ort"}, nil)
	check(t, o, schema.StatusOK, "", "", "")
	if m := metric(o, "load_time"); m.Name != "" {
		t.Errorf("of a profile: %+v", m)
	}
	o = runModel(t, t.TempDir(), Settings{Backend: "torch", Model: "builtin:add"}, nil)
	check(t, o, schema.StatusOK, "", "", "")
	if m := metric(o, "load_time"); m.Name != "" {
		t.Errorf("of no file: %+v", m)
	}
}
