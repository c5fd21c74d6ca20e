package schema

import (
	"encoding/json"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestPoint: a point that is written and read is the same point, and of another run it changes no other parameters.
func TestPoint(t *testing.T) {
	for _, run := range []Run{
		{},
		{Benchmark: "a|b\n", Variant: "v", Backend: "torch", Model: "m", Precision: "fp32", BatchSize: new(int64(0)), SeqLen: new(int64(9)), Params: map[string]string{"x": `"1"`, "y": ""}},
	} {
		text := valuetest.Must(json.Marshal(PointOf(&run)))
		var p Point
		valuetest.OK(t, json.Unmarshal(text, &p))
		back := Run{Benchmark: "other", Variant: "other", Params: map[string]string{"other": "1"}}
		if p.Set(&back); PointID(&back) != PointID(&run) {
			t.Errorf("%s became %+v", text, back)
		}
		if run.Params != nil {
			back.Params["x"] = "changed"
			if p.Params["x"] == "changed" {
				t.Error("the run shares the parameters of the point")
			}
		}
	}
}
