package query_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/neurolens/neurolens/schema"
)

// TestDone: the newest session of the suite on the machine, and the chain that it resumes; no other suite, machine,
// side or source.
func TestDone(t *testing.T) {
	in := func(session, resumes int, edit func(*schema.Run)) func(*schema.Run) {
		return func(r *schema.Run) {
			r.Suite, r.SessionID = `a "suite" \ of ours`, sessionID(session)
			if resumes > 0 {
				r.Resumes = sessionID(resumes)
			}
			if edit != nil {
				edit(r)
			}
		}
	}
	db := open(t, newStore(t,
		newRun(0, 100, in(1, 0, nil)),
		newRun(1, 200, in(2, 0, func(r *schema.Run) {
			r.Env.GitCommit, r.Env.DriverVersion, r.Env.PythonVersion = "abc", "570", "3.11"
			r.ModelSHA256, r.BackendVersion = "f00", "1.2"
		})),
		newRun(2, 0, in(2, 0, func(r *schema.Run) { r.Status, r.Stage = schema.StatusOOM, schema.StageMeasure })),
		newRun(3, 300, in(3, 2, nil)),
		newRun(4, 1, in(4, 0, func(r *schema.Run) { r.Side = "head" })),
		newRun(5, 1, in(5, 0, func(r *schema.Run) { r.Env.Machine = "lab4" })),
		newRun(6, 1, in(6, 0, func(r *schema.Run) { r.Suite = "other" })),
		newRun(7, 1, in(7, 0, func(r *schema.Run) { r.Source = "hyperfine" })),
	))
	runs, err := db.Done(context.Background(), `a "suite" \ of ours`, "lab3")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		got = append(got, fmt.Sprint(*r.RepeatIndex, r.Status))
	}
	if fmt.Sprint(got) != "[3ok 2oom 1ok]" {
		t.Fatalf("done %v, want [3ok 2oom 1ok]", got)
	}
	r := runs[2]
	if r.Env.GitCommit != "abc" || r.Env.DriverVersion != "570" || r.Env.PythonVersion != "3.11" || r.ModelSHA256 != "f00" ||
		r.BackendVersion != "1.2" || r.Env.Facts["governor"] != "performance" || r.Env.Machine != "lab3" || *r.Stages.Measure != 1_000_000 {
		t.Errorf("%+v", r)
	}
	if m := r.Metric(r.Primary); m == nil || m.Summary.LogMedian == nil {
		t.Errorf("no location: %+v", r.Metrics)
	}
	if runs[1].Metrics != nil || runs[0].Resumes != sessionID(2) || runs[0].StartedAt != start.Add(3e9) {
		t.Errorf("%+v", runs[:2])
	}
	if none, err := db.Done(context.Background(), "nothing", "lab3"); err != nil || len(none) != 0 {
		t.Errorf("of a suite that is not there: %v, %v", none, err)
	}
}
