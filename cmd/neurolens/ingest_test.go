package main

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/cmd/neurolens/programtest"
	"github.com/neurolens/neurolens/ingest/foreign"
	"github.com/neurolens/neurolens/ingest/foreign/formats"
	"github.com/neurolens/neurolens/ingest/runtest"
	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/export"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestWholeRunsAgain: what export writes of whole runs of all kinds, ingest stores as it was.
func TestWholeRunsAgain(t *testing.T) {
	t.Parallel()
	failed := runtest.Small()
	failed.Metrics, failed.Primary, failed.Status, failed.Error = nil, "", schema.StatusCrashed, "\x01\u2028 \"<\\"
	failed.Params, failed.Tags, failed.Warnings, failed.Artifacts = map[string]string{}, map[string]string{}, []string{}, []schema.Artifact{}
	undated := runtest.Small()
	undated.StartedAt, undated.RunID = time.Time{}, schema.ULIDFrom(time.Time{}, [10]byte{1}).String()
	profile := runtest.Full()
	profile.Purpose = schema.PurposeProfile
	numbers := runtest.Small()
	numbers.Metrics = append(numbers.Metrics,
		schema.Metric{Name: "tiny", Reals: []float64{math.SmallestNonzeroFloat64, math.MaxFloat64, 0.1, 1e-7, 123456789012345680000}},
		schema.Metric{Name: "own_unit", Unit: "tokens/s", Better: schema.BetterHigher, Summary: schema.Summary{Mean: new(5.5)}},
		schema.Metric{Name: "none", Unit: "ms", Tick: 0.25, Ticks: []int64{1, 2}, Summary: schema.Summary{SteadyIndex: new(int64(1))}})
	runs := []schema.Run{runtest.Full(), runtest.Small(), runtest.Realistic(), failed, undated, profile, numbers}
	first := wholeRuns(t, t.TempDir()+"/a", runs)
	in := valuetest.Must(foreign.FromReader(strings.NewReader(first), "-", nil))
	format := valuetest.Must(in.Format(formats.All()))
	var read []schema.Run
	report, err := foreign.NewReader(foreign.Added{}, nil).Read(in, format, func(valid schema.Valid) bool { read = append(read, valid.Run()); return true })
	if err != nil || report.Refused > 0 || len(read) != len(runs) {
		t.Fatalf("%+v, %v", report, err)
	}
	second := wholeRuns(t, t.TempDir()+"/b", read)
	before, after := strings.Split(first, "\n"), strings.Split(second, "\n")
	for i, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("was %s\nis  %s", line, after[min(i, len(after)-1)])
		}
	}
}

// wholeRuns makes a store of runs and gives what export writes of it.
func wholeRuns(t *testing.T, dir string, runs []schema.Run) string {
	t.Helper()
	programtest.NewStore(t, dir, runs...)
	db := valuetest.Must(query.Open(t.Context(), []string{dir}, query.Options{}))
	defer db.Close()
	var out bytes.Buffer
	valuetest.Must(export.Write(t.Context(), db, export.Request{Dest: "-", Format: export.JSONL, Stdout: &out}))
	return out.String()
}
