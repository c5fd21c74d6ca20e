package formats_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/neurolens/neurolens/ingest/foreign/foreigntest"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
)

// TestLaunched: the lines of a program are read with what launchers and logs put before them.
func TestLaunched(t *testing.T) {
	t.Parallel()
	all := formats.All()
	for format, section := range map[string]string{"nccl-tests": ncclSection("all_reduce_perf", "sum", "10.00"), "vllm-text": madeUpSections["vllm-text"][0]} {
		read := func(text string) (points []string) {
			got, report, runs, err := foreigntest.One(all, fstest.MapFS{"results.log": {Data: []byte(text)}}, "results.log")
			if got == nil || got.Name != format || err != nil || report.Refused > 0 {
				t.Errorf("%v %v %+v:\n%s", got, err, report, text)
			}
			for _, r := range runs {
				points = append(points, r.PointID)
			}
			return points
		}
		want := strings.Join(read(section), " ")
		for _, prefix := range []string{
			"[1,0]<stdout>:", "0: ", " 12: ", "[node1] ", "worker-0 | ", "lab-1  | ", "2026-11-01T10:00:00.123Z ", "2026-11-01 10:00:00 ", "2026-11-01 10:00:00,123 ",
			"Nov  1 10:00:00 lab3 bench[71]: ", "[node1] 0: ",
		} {
			text := prefix + strings.ReplaceAll(strings.TrimSuffix(section, "\n"), "\n", "\n"+prefix) + "\n"
			if got := strings.Join(read(text), " "); got != want || want == "" {
				t.Errorf("points %q, want %q:\n%s", got, want, text)
			}
		}
	}
}

// TestNothingInIt: a file of a known format without a result is refused, unless it says why it has none.
func TestNothingInIt(t *testing.T) {
	t.Parallel()
	all := formats.All()
	for name, text := range map[string]string{
		"results.log":  "unknown> " + strings.ReplaceAll(ncclSection("all_reduce_perf", "sum", "10.00"), "\n", "\nunknown> "),
		"gbench.json":  `{"context": {"date": "2026-11-01T10:00:00+00:00", "library_build_type": "release", "num_cpus": 2, "caches": []}, "benchmarks": []}`,
		"bench.json":   `{"results": []}`,
		"pytest.json":  `{"machine_info": {}, "commit_info": {}, "benchmarks": [], "datetime": "2026-11-01T10:00:00", "version": "4.0.0"}`,
		"llama.json":   `[]`,
		"results.text": "ok  \tlab/a\t0.01s\n",
	} {
		format, report, runs, err := foreigntest.One(all, fstest.MapFS{name: {Data: []byte(text)}}, name)
		if len(runs) > 0 || format != nil && err == nil && report.Refused == 0 {
			t.Errorf("%s: %d runs, no refusal: %v %+v", name, len(runs), format, report)
		}
		if format != nil {
			t.Log(name, format.Name, report.Refusals, err)
		}
	}
}
