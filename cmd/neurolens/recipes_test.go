//go:build linux

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestRecipeOfClocks: the recipe that joins samples with the clock of telemetry gives each sample the newest reading before it.
func TestRecipeOfClocks(t *testing.T) {
	t.Parallel()
	blocks := valuetest.Must(blocksOf(programtest.RepositoryFile(t, "docs/recipes.md")))
	recipe := slices.IndexFunc(blocks, func(b pageBlock) bool { return strings.Contains(b.text, "ASOF JOIN") })
	if recipe < 0 {
		t.Fatal("no recipe has an ASOF JOIN")
	}
	run := runtest.Small()
	// 20 samples, each 100 ms after the one before. Sample 10 begins 1 s into measure, at the reading with half the clock.
	ticks := make([]int64, 20)
	for i := range ticks {
		ticks[i] = 1_000_000
	}
	ticks[10] = 2_000_000
	run.Metrics = []schema.Metric{{Name: "latency", Unit: "ns", Tick: 1, Ticks: ticks}}
	dir := folderOfReader(t, nil)
	programtest.NewStore(t, dir+"/runs_store", runtest.Telemetry(run, 1980))
	got := valuetest.Must(shell(t, dir, "export NEUROLENS_FORMAT=csv\n"+blocks[recipe].text))
	valuetest.Equal(t, got, "benchmark,clock_MHz,samples,ms\ntiny,990,1,2\ntiny,1980,19,1\n")
}
