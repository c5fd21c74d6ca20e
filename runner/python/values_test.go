package python

import (
	"encoding/json"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
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
	runOK(t, spec)
}

// TestShortFloats: an attribute that holds a parameter in a type with fewer digits has its value.
func TestShortFloats(t *testing.T) {
	interpreter(t, "numpy")
	config := map[string]string{"param.half": "0.1", "param.single": "0.1", "param.large": "10000000000", "param.double": "0.1", "param.array": "0.25", "param.count": "7"}
	spec := specOf(t, Settings{File: "bench.py"}, config)
	spec.Dir = folder(t, map[string]string{"bench.py": `
import numpy
class Bench:
    def __init__(self, half, single, large, double, array, count):
        self.half, self.single, self.large, self.double = numpy.float16(half), numpy.float32(single), numpy.float32(large), numpy.float64(double)
        self.array, self.count = numpy.array(array, dtype="f4"), numpy.int32(count)
    def benchmark_fn(self): pass
    def applied(self): return {"told": numpy.float32(0.1)}
`})
	o := runOK(t, spec)
	for key, applied := range o.Applied {
		if _, asked := config[key]; asked {
			t.Errorf("%s is applied as %s, for %s", key, applied, config[key])
		}
	}
	valuetest.DeepEqual(t, o.Applied["told"], "0.1", "applied gives")
}
