package formats

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestPyperfWarmups: until format 1.0, the value of a warm-up was the time of all its loops.
func TestPyperfWarmups(t *testing.T) {
	for version, want := range map[string][]float64{`"1.0"`: {8e5, 4e5}, "6": {2e4, 5e3}, "5": {2e4, 5e3}} {
		text := `{"benchmarks": [{"metadata": {"inner_loops": 10}, "runs": [{"warmups": [[4, 8e-4], [8, 4e-4]], "values": [1e-5]}]}], "version": ` + version + "}"
		folder := fstest.MapFS{"x.json": {Data: []byte(text)}}
		_, report, runs, err := One(All(), folder, "x.json")
		if err != nil || len(runs) != 1 {
			t.Fatalf("%s: %+v, %v", version, report, err)
		}
		if got := runs[0].Metrics[0].WarmupReals; !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", version, got, want)
		}
	}
}

// TestPyperfTruncated: the runs before the end of a truncated file are read, though its metadata is missing.
func TestPyperfTruncated(t *testing.T) {
	text := `{"benchmarks": [{"metadata": {"name": "a"}, "runs": [{"values": [1.0]}]}, {"metadata": {"na`
	_, report, _, err := One(All(), fstest.MapFS{"x.json": {Data: []byte(text)}}, "x.json")
	if err == nil || report.Runs != 1 {
		t.Errorf("%+v, %v; want one run and an error", report, err)
	}
}
