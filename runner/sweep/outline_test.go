package sweep

import (
	"reflect"
	"testing"
)

func TestOutlineOf(t *testing.T) {
	got, err := OutlineOf("s.yaml", []byte(`
suite: nightly
command: [sort, -n]
backend: [torch, onnxrt]
grid:
  batch_size: [1, 2]
  mode: {fast: [-O3], safe: null}
  version: ["3.10", 1e3]
  repeats: 5
params: {dim: 64}
include:
  - {batch_size: 8, dim: 64}
variants: {plain: , tuned: {warmup: 3}}
presets: {quick: {repeats: 1}, long: {repeats: 30}}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Outline{
		Suite: "nightly", Presets: []string{"quick", "long"},
		Axes: []OutlinedAxis{
			{"backend", []string{"torch", "onnxrt"}},
			{"batch_size", []string{"1", "2", "8"}},
			{"mode", []string{"fast", "safe"}},
			{"version", []string{"3.10", "1e3"}},
			{"dim", []string{"64"}},
			{"variant", []string{"plain", "tuned"}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, broken := range []string{"", "grid: [", "- a", "\x00"} {
		if got, _ := OutlineOf("s.yaml", []byte(broken)); !reflect.DeepEqual(got, Outline{}) {
			t.Errorf("%q: got %+v, want nothing", broken, got)
		}
	}
}
