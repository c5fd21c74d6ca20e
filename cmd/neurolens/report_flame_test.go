//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestReportHasStacks: the page of a profiled run with stacks has a flame graph, each frame with its name and its samples.
func TestReportHasStacks(t *testing.T) {
	t.Parallel()
	dir := folderOfReader(t, nil)
	valuetest.Must(shell(t, dir, "neurolens ingest "+filepath.Join(programtest.Fixtures(t), "results/folded/perf.folded")+"\nneurolens report --html page.html source=folded"))
	page := string(valuetest.Must(os.ReadFile(filepath.Join(dir, "page.html"))))
	for _, part := range []string{`id="stacks"`, "Where the samples of run ", "neurolens plot flame ", "gemm: 54 of 68 samples, 79.4 %"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if strings.Contains(page, "Each point has") {
		t.Error("the page counts the samples of a profiled run")
	}
}
