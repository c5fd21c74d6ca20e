package layout

import (
	"strings"
	"testing"
)

// FuzzStale: a file of any content is stale only if it names a run of NeuroLens, and the names that it reserves stay in the folder.
func FuzzStale(f *testing.F) {
	for _, text := range []string{
		`{"kernel_name": "acck", "runs": [{"neurolens": {"run_id": "R", "point_id": "P", "point": {"benchmark": "acck", "params": {"a": "[1]"}}}}]}`,
		`{"kernel_name": "acck", "neurolens": {"point_id": "/..", "point": {"benchmark": "../acck", "batch_size": 1}}}`, `{"kernel_name": null}`, `[`, ``,
		`{"executable": "MNISTMLX", "neurolens": {"run_id": "R"}}`,
		`[{"operation": "GELU", "neurolens": {"run_id": "R"}}]`, `{"summary": {"total_benchmarks": 1}, "results": [{"executable": "MNISTMLX", "neurolens": {"run_id": "R"}}]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		own := ownIn([]byte(text), kernelMember)
		if is := own.PointID != "" || ownIn([]byte(text), matrixMember).RunID != "" || isGrid([]byte(text)) || isMatrixReport([]byte(text)); is && !strings.Contains(strings.ToLower(text), "neurolens") && !strings.Contains(text, `\u`) {
			t.Errorf("%q is a file of NeuroLens", text)
		}
		for _, name := range kernelNames(own.run()) {
			if name == "" || strings.ContainsAny(name, "/\\") || strings.HasPrefix(name, ".") {
				t.Errorf("%q reserves %q", text, name)
			}
		}
	})
}
