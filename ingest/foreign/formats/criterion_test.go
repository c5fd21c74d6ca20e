package formats

import (
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign"
)

// TestCriterionFolders: a baseline is read if there is nothing newer beside it. The folder base is never read.
func TestCriterionFolders(t *testing.T) {
	sample := &fstest.MapFile{Data: []byte(`{"sampling_mode":"Flat","iters":[4],"times":[50]}`)}
	name := &fstest.MapFile{Data: []byte(`{"group_id":"g","function_id":null,"value_str":null}`)}
	for _, c := range []struct {
		folder string
		newer  bool
		runs   int
	}{
		{"g/new", false, 1}, {"g/base", false, 0}, {"g/main", false, 1}, {"g/main", true, 0}, {".", false, 1},
	} {
		folder := fstest.MapFS{c.folder + "/sample.json": sample, c.folder + "/benchmark.json": name}
		if c.folder == "." {
			folder = fstest.MapFS{"sample.json": sample, "benchmark.json": name}
		}
		if c.newer {
			folder["g/new/sample.json"] = sample
		}
		file := c.folder + "/sample.json"
		if c.folder == "." {
			file = "sample.json"
		}
		_, report, _, err := One([]foreign.Format{criterion[0]}, folder, file)
		if err != nil || report.Runs != c.runs || report.LeftOut["copies of an earlier run, next to new/"] != 1-c.runs {
			t.Errorf("%s, newer %t: %+v, %v; want %d runs", c.folder, c.newer, report, err, c.runs)
		}
	}
}

// TestCriterionThroughput: a throughput of a layout that nobody knows costs the throughput, not the times.
func TestCriterionThroughput(t *testing.T) {
	for _, c := range []struct {
		throughput string
		metrics    int
		left       int
	}{
		{`null`, 1, 0}, {`{"Bytes":8}`, 2, 0}, {`{"Furlongs":8}`, 1, 0}, {`[{"Bytes":8}]`, 1, 1}, {`{"Bytes":"many"}`, 1, 1},
	} {
		folder := fstest.MapFS{
			"g/new/sample.json":    {Data: []byte(`{"sampling_mode":"Flat","iters":[4],"times":[50]}`)},
			"g/new/benchmark.json": {Data: []byte(`{"group_id":"g","function_id":null,"value_str":null,"throughput":` + c.throughput + `}`)},
		}
		_, report, runs, err := One([]foreign.Format{criterion[0]}, folder, "g/new/sample.json")
		if err != nil || len(runs) != 1 || len(runs[0].Metrics) != c.metrics || report.LeftOut["throughputs in an unknown layout"] != c.left {
			t.Errorf("%s: %+v, %v; want %d metrics, %d left out", c.throughput, report, err, c.metrics, c.left)
		}
	}
}
