package formats

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// TestNVBenchSampleFiles: samples are found by the names that versions write, and never outside of the file's folder.
func TestNVBenchSampleFiles(t *testing.T) {
	const text = `{"devices": [{"id": 0, "sm_version": 900}], "benchmarks": [{"name": "b", "states": [{"device": 0, "summaries": [
		{"tag": "nv/json/bin:nv/cold/sample_times", "data": [{"name": "filename", "value": %q}, {"name": "size", "value": "1"}]}]}]}]}`
	one := &fstest.MapFile{Data: []byte{0, 0, 0x80, 0x3f}} // 1 s
	for _, c := range []struct {
		filename, file string
		samples        int64
	}{
		{"o.json-bin/0.bin", "in/o.json-bin/0.bin", 1},
		{"sub/o.json-bin/0.bin", "in/o.json-bin/0.bin", 1},
		{"/abs/o.json-bin/0.bin", "in/o.json-bin/0.bin", 1},
		{`C:\out\o.json-bin\0.bin`, "in/o.json-bin/0.bin", 1},
		{"../o.json-bin/0.bin", "in/o.json-bin/0.bin", 1},
		{"renamed.json-bin/0.bin", "in/o.json-bin/0.bin", 1},
		{"sub/other.json-bin/0.bin", "in/other.json-bin/0.bin", 1},
		{"../0.bin", "0.bin", 0},
		{"../../0.bin", "0.bin", 0},
		{"/0.bin", "0.bin", 0},
		{"..", "in/0.bin", 0},
		{"", "in/0.bin", 0},
	} {
		folder := fstest.MapFS{"in/o.json": {Data: fmt.Appendf(nil, text, c.filename)}, c.file: one}
		_, report, _, err := One([]foreign.Format{nvbench[0]}, folder, "in/o.json")
		if err != nil || report.Runs != 1 || report.Samples != c.samples {
			t.Errorf("%s, %s: %+v, %v; want %d samples", c.filename, c.file, report, err, c.samples)
		}
	}
}

// TestNVBenchOrder: the header may follow the benchmarks, also in a file whose beginning does not reach
// there, and results may be appended to one another.
func TestNVBenchOrder(t *testing.T) {
	const (
		header     = `"devices": [{"id": 0, "sm_version": 900, "name": "GPU %d"}], "meta": {"argv": ["./lab.bench"], "version": {"nvbench": {"string": "0.1.0"}}}`
		benchmarks = `"benchmarks": [{"name": "b", "pad": %q, "states": [{"device": 0, "summaries": []}]}]`
	)
	pad := strings.Repeat("x", 300<<10)
	for _, c := range []struct{ what, text, want string }{
		{"before", fmt.Sprintf("{"+header+", "+benchmarks+"}", 1, ""), "lab.bench/b GPU 1"},
		{"behind", fmt.Sprintf("{"+benchmarks+", "+header+"}", "", 1), "lab.bench/b GPU 1"},
		{"far behind", fmt.Sprintf("{"+benchmarks+", "+header+"}", pad, 1), "lab.bench/b GPU 1"},
		{"appended", fmt.Sprintf("{"+header+", "+benchmarks+"}\n{"+header+", "+benchmarks+"}", 1, pad, 2, ""), "lab.bench/b GPU 1 lab.bench/b GPU 2"},
	} {
		in, err := foreign.Open(t.Context(), fstest.MapFS{"o.json": {Data: []byte(c.text)}}, "o.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, runs, err := Read(in, nvbench[0])
		var got []string
		for _, r := range runs {
			got = append(got, r.Benchmark, r.Env.GPUName)
		}
		if text := strings.Join(got, " "); err != nil || text != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.what, text, err, c.want)
		}
	}
}
