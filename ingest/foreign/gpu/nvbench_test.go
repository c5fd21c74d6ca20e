package gpu

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
)

// nvbenchRoot is the repository.
var nvbenchRoot = filepath.Join("..", "..", "..")

func TestNVBench(t *testing.T) { foreigntest.Golden(t, Formats(), nvbenchRoot, "nvbench") }

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
		_, report, _, err := foreigntest.One([]foreign.Format{nvbench()[0]}, folder, "in/o.json")
		if err != nil || report.Runs != 1 || report.Samples != c.samples {
			t.Errorf("%s, %s: %+v, %v; want %d samples", c.filename, c.file, report, err, c.samples)
		}
	}
}

func FuzzNVBench(f *testing.F) { foreigntest.Fuzz(f, nvbench()[0], nvbenchRoot, "nvbench") }
