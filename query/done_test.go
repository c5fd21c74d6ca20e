package query_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/neurolens/neurolens/query/internal/querytest"
	"github.com/neurolens/neurolens/schema"
	"github.com/neurolens/neurolens/schema/valuetest"
)

// TestDone: the sessions of the suite on the machine, newest first; no other suite, machine, side or source.
func TestDone(t *testing.T) {
	t.Parallel()
	in := func(session, resumes int, edit func(*schema.Run)) func(*schema.Run) {
		return func(r *schema.Run) {
			r.Suite, r.SessionID = `a "suite" \ of ours`, querytest.SessionID(session)
			if resumes > 0 {
				r.Resumes = querytest.SessionID(resumes)
			}
			if edit != nil {
				edit(r)
			}
		}
	}
	db := querytest.Open(t, querytest.NewStore(t,
		querytest.NewRun(0, 100, in(1, 0, nil)),
		querytest.NewRun(1, 200, in(2, 0, func(r *schema.Run) {
			r.Env.GitCommit, r.Env.DriverVersion, r.Env.PythonVersion = "abc", "570", "3.11"
			r.ModelSHA256, r.BackendVersion = "f00", "1.2"
		})),
		querytest.NewRun(2, 0, in(2, 0, func(r *schema.Run) { r.Status, r.Stage, r.ErrorKind = schema.StatusOOM, schema.StageMeasure, "oom" })),
		querytest.NewRun(3, 300, in(3, 2, nil)),
		querytest.NewRun(4, 1, in(4, 0, func(r *schema.Run) { r.Side = "head" })),
		querytest.NewRun(5, 1, in(5, 0, func(r *schema.Run) { r.Env.Machine = "lab4" })),
		querytest.NewRun(6, 1, in(6, 0, func(r *schema.Run) { r.Suite = "other" })),
		querytest.NewRun(7, 1, in(7, 0, func(r *schema.Run) { r.Source = "hyperfine" })),
	))
	runs := valuetest.Must(db.Done(context.Background(), []string{"another", `a "suite" \ of ours`}, "lab3"))
	var got []string
	for _, r := range runs {
		got = append(got, fmt.Sprint(*r.RepeatIndex, r.Status))
	}
	valuetest.Equal(t, fmt.Sprint(got), "[3ok 2oom 1ok 0ok]", "done", got, "want [3ok 2oom 1ok 0ok]")
	r := runs[2]
	if r.Env.GitCommit != "abc" || r.Env.DriverVersion != "570" || r.Env.PythonVersion != "3.11" || r.ModelSHA256 != "f00" ||
		r.BackendVersion != "1.2" || r.Env.Facts["governor"] != "performance" || r.Env.Machine != "lab3" || *r.Stages.Measure != 1_000_000 {
		t.Errorf("%+v", r)
	}
	if m := r.Metric(r.Primary); m == nil || m.Summary.LogMedian == nil {
		t.Errorf("no location: %+v", r.Metrics)
	}
	if runs[1].Metrics != nil || runs[1].ErrorKind != "oom" || runs[0].Resumes != querytest.SessionID(2) || runs[0].StartedAt != querytest.Start.Add(3e9) {
		t.Errorf("%+v", runs[:2])
	}
	valuetest.DeepEqual(t, valuetest.Must(db.Done(context.Background(), []string{"nothing"}, "lab3")), nil, "of a suite that is not there")
}

// TestDoneOfManySessions: the twenty newest sessions, each with its newest run first, and at the end the sessions that they
// resumed, however old.
func TestDoneOfManySessions(t *testing.T) {
	t.Parallel()
	var runs []schema.Run
	for i := range 50 {
		session := i / 2 % 25 // 0 to 24, two runs each
		runs = append(runs, querytest.NewRun(i, 1, func(r *schema.Run) {
			r.Suite, r.SessionID = "many", querytest.SessionID(session+1)
			if session == 10 {
				r.Resumes = querytest.SessionID(3)
			}
			if session == 2 {
				r.Resumes = querytest.SessionID(1)
			}
		}))
	}
	done := valuetest.Must(querytest.Open(t, querytest.NewStore(t, runs...)).Done(context.Background(), []string{"many"}, "lab3"))
	var got, want []int64
	for _, r := range done {
		got = append(got, *r.RepeatIndex)
	}
	for i := int64(49); i >= 10; i-- {
		want = append(want, i)
	}
	if want = append(want, 5, 4, 1, 0); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// TestSessionPoints: the runs of a session and those of earlier ones that are named, and no other runs of the earlier ones.
func TestSessionPoints(t *testing.T) {
	t.Parallel()
	in := func(session int, status schema.Status) func(*schema.Run) {
		return func(r *schema.Run) {
			r.SessionID, r.Status, r.BatchSize, r.Params = querytest.SessionID(session), status, new(int64(1)), nil
			if status != schema.StatusOK {
				r.Stage, r.ErrorKind, r.Error = schema.StageMeasure, "raise", "it failed"
			}
		}
	}
	runs := []schema.Run{
		querytest.NewRun(0, 100, in(1, schema.StatusOK)), querytest.NewRun(1, 900, in(1, schema.StatusError)), querytest.NewRun(2, 900, in(1, schema.StatusOK)),
		querytest.NewRun(3, 300, in(2, schema.StatusOK)), querytest.NewRun(4, 900, in(3, schema.StatusOK)),
	}
	db := querytest.Open(t, querytest.NewStore(t, runs...))
	for name, c := range map[string]struct {
		counted []string
		want    string
	}{
		"alone":               {nil, "1 1 310"},
		"with one that it is": {[]string{runs[0].RunID}, "2 2 210"},
	} {
		t.Run(name, func(t *testing.T) {
			got := valuetest.Must(db.SessionPoints(context.Background(), querytest.SessionID(2), c.counted))
			valuetest.Equal(t, len(got), 1)
			valuetest.Equal(t, fmt.Sprint(got[0].Runs, got[0].OKRuns, *got[0].Median), c.want)
		})
	}
}
