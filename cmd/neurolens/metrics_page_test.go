package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestMetricsPage: the sweeps of docs/metrics.md run as they are and have the metrics that they name, and so does its
// program that tells its metrics itself.
func TestMetricsPage(t *testing.T) {
	programtest.NeedsLong(t)
	t.Parallel()
	page := programtest.RepositoryFile(t, "docs/metrics.md")
	dir := t.TempDir()
	blocks := func(language string) (texts []string) {
		for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
			texts = append(texts, m[1])
		}
		return texts
	}
	sweeps, programs := blocks("yaml"), blocks("sh")
	sweeps = slices.DeleteFunc(sweeps, func(text string) bool { // TestDocsPages runs the first, and tests of counters the others
		return strings.HasPrefix(text, "# methods.yaml") || strings.Contains(text, "counters:") || strings.Contains(text, "profile: cachegrind")
	})
	valuetest.Equal(t, len(sweeps), 3, "the page")
	valuetest.Equal(t, len(programs), 1, "the page")
	programtest.WriteFile(t, dir, "program.sh", programs[0])
	sweeps = append(sweeps, "command: [sh, program.sh]\niterations: 3\nrepeats: 1\n")
	for i, text := range sweeps {
		name := fmt.Sprintf("s%d.yaml", i)
		programtest.WriteFile(t, dir, name, text)
		programtest.Output(t, dir, "bench", name, "--store", fmt.Sprint("store", i))
	}
	ask := func(store int, sql string) string {
		return programtest.Output(t, dir, "query", "--store", fmt.Sprint("store", store), "--format", "csv", sql)
	}
	const one = "select metric, unit, level, values from samples where metric not in ('latency', 'cpu_user', 'cpu_system', 'peak_memory') order by all limit 2"
	for store, want := range []string{
		"accuracy,ratio,process,\"[0.9788,0.9788,0.9788]\"\naccuracy,ratio,process,\"[0.9788,0.9788,0.9788]\"\n",
		"epochs,,process,\"[2,2]\"\nepochs,,process,\"[2,2]\"\n",
		"B/op,B,iteration,[96]\nB/op,B,iteration,[96]\n",
		"accuracy,ratio,process,\"[0.9788,0.9788,0.9788]\"\n",
	} {
		valuetest.Equal(t, ask(store, one), "metric,unit,level,values\n"+want, "sweep", store)
	}
	if got := ask(1, "select distinct better, values from samples where metric = 'loss'"); got != "better,values\nlower,\"[0.25,0.25]\"\n" {
		t.Errorf("the loss is %s", got)
	}
}
