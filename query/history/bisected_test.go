package history_test

import (
	"slices"
	"testing"

	"github.com/neurolens/neurolens/ingest"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestBisected: sessions of bisect neither end a level nor fail, whatever they measured, and are counted.
func TestBisected(t *testing.T) {
	t.Parallel()
	runs := levelled(slices.Concat(nights(10), slices.Repeat([]float64{130, 131}, 5), nights(4))...)
	runs = append(runs, failedRun(24, 0, schema.StatusError, false))
	for i := 20; i < len(runs); i++ {
		runs[i].Warnings = []string{"load", schema.WarnBisect}
	}
	h := historyOf(t, querytest.SealedRuns(t, runs), history.Request{Newest: 14})
	valuetest.Equal(t, h.Bisected, 5, "sessions of bisect")
	valuetest.Equal(t, h.Matching, 20, "other sessions")
	valuetest.Equal(t, h.Gate.Regressed, 1, "regressions")
	valuetest.Equal(t, len(h.Rows), 20, "sessions")
	valuetest.Equal(t, h.Failed, 0, "failed runs")
	h = historyOf(t, querytest.SealedRuns(t, runs[20:]), history.Request{})
	if h.Bisected != 5 || h.Known != 0 {
		t.Errorf("bisect alone: %d sessions, %d series", h.Bisected, h.Known)
	}
}

// TestBisectedChange: a change has the answer of the last bisect between its two commits, for its metric, and of no other one.
func TestBisectedChange(t *testing.T) {
	t.Parallel()
	runs := levelled(slices.Concat(nights(10), slices.Repeat([]float64{130, 131}, 5), nights(4))...)
	for i := 20; i < len(runs); i++ {
		runs[i].Warnings = []string{schema.WarnBisect}
		runs[i].Env.GitCommit = runs[10].Env.GitCommit
	}
	good, metric := runs[9].Env.GitCommit, runs[0].Primary
	const found = "cccccccccccccccccccccccccccccccccccccccc"
	for _, c := range []struct {
		run                 int
		good, metric, found string
		want                string
	}{
		{20, runs[8].Env.GitCommit, metric, found, ""},
		{21, good, "another", found, ""},
		{20, good, metric, schema.BisectNothing, schema.BisectNothing},
		{22, good, metric, found, found}, // it is newer
		{20, good, metric, "$(id)", ""},  // a tag is any text, and the answer is part of a command
		{20, good, metric, "; reboot", ""},
	} {
		store := querytest.NewStore(t, runs...)
		for key, value := range map[string]string{schema.TagBisectGood: c.good, schema.TagBisectMetric: c.metric, schema.TagBisectFound: c.found} {
			querytest.Annotate(t, store, ingest.Annotation{Kind: schema.EventTag, Runs: []string{runs[c.run].RunID}, Key: key, Value: value})
		}
		change := historyOf(t, querytest.Open(t, store), history.Request{}).Series[0].Changes[0]
		valuetest.Equal(t, change.Base, good, "before the change")
		if c.want == "" {
			if change.Bisected != nil {
				t.Errorf("%+v: %+v", c, change.Bisected)
			}
			continue
		}
		if b := change.Bisected; b == nil || b.Found != c.want || b.At == nil || !b.At.Equal(runs[c.run].StartedAt) {
			t.Errorf("%+v: %+v", c, b)
		}
	}
}

// TestBisectedElsewhere: a change that bisect did not search for has the commit that it found between the same commits at another point of the
// machine, but not its other answers.
func TestBisectedElsewhere(t *testing.T) {
	t.Parallel()
	runs := levelled(slices.Concat(nights(10), slices.Repeat([]float64{130, 131}, 5), nights(2))...)
	for i := 20; i < len(runs); i++ {
		runs[i].Warnings, runs[i].Env.GitCommit = []string{schema.WarnBisect}, runs[10].Env.GitCommit
	}
	runs[20].BatchSize = new(int64(64))
	runs[20].PointID = schema.PointID(&runs[20])
	const found, own = "cccccccccccccccccccccccccccccccccccccccc", "dddddddddddddddddddddddddddddddddddddddd"
	for _, c := range []struct{ good, elsewhere, here, want string }{
		{runs[9].Env.GitCommit, found, "", found},
		{runs[9].Env.GitCommit, found, own, own},
		{runs[9].Env.GitCommit, found, schema.BisectUndecided, found},
		{runs[9].Env.GitCommit, found, schema.BisectNothing, schema.BisectNothing},
		{runs[9].Env.GitCommit, schema.BisectNothing, "", ""},
		{runs[8].Env.GitCommit, found, "", ""},
	} {
		store := querytest.NewStore(t, runs...)
		for run, answer := range map[string]string{runs[20].RunID: c.elsewhere, runs[21].RunID: c.here} {
			if answer == "" {
				continue
			}
			for key, value := range map[string]string{schema.TagBisectGood: c.good, schema.TagBisectMetric: runs[0].Primary, schema.TagBisectFound: answer} {
				querytest.Annotate(t, store, ingest.Annotation{Kind: schema.EventTag, Runs: []string{run}, Key: key, Value: value})
			}
		}
		got := ""
		if b := historyOf(t, querytest.Open(t, store), history.Request{}).Series[0].Changes[0].Bisected; b != nil {
			got = b.Found
		}
		valuetest.Equal(t, got, c.want, c)
	}
}
