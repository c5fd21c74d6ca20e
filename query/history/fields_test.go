package history_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/neurolens/neurolens/query"
	"github.com/neurolens/neurolens/query/answer"
	"github.com/neurolens/neurolens/query/history"
	"github.com/neurolens/neurolens/query/judge"
	"github.com/neurolens/neurolens/schema"
)

// TestFields: each field gives its own value of a row, with its column's type; a missing one is NULL, and no number shows
// rounding errors of logarithms.
func TestFields(t *testing.T) {
	t.Parallel()
	full := history.Row{
		PointID: "a point",
		Point: query.Point{
			Benchmark: "matmul", Variant: "tiled", Backend: "cuda", Model: "bert", Precision: "fp16", BatchSize: new(int64(8)), SeqLen: new(int64(64)),
			Params: map[string]string{"tile": "32"}, Machine: "lab3",
		},
		Metric: "latency", Unit: "ns", Better: schema.BetterLower, Scale: schema.ScaleRatio,
		SessionID: "a session", StartedAt: new(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)), Runs: 3, Location: 168686609.55999994, GitCommit: "81cc0fe",
		ChangePoint: true, Shift: new(.1), ShiftLow: new(.05), ShiftHigh: new(math.Expm1(math.Log(1.15))), P: new(.001), PAdjusted: new(.002), AfterSession: "the one before", BySession: "this one", RampSessions: 30,
		Verdict: history.Spike, FailedSessions: 2, Reason: judge.OffClock, Clocks: &query.Clocks{Base: 1410, Head: 1980},
	}
	want := map[string]string{
		"point_id": "text a point <nil>", "benchmark": "text matmul <nil>", "variant": "text tiled <nil>", "backend": "text cuda <nil>",
		"model": "text bert <nil>", "precision": "text fp16 <nil>", "batch_size": "integer 8 <nil>", "seq_len": "integer 64 <nil>",
		"params": "map map[tile:32] <nil>", "machine": "text lab3 <nil>", "metric": "text latency <nil>", "unit": "text ns <nil>",
		"better": "text lower <nil>", "scale": "text ratio <nil>", "session_id": "text a session <nil>",
		"started_at": "time 2026-09-01 12:00:00 +0000 UTC <nil>", "runs": "integer 3 0", "location": "real 1.6868660956e+08 0", "git_commit": "text 81cc0fe <nil>",
		"change_point": "boolean true false", "shift": "real 0.1 <nil>", "shift_low": "real 0.05 <nil>", "shift_high": "real 0.15 <nil>",
		"p": "real 0.001 <nil>", "p_adjusted": "real 0.002 <nil>", "after_session": "text the one before <nil>", "by_session": "text this one <nil>", "ramp_sessions": "integer 30 <nil>", "verdict": "text spike <nil>", "failed_sessions": "integer 2 0",
		"reason": "text off_clock <nil>", "old_clock_sm": "real 1410 <nil>", "new_clock_sm": "real 1980 <nil>",
	}
	fields := history.Fields()
	if len(fields) != len(want) {
		t.Errorf("%d fields, want %d", len(fields), len(want))
	}
	for _, f := range fields {
		if got := fmt.Sprint(f.Type, " ", f.Of(&full), " ", f.Of(&history.Row{})); got != want[f.Name] {
			t.Errorf("%s: got %s, want %s", f.Name, got, want[f.Name])
		}
		if f.Meaning == "" || strings.HasSuffix(f.Meaning, ".") {
			t.Errorf("%s means %q: want a sentence without its end", f.Name, f.Meaning)
		}
		if want := map[string]string{"location": schema.UnitOfRow, "old_clock_sm": "MHz", "new_clock_sm": "MHz"}[f.Name]; f.Unit != want {
			t.Errorf("%s is in %q, want %q", f.Name, f.Unit, want)
		}
	}
	if columns := answer.TableOf(fields, nil).Columns; columns[0].Name != "point_id" || columns[len(columns)-1].Name != "new_clock_sm" {
		t.Errorf("%v", columns)
	}
}
