package formats

import (
	"testing"
)

// TestTemplate: a value becomes the name of its parameter where it is a word of the command, and nowhere else.
func TestTemplate(t *testing.T) {
	for _, test := range []struct {
		command string
		params  map[string]string
		want    string
	}{
		{"make -j 8", map[string]string{"threads": "8"}, "make -j {threads}"},
		{"sleep 0.01", map[string]string{"n": "1"}, "sleep 0.01"},
		{"sort --size=16 data/16.txt", map[string]string{"n": "16"}, "sort --size={n} data/16.txt"},
		{"run a-b a", map[string]string{"x": "a", "y": "a-b"}, "run {y} {x}"},
		{"make -j8 test-8", map[string]string{"threads": "8"}, "make -j{threads} test-{threads}"},
		{"cc -O2 x-j2 --j2", map[string]string{"level": "2"}, "cc -O{level} x-j2 --j2"},
		{"true", map[string]string{"empty": ""}, "true"},
	} {
		if got := template(test.command, test.params); got != test.want {
			t.Errorf("template(%q, %v) is %q, want %q", test.command, test.params, got, test.want)
		}
	}
}
