package python

import (
	"encoding/json"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// TestTypedValues: text that looks like a number stays text, and 1.0 is no integer.
func TestTypedValues(t *testing.T) {
	settings := Settings{File: "bench.py", Values: map[string]json.RawMessage{
		"version": json.RawMessage(`"3.10"`), "rate": json.RawMessage("1.0"), "dims": json.RawMessage("[1,2.0]"),
	}}
	config := map[string]string{"param.version": "3.10", "param.rate": "1", "param.dims": "[1,2]", "param.hidden": "64"}
	spec := specOf(t, settings, config)
	spec.Dir = folder(t, map[string]string{"bench.py": `
class Bench:
    def __init__(self, version, rate, dims, hidden):
        assert (version, hidden) == ("3.10", 64)
        assert [type(v) for v in (version, rate, dims[0], dims[1], hidden)] == [str, float, int, float, int]
        self.version, self.rate, self.dims, self.hidden = version, rate, dims, hidden
    def benchmark_fn(self): pass
`})
	check(t, runSpec(t, spec), schema.StatusOK, "", "", "")
}
