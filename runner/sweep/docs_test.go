package sweep

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/neurolens/neurolens/schema/valuetest"
)

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// workflow matches a file of GitHub, or a part of one that is indented as it is there, which a page about CI may have.
var workflow = regexp.MustCompile(`(?m)^(jobs|runs):$|\A +\w+:$`)

// TestPages: every sweep in the pages of docs can be read.
func TestPages(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"../../docs/*.md", "../../docs/*/*.md"} {
		pages = append(pages, valuetest.Must(filepath.Glob(pattern))...)
	}
	tree := in("ch13/baseline_moe.py", "ch13/optimized_moe.py", "kernels/scan.py=def run_benchmark(): pass\n", "perf/bench_sort.py=def run(): pass\n",
		"perf/bench_scan_fast.py=def run(): pass\n", "perf/bench_scan_slow.py=def run(): pass\n")
	read := 0
	for _, page := range pages {
		text := valuetest.Must(os.ReadFile(page))
		for _, block := range yamlBlock.FindAllSubmatch(text, -1) {
			if workflow.Match(block[1]) {
				continue
			}
			if _, err := readText(filepath.Base(page), block[1], Overrides{Facts: here(t, nil), Files: tree}); err != nil {
				t.Errorf("%s:\n%s%v", page, block[1], err)
			}
			read++
		}
	}
	if read < 20 {
		t.Errorf("%d sweeps in %d pages", read, len(pages))
	}
}
